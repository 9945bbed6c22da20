"""Both cuts against slow ones: minimum cuts, of which a second weight decides, and average linkage."""

import json

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import build_class_tree, pairwise_bayes_error
from helpers.brute_force_cuts import best_cuts, cut_value
from helpers.graphs import as_sets, below, kinds, star, symmetric, tied_weights
from helpers.one_case import for_each
from helpers.refusals import not_refused

CUTS = ["min-cut", "average-linkage"]
TIED = {
    "zeros": np.zeros((25, 25)),
    "ones": symmetric(np.ones((25, 25))),
    "star": star(25),
    "a few weights": symmetric(np.random.default_rng(0).random((25, 25)) < 0.03),
    "integers": kinds(25)["integers"],
}


def second_weights(n, seed=0):
    return symmetric(np.random.default_rng(seed).random((n, n)))


def assert_every_split_is_a_minimum_cut(weights, name=""):
    for node in build_class_tree(weights).nodes:
        codes = below(node)
        lowest, cuts = best_cuts(weights[np.ix_(codes, codes)])
        assert tuple(np.searchsorted(codes, node.left)) in cuts, name
        assert node.cut == pytest.approx(lowest, rel=1e-12), name


@given(tied_weights())
def test_brute_force_with_ties(weights):
    assert_every_split_is_a_minimum_cut(weights)


def test_brute_force():
    for n in range(2, 9):
        rng = np.random.default_rng(n)
        for weights in (rng.random((n, n)), rng.random((n, n)) * (rng.random((n, n)) < 0.4), rng.random((n, n)) ** -3):
            assert_every_split_is_a_minimum_cut(symmetric(weights))
    for kind, weights in kinds(9).items():
        assert_every_split_is_a_minimum_cut(weights, kind)


@given(st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_ties_hidden_by_rounding(n, seed):
    # multiples of 0.1 sum up to slightly different floats, in any order
    weights = symmetric(np.random.default_rng(seed).integers(0, 4, (n, n)) * 0.1)
    assert_every_split_is_a_minimum_cut(weights)


@given(tied_weights(), st.integers(0, 2**32 - 1))
def test_of_minimum_cuts_the_one_with_the_lowest_second_weight(weights, seed):
    second = second_weights(len(weights), seed)
    for node in build_class_tree(weights, tie_weights=second).nodes:
        codes = below(node)
        of_both = [matrix[np.ix_(codes, codes)] for matrix in (weights, second)]
        lowest, cuts = best_cuts(of_both[0])
        assert node.cut == pytest.approx(lowest, rel=1e-12)
        left = tuple(np.searchsorted(codes, node.left))
        least = min(cut_value(of_both[1], each) for each in cuts)
        assert cut_value(of_both[1], left) == pytest.approx(least, rel=1e-9)


def test_networkx():
    for kind, weights in kinds(16).items():
        for node in build_class_tree(weights).nodes:
            codes = below(node)
            graph = networkx.from_numpy_array(weights[np.ix_(codes, codes)])
            value = networkx.stoer_wagner(graph)[0] if networkx.is_connected(graph) else 0
            assert node.cut == pytest.approx(value, rel=1e-12), kind


@for_each("cut", CUTS)
def test_order_of_classes_does_not_matter(cut):
    """Where weights tie, second ones decide, and where they do not, second ones change nothing."""
    clear = {kind: kinds(36)[kind] for kind in ("uniform", "exponential", "sparse", "blocks", "near and far")}
    for kind, weights in (TIED | clear).items():
        second = second_weights(len(weights))
        tree = build_class_tree(weights, cut=cut, tie_weights=second)
        if kind in clear:
            assert build_class_tree(weights, cut=cut).nodes == tree.nodes, kind
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(weights))
            mixed = [matrix[np.ix_(order, order)] for matrix in (weights, second)]
            found = as_sets(build_class_tree(mixed[0], cut=cut, tie_weights=mixed[1]), names=order)
            assert found == as_sets(tree), kind


def test_second_weights_of_zero_leave_ties_as_they_are():
    weights = TIED["integers"]
    assert build_class_tree(weights, tie_weights=np.zeros((25, 25))).nodes == build_class_tree(weights).nodes


def test_scale_does_not_matter():
    for kind, weights in kinds(16).items():
        for scale in (1e-250, 1e250):
            assert as_sets(build_class_tree(scale * weights)) == as_sets(build_class_tree(weights)), kind


def test_zeros_are_split_evenly_and_equal_weights_one_by_one():
    assert build_class_tree(np.zeros((5, 5))).to_nested() == [[0, 1], [2, [3, 4]]]
    for n in (2, 3, 8, 9, 200):
        assert build_class_tree(np.zeros((n, n))).depth == np.ceil(np.log2(n))
    assert build_class_tree(star(50)).depth == 49
    assert build_class_tree(np.ones((5, 5))).depth == 4


def test_classes_without_weight_between_them_are_split_evenly():
    # parts of 5, 2, 2 and 1 classes: 5 and 5 is possible
    parts = np.array([0, 1, 0, 2, 0, 3, 1, 0, 2, 0])
    root = build_class_tree(symmetric(parts[:, None] == parts)).nodes[0]
    assert root.left == (0, 2, 4, 7, 9)
    assert root.right == (1, 3, 5, 6, 8)


def test_hundreds_of_classes():
    """In a dense graph of like weights a single class is cheapest; two groups with a weak link are parted first."""
    rng = np.random.default_rng(1)
    weights = symmetric(rng.random((300, 300)))
    tree = build_class_tree(weights)
    assert tree.n_nodes == 299
    for node in tree.nodes[::50]:
        codes = below(node)
        degrees = weights[np.ix_(codes, codes)].sum(axis=1)
        assert min(len(node.left), len(node.right)) == 1
        assert node.cut == pytest.approx(degrees.min())
    group = np.arange(300) % 2
    weights = np.where(group[:, None] == group, weights, 0)
    weights[0, 1] = weights[1, 0] = 1e-3
    tree = build_class_tree(weights)
    assert tree.nodes[0].left == tuple(range(0, 300, 2))
    assert tree.nodes[0].cut == 1e-3


# -------------------------------------------------------------------------------------------------- average linkage


@for_each("cut", CUTS)
def test_cut_is_the_sum_between_the_sides(cut):
    for weights in kinds(25).values():
        tree = build_class_tree(weights, cut=cut)
        for node in tree.nodes:
            assert node.cut == pytest.approx(sum(weights[a, b] for a in node.left for b in node.right), rel=1e-12)
        # each pair of classes is parted once
        assert sum(node.cut for node in tree.nodes) == pytest.approx(weights.sum() / 2)
        # whatever the order of the numbers in memory
        assert build_class_tree(weights.copy("F"), cut=cut).to_dict() == tree.to_dict()


@for_each("scale", [1e-300, 1.0, 1e300])
def test_the_two_sets_with_the_highest_mean_weight_are_joined_first(scale):
    for n in (2, 3, 10, 40):
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


@for_each("cut", CUTS)
def test_a_finding_where_the_weights_give_no_order(cut):
    (bare,) = build_class_tree(np.zeros((5, 5)), cut=cut).findings
    assert bare.code == "BF018"
    assert "3 of the 4 cuts of the class tree follow a cut of 0" in bare.sentence
    assert "the order of the classes decided" in bare.sentence
    assert "tie_weights" in bare.hint
    (decided,) = build_class_tree(np.zeros((5, 5)), cut=cut, tie_weights=second_weights(5)).findings
    assert "second weights decided" in decided.sentence
    # one cut of 0 is where the weights say, and so are two that do not follow each other
    pairs = symmetric(np.kron(np.eye(2), np.ones((2, 2))))
    for weights in (pairs, kinds(9)["uniform"]):
        assert build_class_tree(weights, cut=cut).findings == ()
    assert build_class_tree(np.zeros((5, 5)), cut=[0, [1, [2, [3, 4]]]]).findings == ()


def test_wrong_second_weights():
    table = [
        (np.ones((2, 2)), r"3 classes need tie_weights of shape \(3, 3\), got \(2, 2\)"),
        (np.full((3, 3), np.nan), "tie_weights should be finite: row 'ant', column 'bee' has nan"),
        (np.arange(9.0).reshape(3, 3), "tie_weights should be symmetric"),
        (np.eye(3) - 1, "tie_weights should be 0 or more"),
    ]
    classes = ["ant", "bee", "cat"]
    assert not_refused(lambda second: build_class_tree(np.ones((3, 3)), classes, tie_weights=second), table) == []


# --------------------------------------------------------------------------------------------- the authors' own code


def splits_of(node):
    """The splits of a golden tree, with the value of each and the number of minimum cuts."""
    if isinstance(node, int):
        return {}
    split = frozenset([frozenset(node["negative"]), frozenset(node["positive"])])
    here = {split: (node["cut_value"], node["n_min_cuts"])}
    return here | splits_of(node["negative_child"]) | splits_of(node["positive_child"])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_trees_are_those_of_the_authors(load, golden_dir):
    """From their weights, and from the data: with the same cuts, and the same values of these."""
    X, y = load(return_X_y=True)
    jitter = 1e-3 * np.random.RandomState(12345).standard_normal(X.shape) * X.std(0).mean()
    variants = {"raw": X, "standardized": StandardScaler().fit_transform(X), "jitter": X + jitter}
    written = json.loads((golden_dir / f"{load.__name__.removeprefix('load_')}.json").read_text())
    for variant, points in variants.items():
        golden = written[variant]
        tree = build_class_tree(golden["pairwise_ber_normalized"], golden["classes"])
        expected = splits_of(golden["tree"])
        assert {n_cuts for _, n_cuts in expected.values()} == {1}  # so there is only one right tree
        assert as_sets(tree) == expected.keys()
        cuts = {frozenset([frozenset(node.left), frozenset(node.right)]): node.cut for node in tree.nodes}
        for split, (value, _) in expected.items():
            assert cuts[split] == pytest.approx(value, rel=1e-12)
        floors = pairwise_bayes_error(points, y)
        assert as_sets(build_class_tree(floors.normalized, floors.classes)) == expected.keys()
