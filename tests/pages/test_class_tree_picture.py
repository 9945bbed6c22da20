"""The class tree as a picture: all classes are on it, nothing overlaps, and hostile labels do no harm."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_wine

from bayesfloor import SmartSVC, build_class_tree
from bayesfloor.display import ClassTreeDisplay
from helpers.graphs import symmetric
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


# --- nodes, cuts and names

LONGEST_NAME = 26  # signs of a name on a picture


def letters(n=26):
    return [chr(ord("A") + code) for code in range(n)]


def peel_tree(n=26):
    return build_class_tree(symmetric(np.random.default_rng(0).random((n, n))), letters(n))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_letters_are_legible():
    ax = peel_tree().plot().ax_
    assert set(letters()) <= set(texts(ax))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(text.get_fontsize() >= 7 for text in ax.texts)
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


def test_nodes_show_their_classes_where_there_is_room():
    ax = build_class_tree(None, cut=["a", ["b", ["c", "d"]]]).plot().ax_
    assert sorted(texts(ax)) == sorted(["a", "b", "c", "d", "a b c d", "b c d", "c d"])
    assert "A B" not in " ".join(texts(peel_tree().plot().ax_))


def test_cut_values_are_written_at_every_node():
    tree = peel_tree(6)
    assert {f"{node.cut:.3g}" for node in tree.nodes} <= set(texts(tree.plot().ax_))


def test_one_dashed_line_per_node():
    tree = peel_tree()
    solid, dashed = tree.plot().ax_.collections
    assert len(dashed.get_segments()) == tree.n_nodes
    assert len(solid.get_segments()) == 3 * tree.n_nodes
    for (x0, y0), (x1, y1) in dashed.get_segments():
        assert x0 == x1
        assert y0 != y1


def test_smaller_side_is_above():
    ax = build_class_tree(None, cut=[["a", ["b", "c"]], "d"]).plot().ax_
    height = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert height["d"] > height["a"] > height["b"] > height["c"]


def test_hostile_labels():
    labels = ["$\\frac{1}{$", "two\nlines", "x" * 500, "<b>&amp;</b>"]
    ax = build_class_tree(None, labels, cut=[[labels[0], labels[1]], [labels[2], labels[3]]]).plot().ax_
    ax.figure.canvas.draw()
    assert "$\\frac{1}{$" in texts(ax)
    assert max(map(len, texts(ax))) < 200
    assert not any("\n" in text for text in texts(ax))


@pytest.mark.parametrize("small", [False, True])
def test_long_names_of_leaves_stay_different(small):
    """Whether they differ at the end, in the middle, in the middle of a very long one, or in their length."""
    for names in (
        [f"a name of some length that ends in a number: {code}" for code in range(8)],
        [f"a name of some length, number {code}, that goes on and on" for code in range(8)],
        ["x" * 50 + "1" + "y" * 50 + str(code) + "z" * 50 for code in range(8)],
        ["x" * length for length in range(60, 68)],
    ):
        a, b, c, d, e, f, g, h = names
        ax = pyplot.subplots(figsize=(3, 2))[1] if small else None
        drawn = texts(build_class_tree(None, cut=[[[a, b], [c, d]], [[e, f], [g, h]]]).plot(ax).ax_)
        short = [text for text in drawn if len(text) <= LONGEST_NAME]
        assert len(short) == len(set(short)) == 8
        assert not any(name in drawn for name in names)


def test_names_that_differ_show_where():
    names = [f"a name of some length, number {code}, that goes on and on" for code in "abc"]
    drawn = " ".join(texts(build_class_tree(None, names, cut=[names[0], names[1:]]).plot().ax_))
    assert all(f"number {code}" in drawn for code in "abc")


def test_thousand_classes_stay_within_what_can_be_saved(tmp_path):
    nested = 999
    for code in range(998, -1, -1):
        nested = [code, nested]
    ax = build_class_tree(None, cut=nested).plot().ax_
    assert max(ax.figure.get_size_inches()) < 100
    ax.figure.savefig(tmp_path / "tree.png", dpi=20)
