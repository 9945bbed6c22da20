"""Sums over edges, from which all variances and moments are made, against the graph written out as a matrix."""

from itertools import combinations, cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor.floor.trees.cross_edges import of_each_pair, of_whole
from bayesfloor.forest import class_forests, spanning_forests
from bayesfloor.forest.classes import joining
from helpers.dense_graph import averaged_adjacency
from helpers.one_case import for_each
from helpers.point_sets import KINDS, make_labels, make_points

N_SUMS = 7


def dense_sums(A, labels):
    """The first seven fields of EdgeSums, by their definitions."""
    crossing = A * (labels[:, None] != labels[None, :])
    degree, cross_degree = A.sum(axis=0), crossing.sum(axis=0)
    return [
        A.sum() / 2,
        np.sum(A**2) / 2,
        np.sum(degree**2),
        crossing.sum() / 2,
        np.sum(crossing**2) / 2,
        np.sum(cross_degree**2),
        np.sum(cross_degree * degree),
    ]


def groups_of_classes(X, y):
    """Sets of classes that are connected through equal rows, by merging until nothing changes."""
    groups = [{k} for k in np.unique(y)]
    for row in np.unique(X, axis=0):
        here = set(y[(row == X).all(axis=1)])
        touched = [group for group in groups if group & here]
        groups = [group for group in groups if not group & here] + [set().union(*touched)]
    return groups


@for_each(
    ("kind", "n_classes", "n_trees"), list(zip(sorted(KINDS)[::3], cycle([2, 3, 7]), cycle([3, 1, 4, 2]), strict=False))
)
def test_sums_are_those_of_the_dense_graph(kind, n_classes, n_trees):
    X, y = make_points(kind, 40, 2), make_labels(40, n_classes)
    forests = spanning_forests(X, n_trees=n_trees)
    A = averaged_adjacency(forests)
    whole, one_vs_rest = forests.edge_sums(y), forests.one_vs_rest_edge_sums(y)
    np.testing.assert_allclose(whole[:N_SUMS], dense_sums(A, y), rtol=1e-12, atol=1e-12)
    groups = groups_of_classes(X + 0.0, y)
    assert whole.n_components == len(groups)
    assert whole.n_spanning == np.sum(forests.n_components == 1)
    for k in range(n_classes):
        sums = [field[k] for field in one_vs_rest]
        np.testing.assert_allclose(sums[:N_SUMS], dense_sums(A, y == k), rtol=1e-12, atol=1e-12)
        assert sums[-1] == (2 if {k} in groups else 1)
        assert sums[-2] == whole.n_spanning


def test_sums_of_one_class_and_of_labels_of_any_kind():
    forests = spanning_forests(make_points("gaussian", 30, 2))
    assert forests.edge_sums(["x"] * 30).cross == 0
    assert forests.edge_sums(["x"] * 30).total == 3 * 29
    assert forests.one_vs_rest_edge_sums(["x"] * 30).cross.tolist() == [0]
    codes = make_labels(30, 3)
    for labels in (np.array(["a", "b", "c"])[codes], codes + 5.0):
        by_class, expected = forests.one_vs_rest_edge_sums(labels), forests.one_vs_rest_edge_sums(codes)
        np.testing.assert_array_equal(np.array(by_class), np.array(expected))


WAYS = {
    "small": {"SMALL_BLOCK": 10**9},
    "block": {"SMALL_BLOCK": 0},
    "sweep": {"SMALL_BLOCK": 0, "AT_ONCE": 0},
}


def assert_pairs_are_measured_like_forests_of_two(X, y, n_trees):
    """Sums, and all that the floor makes of them, as counted in the forests of each pair on their own."""
    by_class = class_forests(X, y, n_trees=n_trees)
    codes = np.unique(y, return_inverse=True)[1]
    measured = of_each_pair(by_class, codes)
    for number, (a, b) in enumerate(combinations(by_class.classes, 2)):
        pair = by_class.pair(a, b)
        labels = y[pair.rows]
        expected = pair.edge_sums(labels)
        sums = [field[number] for field in by_class.pair_edge_sums]
        np.testing.assert_allclose(sums, np.array(expected, float), rtol=1e-13, atol=1e-13)
        alone = of_whole(pair, (labels == b).astype(np.int64), 2)
        for name, value in vars(alone).items():
            of_pairs = np.broadcast_to(getattr(measured, name), len(by_class.pair_edge_sums.cross))
            np.testing.assert_allclose(of_pairs[number], value, rtol=1e-12, atol=1e-12, err_msg=name)


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(4, 90),
    n_classes=st.integers(2, 4),
    n_trees=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    way=st.sampled_from(list(WAYS)),
)
@settings(max_examples=80)
def test_pairs_anywhere(kind, n, n_classes, n_trees, seed, way):
    X, y = make_points(kind, n, 3, seed=seed), make_labels(n, n_classes, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(joining, name, value)
        assert_pairs_are_measured_like_forests_of_two(X, y, n_trees)
