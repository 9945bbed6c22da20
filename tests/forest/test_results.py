"""`Forests` and `ClassForests` as objects: fields, frames, what can be done with them."""

import copy
import dataclasses
import pickle
import sys
from itertools import cycle

import numpy as np
import pandas as pd
import pytest

import bayesfloor
from bayesfloor import class_forests, spanning_forests
from bayesfloor.results import ClassForests, Forests
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import first_tree_without_cycle


@pytest.fixture
def forests():
    return spanning_forests(make_points("gaussian", 100, 3))


@pytest.fixture
def by_class():
    return class_forests(make_points("some_copies", 100, 3), make_labels(100, 3))


def test_public_names():
    assert {"spanning_forests", "class_forests"} <= set(bayesfloor.__all__)


@pytest.mark.parametrize(("kind", "n_trees"), list(zip(KINDS, cycle([1, 3, 20]), strict=False)))
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


@pytest.mark.parametrize(
    ("n", "n_trees", "spans"),
    [(2, 1, True), (2, 2, False), (3, 1, True), (3, 2, False), (40, 5, True), (5, 4, False)],
)
def test_spans(n, n_trees, spans):
    """k trees of n points need k(n - 1) edges, and there are n(n - 1)/2."""
    result = spanning_forests(make_points("uniform", n, 2), n_trees=n_trees)
    assert result.spans is spans


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


def test_frame_without_pandas(monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = spanning_forests([[0.0], [1.0], [3.0]], n_trees=1).frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["tree", "i", "j", "weight"]
    assert frame.rows() == [(0, 0, 1, 1.0), (0, 1, 2, 2.0)]


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
