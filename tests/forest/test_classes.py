"""`class_forests` is `spanning_forests` on the rows of every pair of classes, and on all rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import naive_cross_counts, naive_forests
from pairwise_design import all_pairs

# As it comes, and with small sets in tiles too.
PLANS = [{}, {"all_pairs_below": 2, "tile_size": 8}]


def assert_is_every_pair_and_the_whole(X, y, n_trees=3, random_state=0):
    options = {"n_trees": n_trees, "random_state": random_state}
    result = class_forests(X, y, **options)
    classes, counts = np.unique(y, return_counts=True)
    np.testing.assert_array_equal(result.classes, classes)
    np.testing.assert_array_equal(result.class_counts, counts)
    assert result.n_samples == len(X)
    assert result.pair_cross_counts.shape == (result.n_trees, len(classes), len(classes))
    expected_counts = np.zeros_like(result.pair_cross_counts)
    for (k, a), (m, b) in combinations(enumerate(classes), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        pair = result.pair(a, b)
        np.testing.assert_array_equal(pair.rows, rows)
        assert_same_forests(pair, spanning_forests(X[rows], **options))
        crossing = pair.cross_counts(y[rows])[:, 0, 1]
        expected_counts[: len(crossing), k, m] = expected_counts[: len(crossing), m, k] = crossing
    np.testing.assert_allclose(result.pair_cross_counts, expected_counts, rtol=1e-12, atol=1e-12)
    assert result.whole.rows is None
    assert_same_forests(result.whole, spanning_forests(X, **options))
    return result


@pytest.mark.parametrize(("kind", "d", "plan_"), all_pairs(KINDS, [1, 20], PLANS))
def test_every_kind_of_points(kind, d, plan_):
    X = make_points(kind, 240, d)
    with plan.override(**plan_):
        assert_is_every_pair_and_the_whole(X, make_labels(240, 3))


@pytest.mark.parametrize(
    ("kind", "n_classes", "plan_"), all_pairs(["gaussian", "some_copies", "one_hot"], [2, 5, 8], PLANS)
)
def test_numbers_of_classes(kind, n_classes, plan_):
    X = make_points(kind, 260, 4)
    with plan.override(**plan_):
        assert_is_every_pair_and_the_whole(X, make_labels(260, n_classes))


@pytest.mark.parametrize(
    ("kind", "n", "d", "n_classes"),
    [("gaussian", 1500, 2, 5), ("clustered", 1200, 8, 4), ("one_hot", 1200, 20, 4)],
)
def test_many_tiles(kind, n, d, n_classes):
    assert_is_every_pair_and_the_whole(make_points(kind, n, d), make_labels(n, n_classes))


@pytest.mark.parametrize("kind", ["gaussian", "few_distinct", "integer_grid"])
def test_against_the_reference(kind):
    """Not by way of `spanning_forests`: pairs, the whole and the counts from the naive code."""
    X = make_points(kind, 150, 3)
    y = make_labels(150, 4)
    result = class_forests(X, y)
    assert_same_forests(result.whole, naive_forests(X, 3))
    for a, b in combinations(range(4), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        expected = naive_forests(X[rows], 3)
        assert_same_forests(result.pair(a, b), expected)
        np.testing.assert_allclose(
            result.pair_cross_counts[:, a, b],
            naive_cross_counts(expected, y[rows])[:, 0, 1],
            rtol=1e-12,
        )


@pytest.mark.parametrize(
    ("sizes", "kind", "plan_"),
    all_pairs(
        [[1, 1], [1, 2], [1, 60], [1, 1, 1], [1, 2, 3, 200], [2] * 6],
        ["gaussian", "few_distinct", "all_identical"],
        PLANS,
    ),
)
def test_tiny_classes(sizes, kind, plan_):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = make_points(kind, len(y), 2)
    with plan.override(**plan_):
        assert_is_every_pair_and_the_whole(X, y)


def test_two_rows():
    result = class_forests([[0.0, 0.0], [3.0, 4.0]], ["b", "a"])
    pair = result.pair("a", "b")
    assert pair.n_trees == result.whole.n_trees == 1
    np.testing.assert_array_equal(pair.edges, [[0, 1]])
    np.testing.assert_array_equal(pair.weights, [5.0])
    np.testing.assert_array_equal(result.pair_cross_counts[0], [[0, 1], [1, 0]])


def test_classes_sorted_in_the_rows():
    X = make_points("gaussian", 500, 6)
    assert_is_every_pair_and_the_whole(X, np.sort(make_labels(500, 5)))


def test_classes_far_apart():
    """The one forced edge per pair and tree is found, however far it reaches."""
    y = make_labels(300, 4)
    X = make_points("gaussian", 300, 3) + 1e6 * y[:, None]
    result = assert_is_every_pair_and_the_whole(X, y)
    apart = ~np.eye(4, dtype=bool)
    assert (result.pair_cross_counts[:, apart] == 1).all()


def test_identical_rows_in_different_classes():
    X = np.repeat(make_points("gaussian", 60, 4), 5, axis=0)
    y = make_labels(300, 3)
    result = assert_is_every_pair_and_the_whole(X, y)
    assert (result.pair_cross_counts % 1 != 0).any()


@pytest.mark.parametrize(("n_trees", "seed", "plan_"), all_pairs([1, 2, 4, 9], [0, 5], PLANS))
def test_options(n_trees, seed, plan_):
    X = make_points("one_hot", 200, 10)
    with plan.override(**plan_):
        result = assert_is_every_pair_and_the_whole(X, make_labels(200, 3), n_trees=n_trees, random_state=seed)
    assert result.n_trees == n_trees


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(6, 120),
    d=st.integers(1, 25),
    n_classes=st.integers(2, 6),
    n_trees=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    plan_=st.sampled_from(PLANS),
)
@settings(max_examples=25)
def test_anywhere(kind, n, d, n_classes, n_trees, seed, plan_):
    X = make_points(kind, n, d, seed=seed)
    y = make_labels(n, n_classes, seed=seed)
    with plan.override(**plan_):
        assert_is_every_pair_and_the_whole(X, y, n_trees=n_trees, random_state=seed)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["cat", "dog", "eel"]),
        np.array([-3, 0, 10**12]),
        np.array([0.0, 1.0, 2.0]),
        np.array([False, True]),
        np.array(["b", "a", "ä", "Z"], dtype=object),
    ],
    ids=["text", "integers", "whole floats", "booleans", "objects"],
)
def test_labels_are_kept(labels):
    y = labels[make_labels(120, len(labels))]
    X = make_points("gaussian", 120, 3)
    result = class_forests(X, y)
    assert list(result.classes) == sorted(labels)
    a, b = result.classes[:2]
    rows = np.flatnonzero((y == a) | (y == b))
    for pair in (result.pair(a, b), result.pair(b, a)):
        np.testing.assert_array_equal(pair.rows, rows)
        assert_same_forests(pair, spanning_forests(X[rows]))


def test_pair_of_an_unknown_class():
    result = class_forests(make_points("gaussian", 20, 2), ["a", "b"] * 10)
    with pytest.raises(ValueError, match="zebra"):
        result.pair("a", "zebra")
    with pytest.raises(ValueError, match="a"):
        result.pair("a", "a")


def test_a_hundred_classes():
    """4950 pairs of six rows each; a sample of them is looked at."""
    y = np.arange(300) % 100
    X = make_points("gaussian", 300, 4)
    result = class_forests(X, y, n_trees=2)
    for a, b in [(0, 1), (0, 99), (37, 60), (98, 99)]:
        rows = np.flatnonzero((y == a) | (y == b))
        assert_same_forests(result.pair(a, b), naive_forests(X[rows], 2))
    assert_same_forests(result.whole, spanning_forests(X, n_trees=2))


@pytest.mark.slow
def test_a_thousand_classes():
    y = np.arange(4000) % 1000
    X = make_points("some_copies", 4000, 4)
    result = class_forests(X, y)
    for a, b in [(0, 1), (0, 999), (571, 812), (998, 999)]:
        rows = np.flatnonzero((y == a) | (y == b))
        expected = naive_forests(X[rows], 3)
        assert_same_forests(result.pair(a, b), expected)
        np.testing.assert_allclose(
            result.pair_cross_counts[: expected.tree.max() + 1, a, b],
            naive_cross_counts(expected, y[rows])[:, 0, 1],
        )
    assert_same_forests(result.whole, spanning_forests(X))
