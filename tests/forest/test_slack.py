"""Float32 coordinates are off by a tile's slack at most, in the worst case too, so that no edge is missed for them."""

import numpy as np
import pytest

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.order.points import rank_points
from bayesfloor.forest.sweep.distance_kernels import localize_full
from bayesfloor.forest.sweep.tiling import choose_axes, tile_points
from bayesfloor.runtime.threads import WorkerPool
from forest.agreement import assert_same_forests
from naive_forests import naive_forests

D = 40


def half_way(n, offset=0.0):
    """Points in pairs x and -x, so that the mean is 0, whose numbers lie half-way between two of float32.

    Most of the spread is along three features, as it has to be for distances in leading axes to come first.
    """
    rng = np.random.default_rng(n)
    X = rng.choice([-1.0, 1.0], (n // 2, D)) * (1.0 + 2.0**-24)
    X *= 2.0 ** (rng.integers(0, 3, (n // 2, D)) + np.where(np.arange(D) < 3, 5, 0))
    return np.vstack([X, -X]) + offset


def clusters(n, offset=0.0):
    """Clusters of a thousandth of the whole, most of the spread along three features."""
    rng = np.random.default_rng(n)
    centres = rng.standard_normal((4, D)) * np.where(np.arange(D) < 3, 30.0, 0.3)
    return centres[rng.integers(0, 4, n)] + 1e-3 * rng.standard_normal((n, D)) + offset


@pytest.mark.parametrize("make", [half_way, clusters])
@pytest.mark.parametrize("offset", [0.0, 1e5, 2.0**40])
def test_slack_covers_all_features(make, offset):
    X = make(120, offset)
    points = rank_points(X)
    axes = choose_axes(points, "auto")
    assert not axes.exact
    with plan.override(tile_size=16):
        side = tile_points(points, points.order, axes, WorkerPool(1)).side
    # of all features alone, and of the leading axes as well
    own = np.zeros_like(side.slack)
    full, norms, centers = (values * 0 for values in side.full)
    localize_full(side.rows, axes.scale, side.starts, centers, full, norms, own)
    leaf = np.repeat(np.arange(len(side.slack)), np.diff(side.starts))
    true = side.rows.astype(np.longdouble) * axes.scale
    kept = full + centers[leaf].astype(np.longdouble)
    i, j = np.triu_indices(len(X), 1)
    moved = np.abs(np.linalg.norm((kept[i] - kept[j]).astype(float), axis=1))
    apart = np.linalg.norm((true[i] - true[j]).astype(float), axis=1)
    rounding = 1e-14 * apart  # of this test's own sums
    for slack in (own, side.slack):
        assert np.all(np.abs(moved - apart) <= slack[leaf[i]] + slack[leaf[j]] + rounding)
    # and no wider than half the last bit of float32 asks for, however far from zero the points lie
    radius = np.sqrt(np.maximum.reduceat(norms, side.starts[:-1]))
    assert np.all(own <= 1.002 * 2.0**-24 * radius)


def test_half_way_numbers_are_the_worst_case():
    """All 40 features of a point are off by half the last bit, in the same direction of its size."""
    X = half_way(64)
    slack, centers, full, norms = np.zeros(1), np.zeros((1, D)), np.empty(X.shape, np.float32), np.empty(64, np.float32)
    X.flags.writeable = False
    localize_full(X, 1.0, np.array([0, 64]), centers, full, norms, slack)
    np.testing.assert_allclose(slack[0], 2.0**-24 * np.linalg.norm(X, axis=1).max(), rtol=2e-3)


@pytest.mark.parametrize("make", [half_way, clusters])
@pytest.mark.parametrize("offset", [0.0, 2.0**40])
def test_forests_of_the_worst_case(make, offset):
    X, y = make(240, offset), np.arange(240) % 3
    expected = naive_forests(X, 3)
    for size in (8, 48):
        with plan.override(tile_size=size, all_pairs_below=2, kernel="products"):
            assert_same_forests(spanning_forests(X), expected)
            assert_same_forests(class_forests(X, y).whole, expected)
