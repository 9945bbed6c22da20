"""A class tree, the forms it can be written in, and what it cannot be made of."""

import copy
import dataclasses
import json
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bayesfloor import build_class_tree
from bayesfloor.results import ClassTree
from helpers.graphs import as_sets, kinds, random_tree, symmetric
from helpers.one_case import for_each
from helpers.refusals import not_refused

LABELS = {
    "int": [3, 1, 2, 7, 5],
    "negative": [-3, 0, -1, 4, 9],
    "text": ["b", "a", "e", "NA", "ä ö"],
    "float": [1.0, 0.0, 2.0, 5.0, 4.0],
    "bool": [True, False],
    "hostile": ['say "hi"', "back\\slash", "new\nline", "<script>alert(1)</script>", "\x1b[31mred & &lt; $x$"],
}


def tree_of(labels, seed=0):
    n = len(labels)
    return build_class_tree(symmetric(np.random.default_rng(seed).random((n, n))), labels)


@pytest.fixture
def tree():
    #       0
    #   1       3
    # a   2   d   e
    #    b c
    weights = symmetric(np.arange(25).reshape(5, 5))
    return build_class_tree(weights, list("abcde"), cut=[["e", "d"], [["c", "b"], "a"]])


def test_nodes(tree):
    assert [node.left for node in tree.nodes] == [(0, 1, 2), (0,), (1,), (3,)]
    assert [node.right for node in tree.nodes] == [(3, 4), (1, 2), (2,), (4,)]
    assert [node.parent for node in tree.nodes] == [-1, 0, 1, 0]
    assert [node.depth for node in tree.nodes] == [0, 1, 2, 1]
    assert [node.index for node in tree.nodes] == [0, 1, 2, 3]
    assert [node.cut for node in tree.nodes] == [3 + 4 + 8 + 9 + 13 + 14, 1 + 2, 7, 19]
    assert (tree.n_classes, tree.n_nodes, tree.depth) == (5, 4, 3)


def test_arrays(tree):
    assert tree.children.tolist() == [[1, 3], [~0, 2], [~1, ~2], [~3, ~4]]
    assert tree.children.dtype == np.int64
    assert tree.sides.tolist() == [[-1, -1, -1, 1, 1], [-1, 1, 1, 0, 0], [0, -1, 1, 0, 0], [0, 0, 0, -1, 1]]
    assert tree.sides.dtype == np.int8
    assert tree.leaves.tolist() == ["a", "b", "c", "d", "e"]


def test_leaves_follow_the_tree():
    assert build_class_tree(None, cut=[[4, 1], [[3, 0], 2]]).leaves.tolist() == [0, 3, 2, 1, 4]


def test_text(tree):
    assert tree.to_text().splitlines() == [
        "cut 51",
        "├─ cut 3",
        "│  ├─ a",
        "│  └─ cut 7",
        "│     ├─ b",
        "│     └─ c",
        "└─ cut 19",
        "   ├─ d",
        "   └─ e",
    ]
    assert repr(tree) == "ClassTree(5 classes, depth 3, cuts 3 to 51)"


def test_tree_without_weights():
    tree = build_class_tree(None, cut=["a", ["b", "c"]])
    assert np.isnan([node.cut for node in tree.nodes]).all()
    assert tree.to_text().splitlines()[0] == "split"
    assert repr(tree) == "ClassTree(3 classes, depth 2)"
    assert [node["cut"] for node in tree.to_dict()["nodes"]] == [None, None]
    assert np.isnan(ClassTree.from_dict(tree.to_dict()).nodes[1].cut)


def test_text_is_safe_on_a_terminal():
    lines = tree_of(LABELS["hostile"]).to_text().splitlines()
    assert len(lines) == 9
    assert all(line.isprintable() for line in lines)
    assert any(r"'new\nline'" in line for line in lines)


def test_empty_and_blank_labels_show():
    assert {line[-3:] for line in tree_of(["", " ", "x"]).to_text().splitlines() if "cut" not in line} >= {" ''", "' '"}


@for_each("kind", LABELS)
def test_round_trip_through_json(kind):
    tree = tree_of(LABELS[kind])
    text = json.dumps(tree.to_dict(), allow_nan=False)
    again = ClassTree.from_dict(json.loads(text))
    assert again.nodes == tree.nodes
    assert again.to_dict() == tree.to_dict()
    assert again.classes.tolist() == LABELS[kind]
    assert [type(label) for label in again.classes.tolist()] == [type(label) for label in LABELS[kind]]


def test_numpy_labels_become_plain():
    for labels in (np.array([2, 1, 0], np.int8), np.array(["a", "b"], object), np.array([1, 2], np.float32)):
        assert {type(label) for label in tree_of(labels).to_dict()["classes"]} <= {int, str, float}


def test_order_of_nodes_in_a_dict_does_not_matter(tree):
    written = tree.to_dict()
    written["nodes"] = [
        {"left": node["right"][::-1], "right": node["left"], "cut": node["cut"]} for node in written["nodes"][::-1]
    ]
    assert ClassTree.from_dict(written).nodes == tree.nodes


def changed(tree, change):
    written = copy.deepcopy(tree.to_dict())
    change(written)
    return written


def test_wrong_dicts_are_refused(tree):
    table = [
        (lambda d: d.pop("nodes"), "expected 'classes' and 'nodes'"),
        (lambda d: d.update(nodes=3), "expected 'classes' and 'nodes'"),
        (lambda d: d["nodes"][1].pop("cut"), "expected 'classes' and 'nodes'"),
        (lambda d: d["nodes"].pop(), "5 classes need 4 nodes, got 3"),
        (lambda d: d["nodes"][1].update(left=["z"]), "Node 1 holds something that is no class.*'z'"),
        (lambda d: d["nodes"][1].update(left=[["a"]]), "Node 1 holds something that is no class"),
        (lambda d: d["nodes"][1].update(cut="low"), "Node 1 holds something that is no class or no number.*low"),
        (lambda d: d["nodes"][1].update(left=[]), "Node 1 needs two sides"),
        (lambda d: d["nodes"][1].update(left=["b"]), "Node 1 needs two sides with different classes"),
        (lambda d: d["nodes"].__setitem__(2, d["nodes"][3]), "No node has exactly these classes below it: 'b', 'c'"),
        (lambda d: d.update(classes=list("abcda")), "classes holds 'a' more than once"),
    ]
    written = [(changed(tree, change), message) for change, message in table]
    assert not_refused(ClassTree.from_dict, written) == []


def test_frame(tree):
    frame = tree.frame()
    assert list(frame.columns) == ["node", "parent", "depth", "left", "right", "cut"]
    assert list(frame["parent"]) == [-1, 0, 1, 0]
    assert [list(side) for side in frame["right"]] == [["d", "e"], ["b", "c"], ["c"], ["e"]]
    assert list(frame["cut"]) == [51, 3, 7, 19]


@given(st.integers(2, 12), st.integers(0, 1000))
def test_nested_lists_give_the_tree_back(n, seed):
    labels = [f"class {k}" for k in range(n)]
    weights = symmetric(np.random.default_rng(seed).random((n, n)))
    tree = build_class_tree(weights, labels, cut=random_tree(labels, np.random.default_rng(seed)))
    assert build_class_tree(weights, labels, cut=tree.to_nested()).nodes == tree.nodes
    assert as_sets(build_class_tree(None, cut=tree.to_nested())) == as_sets(tree)


@given(st.integers(2, 30), st.integers(0, 1000))
def test_sides_children_and_leaves_agree(n, seed):
    tree = build_class_tree(np.zeros((n, n)), cut=random_tree(range(n), np.random.default_rng(seed)))
    assert sorted(tree.leaf_codes) == list(range(n))
    for node in tree.nodes:
        assert set(np.flatnonzero(tree.sides[node.index] == -1)) == set(node.left)
        assert set(np.flatnonzero(tree.sides[node.index] == 1)) == set(node.right)
        for side, child in zip((node.left, node.right), tree.children[node.index], strict=True):
            if child < 0:
                assert side == (~child,)
            else:
                below = tree.nodes[child]
                assert tuple(sorted(below.left + below.right)) == side
                assert (below.parent, below.depth) == (node.index, node.depth + 1)


def peeled(n):
    """Nested lists that split off one class at a time."""
    nested = n - 1
    for code in range(n - 2, -1, -1):
        nested = [code, nested]
    return nested


def test_deep_trees_need_no_recursion():
    n = sys.getrecursionlimit() + 200
    tree = build_class_tree(np.zeros((n, n)), cut=peeled(n))
    assert tree.depth == n - 1
    assert tree.leaves.tolist() == list(range(n))
    assert tree.to_text().count("\n") == 2 * n - 2
    assert build_class_tree(np.zeros((n, n)), cut=tree.to_nested()).nodes == tree.nodes
    assert ClassTree.from_dict(json.loads(json.dumps(tree.to_dict()))).nodes == tree.nodes
    assert pickle.loads(pickle.dumps(tree)).nodes == tree.nodes


def test_trees_are_frozen(tree):
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.nodes = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.nodes[0].cut = 0.0


def test_digits_of_a_cut_are_plain_floats():
    assert {type(node.cut) for node in build_class_tree(kinds(9)["integers"].astype(int)).nodes} == {float}


# ------------------------------------------------------------------------------------------ weights, classes, cuts

NAMES = ["ant", "bee", "cat"]


def with_value(a, b, value, mirror=True):
    weights = symmetric(np.ones((3, 3)))
    weights[a, b] = value
    if mirror:
        weights[b, a] = value
    return weights


def test_wrong_weights():
    table = [
        (with_value(0, 2, np.nan), "finite: row 'ant', column 'cat' has nan"),
        (with_value(0, 2, np.nan, mirror=False), "finite: row 'ant', column 'cat' has nan"),
        (with_value(1, 2, np.inf), "finite: row 'bee', column 'cat' has inf"),
        (with_value(1, 2, -0.5), "0 or more: row 'bee', column 'cat' has -0.5"),
        (
            with_value(2, 1, 0.5, mirror=False),
            "symmetric: row 'bee', column 'cat' has 1, row 'cat', column 'bee' has 0.5",
        ),
        (with_value(0, 1, 1e308) * 1.5, "sum of all weights is too large"),
        (np.ones((3, 2)), r"square matrix, got an array of shape \(3, 2\)"),
        (np.ones(3), r"square matrix, got an array of shape \(3,\)"),
        (np.ones((3, 3, 3)), "square matrix"),
        (sparse.csr_array(np.ones((3, 3))), "square matrix"),
        (np.ones((4, 4)), r"3 classes need weights of shape \(3, 3\), got \(4, 4\)"),
        (np.ones((3, 3)) * 1j, "numbers, got an array of type complex128"),
        ([["a"] * 3] * 3, "numbers, got an array of type <U1"),
        (np.full((3, 3), None), "finite: row 'ant', column 'bee' has nan"),
        (np.full((3, 3), "x", dtype=object), "weights should be numbers: could not convert"),
        (None, "weights may be None only where cut is nested lists"),
    ]
    assert not_refused(lambda weights: build_class_tree(weights, NAMES), table) == []
    cuts = [(cut, "row 'ant', column 'bee' has nan") for cut in ("average-linkage", ["ant", ["bee", "cat"]])]
    assert not_refused(lambda cut: build_class_tree(with_value(0, 1, np.nan), NAMES, cut=cut), cuts) == []


def test_wrong_classes():
    table = [
        (["a", "b", "a"], "classes holds 'a' more than once"),
        (["a", "b", 3], "mixed types"),
        (["a", "b", None], "missing label"),
        ([0.0, np.nan, 1.0], "missing label"),
        ([["a"], ["b"], ["c"]], "1d array"),
        (3, "classes should be a list or array of labels, got 3"),
    ]
    assert not_refused(lambda classes: build_class_tree(np.ones((3, 3)), classes), table) == []
    few = [(([[0.0]], ["a"]), "got 1: 'a'"), (([[0.0]],), "got 1: 0"), ((np.empty((0, 0)),), "got 0")]
    few = [(arguments, "needs two classes, " + words) for arguments, words in few]
    assert not_refused(lambda arguments: build_class_tree(*arguments), few) == []


def self_containing():
    tree = ["ant"]
    tree.append(["bee", tree])
    return tree


def test_wrong_cuts():
    words = "must be one of 'min-cut', 'average-linkage' or nested lists of labels. Got"
    unknown = [(cut, words) for cut in ("mincut", "random", "", None, 3, {"a": "b"})]
    nested = [
        (["ant", "bee"], "lacks the classes 'cat'"),
        (["ant", ["bee", "ant"]], "class 'ant' more than once"),
        (["ant", ["bee", "dog"]], "holds 'dog', which is not one of the classes"),
        (["ant", ["bee", {"cat"}]], "not one of the classes"),
        (["ant", "bee", "cat"], "two children, got 3: .'ant', 'bee', 'cat'"),
        (["ant", ["bee", ["cat"]]], "two children, got 1: .'cat'"),
        (["ant", []], "two children, got 0"),
        ([], "two children, got 0"),
        (self_containing(), "same list more than once"),
    ]
    assert not_refused(lambda cut: build_class_tree(np.ones((3, 3)), NAMES, cut=cut), unknown + nested) == []
    assert not_refused(lambda cut: build_class_tree(None, NAMES, cut=cut), nested) == []
    alone = [
        (["a", ["b", "a"]], "classes holds 'a' more than once"),
        (["a", ["b", 3]], "mixed types"),
        (self_containing(), "same list more than once"),
    ]
    assert not_refused(lambda cut: build_class_tree(None, cut=cut), alone) == []


def test_nested_lists_of_any_labels():
    assert build_class_tree(None, cut=("b", ("a", "c"))).to_nested() == [["a", "c"], "b"]
    assert build_class_tree(None, [2, 0, 1], cut=[np.int64(0), [np.int32(2), 1]]).to_nested() == [[2, 1], 0]
    assert build_class_tree(None, cut=[True, False]).classes.tolist() == [False, True]
    assert build_class_tree(None, cut=[2.0, [1.0, 0.0]]).to_nested() == [[0.0, 1.0], 2.0]


def test_classes_keep_their_order_and_type():
    tree = build_class_tree(np.zeros((3, 3)), np.array(["z", "x", "y"], dtype=object))
    assert tree.classes.tolist() == ["z", "x", "y"]
    assert tree.classes.dtype == object
    assert build_class_tree(np.zeros((2, 2)), np.array([5, 3], np.int16)).classes.dtype == np.int16


def test_diagonal_and_rounding_decide_nothing():
    weights = kinds(9)["uniform"]
    expected = build_class_tree(weights)
    assert build_class_tree(weights + np.diag([np.nan, -1, np.inf, 5, 5, 5, 5, 5, 5])).nodes == expected.nodes
    nearly = np.triu(weights) * (1 + 1e-15) + np.tril(weights)
    assert as_sets(build_class_tree(nearly)) == as_sets(expected)


def test_kinds_of_array(tmp_path):
    weights = kinds(9)["integers"]
    expected = build_class_tree(weights).nodes
    memory_map = np.memmap(tmp_path / "weights", np.float64, "w+", shape=weights.shape)
    memory_map[:] = weights
    read_only = weights.copy()
    read_only.flags.writeable = False
    forms = [weights.tolist(), weights.astype(np.float32), weights.astype(">f8"), weights.astype(np.int8)]
    for each in [*forms, np.asfortranarray(weights), read_only, memory_map, pd.DataFrame(weights)]:
        assert build_class_tree(each).nodes == expected


@for_each("cut", ["min-cut", "average-linkage"])
def test_input_is_not_written_to(cut):
    weights = kinds(25)["sparse"] + np.eye(25)
    labels = np.arange(25)
    before = weights.copy()
    tree = build_class_tree(weights, labels, cut=cut)
    labels[:] = -1
    np.testing.assert_array_equal(weights, before)
    assert tree.classes.tolist() == list(range(25))


@for_each("cut", ["min-cut", "average-linkage"])
def test_weights_of_any_size(cut):
    ones, sizes = np.ones((40, 40)), 10.0 ** np.random.default_rng(0).integers(-300, 300, (40, 40))
    for weights in (np.zeros((40, 40)), ones, 5e-324 * ones, sizes):
        assert sorted(build_class_tree(symmetric(weights), cut=cut).leaf_codes) == list(range(40))
