"""Trees by average linkage equal a slow walk over the mean weights; both cuts follow the weights, and not the names."""

import numpy as np
import pytest

from bayesfloor.tree import build_class_tree

from .graphs import as_sets, kinds, symmetric

CUTS = ["min-cut", "average-linkage"]


@pytest.mark.parametrize("cut", CUTS)
def test_cut_is_the_sum_between_the_sides(cut):
    for weights in kinds(25).values():
        tree = build_class_tree(weights, cut=cut)
        for node in tree.nodes:
            assert node.cut == pytest.approx(sum(weights[a, b] for a in node.left for b in node.right), rel=1e-12)
        # each pair of classes is parted once
        assert sum(node.cut for node in tree.nodes) == pytest.approx(weights.sum() / 2)
        # whatever the order of the numbers in memory
        assert build_class_tree(weights.copy("F"), cut=cut).to_dict() == tree.to_dict()


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_the_two_sets_with_the_highest_mean_weight_are_joined_first(n, scale):
    weights = scale * symmetric(np.random.default_rng(n).random((n, n)))
    groups = [frozenset([code]) for code in range(n)]
    expected = set()
    while len(groups) > 1:
        pairs = [(a, b) for i, a in enumerate(groups) for b in groups[:i]]
        a, b = max(pairs, key=lambda pair: weights[np.ix_(list(pair[0]), list(pair[1]))].mean())
        expected.add(frozenset([a, b]))
        groups = [group for group in groups if group not in (a, b)] + [a | b]
    assert as_sets(build_class_tree(weights, cut="average-linkage")) == expected


def test_small_weights_beside_large_ones_are_not_rounded_away():
    weights = symmetric(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3e-20], [0, 0, 0, 0]]))
    weights[0, 2] = weights[2, 0] = 1e-20
    assert build_class_tree(weights, cut="average-linkage").to_nested() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("cut", CUTS)
def test_order_of_classes_does_not_matter(cut):
    for kind in ("uniform", "sparse", "blocks", "near and far"):
        weights = kinds(36)[kind]
        expected = as_sets(build_class_tree(weights, cut=cut))
        order = np.random.default_rng(0).permutation(36)
        assert as_sets(build_class_tree(weights[np.ix_(order, order)], cut=cut), names=order) == expected
