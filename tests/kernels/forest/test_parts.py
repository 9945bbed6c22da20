"""Parts of the engine alone: trees of rows, near rows, orders, hashes, loops for vectors, and what rounding allows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.order.edges import Ends, Task
from bayesfloor.forest.order.hash_kernels import order_between_words, order_of_hashes, seed_key
from bayesfloor.forest.order.kruskal_kernels import order_edges
from bayesfloor.forest.order.points import rank_points
from bayesfloor.forest.sweep import boruvka
from bayesfloor.forest.sweep.distance_kernels import localize_full
from bayesfloor.forest.sweep.search_kernels import near_rows
from bayesfloor.forest.sweep.tiling import choose_axes, tile_points
from bayesfloor.forest.sweep.vectors import LANES, LEADING, VECTOR, box_gap, sixteen_distances
from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime import hash_kernels
from bayesfloor.runtime.hash_kernels import GOLDEN, compiled_mix64, hash_rows, mix64
from bayesfloor.runtime.kernels import kernel, plainly
from bayesfloor.runtime.threads import WorkerPool
from helpers.agreement import assert_same_forests
from helpers.naive_forests import naive_forests
from helpers.one_case import for_each
from helpers.point_sets import make_points

# ------------------------------------------------------------------------------------------------ few axes, in rounds


def ends_of(X):
    """What the strict order knows of rows."""
    points = rank_points(X)
    return Ends(points.hashes, points.ranks)


@for_each("d", [1, 2, 3, 4])
def test_leaves_part_the_rows_and_boxes_hold_them(d):
    for n in (2, 17, 1500):
        X = make_points("cauchy", n, d)
        ends = ends_of(X)
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
    sizes = np.diff(boruvka.plant(X, ends_of(X), WorkerPool(1))[1].starts)
    assert sizes.min() >= 1
    assert sizes.max() <= 1.5 * boruvka.LEAF


@for_each("d", [2, 3, 4])
def test_lists_are_those_of_scipy(d):
    X = make_points("gaussian", 1000, d)
    items, cloud = boruvka.plant(X, ends_of(X), WorkerPool(1))
    near, bound = np.empty((1000, 6), np.int32), np.empty(1000)
    key = Task.of(1, 0, 1000).key
    near_rows(0, cloud.n_leaves, *cloud.more_axes, *cloud, key, near, bound)
    distances, expected = cKDTree(X).query(X[items], 7)
    assert_array_equal(items[near], expected[:, 1:])
    assert_allclose(np.sqrt(bound), distances[:, -1], rtol=1e-12)


# --------------------------------------------------------------------------------------------- orders and hashes


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


def test_few_edges_of_equal_length_are_told_apart_by_hash_and_rank():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 3, 12).astype(np.uint64)
    ranks = rng.permutation(12).astype(np.int32)
    u, v = (ends.astype(np.int32) for ends in np.triu_indices(12, 1))
    d2 = rng.integers(0, 2, len(u)).astype(float)
    arguments = u, v, d2, hashes, ranks, np.uint64(7)
    assert_array_equal(order_edges.plain(*arguments), order_edges.compiled(*arguments))


# of the seed 1234567
SEED = 1234567
FIRST = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def test_published_numbers():
    state = np.array([SEED], np.uint64) + np.arange(1, 6, dtype=np.uint64) * GOLDEN
    assert mix64(state).tolist() == FIRST
    assert [int(compiled_mix64(word)) for word in state] == FIRST
    assert int(seed_key(np.uint64(SEED))) == FIRST[0]
    word = np.array([SEED], np.uint64)
    assert [next_random(word) for _ in FIRST] == [(number >> 11) / 2**53 for number in FIRST]


def test_hashes_of_rows_without_compiled_code(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[3, 1] = -0.0
    X[4] = X[3] + 0.0
    compiled, plain = np.zeros((2, 50), np.uint64)
    monkeypatch.setattr(hash_kernels, "BLOCK_ROWS", 7)
    for is_plain, out in ((False, compiled), (True, plain)):
        with plainly(is_plain):
            hash_rows(X.view(np.uint64), 2, 49, out)
    assert_array_equal(plain, compiled)
    assert plain[3] == plain[4]
    assert len(np.unique(plain[2:49])) == 46
    assert not plain[[0, 1, 49]].any()


# ------------------------------------------------------------------------------------------------ loops for vectors


@kernel
def compiled_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes):
    return box_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes)


@kernel
def compiled_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out):
    return sixteen_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out)


@for_each("n_axes", [LANES, 2 * LANES, 5 * LANES])
def test_gaps(n_axes):
    rng = np.random.default_rng(n_axes)
    corners = rng.standard_normal((2, 2, 3 * n_axes)).astype(np.float32)
    (low_a, low_b), (high_a, high_b) = corners.min(axis=0), corners.max(axis=0)
    arguments = low_a, high_a, n_axes, low_b, high_b, 2 * n_axes, n_axes
    gaps = np.maximum(
        np.maximum(low_b[2 * n_axes :] - high_a[n_axes:-n_axes], low_a[n_axes:-n_axes] - high_b[2 * n_axes :]), 0
    )
    assert compiled_gap(*arguments) == pytest.approx(np.sum(gaps.astype(float) ** 2), rel=1e-5)
    assert box_gap(*arguments) == pytest.approx(compiled_gap(*arguments), rel=1e-5)
    assert compiled_gap(low_a, high_a, 0, low_a, high_a, 0, n_axes) == 0.0


@for_each("n_axes", [1, 3, 8, 17])
def test_distances(n_axes):
    rng = np.random.default_rng(n_axes)
    width = 3 * VECTOR
    point, others = rng.standard_normal(n_axes + 2), rng.standard_normal((n_axes, width))
    arguments = point.astype(np.float32), 2, n_axes, others.astype(np.float32).ravel(), VECTOR, width
    found = np.full((2, width), np.float32(-1.0))
    ways = compiled_distances, sixteen_distances
    least = [way(*arguments, np.float32(np.inf), row, VECTOR) for way, row in zip(ways, found, strict=True)]
    squares = (others[:, VECTOR : 2 * VECTOR] - point[2:, None]) ** 2
    expected = np.sum(squares, axis=0)
    for row, lowest in zip(found, least, strict=True):
        assert_allclose(row[VECTOR : 2 * VECTOR], expected, rtol=1e-5)
        assert lowest == row[VECTOR : 2 * VECTOR].min()
        assert np.all(row[:VECTOR] == -1.0)
        assert np.all(row[2 * VECTOR :] == -1.0)
    # Beyond the limit along the leading axes, the others do not matter.
    along_leading = np.sum(squares[:LEADING], axis=0).min()
    for way, row in zip(ways, found, strict=True):
        assert way(*arguments, np.float32(0.99 * along_leading), row, VECTOR) == pytest.approx(along_leading, rel=1e-5)
        assert way(*arguments, np.float32(1.01 * along_leading), row, VECTOR) == pytest.approx(expected.min(), rel=1e-5)


# ---------------------------------------------------------------------------- float32, and the slack that covers it

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


@for_each("make", [half_way, clusters])
@for_each("offset", [0.0, 2.0**40])
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
    assert_allclose(slack[0], 2.0**-24 * np.linalg.norm(X, axis=1).max(), rtol=2e-3)


@for_each("make", [half_way, clusters])
def test_forests_of_the_worst_case(make):
    X, y = make(240, 2.0**40), np.arange(240) % 3
    expected = naive_forests(X, 3)
    for size in (8, 48):
        with plan.override(tile_size=size, all_pairs_below=2, kernel="products"):
            assert_same_forests(spanning_forests(X), expected)
            assert_same_forests(class_forests(X, y).whole, expected)
