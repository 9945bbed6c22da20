"""Forests that are extended equal those of all rows at once: every edge, every bit of a weight."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.classes import joining
from bayesfloor.forest.growing import batch, linked
from bayesfloor.forest.growing import classes as growing_classes
from forest import point_sets
from forest.agreement import assert_same_forests
from naive_forests import naive_forests
from pairwise_design import all_pairs

KINDS = [
    point_sets.gaussian,
    point_sets.clustered,
    point_sets.one_hot,
    point_sets.integer_grid,
    point_sets.few_distinct,
    point_sets.some_copies,
    point_sets.nearly_copies,
]


def extended(X, sizes, **options):
    """Forests of X, the first rows at once and the others in batches."""
    ends = np.cumsum(sizes)
    assert ends[-1] == len(X)
    forests = spanning_forests(X[: ends[0]], **options)
    for start, stop in pairwise(ends):
        forests = forests.extend(X[start:stop], n_jobs=options.get("n_jobs"))
    return forests


def assert_equal_to_full(forests, X, **options):
    full = spanning_forests(X, **options)
    assert_same_forests(forests, full)
    assert_array_equal(forests.sites, full.sites)
    assert forests.n_trees_asked == full.n_trees_asked
    assert forests.spans == full.spans


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("d", [1, 5, 30])
def test_equals_all_rows_at_once(kind, d):
    X = kind(np.random.default_rng(d), 1400, d)
    assert_equal_to_full(extended(X, [600, 1, 39, 300, 1, 459], n_jobs=2), X)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_equals_the_naive_reference(kind, monkeypatch):
    monkeypatch.setattr(batch, "FEW_POINTS", 20)  # so that few points go through tiles and sweeps as well
    X = kind(np.random.default_rng(0), 150, 3)
    with plan.override(all_pairs_below=0, tile_size=7):
        forests = extended(X, [30, 1, 1, 20, 40, 7, 51])
    assert_same_forests(forests, naive_forests(X, 3))


def test_one_row_at_a_time(monkeypatch):
    monkeypatch.setattr(batch, "FEW_POINTS", 16)
    X = np.round(np.random.default_rng(0).standard_normal((60, 2)), 1)
    forests = spanning_forests(X[:2])
    for n in range(2, len(X)):
        forests = forests.extend(X[n : n + 1])
        assert_same_forests(forests, naive_forests(X[: n + 1], 3))


@pytest.mark.parametrize("d", [3, 4])
def test_parts_double(d, monkeypatch):
    """As a counter carries: no part is smaller than those after it together, so there are few."""
    monkeypatch.setattr(batch, "FEW_POINTS", 10)
    X = np.random.default_rng(0).random((16 * 40, d))
    forests = spanning_forests(X[:40])
    for start in range(40, len(X), 40):
        forests = forests.extend(X[start : start + 40])
        tiles = forests._origin.take_tiles()
        forests._origin.put_back(tiles)
        known = tiles.known
        if isinstance(known, linked.LinkedForests):
            sizes = [len(kdtree.numbers) for kdtree in known.kdtrees]
        else:
            sizes = [part.tiled.n_copies for part in known.parts]
        assert sum(sizes) == forests.n_samples
        n_batches = forests.n_samples // 40
        assert sizes == [40 << bit for bit in range(5, -1, -1) if n_batches >> bit & 1]


def in_the_order_of_time(rng, n, d):
    """Rows that move on: those of a batch are close to each other, and far from most that are there."""
    return np.cumsum(rng.standard_normal((n, d)), axis=0)


def around_a_circle(rng, n, d):
    """One point as far from many others: more edges than a search may find."""
    turn = np.arange(n) * (2.0 * np.pi / 360)
    X = np.column_stack([np.cos(turn), np.sin(turn), np.zeros((n, d - 2))])
    X[360:] *= 2.0 + rng.random((n - 360, 1))
    X[360] = 0.0
    return X


def lattice(rng, n, d):
    side = int(np.ceil(n ** (1 / d)))
    points = np.stack(np.meshgrid(*[np.arange(float(side))] * d), axis=-1).reshape(-1, d)
    return points[rng.permutation(len(points))[:n]]


@pytest.mark.parametrize(
    ("kind", "stays_linked"),
    [
        (point_sets.gaussian, True),
        (point_sets.clustered, True),
        (point_sets.cauchy, True),
        (point_sets.one_outlier, True),
        (point_sets.far_from_zero, True),
        (lattice, True),
        (in_the_order_of_time, True),
        (around_a_circle, True),
        (point_sets.some_copies, False),
    ],
)
@pytest.mark.parametrize(("d", "n_trees", "n_jobs"), [(2, 3, 2), (3, 1, 1)])
def test_few_dimensions(kind, stays_linked, d, n_trees, n_jobs, monkeypatch):
    """Rows that search for their edges one by one, after every batch; whether they do shows in what is kept."""
    monkeypatch.setattr(batch, "FEW_POINTS", 100)
    X = kind(np.random.default_rng(d), 700, d)
    forests = spanning_forests(X[:200], n_trees=n_trees)
    for start, stop in pairwise((200, 201, 350, 360, 361, 400, 700)):
        forests = forests.extend(X[start:stop], n_jobs=n_jobs)
        if stop in (201, 361, 700):
            assert_equal_to_full(forests, X[:stop], n_trees=n_trees)
    is_linked = isinstance(forests._origin.take_tiles().known, linked.LinkedForests)
    assert is_linked == stays_linked


@pytest.mark.parametrize("settings", [{"survivors_per_point": 0.001, "buffer_edges": 16}, {"kernel": "products"}])
def test_any_plan(settings):
    X = point_sets.some_copies(np.random.default_rng(0), 1500, 6)
    with plan.override(**settings):
        forests = extended(X, [900, 400, 200], n_jobs=2)
    assert_equal_to_full(forests, X)


def leading_axes(rng, n):
    """Points whose spread is almost all along five of sixty axes, so that tiles are compared by these first."""
    return rng.standard_normal((n, 60)) * np.repeat([10.0, 0.3], [5, 55])


def test_leading_axes():
    rng = np.random.default_rng(0)
    X, y = leading_axes(rng, 2000), rng.integers(0, 2, 2000)
    forests = class_forests(X[:1700], y[:1700])
    assert not forests._origin.axes.exact
    light = []
    for own in forests._tiled:
        full = own.side.full._replace(points=own.side.full.points[:0])
        light.append(replace(own, side=own.side._replace(full=full)))
    expected = class_forests(X, y)
    for one in (forests, replace(forests, _tiled=light)):  # as they come from the CPU, and as they come from a device
        assert_same_class_forests(one.extend(X[1700:], y[1700:]), expected)
    assert_equal_to_full(extended(X, [1700, 100, 200]), X)


def test_any_number_of_threads_and_seed():
    X = point_sets.integer_grid(np.random.default_rng(0), 1500, 4)
    for n_jobs in (1, 3):
        assert_equal_to_full(extended(X, [1000, 250, 250], n_jobs=n_jobs, random_state=5), X, random_state=5)
    assert np.any(spanning_forests(X).edges != spanning_forests(X, random_state=5).edges)  # or the seed tests nothing


def test_a_batch_far_from_everything():
    """Axes and scale were chosen for points that lie in a millionth of the space by now."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((800, 6)), 1e9 + rng.standard_normal((200, 6)), rng.random((200, 6))])
    assert_equal_to_full(extended(X, [800, 100, 100, 200]), X)
    X = np.concatenate([rng.random((700, 6)), 1e60 * rng.random((20, 6)), rng.random((20, 6))])
    assert_equal_to_full(extended(X, [700, 20, 20]), X)


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_a_batch_that_changes_the_power_of_two(scale):
    rng = np.random.default_rng(0)
    small, large = sorted((1.0, scale))
    X = np.concatenate([small * rng.random((700, 3)), large * rng.random((50, 3)), large * rng.random((40, 3))])
    assert_equal_to_full(extended(X, [700, 50, 40]), X)
    Y = scale * rng.random((800, 3))  # and a stream at that scale from the start
    assert_equal_to_full(extended(Y, [700, 50, 50]), Y)


def test_more_trees_than_the_first_points_allow(monkeypatch):
    monkeypatch.setattr(batch, "FEW_POINTS", 4)
    X = np.random.default_rng(0).random((60, 2))
    forests = spanning_forests(X[:3], n_trees=7)
    assert forests.n_trees == 2
    for start, stop in ((3, 4), (4, 9), (9, 10), (10, 40), (40, 60)):
        forests = forests.extend(X[start:stop])
        assert_same_forests(forests, naive_forests(X[:stop], 7))
        assert forests.n_trees_asked == 7
    assert forests.spans


def test_other_kinds_of_input():
    X = np.random.default_rng(0).standard_normal((900, 4)).astype(np.float32)
    forests = spanning_forests(X[:800]).extend(X[800:850]).extend(np.asfortranarray(X[850:]))
    assert_equal_to_full(forests, X)
    assert_equal_to_full(forests.extend(X[:3].tolist()), np.concatenate([X, X[:3]]))


def test_old_forests_stay_and_can_be_extended_again():
    X = np.random.default_rng(0).random((1300, 3))
    first = spanning_forests(X[:700])
    edges = first.edges.copy()
    second = first.extend(X[700:900])
    third = second.extend(X[900:1000])
    assert_array_equal(first.edges, edges)
    other = np.concatenate([X[:900], X[1000:]])
    assert_equal_to_full(second.extend(X[1000:]), other)  # not the rows that third added
    assert_equal_to_full(first.extend(X[1200:]), np.concatenate([X[:700], X[1200:]]))
    assert_equal_to_full(third.extend(X[1000:]), X)


def test_from_several_threads_at_once():
    X = np.random.default_rng(0).random((1000, 3))
    forests = spanning_forests(X[:700]).extend(X[700:800])
    ready = threading.Barrier(3)

    def extend(start):
        ready.wait()
        return forests.extend(X[start : start + 50], n_jobs=1)

    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(extend, (800, 850, 900)))
    for start, result in zip((800, 850, 900), results, strict=True):
        assert_equal_to_full(result, np.concatenate([X[:800], X[start : start + 50]]))


def test_pickled_forests_can_be_extended():
    X = np.random.default_rng(0).random((900, 3))
    forests = pickle.loads(pickle.dumps(spanning_forests(X[:700]).extend(X[700:800])))
    assert_equal_to_full(forests.extend(X[800:]), X)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((2, 4)), "X has 4 features, but Forests is expecting 3 features as input"),
        (np.full((2, 3), np.nan), "Input X contains NaN"),
        (np.full((2, 3), np.inf), "infinity"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros(3), "Expected 2D array"),
    ],
)
def test_bad_rows_change_nothing(bad, message):
    X = np.random.default_rng(0).random((800, 3))
    forests = spanning_forests(X[:700]).extend(X[700:750])
    with pytest.raises(ValueError, match=message):
        forests.extend(bad)
    assert_equal_to_full(forests.extend(X[750:]), X)


@pytest.mark.parametrize(("d", "where"), [(3, (linked, "join_kdtrees")), (4, (batch, "carry"))])
def test_an_interrupted_extension_changes_nothing(d, where, monkeypatch):
    X = np.random.default_rng(0).random((900, d))
    forests = spanning_forests(X[:700]).extend(X[700:800])

    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(*where, fails)
        with pytest.raises(KeyboardInterrupt):
            forests.extend(X[800:])
    assert_equal_to_full(forests.extend(X[800:]), X)


@pytest.mark.parametrize("rows", [5, slice(None)])
@pytest.mark.parametrize("change", [1.0, 1e200], ids=["moved", "another power of two"])
def test_an_array_that_was_written_to_is_noticed(rows, change):
    """Even when all rows moved alike, which leaves every length as it was."""
    X = np.random.default_rng(0).integers(0, 9, (300, 3)).astype(float)
    y = np.arange(300) % 2
    forests, of_classes = spanning_forests(X), class_forests(X, y)
    X[rows] += change
    with pytest.raises(ValueError, match="rows of their X were changed"):
        forests.extend(X[:1])
    with pytest.raises(ValueError, match="rows of their X were changed"):
        of_classes.extend(X[:1], y[:1])


def test_parts_of_class_forests_refuse():
    X = np.random.default_rng(0).random((40, 3))
    forests = class_forests(X, np.arange(40) % 2)
    for part in (forests.whole, forests.pair(0, 1)):
        with pytest.raises(ValueError, match="Extend what class_forests returned"):
            part.extend(X)


def test_progress_ends_at_the_total():
    X = np.random.default_rng(0).random((3000, 3))
    seen = []
    spanning_forests(X[:2000]).extend(X[2000:], progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0


# ------------------------------------------------------------------------------------------------------ class forests


def assert_same_class_forests(actual, expected):
    assert actual.classes.dtype == expected.classes.dtype
    assert_array_equal(actual.classes, expected.classes)
    assert_array_equal(actual.class_counts, expected.class_counts)
    assert_array_equal(actual.pair_cross_counts, expected.pair_cross_counts)
    for sums, reference in zip(actual.pair_edge_sums, expected.pair_edge_sums, strict=True):
        assert_array_equal(sums, reference)
    assert_same_forests(actual.whole, expected.whole)
    for a, b in pairwise(actual.classes):
        assert_same_forests(actual.pair(a, b), expected.pair(a, b))


@pytest.mark.parametrize(
    ("kind", "d", "at_once"),
    # by sweeps, in one call each
    all_pairs(KINDS, [2, 30], [joining.SMALL_BLOCK, joining.AT_ONCE]),
)
def test_class_forests_equal_all_rows_at_once(kind, d, at_once, monkeypatch):
    monkeypatch.setattr(joining, "AT_ONCE", at_once)
    monkeypatch.setattr(growing_classes, "IN_ONE_CALL", at_once)
    monkeypatch.setattr(growing_classes, "FEW_POINTS", 100)
    rng = np.random.default_rng(d)
    X = kind(rng, 900, d)
    y = np.array(["b", "d", "f"])[rng.integers(0, 3, 900)]
    y[600:700] = "d"  # a batch of one class
    y[750:] = np.array(["a", "c", "f"])[rng.integers(0, 3, 150)]  # new ones before and between the others
    forests = class_forests(X[:500], y[:500])
    for start, stop in ((500, 501), (501, 600), (600, 700), (700, 750), (750, 900)):
        forests = forests.extend(X[start:stop], y[start:stop], n_jobs=2)
    assert_same_class_forests(forests, class_forests(X, y))


def test_class_forests_that_double_and_change_scale():
    rng = np.random.default_rng(0)
    scales = np.repeat([1.0, 1e9, 1e160], [1500, 50, 5])
    X = scales[:, None] * rng.random((1555, 4))
    y = rng.integers(0, 2, len(X))
    forests = class_forests(X[:600], y[:600])
    for start, stop in ((600, 1500), (1500, 1550), (1550, 1555)):
        forests = forests.extend(X[start:stop], y[start:stop])
        assert_same_class_forests(forests, class_forests(X[:stop], y[:stop]))


def test_class_forests_of_small_tiles_that_share_their_representatives(monkeypatch):
    # new rows have tiles of their own beside those of all rows: more tiles than rows
    monkeypatch.setattr(joining, "AT_ONCE", 50)
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 1)), np.tile([0, 0, 1], 134)[:400]
    with plan.override(tile_size=2):
        forests = class_forests(X[:40], y[:40], n_trees=1)
        for first, last in ((40, 80), (80, 400)):
            forests = forests.extend(X[first:last], y[first:last])
    assert_same_class_forests(forests, class_forests(X, y, n_trees=1))


def test_class_forests_with_more_trees_than_the_first_points_allow():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 2)), np.arange(30) % 2
    forests = class_forests(X[:3], y[:3], n_trees=5)
    for start, stop in ((3, 4), (4, 12), (12, 30)):
        forests = forests.extend(X[start:stop], y[start:stop])
        assert_same_class_forests(forests, class_forests(X[:stop], y[:stop], n_trees=5))


def test_class_forests_after_errors_and_pickling():
    rng = np.random.default_rng(0)
    X, y = rng.random((900, 3)), rng.integers(0, 3, 900)
    forests = class_forests(X[:800], y[:800])
    for X_bad, y_bad, message in (
        (X[:2, :2], y[:2], "X has 2 features, but ClassForests is expecting 3"),
        (X[:2] * np.nan, y[:2], "NaN"),
        (X[:2], y[:1], "inconsistent numbers of samples"),
        (X[:2], ["a", "b"], "mixed types"),
        (X[:2], [0.5, 1.0], "continuous"),
    ):
        with pytest.raises(ValueError, match=message):
            forests.extend(X_bad, y_bad)
    again = pickle.loads(pickle.dumps(forests))
    expected = class_forests(X, y)
    assert_same_class_forests(forests.extend(X[800:], y[800:]), expected)
    assert_same_class_forests(again.extend(X[800:], y[800:]), expected)
