"""Borůvka's rounds for rows with few axes: the same edges as the naive reference and as the sweep, and their parts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial import cKDTree

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import api, plan
from bayesfloor.forest.order.edges import Ends, Task
from bayesfloor.forest.order.hash_kernels import order_between_words, order_of_hashes
from bayesfloor.forest.order.points import rank_points
from bayesfloor.forest.sweep import boruvka
from bayesfloor.forest.sweep.search_kernels import near_rows
from bayesfloor.runtime.kernels import plainly
from bayesfloor.runtime.threads import WorkerPool
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import naive_forests
from pairwise_design import all_pairs


@pytest.fixture(autouse=True)
def _compiled():
    """Small sets would do without kernels otherwise, and without rounds."""
    with plainly(False):
        yield


def of_points(X):
    """Return rows that are ranked, and what the strict order knows of them."""
    points = rank_points(X)
    return points, Ends(points.hashes, points.ranks)


@pytest.mark.parametrize(("kind", "d", "n_trees"), all_pairs(KINDS, [1, 2, 3, 4], [1, 2, 3]))
def test_equal_to_the_naive_reference(kind, d, n_trees, monkeypatch):
    """Small leaves and short lists, so that few rows search over many levels and rounds."""
    monkeypatch.setattr(boruvka, "MOST_COPIES", 10_000)  # identical rows too
    monkeypatch.setattr(boruvka, "LEAF", 3)
    monkeypatch.setattr(boruvka, "NEAR", 0)
    X = make_points(kind, 130, d)
    with plan.override(all_pairs_below=2):
        assert_same_forests(spanning_forests(X, n_trees=n_trees, n_jobs=2), naive_forests(X, n_trees))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_few_rows(d):
    for n in range(2, 12):
        X = make_points("gaussian", n, d)
        with plan.override(all_pairs_below=1):
            assert_same_forests(spanning_forests(X, n_trees=3), naive_forests(X, 3))


@pytest.mark.parametrize("kind", ["hub_in_a_sphere", "gaussian", "integer_grid"])
def test_trees_that_do_not_span(kind, monkeypatch):
    """A row runs out of edges, and the rounds end although there are several components."""
    monkeypatch.setattr(boruvka, "MOST_TREES", 40)
    monkeypatch.setattr(boruvka, "MOST_COPIES", 40)
    X = make_points(kind, 14, 2)
    with plan.override(all_pairs_below=1):
        assert_same_forests(spanning_forests(X, n_trees=13), naive_forests(X, 13))


def shuffled_lattice(rng):
    side = np.arange(55.0)
    return rng.permutation(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2))


def clusters_within_clusters(rng):
    X = np.zeros((3000, 3))
    for level in range(4):
        X += 1e-3**level * rng.standard_normal((5, 3))[rng.integers(0, 5, 3000)]
    return X + 1e-12 * rng.standard_normal((3000, 3))


SETS = {
    "gaussian": lambda rng: rng.standard_normal((3000, 2)),
    "lattice": shuffled_lattice,
    "nested": clusters_within_clusters,
    "collinear": lambda rng: np.outer(rng.permutation(3000), [1.0, -2.0, 3.0, 5.0]),
    "copies": lambda rng: rng.standard_normal((3000, 3))[rng.integers(0, 1500, 3000)],
    "far from zero": lambda rng: 1e9 + rng.standard_normal((3000, 2)),
    "huge": lambda rng: 1e300 * rng.standard_normal((3000, 2)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n_trees", [1, 3])
def test_equal_to_the_sweep_whatever_the_threads(name, n_trees):
    X = SETS[name](np.random.default_rng(0))
    with plan.override(most_axes_of_rounds=0):
        expected = spanning_forests(X, n_trees=n_trees)
    for n_jobs in (1, 2, 3):
        assert_same_forests(spanning_forests(X, n_trees=n_trees, n_jobs=n_jobs), expected)


def test_classes_in_few_dimensions():
    X, y = make_points("gaussian", 900, 3), make_labels(900, 3)
    found = class_forests(X, y)
    with plan.override(most_axes_of_rounds=0):
        expected = class_forests(X, y)
    assert_same_forests(found.whole, expected.whole)
    assert_array_equal(found.pair_cross_counts, expected.pair_cross_counts)


@pytest.mark.parametrize(
    ("n_features", "copies", "n_trees", "expected"),
    [(2, 1, 1, True), (4, 8, 8, True), (5, 1, 1, False), (2, 9, 1, False), (2, 1, 9, False)],
)
def test_which_sets_they_suit(n_features, copies, n_trees, expected, monkeypatch):
    used = []
    monkeypatch.setattr(api, "grow_in_rounds", lambda *arguments: used.append(1) or boruvka.grow_in_rounds(*arguments))
    X = make_points("gaussian", 300, n_features)
    X = np.concatenate((X, np.tile(X[:1], (copies - 1, 1))))
    spanning_forests(X, n_trees=n_trees)
    assert bool(used) == expected


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [2, 17, 1500])
def test_leaves_part_the_rows_and_boxes_hold_them(n, d):
    X = make_points("cauchy", n, d)
    _, ends = of_points(X)
    items, cloud = boruvka.plant(X, ends, WorkerPool(1))
    assert_array_equal(np.sort(items), np.arange(n))
    assert_array_equal(cloud.rows[:, :d], X[items])
    assert_array_equal(cloud.hashes, ends.hashes[items])
    sizes = np.diff(cloud.starts)
    assert sizes.min() >= 1
    assert sizes.max() <= 1.5 * boruvka.LEAF
    for node in range(1, 2 * cloud.n_leaves):
        first = last = node
        while first < cloud.n_leaves:
            first, last = 2 * first, 2 * last + 1
        inside = cloud.rows[cloud.starts[first - cloud.n_leaves] : cloud.starts[last - cloud.n_leaves + 1]]
        assert_array_equal(cloud.boxes[node, ::2], inside.min(axis=0))
        assert_array_equal(cloud.boxes[node, 1::2], inside.max(axis=0))


def test_equal_values_leave_no_leaf_empty():
    X = np.zeros((5000, 2))
    X[:3] = 1.0
    _, ends = of_points(X)
    sizes = np.diff(boruvka.plant(X, ends, WorkerPool(1))[1].starts)
    assert sizes.min() >= 1
    assert sizes.max() <= 1.5 * boruvka.LEAF


@pytest.mark.parametrize("d", [2, 3, 4])
def test_lists_are_those_of_scipy(d):
    X = make_points("gaussian", 1000, d)
    _, ends = of_points(X)
    items, cloud = boruvka.plant(X, ends, WorkerPool(1))
    near, bound = np.empty((1000, 6), np.int32), np.empty(1000)
    key = Task.of(1, 0, 1000).key
    near_rows(0, cloud.n_leaves, *cloud.more_axes, *cloud, key, near, bound)
    distances, expected = cKDTree(X).query(X[items], 7)
    assert_array_equal(items[near], expected[:, 1:])
    np.testing.assert_allclose(np.sqrt(bound), distances[:, -1], rtol=1e-12)


def test_hashes_are_put_in_order():
    """Long and short runs of equal high words, equal hashes, and two ranges."""
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**64, 3000, dtype=np.uint64)
    hashes[:500] = (hashes[:500] & np.uint64(0xFFFFFFFF)) | np.uint64(7 << 32)
    hashes[500:530] = hashes[530:560]
    hashes[600:700] = hashes[600]
    expected = np.argsort(hashes, kind="stable")
    assert_array_equal(order_of_hashes(hashes), expected)
    cut = np.uint64(1 << 31)
    parts = [order_between_words(hashes, np.uint64(0), cut), order_between_words(hashes, cut, np.uint64(1 << 32))]
    assert_array_equal(np.concatenate(parts), expected)
