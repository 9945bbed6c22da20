"""Minimum cuts equal brute force and networkx, whatever the order of the classes; those of easy classes are even."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesfloor.tree import build_class_tree

from .brute_force_cuts import best_cuts
from .graphs import as_sets, below, kinds, star, symmetric, tied_weights


def assert_every_split_is_a_minimum_cut(weights):
    for node in build_class_tree(weights).nodes:
        codes = below(node)
        lowest, cuts = best_cuts(weights[np.ix_(codes, codes)])
        assert tuple(np.searchsorted(codes, node.left)) in cuts
        assert node.cut == pytest.approx(lowest, rel=1e-12)


@given(tied_weights())
def test_brute_force_with_ties(weights):
    assert_every_split_is_a_minimum_cut(weights)


@pytest.mark.parametrize("n", range(2, 11))
def test_brute_force(n):
    rng = np.random.default_rng(n)
    for weights in (rng.random((n, n)), rng.random((n, n)) * (rng.random((n, n)) < 0.4), rng.random((n, n)) ** -3):
        assert_every_split_is_a_minimum_cut(symmetric(weights))


@pytest.mark.parametrize("kind", kinds(9))
def test_brute_force_on_kinds_of_graphs(kind):
    assert_every_split_is_a_minimum_cut(kinds(9)[kind])


@given(st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_ties_hidden_by_rounding(n, seed):
    # multiples of 0.1 sum up to slightly different floats, in any order
    weights = symmetric(np.random.default_rng(seed).integers(0, 4, (n, n)) * 0.1)
    assert_every_split_is_a_minimum_cut(weights)


@pytest.mark.parametrize("kind", kinds(25))
def test_networkx(kind):
    weights = kinds(25)[kind]
    for node in build_class_tree(weights).nodes:
        codes = below(node)
        graph = networkx.from_numpy_array(weights[np.ix_(codes, codes)])
        if networkx.is_connected(graph):
            value, _ = networkx.stoer_wagner(graph)
        else:
            value = 0
        assert node.cut == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("n", [5, 20, 50])
def test_networkx_finds_the_same_sides(n):
    # on random positive graphs, whose minimum cut is the only one
    for seed in range(3):
        weights = symmetric(np.random.default_rng(seed).random((n, n)) + 0.01)
        root = build_class_tree(weights).nodes[0]
        value, sides = networkx.stoer_wagner(networkx.from_numpy_array(weights))
        assert root.cut == pytest.approx(value)
        assert {root.left, root.right} == {tuple(sorted(side)) for side in sides}


@pytest.mark.parametrize("kind", ["uniform", "exponential", "heavy tail", "sparse", "blocks", "near and far"])
def test_order_of_classes_does_not_matter(kind):
    weights = kinds(49)[kind]
    expected = as_sets(build_class_tree(weights))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(49)
        assert as_sets(build_class_tree(weights[np.ix_(order, order)]), names=order) == expected


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_scale_does_not_matter(scale):
    for weights in kinds(16).values():
        assert as_sets(build_class_tree(scale * weights)) == as_sets(build_class_tree(weights))


def test_all_zeros_give_a_balanced_tree():
    assert build_class_tree(np.zeros((5, 5))).to_nested() == [[0, 1], [2, [3, 4]]]
    for n in (2, 3, 8, 9, 100):
        assert build_class_tree(np.zeros((n, n))).depth == np.ceil(np.log2(n))


def test_classes_without_weight_between_them_are_split_evenly():
    # parts of 5, 2, 2 and 1 classes: 5 and 5 is possible
    parts = np.array([0, 1, 0, 2, 0, 3, 1, 0, 2, 0])
    weights = symmetric(parts[:, None] == parts)
    root = build_class_tree(weights).nodes[0]
    assert root.left == (0, 2, 4, 7, 9)
    assert root.right == (1, 3, 5, 6, 8)


def test_a_star_loses_one_ray_at_a_time():
    assert build_class_tree(star(50)).depth == 49


def test_equal_weights_split_off_one_class_at_a_time():
    assert build_class_tree(np.ones((5, 5))).depth == 4


def test_thousand_classes_all_zeros():
    tree = build_class_tree(np.zeros((1000, 1000)))
    assert tree.n_nodes == 999
    assert tree.depth == 10


def test_hundreds_of_random_classes():
    weights = symmetric(np.random.default_rng(0).random((500, 500)))
    tree = build_class_tree(weights)
    assert tree.n_nodes == 499
    for node in tree.nodes[::50]:
        codes = below(node)
        # in a dense graph of like weights any larger side has many more weights to cut than a single class
        degrees = weights[np.ix_(codes, codes)].sum(axis=1)
        assert min(len(node.left), len(node.right)) == 1
        assert node.cut == pytest.approx(degrees.min())


def test_hundreds_of_classes_in_groups():
    # two groups of 250 and a weak link: only the first cut is easy
    rng = np.random.default_rng(1)
    group = np.arange(500) % 2
    weights = symmetric(np.where(group[:, None] == group, rng.random((500, 500)), 0))
    weights[0, 1] = weights[1, 0] = 1e-3
    tree = build_class_tree(weights)
    assert tree.nodes[0].left == tuple(range(0, 500, 2))
    assert tree.nodes[0].cut == 1e-3
