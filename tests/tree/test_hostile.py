"""Bad and strange input: an error that names the classes at fault, or the right tree."""

import threading

import numpy as np
import pytest
from scipy import sparse

from bayesfloor.tree import build_class_tree

from .graphs import as_sets, kinds, symmetric

LABELS = ["ant", "bee", "cat"]


def with_value(a, b, value, mirror=True):
    weights = symmetric(np.ones((3, 3)))
    weights[a, b] = value
    if mirror:
        weights[b, a] = value
    return weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
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
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        build_class_tree(weights, LABELS)


@pytest.mark.parametrize("cut", ["min-cut", "average-linkage", ["ant", ["bee", "cat"]]])
def test_every_cut_checks_the_weights(cut):
    with pytest.raises(ValueError, match="row 'ant', column 'bee' has nan"):
        build_class_tree(with_value(0, 1, np.nan), LABELS, cut=cut)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", "b", "a"], "classes holds 'a' more than once"),
        (["a", "b", 3], "mixed types"),
        (["a", "b", None], "missing label"),
        ([0.0, np.nan, 1.0], "missing label"),
        ([["a"], ["b"], ["c"]], "1d array"),
        (3, "classes should be a list or array of labels, got 3"),
    ],
)
def test_wrong_classes(classes, message):
    with pytest.raises(ValueError, match=message):
        build_class_tree(np.ones((3, 3)), classes)


def test_too_few_classes():
    with pytest.raises(ValueError, match="needs two classes, got 1: 'a'"):
        build_class_tree([[0.0]], ["a"])
    with pytest.raises(ValueError, match="needs two classes, got 1: 0"):
        build_class_tree([[0.0]])
    with pytest.raises(ValueError, match="needs two classes, got 0"):
        build_class_tree(np.empty((0, 0)))


@pytest.mark.parametrize("cut", ["mincut", "random", "", None, 3, {"a": "b"}])
def test_unknown_cut(cut):
    with pytest.raises(ValueError, match=r"must be one of 'min-cut', 'average-linkage' or nested lists of labels. Got"):
        build_class_tree(np.ones((3, 3)), cut=cut)


def self_containing():
    tree = ["ant"]
    tree.append(["bee", tree])
    return tree


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        (["ant", "bee"], "lacks the classes 'cat'"),
        (["ant", ["bee", "ant"]], "class 'ant' more than once"),
        (["ant", ["bee", "dog"]], "holds 'dog', which is not one of the classes"),
        (["ant", ["bee", {"cat"}]], "not one of the classes"),
        (["ant", "bee", "cat"], "two children, got 3: .'ant', 'bee', 'cat'"),
        (["ant", ["bee", ["cat"]]], "two children, got 1: .'cat'"),
        (["ant", []], "two children, got 0"),
        ([], "two children, got 0"),
        (self_containing(), "same list more than once"),
    ],
)
@pytest.mark.parametrize("weights", [None, np.ones((3, 3))])
def test_wrong_nested_lists(nested, message, weights):
    with pytest.raises(ValueError, match=message):
        build_class_tree(weights, LABELS, cut=nested)


def test_wrong_nested_lists_without_classes():
    with pytest.raises(ValueError, match="classes holds 'a' more than once"):
        build_class_tree(None, cut=["a", ["b", "a"]])
    with pytest.raises(ValueError, match="mixed types"):
        build_class_tree(None, cut=["a", ["b", 3]])
    with pytest.raises(ValueError, match="same list more than once"):
        build_class_tree(None, cut=self_containing())


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


def test_diagonal_is_not_used():
    weights = kinds(9)["uniform"]
    marked = weights + np.diag([np.nan, -1, np.inf, 5, 5, 5, 5, 5, 5])
    assert build_class_tree(marked).nodes == build_class_tree(weights).nodes


def test_rounding_does_not_make_weights_asymmetric():
    weights = kinds(9)["uniform"]
    nearly = np.triu(weights) * (1 + 1e-15) + np.tril(weights)
    assert as_sets(build_class_tree(nearly)) == as_sets(build_class_tree(weights))


def test_kinds_of_array(tmp_path):
    weights = kinds(9)["integers"]
    expected = build_class_tree(weights).nodes
    memory_map = np.memmap(tmp_path / "weights", np.float64, "w+", shape=weights.shape)
    memory_map[:] = weights
    read_only = weights.copy()
    read_only.flags.writeable = False
    forms = [weights.tolist(), weights.astype(np.float32), weights.astype(">f8"), weights.astype(np.int8)]
    for given in [*forms, np.asfortranarray(weights), read_only, memory_map]:
        assert build_class_tree(given).nodes == expected


def test_data_frames_of_weights():
    pandas = pytest.importorskip("pandas")
    weights = kinds(9)["uniform"]
    assert build_class_tree(pandas.DataFrame(weights)).nodes == build_class_tree(weights).nodes


@pytest.mark.parametrize("cut", ["min-cut", "average-linkage"])
def test_input_is_not_written_to(cut):
    weights = kinds(25)["sparse"] + np.eye(25)
    labels = np.arange(25)
    before = weights.copy()
    tree = build_class_tree(weights, labels, cut=cut)
    labels[:] = -1
    np.testing.assert_array_equal(weights, before)
    assert tree.classes.tolist() == list(range(25))


@pytest.mark.parametrize("cut", ["min-cut", "average-linkage"])
@pytest.mark.parametrize(
    "weights", [np.zeros((40, 40)), symmetric(np.ones((40, 40))), symmetric(np.full((40, 40), 5e-324))]
)
def test_all_weights_equal(cut, weights):
    tree = build_class_tree(weights, cut=cut)
    assert sorted(tree.leaf_codes) == list(range(40))


@pytest.mark.parametrize("cut", ["min-cut", "average-linkage"])
def test_weights_of_all_sizes_at_once(cut):
    rng = np.random.default_rng(0)
    weights = symmetric(10.0 ** rng.integers(-300, 300, (40, 40)))
    assert sorted(build_class_tree(weights, cut=cut).leaf_codes) == list(range(40))


def test_several_threads_at_once():
    weights = kinds(49)["sparse integers"]
    expected = build_class_tree(weights).nodes
    results = [None] * 4

    def work(i):
        results[i] = build_class_tree(weights).nodes

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
