"""The reference against other people's code, against enumeration, and against its own definition."""

import struct
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from helpers.naive_forests import (
    NaiveForests,
    all_edges_in_order,
    enumerated_cross_counts,
    first_tree_without_cycle,
    naive_cross_counts,
    naive_forests,
    value_hashes,
)
from helpers.one_case import for_each
from helpers.point_sets import KINDS, TIED_KINDS, make_labels, make_points


def hash_with_python_integers(row):
    h = 0x9E3779B97F4A7C15
    for x in row:
        (bits,) = struct.unpack("<Q", struct.pack("<d", x))
        h = (h ^ bits) * 0xFF51AFD7ED558CCD % 2**64
        h ^= h >> 32
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    h = (h ^ h >> 27) * 0x94D049BB133111EB % 2**64
    return h ^ h >> 31


def test_hashes_match_python_integers():
    X = make_points("mixed_scales", 50, 7)
    assert value_hashes(X).tolist() == [hash_with_python_integers(row) for row in X]


@for_each("kind", ["gaussian", "uniform", "clustered", "cauchy", "mixed_scales"])
@for_each("d", [1, 2, 8])
def test_trees_are_scipys_one_after_the_other(kind, d):
    """Without ties: tree t is the minimum spanning tree of what the trees before it left."""
    X = make_points(kind, 80, d)
    forests = naive_forests(X, 3)
    left = squareform(pdist(X))
    for t in range(3):
        tree = minimum_spanning_tree(left).tocoo()
        edges = forests.edges[forests.tree == t]
        expected = {(min(i, j), max(i, j)) for i, j in zip(tree.row, tree.col, strict=True)}
        assert set(map(tuple, edges)) == expected
        assert forests.weights[forests.tree == t].sum() == pytest.approx(tree.data.sum(), rel=1e-12)
        left[edges[:, 0], edges[:, 1]] = left[edges[:, 1], edges[:, 0]] = 0


@for_each("kind", [*TIED_KINDS, "gaussian", "few_distinct", "all_identical"])
@for_each("n", [2, 4, 5])
def test_trees_are_the_lightest_of_all_spanning_trees(kind, n):
    """With ties: edge number p of the order weighs 2**p, and every spanning tree is tried."""
    X = make_points(kind, n, 2) + 0.0
    i, j, *_ = all_edges_in_order(X, seed=0)
    tree = first_tree_without_cycle(n, i, j, n_trees=2)
    left = list(range(len(i)))
    for t in range(2):
        accepted = np.flatnonzero(tree == t).tolist()
        rival_trees = [
            chosen
            for chosen in combinations(left, len(accepted))
            if (first_tree_without_cycle(n, i[list(chosen)], j[list(chosen)], 1) == 0).all()
        ]
        assert accepted == list(min(rival_trees, key=lambda c: sum(2**p for p in c), default=()))
        left = [p for p in left if p not in accepted]
        # As many edges as a forest of what was left can hold.
        bigger = combinations(left + accepted, len(accepted) + 1)
        assert not any((first_tree_without_cycle(n, i[[*c]], j[[*c]], 1) == 0).all() for c in bigger)


@for_each("case", range(20))
def test_forests_compose(case):
    """F_k(A and B) needs only F_k(A), F_k(B) and the edges between A and B."""
    rng = np.random.default_rng(case)
    n, n_trees = int(rng.integers(4, 30)), int(rng.integers(1, 5))
    X = make_points(list(KINDS)[case % len(KINDS)], n, int(rng.integers(1, 4)), seed=case) + 0.0
    in_a = rng.random(n) < 0.5
    i, j, *_ = all_edges_in_order(X, seed=case)
    whole = first_tree_without_cycle(n, i, j, n_trees)
    candidates = in_a[i] != in_a[j]
    for side in (in_a, ~in_a):
        inside = np.flatnonzero(side[i] & side[j])
        kept = first_tree_without_cycle(n, i[inside], j[inside], n_trees) >= 0
        candidates[inside[kept]] = True
    merged = np.full(len(i), -1)
    merged[candidates] = first_tree_without_cycle(n, i[candidates], j[candidates], n_trees)
    np.testing.assert_array_equal(merged, whole)


@for_each("seed", range(8))
def test_cross_count_formula_is_the_mean_over_all_deals(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((3, 2)), rng.integers(1, 5, 3), axis=0)
    X = rng.permutation(np.vstack([X, rng.standard_normal((2, 2))]))
    y = make_labels(len(X), 3, seed=seed)
    forests = naive_forests(X, 3)
    np.testing.assert_allclose(naive_cross_counts(forests, y), enumerated_cross_counts(forests, y), atol=1e-12)


def test_cross_counts_without_copies_are_plain_counts():
    forests = NaiveForests(
        edges=np.array([[0, 1], [1, 2], [2, 3]]),
        weights=np.ones(3),
        tree=np.zeros(3, dtype=np.int64),
        sites=np.arange(4),
    )
    np.testing.assert_array_equal(naive_cross_counts(forests, ["a", "b", "a", "a"]), [[[0, 2], [2, 0]]])
