"""Cuts that tie are decided by a second weight: the lowest of them, and the same in any order of the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesfloor.tree import build_class_tree

from .brute_force_cuts import best_cuts, cut_value
from .graphs import as_sets, below, kinds, star, symmetric, tied_weights

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


@pytest.mark.parametrize("kind", TIED)
@pytest.mark.parametrize("cut", CUTS)
def test_order_of_classes_does_not_matter_where_weights_tie(cut, kind):
    weights, second = TIED[kind], second_weights(25)
    expected = as_sets(build_class_tree(weights, cut=cut, tie_weights=second))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(25)
        mixed = [matrix[np.ix_(order, order)] for matrix in (weights, second)]
        assert as_sets(build_class_tree(mixed[0], cut=cut, tie_weights=mixed[1]), names=order) == expected


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


@pytest.mark.parametrize("cut", CUTS)
def test_second_weights_decide_nothing_else(cut):
    for kind in ("uniform", "exponential", "blocks"):
        weights = kinds(36)[kind]
        found = build_class_tree(weights, cut=cut, tie_weights=second_weights(36))
        assert found.nodes == build_class_tree(weights, cut=cut).nodes


def test_second_weights_of_zero_leave_ties_as_they_are():
    weights = TIED["integers"]
    assert build_class_tree(weights, tie_weights=np.zeros((25, 25))).nodes == build_class_tree(weights).nodes


@pytest.mark.parametrize("cut", CUTS)
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


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (np.ones((2, 2)), r"3 classes need tie_weights of shape \(3, 3\), got \(2, 2\)"),
        (np.full((3, 3), np.nan), "tie_weights should be finite: row 'ant', column 'bee' has nan"),
        (np.arange(9.0).reshape(3, 3), "tie_weights should be symmetric"),
        (np.eye(3) - 1, "tie_weights should be 0 or more"),
    ],
)
def test_wrong_second_weights(second, message):
    with pytest.raises(ValueError, match=message):
        build_class_tree(np.ones((3, 3)), ["ant", "bee", "cat"], tie_weights=second)
