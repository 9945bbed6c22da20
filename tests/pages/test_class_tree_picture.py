"""The class tree as a display: all classes are on it, with names that fit."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_wine

from bayesfloor import SmartSVC, build_class_tree
from bayesfloor.display import ClassTreeDisplay
from helpers.layout import assert_readable, cut_off, drawn_texts, overlapping
from helpers.one_case import for_each

TREE = build_class_tree(None, cut=[["$x$", "<script>"], ["b", ["c", "d"]]])


def texts_of(display):
    return [text.get_text() for text in display.ax_.texts if text.get_visible()]


def test_all_classes_are_on_the_picture():
    display = TREE.plot()
    assert isinstance(display, ClassTreeDisplay)
    assert set(TREE.classes) <= set(texts_of(display))
    assert_readable(display.figure_)


def test_the_table_is_that_of_the_tree():
    weights = np.random.default_rng(0).random((9, 9))
    tree = build_class_tree(weights + weights.T, list("abcdefghi"))
    frame, expected = tree.plot().frame(), tree.frame()
    assert {name: list(frame[name]) for name in frame} == {name: list(expected[name]) for name in expected}


def test_of_a_fitted_classifier():
    X, y = load_wine(return_X_y=True)
    classifier = SmartSVC(1.0, affinity="bhattacharyya").fit(X, y)
    display = classifier.tree_.plot()
    np.testing.assert_array_equal(display.children, classifier.tree_.children)
    np.testing.assert_array_equal(display.cuts, [node.cut for node in classifier.tree_.nodes])


def test_what_is_no_tree():
    for children in (
        [],
        [-1, -2],
        [[-1, -2, -3]],
        [[-1, 1]],
        [[-1, -1]],
        [[-1, 1], [-2, 1]],
        [[-1, 2], [-3, -4], [-2, 1]],
        [["a", "b"]],
    ):
        with pytest.raises(ValueError, match="children should hold each class and each node"):
            ClassTreeDisplay(children).plot()


def test_long_names_stay_different():
    names = [f"a name of some length, number {k}, and then more" for k in range(8)]
    weights = np.random.default_rng(0).random((8, 8))
    display = build_class_tree(weights + weights.T, names, cut="average-linkage").plot()
    assert sum("number" in text for text in texts_of(display)) == 8
    assert len(set(texts_of(display))) == len(texts_of(display))
    assert_readable(display.figure_)
    assert display.classes.tolist() == names


@for_each("cut", ["average-linkage", "min-cut"])
def test_nothing_overlaps_on_small_axes(cut):
    weights = np.random.default_rng(0).random((26, 26))
    figure, (ax, _) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    ax.text(0.5, 0.5, "mine", fontsize=7)
    display = build_class_tree(weights + weights.T, [chr(65 + k) for k in range(26)], cut=cut).plot(ax)
    assert ax.texts[0].get_fontsize() == 7
    ax.texts[0].remove()
    texts, boxes = drawn_texts(figure)
    assert overlapping(texts, boxes) == []
    assert cut_off(figure, texts, boxes) == []
    edge = ax.get_window_extent().x1
    leaves = [text for text in display.ax_.texts if len(text.get_text()) == 1 and text.get_visible()]
    assert len(leaves) == 26
    assert max(leaf.get_bbox_patch().get_window_extent().x1 for leaf in leaves) <= edge + 1
