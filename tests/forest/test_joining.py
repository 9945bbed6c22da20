"""Whichever way a pair of classes is joined, the same forests come out: all edges at once, in a block, by a sweep."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.classes import joining
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import naive_cross_counts, naive_forests
from pairwise_design import all_pairs

WAYS = {
    "small": {"SMALL_BLOCK": 10**9},
    "block": {"SMALL_BLOCK": 0},
    "sweep": {"SMALL_BLOCK": 0, "AT_ONCE": 0},
}


def joined(way, X, y, **options):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(joining, name, value)
        return class_forests(X, y, **options)


def assert_every_way_is_the_same(X, y, n_trees=3, random_state=0):
    options = {"n_trees": n_trees, "random_state": random_state}
    results = {way: joined(way, X, y, **options) for way in WAYS}
    classes = np.unique(y)
    for way, result in results.items():
        assert_same_forests(result.whole, results["sweep"].whole)
        counts = results["sweep"].pair_cross_counts
        np.testing.assert_allclose(result.pair_cross_counts, counts, rtol=1e-13, atol=1e-13, err_msg=way)
        for k, a in enumerate(classes):
            for b in classes[k + 1 :]:
                assert_same_forests(result.pair(a, b), results["sweep"].pair(a, b))
    return results


@cache
def reference(kind, d):
    """Points, labels, and the naive forests of all rows and of each pair with its rows."""
    X, y = make_points(kind, 90, d), make_labels(90, 3)
    pairs = {}
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        rows = np.flatnonzero((y == a) | (y == b))
        pairs[a, b] = rows, naive_forests(X[rows], 3)
    return X, y, naive_forests(X, 3), pairs


@pytest.mark.parametrize(("kind", "d", "way"), all_pairs(KINDS, [1, 4, 30], WAYS))
def test_against_the_reference(kind, d, way):
    X, y, whole, pairs = reference(kind, d)
    result = joined(way, X, y)
    assert_same_forests(result.whole, whole)
    for (a, b), (rows, expected) in pairs.items():
        assert_same_forests(result.pair(a, b), expected)
        counts = naive_cross_counts(expected, y[rows])[:, 0, 1]
        np.testing.assert_allclose(result.pair_cross_counts[: len(counts), a, b], counts, rtol=1e-12, atol=1e-12)


SETS = [
    ("gaussian", 2),
    ("one_hot", 20),
    ("standardized_one_hot", 34),
    ("few_distinct", 5),
    ("nearly_copies", 30),
    ("far_from_zero", 40),
    ("mixed_scales", 24),
    ("cauchy", 30),
    ("hub_in_a_sphere", 6),
]


@pytest.mark.parametrize(
    ("points", "tile_size", "survivors_per_point", "projection"),
    all_pairs(SETS, [None, 7], [6.0, 0.0], ["auto", "pca", "none"]),
)
def test_settings_do_not_change_pairs(points, tile_size, survivors_per_point, projection):
    kind, d = points
    X, y = make_points(kind, 260, d), make_labels(260, 3)
    with plan.override(tile_size=tile_size, survivors_per_point=survivors_per_point, projection=projection):
        assert_every_way_is_the_same(X, y)


@pytest.mark.parametrize(
    ("kind", "tile_size"), [("evenly_spaced", 3), ("integer_grid", 20), ("one_hot", 3), ("few_distinct", 20)]
)
def test_settling_midway(kind, tile_size):
    """Small buffers and many trees: the sweep stops in the middle of a block, and goes on with closer bounds."""
    X, y = make_points(kind, 230, 48, seed=4), make_labels(230, 5, seed=4)
    with plan.override(tile_size=tile_size, survivors_per_point=0.0):
        results = assert_every_way_is_the_same(X, y, n_trees=6)
    assert_same_forests(results["block"].whole, naive_forests(X, 6))


@pytest.mark.parametrize(
    ("kind", "n_trees"), [("gaussian", 1), ("one_hot", 2), ("few_distinct", 5), ("all_identical", 12), ("gaussian", 12)]
)
def test_numbers_of_trees(kind, n_trees):
    X, y = make_points(kind, 120, 10), make_labels(120, 4)
    with plan.override(tile_size=16):
        assert_every_way_is_the_same(X, y, n_trees, random_state=9)


@pytest.mark.parametrize("d", [3, 16, 120])
def test_classes_of_very_different_sizes(d):
    """One row, two rows, and a thousand; the last few axes of many features are left out of the first look."""
    y = np.repeat([0, 1, 2, 3], [1, 2, 40, 900])
    X = make_points("gaussian", len(y), d) * np.linspace(3, 0.2, d) + 2.0 * (y == 3)[:, None]
    assert_every_way_is_the_same(X, y)


def test_most_features_carry_nothing():
    """Leading axes alone let almost every pair pass, so that all features are compared at once."""
    y = make_labels(600, 3)
    X = np.random.default_rng(0).standard_normal((600, 150))
    X[:, :4] *= 6.0
    assert_every_way_is_the_same(X, y)


def test_copies_in_both_classes():
    """Sites of many copies, some of them shared by classes: more edges tie than the buffer holds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 3))[rng.integers(0, 25, 500)]
    y = make_labels(500, 3)
    with plan.override(survivors_per_point=0.0):
        results = assert_every_way_is_the_same(X, y)
    assert (results["block"].pair_cross_counts % 1 != 0).any()


@pytest.mark.parametrize("n_trees", [40, 70])
def test_more_trees_than_a_tile_has_points(n_trees):
    """The nearest tile of the other class has fewer points than there are neighbours to find."""
    X, y = make_points("gaussian", 220, 2), np.arange(220) % 2
    results = assert_every_way_is_the_same(X, y, n_trees=n_trees)
    assert_same_forests(results["sweep"].pair(0, 1), spanning_forests(X, n_trees=n_trees))


def test_points_too_close_for_squares():
    """Different points whose squared distance is zero are not the same site."""
    X = np.array([[1.0], [1.0 + 1e-200], [0.0], [1e-200], [-1e-200], [5.0], [5.0]])
    y = np.array([0, 1, 0, 1, 1, 0, 1])
    results = assert_every_way_is_the_same(X, y, n_trees=2)
    assert_same_forests(results["small"].pair(0, 1), naive_forests(X, 2))


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(6, 150),
    d=st.integers(1, 40),
    n_classes=st.integers(2, 5),
    n_trees=st.integers(1, 4),
    tile_size=st.sampled_from([None, 3, 20]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=25)
def test_anywhere(kind, n, d, n_classes, n_trees, tile_size, seed):
    X = make_points(kind, n, d, seed=seed)
    y = make_labels(n, n_classes, seed=seed)
    with plan.override(tile_size=tile_size):
        assert_every_way_is_the_same(X, y, n_trees=n_trees, random_state=seed)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_many_small_classes(n_jobs):
    """Batches of pairs on one thread or several, and the whole from all of their edges."""
    y = np.arange(480) % 120
    X = make_points("some_copies", 480, 3)
    result = class_forests(X, y, n_jobs=n_jobs)
    assert_same_forests(result.whole, spanning_forests(X))
    for a, b in [(0, 1), (0, 119), (57, 80), (118, 119)]:
        rows = np.flatnonzero((y == a) | (y == b))
        assert_same_forests(result.pair(a, b), naive_forests(X[rows], 3))
