"""The class tree as a display: the tree room's drawing, with names that fit."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from bayesfloor import BayesErrorEstimator, pairwise_bayes_error
from bayesfloor.classify.linear.smart_svc import SmartSVC
from bayesfloor.display import ClassTreeDisplay
from bayesfloor.tree import build_class_tree
from report.layout import assert_readable, cut_off, drawn_texts, overlapping

TREE = build_class_tree(None, cut=[["$x$", "<script>"], ["b", ["c", "d"]]])


def texts_of(display):
    return [text.get_text() for text in display.ax_.texts if text.get_visible()]


def test_all_classes_are_on_the_picture():
    display = ClassTreeDisplay.from_data(TREE)
    assert display.tree is TREE
    assert set(TREE.classes) <= set(texts_of(display))
    assert_readable(display.figure_)
    assert display.frame()["left"].tolist() == TREE.frame()["left"].tolist()


def test_of_floors():
    X, y = load_wine(return_X_y=True)
    floors = pairwise_bayes_error(X, y)
    expected = build_class_tree(floors.normalized, floors.classes)
    for display in (
        ClassTreeDisplay.from_data(floors),
        ClassTreeDisplay.from_data(floors.normalized, floors.classes),
        ClassTreeDisplay.from_estimator(BayesErrorEstimator().fit(X, y)),
    ):
        assert display.tree.to_dict() == expected.to_dict()
    named = ClassTreeDisplay.from_data(floors, ["x", "y", "z"], cut=[["x", "y"], "z"])
    assert named.tree.to_nested() == [["x", "y"], "z"]


def test_from_estimators_with_trees_of_some_kind():
    X, y = load_wine(return_X_y=True)
    classifier = SmartSVC(1.0).fit(X, y)
    assert ClassTreeDisplay.from_estimator(classifier).tree is classifier.tree_
    other = DecisionTreeClassifier().fit(X, y)
    assert hasattr(other, "tree_")
    with pytest.raises(TypeError, match="DecisionTreeClassifier has no class tree"):
        ClassTreeDisplay.from_estimator(other)


def test_long_names_stay_different():
    names = [f"a name of some length, number {k}, and then more" for k in range(8)]
    weights = np.random.default_rng(0).random((8, 8))
    display = ClassTreeDisplay.from_data(weights + weights.T, names, cut="balanced")
    assert sum("number" in text for text in texts_of(display)) == 8
    assert len(set(texts_of(display))) == len(texts_of(display))
    assert_readable(display.figure_)
    assert display.tree.classes.tolist() == names


@pytest.mark.parametrize("cut", ["balanced", "min-cut"])
def test_nothing_overlaps_on_small_axes(cut):
    weights = np.random.default_rng(0).random((26, 26))
    figure, (ax, _) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    ax.text(0.5, 0.5, "mine", fontsize=7)
    display = ClassTreeDisplay.from_data(weights + weights.T, [chr(65 + k) for k in range(26)], cut=cut, ax=ax)
    assert ax.texts[0].get_fontsize() == 7
    ax.texts[0].remove()
    texts, boxes = drawn_texts(figure)
    assert overlapping(texts, boxes) == []
    assert cut_off(figure, texts, boxes) == []
    edge = ax.get_window_extent().x1
    leaves = [text for text in display.ax_.texts if len(text.get_text()) == 1 and text.get_visible()]
    assert len(leaves) == 26
    assert max(leaf.get_bbox_patch().get_window_extent().x1 for leaf in leaves) <= edge + 1
