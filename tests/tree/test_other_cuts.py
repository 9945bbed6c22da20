"""The other ways to cut: against brute force, scipy, theory and planted answers."""

import numpy as np
import pytest
import scipy.cluster.hierarchy
from hypothesis import given
from scipy.spatial.distance import squareform

from bayesfloor.tree import build_class_tree
from bayesfloor.tree.cuts import exchanged_halves, spectral_normalized_cut

from .brute_force_cuts import best_cuts, cut_value, first_of, normalized_value
from .graphs import as_sets, below, kinds, symmetric, tied_weights

WEIGHTED = ["min-cut", "normalized-cut", "average-linkage", "balanced"]


@pytest.mark.parametrize("cut", [*WEIGHTED, "random"])
def test_cut_is_the_sum_between_the_sides(cut):
    for weights in kinds(25).values():
        tree = build_class_tree(weights, cut=cut, random_state=0)
        for node in tree.nodes:
            assert node.cut == pytest.approx(sum(weights[a, b] for a in node.left for b in node.right), rel=1e-12)
        # each pair of classes is parted once
        assert sum(node.cut for node in tree.nodes) == pytest.approx(weights.sum() / 2)
        # whatever the order of the numbers in memory
        assert build_class_tree(weights.copy("F"), cut=cut, random_state=0).to_dict() == tree.to_dict()


@given(tied_weights(most=7))
def test_normalized_cut_equals_brute_force(weights):
    for node in build_class_tree(weights, cut="normalized-cut").nodes:
        codes = below(node)
        _, cuts = best_cuts(weights[np.ix_(codes, codes)], normalized_value)
        assert node.left == tuple(codes[list(first_of(cuts, len(codes)))])


@given(tied_weights(most=8))
def test_balanced_cut_equals_brute_force(weights):
    for node in build_class_tree(weights, cut="balanced").nodes:
        codes = below(node)
        n = len(codes)
        _, cuts = best_cuts(weights[np.ix_(codes, codes)], allowed=lambda left, n=n: abs(2 * len(left) - n) <= 1)
        assert node.left == tuple(codes[list(first_of(cuts, n))])


def split_of(left):
    return tuple(np.flatnonzero(left))


@pytest.mark.parametrize("kind", kinds(9))
def test_spectral_cut_keeps_cheegers_promise(kind):
    # the second eigenvalue bounds the best cut from below, and the sweep by twice Cheeger's root
    weights = kinds(9)[kind]
    degree = weights.sum(axis=1)
    laplacian = np.eye(9) - weights / np.sqrt(np.outer(degree, degree))
    second = np.linalg.eigvalsh(laplacian)[1]
    best, _ = best_cuts(weights, normalized_value)
    swept = normalized_value(weights, split_of(spectral_normalized_cut(weights)))
    assert second - 1e-12 <= best <= swept * (1 + 1e-12)
    assert swept <= 2 * np.sqrt(2 * second)


def test_spectral_cut_finds_two_groups():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.arange(60) < 20)
    weights = symmetric(rng.random((60, 60)) * np.where(group[:, None] == group, 1, 0.05))
    root = build_class_tree(weights, cut="normalized-cut").nodes[0]
    assert {root.left, root.right} == {tuple(np.flatnonzero(group)), tuple(np.flatnonzero(~group))}


@pytest.mark.parametrize("n", [40, 41])
@pytest.mark.parametrize("kind", ["uniform", "sparse", "blocks", "integers"])
def test_no_exchange_of_two_classes_improves_a_balanced_cut(n, kind):
    weights = kinds(49)[kind][:n, :n]
    left = exchanged_halves(weights)
    value = cut_value(weights, split_of(left))
    assert abs(2 * left.sum() - n) <= 1
    for a in np.flatnonzero(left):
        for b in np.flatnonzero(~left):
            exchanged = left.copy()
            exchanged[[a, b]] = exchanged[[b, a]]
            assert cut_value(weights, split_of(exchanged)) > value * (1 - 1e-9)


def test_exchanges_come_close_to_brute_force():
    for seed in range(10):
        weights = symmetric(np.random.default_rng(seed).random((10, 10)))
        best, _ = best_cuts(weights, allowed=lambda left: len(left) == 5)
        assert cut_value(weights, split_of(exchanged_halves(weights))) < 1.1 * best


def test_balanced_cut_finds_two_groups():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.arange(61) < 30)
    weights = symmetric(rng.random((61, 61)) * np.where(group[:, None] == group, 1, 0.3))
    root = build_class_tree(weights, cut="balanced").nodes[0]
    assert {root.left, root.right} == {tuple(np.flatnonzero(group)), tuple(np.flatnonzero(~group))}


@pytest.mark.parametrize("n", [2, 3, 17, 33, 64, 100])
def test_balanced_trees_are_as_shallow_as_can_be(n):
    for weights in (np.zeros((n, n)), symmetric(np.random.default_rng(0).random((n, n)))):
        assert build_class_tree(weights, cut="balanced").depth == np.ceil(np.log2(n))


@pytest.mark.parametrize("n", [3, 10, 60])
def test_average_linkage_equals_scipy(n):
    weights = symmetric(np.random.default_rng(n).random((n, n)))
    distances = squareform(1 - weights, checks=False)
    groups = {code: frozenset([code]) for code in range(n)}
    expected = set()
    for step, (a, b, _, _) in enumerate(scipy.cluster.hierarchy.linkage(distances, "average")):
        expected.add(frozenset([groups[a], groups[b]]))
        groups[n + step] = groups[a] | groups[b]
    assert as_sets(build_class_tree(weights, cut="average-linkage")) == expected


def test_average_linkage_joins_small_groups_first_where_all_is_equal():
    assert build_class_tree(np.zeros((4, 4)), cut="average-linkage").to_nested() == [[0, 1], [2, 3]]
    assert build_class_tree(np.ones((64, 64)), cut="average-linkage").depth == 6


@pytest.mark.parametrize("cut", WEIGHTED)
def test_order_of_classes_does_not_matter(cut):
    for kind in ("uniform", "sparse", "blocks", "near and far"):
        weights = kinds(36)[kind]
        expected = as_sets(build_class_tree(weights, cut=cut))
        order = np.random.default_rng(0).permutation(36)
        assert as_sets(build_class_tree(weights[np.ix_(order, order)], cut=cut), names=order) == expected


def test_random_trees_follow_the_seed():
    weights = kinds(25)["uniform"]
    trees = [build_class_tree(weights, cut="random", random_state=seed).to_text() for seed in (0, 0, 1)]
    assert trees[0] == trees[1] != trees[2]
    generator = np.random.default_rng(0)
    drawn = [build_class_tree(weights, cut="random", random_state=generator).to_text() for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_random_trees_reach_every_split():
    roots = [build_class_tree(np.zeros((3, 3)), cut="random", random_state=seed).nodes[0] for seed in range(300)]
    counts = {left: sum(root.left == left for root in roots) for left in [(0,), (0, 1), (0, 2)]}
    assert min(counts.values()) > 70  # 100 are expected of each
