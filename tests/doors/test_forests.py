"""Forests as a caller sees them: what goes in and what is refused, fields, frames, and what can be done with them.

What each refusal says in full is tested with the checks themselves, in `tests/data`.
"""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from bayesfloor import TablePreparer, class_forests, spanning_forests
from bayesfloor.results import ClassForests, Forests
from helpers.agreement import assert_same_forests
from helpers.naive_forests import first_tree_without_cycle, naive_forests
from helpers.one_case import for_each
from helpers.point_sets import make_labels, make_points
from helpers.refusals import not_refused


@pytest.fixture
def forests():
    return spanning_forests(make_points("gaussian", 100, 3))


@pytest.fixture
def by_class():
    return class_forests(make_points("some_copies", 100, 3), make_labels(100, 3))


@for_each("kind", ["gaussian", "one_hot", "few_distinct", "all_identical", "hub_in_a_sphere"])
@for_each("n_trees", [1, 20])
def test_fields(kind, n_trees):
    """Shapes and types, and trees that are trees: without cycles, apart, ordered."""
    n = 120
    result = spanning_forests(make_points(kind, n, 4), n_trees=n_trees)
    assert isinstance(result, Forests)
    assert type(result.n_samples) is int
    assert type(result.n_trees) is int
    m = len(result.edges)
    assert (result.edges.shape, result.edges.dtype) == ((m, 2), np.int64)
    assert (result.weights.shape, result.weights.dtype) == ((m,), np.float64)
    assert (result.tree.shape, result.tree.dtype) == ((m,), np.int64)
    assert (result.sites.shape, result.sites.dtype) == ((n,), np.int64)
    assert result.n_components.shape == (result.n_trees,)
    assert result.rows is None
    assert (result.edges[:, 0] < result.edges[:, 1]).all()
    assert len(np.unique(result.edges, axis=0)) == m
    assert (np.diff(result.tree) >= 0).all()
    assert 1 <= result.n_trees <= n_trees
    for t in range(result.n_trees):
        in_tree = result.tree == t
        i, j = result.edges[in_tree].T
        assert (first_tree_without_cycle(n, i, j, 1) == 0).all()
        assert result.n_components[t] == n - in_tree.sum()
        assert (np.diff(result.weights[in_tree]) >= 0).all()
    complete = result.n_trees == n_trees and (result.n_components == 1).all()
    assert result.spans is bool(complete)


def test_spans():
    """k trees of n points need k(n - 1) edges, and there are n(n - 1)/2."""
    expected = {(2, 1): True, (2, 2): False, (3, 1): True, (3, 2): False, (40, 5): True, (5, 4): False}
    for (n, n_trees), spans in expected.items():
        assert spanning_forests(make_points("uniform", n, 2), n_trees=n_trees).spans is spans, (n, n_trees)


def test_two_points():
    result = spanning_forests([[0.0, 0.0], [3.0, 4.0]])
    assert result.n_trees == 1
    np.testing.assert_array_equal(result.edges, [[0, 1]])
    np.testing.assert_array_equal(result.weights, [5.0])
    np.testing.assert_array_equal(result.n_components, [1])
    assert not result.spans


def test_three_points():
    """T1 takes the two short sides; the long one is left for T2, which cannot span."""
    result = spanning_forests([[0.0], [1.0], [3.0]])
    assert result.n_trees == 2
    np.testing.assert_array_equal(result.edges, [[0, 1], [1, 2], [0, 2]])
    np.testing.assert_array_equal(result.weights, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(result.tree, [0, 0, 1])
    np.testing.assert_array_equal(result.n_components, [1, 2])


def test_frozen(forests, by_class):
    with pytest.raises(dataclasses.FrozenInstanceError):
        forests.n_samples = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        by_class.classes = None


def test_repr_is_short(forests, by_class):
    for result in (forests, by_class, by_class.whole, by_class.pair(0, 1)):
        assert len(repr(result)) < 200
        assert "array" not in repr(result)
        assert type(result).__name__ in repr(result)
    assert "100" in repr(forests)


def test_frame(forests):
    frame = forests.frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["tree", "i", "j", "weight"]
    np.testing.assert_array_equal(frame["tree"], forests.tree)
    np.testing.assert_array_equal(frame[["i", "j"]], forests.edges)
    np.testing.assert_array_equal(frame["weight"], forests.weights)


def test_copies_and_pickles(forests, by_class):
    for again in (pickle.loads(pickle.dumps(forests)), copy.deepcopy(forests)):
        assert_same_forests(again, forests)
        assert again.spans == forests.spans
    for again in (pickle.loads(pickle.dumps(by_class)), copy.deepcopy(by_class)):
        assert_same_forests(again.whole, by_class.whole)
        assert_same_forests(again.pair(0, 2), by_class.pair(0, 2))
        np.testing.assert_array_equal(again.pair_cross_counts, by_class.pair_cross_counts)


def test_class_forests_fields(by_class):
    assert isinstance(by_class, ClassForests)
    assert isinstance(by_class.whole, Forests)
    assert isinstance(by_class.pair(0, 1), Forests)
    assert by_class.n_samples == by_class.whole.n_samples == 100
    assert by_class.n_trees == 3
    assert by_class.class_counts.sum() == 100
    counts = by_class.pair_cross_counts
    assert (counts.shape, counts.dtype) == ((3, 3, 3), np.float64)
    np.testing.assert_array_equal(counts, counts.transpose(0, 2, 1))
    assert not counts.diagonal(axis1=1, axis2=2).any()


def test_cross_counts_take_any_labels(forests):
    codes = make_labels(100, 3)
    expected = forests.cross_counts(codes)
    names = np.array(["ash", "beech", "cedar"])[codes]
    for labels in (names, list(names), pd.Series(names), names.astype(object), codes * 1.0):
        np.testing.assert_array_equal(forests.cross_counts(labels), expected)


def test_cross_counts_sum_to_the_cross_edges():
    """Without copies: every edge is counted for exactly one pair of classes, or for none."""
    forests = spanning_forests(make_points("gaussian", 300, 3))
    y = make_labels(300, 5)
    crossing = y[forests.edges[:, 0]] != y[forests.edges[:, 1]]
    per_tree = np.bincount(forests.tree, weights=crossing)
    np.testing.assert_array_equal(forests.cross_counts(y).sum(axis=(1, 2)) / 2, per_tree)


# ---------------------------------------------------------------------------------------------------- what goes in


@for_each("order", ["C", "F"])
def test_input_is_never_written_to(order):
    for kind in ("gaussian", "some_copies", "one_outlier", "signed_zeros", "mixed_scales"):
        for d in (2, 25):
            X = np.array(make_points(kind, 150, d), order=order)
            y = make_labels(150, 3)
            before = X.tobytes(), y.tobytes()
            X.flags.writeable = y.flags.writeable = False
            spanning_forests(X).cross_counts(y)
            class_forests(X, y)
            assert (X.tobytes(), y.tobytes()) == before


def test_writable_input_is_neither_written_to_nor_locked():
    X = make_points("one_outlier", 250, 3) * 1e-200
    before = X.copy()
    forests = spanning_forests(X)
    np.testing.assert_array_equal(X, before)
    edges = forests.edges.copy()
    X[:] = 0  # the result must not look at the caller's array any more
    np.testing.assert_array_equal(forests.edges, edges)


GAPS = np.array([[0.0, 1.0], [2.0, np.nan], [3.0, 4.0]])


def test_points_and_labels_that_are_refused():
    points = [
        (GAPS, "NaN in 1 row, column 1"),
        ([[0.0], [10**400]], "infinity"),
        ([["a", 1], ["b", 2], ["c", 3]], "column 0"),
        (np.ones(4), "Expected 2D array, got 1D"),
        (np.ones((1, 2)), "minimum of 2 is required"),
        (scipy.sparse.csr_array((10**6, 10**6)), "the limit is"),
    ]
    assert not_refused(spanning_forests, points) == []
    assert not_refused(lambda X: class_forests(X, [0, 1]), points) == []
    X = make_points("gaussian", 6, 2)
    forests = spanning_forests(X)
    labels = [
        ([0.5, 1.5, 2.25, 3.0, 4.0, 5.0], "regression"),
        (["a", None, "b", None, "a", "b"], "2 missing labels"),
        ([0, 1, 0, 1, 0], "inconsistent numbers of samples"),
        ([[0, 1]] * 6, "1d"),
    ]
    assert not_refused(forests.cross_counts, labels) == []
    labels.append((["a"] * 6, "needs two classes, got 1: 'a'"))
    assert not_refused(lambda y: class_forests(X, y), labels) == []


def test_options_that_are_refused():
    X = make_points("gaussian", 20, 2)
    wrong = {
        ValueError: [("n_trees", 0), ("n_trees", -1), ("n_jobs", 0), ("random_state", -1)],
        TypeError: [("n_trees", 2.5), ("n_jobs", "two"), ("random_state", "seed"), ("progress", "loud")],
    }
    for error, options in wrong.items():
        table = [({name: value}, name) for name, value in options]
        assert not_refused(lambda option: spanning_forests(X, **option), table, error) == []
        assert not_refused(lambda option: class_forests(X, np.arange(20) % 2, **option), table, error) == []
    with pytest.raises(TypeError, match="positional"):
        spanning_forests(X, 3)


def test_frames_with_gaps_and_text_are_made_ready():
    for frame in (pd.DataFrame(GAPS, columns=["a", "b"]), pd.DataFrame({"u": ["a", "b", "a"], "v": [1, 2, 4]})):
        expected = spanning_forests(TablePreparer().fit_transform(frame))
        np.testing.assert_array_equal(spanning_forests(frame).weights, expected.weights)


def test_integers_that_float64_cannot_hold_are_pointed_out():
    with pytest.warns(UserWarning, match=r"beyond 2\*\*53"):
        spanning_forests([[2**60], [2**60 + 1], [5]])


@pytest.mark.limits(memory=10_000)
def test_more_memory_than_there_is():
    X = make_points("gaussian", 3000, 20)
    with pytest.raises(MemoryError, match="available"):
        spanning_forests(X)
    with pytest.raises(MemoryError, match="available"):
        class_forests(X, make_labels(3000, 3))


def test_smallest_inputs():
    for X in (
        [[1.0], [3.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[1e300, 0.0], [-1e300, 0.0]],
        [[5e-324], [0.0]],
        [[0.0], [0.0], [1.0]],
    ):
        assert_same_forests(spanning_forests(X), naive_forests(X, 3))
        assert_same_forests(class_forests(X, np.arange(len(X)) % 2).whole, naive_forests(X, 3))


def test_constant_columns_change_nothing():
    X = make_points("gaussian", 300, 4)
    expected = spanning_forests(X)
    for n_constant in (1, 5):
        forests = spanning_forests(np.hstack([np.full((300, n_constant), 1e5), X]))
        np.testing.assert_array_equal(forests.edges, expected.edges)
        np.testing.assert_array_equal(forests.weights, expected.weights)


def test_random_state_objects():
    X = make_points("one_hot", 200, 10)
    first = spanning_forests(X, random_state=np.random.default_rng(5))
    assert_same_forests(spanning_forests(X, random_state=np.random.default_rng(5)), first)
    for fresh in (None, np.random.default_rng(6)):
        other = spanning_forests(X, random_state=fresh)
        np.testing.assert_array_equal(np.sort(other.weights[other.tree == 0]), np.sort(first.weights[first.tree == 0]))
