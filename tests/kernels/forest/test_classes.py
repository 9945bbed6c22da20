"""`class_forests` is `spanning_forests` on the rows of every pair of classes, and on all rows.

However pairs are joined: by all edges at once, in a block, or by a sweep.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.classes import joining
from helpers.agreement import assert_same_forests
from helpers.naive_forests import naive_cross_counts, naive_forests
from helpers.one_case import for_each
from helpers.pairwise_design import all_pairs
from helpers.point_sets import KINDS, make_labels, make_points

WAYS = {
    "as it comes": {},
    "small": {"SMALL_BLOCK": 10**9},
    "block": {"SMALL_BLOCK": 0},
    "sweep": {"SMALL_BLOCK": 0, "AT_ONCE": 0},
}
# As it comes, and with small sets in tiles too.
PLANS = [{}, {"all_pairs_below": 2, "tile_size": 8}]
KINDS_OF_CLASSES = (
    "gaussian",
    "one_hot",
    "standardized_one_hot",
    "integer_grid",
    "few_distinct",
    "some_copies",
    "all_identical",
    "nearly_copies",
    "cauchy",
    "one_outlier",
    "mixed_scales",
    "signed_zeros",
)


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
        assert_allclose(result.pair_cross_counts, counts, rtol=1e-13, atol=1e-13, err_msg=way)
        for a, b in combinations(classes, 2):
            assert_same_forests(result.pair(a, b), results["sweep"].pair(a, b))
    return results


def assert_is_every_pair_and_the_whole(X, y, n_trees=3, random_state=0):
    options = {"n_trees": n_trees, "random_state": random_state}
    result = class_forests(X, y, **options)
    classes, counts = np.unique(y, return_counts=True)
    assert_array_equal(result.classes, classes)
    assert_array_equal(result.class_counts, counts)
    assert result.n_samples == len(X)
    assert result.pair_cross_counts.shape == (result.n_trees, len(classes), len(classes))
    expected_counts = np.zeros_like(result.pair_cross_counts)
    for (k, a), (m, b) in combinations(enumerate(classes), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        pair = result.pair(a, b)
        assert_array_equal(pair.rows, rows)
        assert_same_forests(pair, spanning_forests(X[rows], **options))
        crossing = pair.cross_counts(y[rows])[:, 0, 1]
        expected_counts[: len(crossing), k, m] = expected_counts[: len(crossing), m, k] = crossing
    assert_allclose(result.pair_cross_counts, expected_counts, rtol=1e-12, atol=1e-12)
    assert result.whole.rows is None
    assert_same_forests(result.whole, spanning_forests(X, **options))
    return result


@for_each(("kind", "d"), all_pairs(KINDS_OF_CLASSES, [1, 30]))
def test_against_the_reference(kind, d):
    """Not by way of `spanning_forests`: pairs, the whole and the counts from the naive code."""
    X, y = make_points(kind, 90, d), make_labels(90, 3)
    whole, rows_of = naive_forests(X, 3), {}
    for a, b in combinations(range(3), 2):
        rows_of[a, b] = np.flatnonzero((y == a) | (y == b))
    for way in WAYS:
        result = joined(way, X, y)
        assert_same_forests(result.whole, whole)
        for (a, b), rows in rows_of.items():
            expected = naive_forests(X[rows], 3)
            assert_same_forests(result.pair(a, b), expected)
            counts = naive_cross_counts(expected, y[rows])[:, 0, 1]
            assert_allclose(result.pair_cross_counts[: len(counts), a, b], counts, rtol=1e-12, atol=1e-12, err_msg=way)


@for_each(
    ("points", "tile_size", "survivors_per_point", "projection"),
    all_pairs(
        [("one_hot", 20), ("nearly_copies", 30), ("far_from_zero", 40), ("mixed_scales", 24)],
        [None, 7],
        [6.0, 0.0],
        ["auto", "pca", "none"],
    ),
)
def test_settings_do_not_change_pairs(points, tile_size, survivors_per_point, projection):
    kind, d = points
    X, y = make_points(kind, 200, d), make_labels(200, 3)
    with plan.override(tile_size=tile_size, survivors_per_point=survivors_per_point, projection=projection):
        assert_every_way_is_the_same(X, y)


@for_each(("kind", "tile_size"), [("evenly_spaced", 3), ("few_distinct", 20)])
def test_settling_midway(kind, tile_size):
    """Small buffers and many trees: the sweep stops in the middle of a block, and goes on with closer bounds."""
    X, y = make_points(kind, 200, 48, seed=4), make_labels(200, 5, seed=4)
    with plan.override(tile_size=tile_size, survivors_per_point=0.0):
        results = assert_every_way_is_the_same(X, y, n_trees=6)
    assert_same_forests(results["block"].whole, naive_forests(X, 6))


@for_each("d", [3, 120])
def test_classes_of_very_different_sizes(d):
    """One row, two rows, and hundreds; the last few axes of many features are left out of the first look."""
    y = np.repeat([0, 1, 2, 3], [1, 2, 40, 700])
    X = make_points("gaussian", len(y), d) * np.linspace(3, 0.2, d) + 2.0 * (y == 3)[:, None]
    assert_every_way_is_the_same(X, y)


def test_most_features_carry_nothing():
    """Leading axes alone let almost every pair pass, so that all features are compared at once."""
    X = np.random.default_rng(0).standard_normal((500, 150))
    X[:, :4] *= 6.0
    assert_every_way_is_the_same(X, make_labels(500, 3))


def test_copies_in_both_classes():
    """Sites of many copies, some of them shared by classes: more edges tie than the buffer holds."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((25, 3))[rng.integers(0, 25, 500)], make_labels(500, 3)
    with plan.override(survivors_per_point=0.0):
        results = assert_every_way_is_the_same(X, y)
    assert (results["block"].pair_cross_counts % 1 != 0).any()


def test_more_trees_than_a_tile_has_points():
    """The nearest tile of the other class has fewer points than there are neighbours to find."""
    X, y = make_points("gaussian", 160, 2), np.arange(160) % 2
    results = assert_every_way_is_the_same(X, y, n_trees=70)
    assert_same_forests(results["sweep"].pair(0, 1), spanning_forests(X, n_trees=70))


def test_points_too_close_for_squares():
    """Different points whose squared distance is zero are not the same site."""
    X = np.array([[1.0], [1.0 + 1e-200], [0.0], [1e-200], [-1e-200], [5.0], [5.0]])
    y = np.array([0, 1, 0, 1, 1, 0, 1])
    results = assert_every_way_is_the_same(X, y, n_trees=2)
    assert_same_forests(results["small"].pair(0, 1), naive_forests(X, 2))


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(6, 120),
    d=st.integers(1, 40),
    n_classes=st.integers(2, 6),
    n_trees=st.integers(1, 4),
    all_pairs_below=st.sampled_from([2, 200]),
    tile_size=st.sampled_from([None, 3, 20]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=20)
def test_anywhere(kind, n, d, n_classes, n_trees, seed, **of_plan):
    X = make_points(kind, n, d, seed=seed)
    y = make_labels(n, n_classes, seed=seed)
    with plan.override(**of_plan):
        assert_every_way_is_the_same(X, y, n_trees=n_trees, random_state=seed)
        assert_is_every_pair_and_the_whole(X, y, n_trees=n_trees, random_state=seed)


@for_each(
    ("kind", "n_classes", "n_trees", "plan_"),
    all_pairs(["gaussian", "some_copies", "one_hot", "all_identical"], [2, 5, 8], [1, 4, 12], PLANS),
)
def test_numbers_of_classes_and_trees(kind, n_classes, n_trees, plan_):
    X = make_points(kind, 200, 4)
    with plan.override(**plan_):
        assert_is_every_pair_and_the_whole(X, make_labels(200, n_classes), n_trees=n_trees, random_state=5)


@for_each(("kind", "n", "d", "n_classes"), [("gaussian", 1200, 2, 5), ("one_hot", 1000, 20, 4)])
def test_many_tiles(kind, n, d, n_classes):
    assert_is_every_pair_and_the_whole(make_points(kind, n, d), make_labels(n, n_classes))


@pytest.mark.parametrize("sizes", [[1, 1], [1, 2], [1, 60], [1, 1, 1], [1, 2, 3, 150], [2] * 6])
def test_tiny_classes(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    for kind, plan_ in all_pairs(("gaussian", "few_distinct", "all_identical"), PLANS)[:4]:
        X = make_points(kind, len(y), 2)
        with plan.override(**plan_):
            assert_is_every_pair_and_the_whole(X, y)


def test_classes_far_apart_and_sorted_in_the_rows():
    """The one forced edge per pair and tree is found, however far it reaches."""
    y = np.sort(make_labels(300, 4))
    X = make_points("gaussian", 300, 3) + 1e6 * y[:, None]
    result = assert_is_every_pair_and_the_whole(X, y)
    apart = ~np.eye(4, dtype=bool)
    assert (result.pair_cross_counts[:, apart] == 1).all()


def test_labels_are_kept():
    X = make_points("gaussian", 120, 3)
    for labels in (
        np.array(["cat", "dog", "eel"]),
        np.array([-3, 0, 10**12]),
        np.array([0.0, 1.0, 2.0]),
        np.array([False, True]),
        np.array(["b", "a", "ä", "Z"], dtype=object),
    ):
        y = labels[make_labels(120, len(labels))]
        result = class_forests(X, y)
        assert list(result.classes) == sorted(labels)
        a, b = result.classes[:2]
        rows = np.flatnonzero((y == a) | (y == b))
        for pair in (result.pair(a, b), result.pair(b, a)):
            assert_array_equal(pair.rows, rows)
            assert_same_forests(pair, spanning_forests(X[rows]))


def test_pair_of_an_unknown_class():
    result = class_forests(make_points("gaussian", 20, 2), ["a", "b"] * 10)
    with pytest.raises(ValueError, match="zebra"):
        result.pair("a", "zebra")
    with pytest.raises(ValueError, match="a"):
        result.pair("a", "a")


@pytest.mark.parametrize(
    ("n", "n_classes", "n_jobs"),
    [(480, 120, 1), (480, 120, 3), pytest.param(4000, 1000, None, marks=pytest.mark.slow)],
)
def test_many_small_classes(n, n_classes, n_jobs):
    """Batches of pairs on one thread or several, and the whole from all of their edges; some pairs are looked at."""
    y = np.arange(n) % n_classes
    X = make_points("some_copies", n, 3)
    result = class_forests(X, y, n_jobs=n_jobs)
    assert_same_forests(result.whole, spanning_forests(X))
    for a, b in [(0, 1), (0, n_classes - 1), (57, 80), (n_classes - 2, n_classes - 1)]:
        rows = np.flatnonzero((y == a) | (y == b))
        expected = naive_forests(X[rows], 3)
        assert_same_forests(result.pair(a, b), expected)
        counts = naive_cross_counts(expected, y[rows])[:, 0, 1]
        assert_allclose(result.pair_cross_counts[: len(counts), a, b], counts)
