"""The heat map shows each pair once, in the order that is asked for, with its value."""

import numpy as np
import pytest
from matplotlib import colormaps, pyplot
from sklearn.datasets import load_iris, load_wine

from bayesfloor import SmartSVC, build_class_tree, pairwise_bayes_error
from bayesfloor.display import PairwiseHeatmapDisplay
from helpers.layout import assert_readable

# a and c are alike, and so are b and d
PAIRS = np.array([[0, 0.01, 0.4, 0.02], [0.01, 0, 0.03, 0.25], [0.4, 0.03, 0, 0.0], [0.02, 0.25, 0.0, 0]])
NAMES = ["a", "b", "c", "d"]


def symmetric(n, seed=0):
    values = np.random.default_rng(seed).random((n, n)) ** 3
    return (values + values.T) / 2


def drawn(values, classes=None, **options):
    """Draw on plain axes, which is faster than a figure with a layout."""
    return PairwiseHeatmapDisplay(values, classes).plot(pyplot.figure().add_subplot(), **options)


def texts_by_pair(display):
    """Read the picture: the text in each square, by the names of its row and column."""
    rows = [label.get_text() for label in display.ax_.get_yticklabels()]
    columns = [label.get_text() for label in display.ax_.get_xticklabels()]
    return {
        (rows[int(y)], columns[int(x)]): text.get_text() for text in display.text_ for x, y in [text.get_position()]
    }


def test_each_pair_is_printed_once_under_its_names():
    display = drawn(PAIRS, NAMES, order="name")
    assert texts_by_pair(display) == {
        ("b", "a"): "1.0",
        ("c", "a"): "40.0",
        ("c", "b"): "3.0",
        ("d", "a"): "2.0",
        ("d", "b"): "25.0",
        ("d", "c"): "0",
    }


def test_colours_are_those_of_the_pair():
    display = drawn(PAIRS, NAMES, order=["d", "a", "b", "c"])
    shown = display.image_.get_array()
    assert shown.shape == (3, 3)
    expected = {(0, 0): 0.02, (1, 0): 0.25, (1, 1): 0.01, (2, 0): 0.0, (2, 1): 0.4, (2, 2): 0.03}
    assert {(r, c): shown[r, c] for r in range(3) for c in range(3) if shown[r, c] is not np.ma.masked} == expected
    assert display.image_.get_clim() == (0.0, 0.4)


def test_floors_are_drawn_in_the_order_of_their_class_tree():
    X, y = load_wine(return_X_y=True)
    floors = pairwise_bayes_error(X, np.array(["b", "a", "c"])[y])
    tree = build_class_tree(floors.normalized, floors.classes)
    assert floors.plot().order_.tolist() == tree.leaves.tolist() != ["a", "b", "c"]
    assert floors.plot(order="name").order_.tolist() == ["a", "b", "c"]
    assert floors.plot(order=["c", "b", "a"]).order_.tolist() == ["c", "b", "a"]


def test_the_order_of_a_given_tree():
    tree = build_class_tree(None, cut=["a", [["b", "c"], "d"]])
    display = drawn(PAIRS, NAMES, order=tree.leaves)
    assert display.order_.tolist() == tree.leaves.tolist() == ["a", "b", "c", "d"]
    rows = [label.get_text() for label in display.ax_.get_yticklabels()]
    columns = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert (columns[0], *rows) == ("a", "b", "c", "d")
    assert (*columns, rows[-1]) == ("a", "b", "c", "d")


def test_orders_that_are_none():
    for order in ("size", ["a", "b", "c"], ["a", "b", "c", "c"], ["a", "b", "c", "x"], None):
        with pytest.raises(ValueError, match="must be one of 'name', or a sequence with each class"):
            drawn(PAIRS, NAMES, order=order)


def test_digits_go_by_the_largest():
    for largest, text in [(1.0, "100"), (0.5, "50.0"), (0.0514, "5.14"), (0.00514, "0.51"), (0.0, "0")]:
        display = drawn([[0, largest], [largest, 0]])
        assert [each.get_text() for each in display.text_] == [text]


def test_no_values_where_they_do_not_fit():
    assert drawn(symmetric(30)).text_ == []
    _, ax = pyplot.subplots(figsize=(1.5, 1.5))
    assert PairwiseHeatmapDisplay(symmetric(10)).plot(ax).text_ == []


def test_readable_with_long_names():
    for n in (2, 10):
        names = [f"a name of some length, number {k}, and then more" for k in range(n)]
        display = PairwiseHeatmapDisplay(symmetric(n), names).plot()
        assert len(display.text_) == n * (n - 1) // 2
        assert_readable(display.figure_)
        assert len({label.get_text() for label in display.ax_.get_yticklabels()}) == n - 1


def test_readable_with_as_many_classes_as_letters():
    display = PairwiseHeatmapDisplay(symmetric(26)).plot()
    assert len(display.text_) == 26 * 25 / 2
    assert len(display.ax_.get_xticklabels()) == len(display.ax_.get_yticklabels()) == 25
    assert_readable(display.figure_)
    (left, top), (right, bottom) = display.ax_.transData.transform([(-0.5, -0.5), (0.5, 0.5)])
    for text in display.text_:
        box = text.get_window_extent()
        assert box.width < right - left
        assert box.height < top - bottom


def test_many_classes():
    display = PairwiseHeatmapDisplay(symmetric(150)).plot()
    assert_readable(display.figure_)
    assert len(display.ax_.get_xticklabels()) < 149


def test_names_are_literal():
    names = ["<script>", "$x$", "=cmd()"]
    display = drawn(PAIRS[:3, :3], names, order="name")
    labels = display.ax_.get_yticklabels() + display.ax_.get_xticklabels()
    assert [label.get_text() for label in labels] == ["$x$", "=cmd()", "<script>", "$x$"]
    assert not any(label.get_parse_math() for label in labels)


#: Linear RGB as seen without the cones for long, middle or short waves (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def luminance(colours):
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722]), linear


def greys(cmap, eyes):
    _, linear = luminance(cmap(np.linspace(0, 1, 101))[:, :3])
    return linear @ np.transpose(SEEN[eyes]) @ np.array([0.2126, 0.7152, 0.0722])


def test_colours_fall_in_grey_for_all_eyes():
    cmap = drawn(PAIRS).image_.cmap
    assert [eyes for eyes in SEEN if not (np.diff(greys(cmap, eyes)) < 0).all()] == []
    assert not (np.diff(greys(colormaps["jet"], "all cones")) < 0).all()


def test_printed_values_stand_out_from_their_square():
    display = drawn(symmetric(12))
    for text in display.text_:
        x, y = text.get_position()
        square = np.array(display.image_.cmap(display.image_.norm(display.image_.get_array()[int(y), int(x)])))
        behind = luminance(square[:3])[0]
        letters = {"white": 1.0, "black": 0.0}[text.get_color()]
        # the contrast ratio of the Web Content Accessibility Guidelines, level AA for large text
        assert (max(behind, letters) + 0.05) / (min(behind, letters) + 0.05) >= 3


def test_floors_are_normalized_as_the_result_says():
    X, y = load_wine(return_X_y=True)
    floors = pairwise_bayes_error(X, y)
    display = floors.plot()
    np.testing.assert_array_equal(display.values, floors.normalized)
    assert display.quantity == "normalized floor"
    frame = display.frame()
    assert frame["first"].tolist() == [0, 0, 1]
    assert frame["second"].tolist() == [1, 2, 2]
    np.testing.assert_allclose(frame["value"], floors.normalized[[0, 0, 1], [1, 2, 2]])
    # wine has 59, 71 and 48 rows
    smaller = np.array([59 / 130, 48 / 107, 48 / 119])
    np.testing.assert_allclose(frame["interval_low"], floors.interval[[0, 0, 1], [1, 2, 2], 0] / smaller)
    np.testing.assert_allclose(frame["interval_high"], floors.interval[[0, 0, 1], [1, 2, 2], 1] / smaller)

    plain = pairwise_bayes_error(X, y, normalize=False).plot()
    np.testing.assert_array_equal(plain.values, floors.estimate)
    assert plain.quantity == "floor"
    np.testing.assert_array_equal(plain.frame()["interval_low"], floors.interval[[0, 0, 1], [1, 2, 2], 0])


def test_the_colour_bar_says_what_is_shown():
    display = PairwiseHeatmapDisplay(symmetric(10), quantity="confused").plot()
    (bar,) = display.ax_.child_axes
    assert bar.get_title() == "confused"
    beside = PairwiseHeatmapDisplay(PAIRS, quantity="confused").plot()
    assert [ax.get_ylabel() for ax in beside.figure_.axes] == ["", "confused"]


def test_the_darkest_colour():
    assert drawn(PAIRS).image_.get_clim() == (0.0, 0.4)
    assert drawn(np.zeros((3, 3))).image_.get_clim() == (0.0, 1.0)


def test_affinities_of_a_classifier():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    classifier = SmartSVC(1.0).fit(X, names[y])
    display = drawn(classifier.affinity_, classifier.classes_)
    np.testing.assert_array_equal(display.values, classifier.affinity_)
    assert display.order_.tolist() == names.tolist()


def test_what_cannot_be_drawn():
    for values, classes, message in [
        (np.zeros((2, 3)), None, r"square matrix, got an array of shape \(2, 3\)"),
        (np.zeros(3), None, r"square matrix, got an array of shape \(3,\)"),
        (np.zeros((1, 1)), None, "needs two classes, got 1"),
        ([["a", "b"], ["b", "a"]], None, "should be numbers"),
        ([[0, np.nan], [np.nan, 0]], None, "should be finite, got 2 NaN or infinite"),
        ([[0, 0.1], [0.2, 0]], ["x", "y"], "should be symmetric: 'x' and 'y' have 0.1 and 0.2"),
        ([[0, -0.1], [-0.1, 0]], ["x", "y"], "never negative: 'x' and 'y' have -0.1"),
        ([[0, 0.1], [0.1, 0]], ["x", "y", "z"], "2 values need 2 labels in classes, got an array of shape"),
        ([[0, 0.1], [0.1, 0]], ["x", "x"], "classes holds 'x' more than once"),
    ]:
        with pytest.raises(ValueError, match=message):
            PairwiseHeatmapDisplay(values, classes)


def test_the_diagonal_is_not_used_and_nothing_is_written_to():
    values = PAIRS.copy()
    np.fill_diagonal(values, np.nan)
    values.flags.writeable = False
    display = drawn(values, NAMES)
    np.testing.assert_array_equal(display.values, PAIRS)
    assert np.isnan(np.diagonal(values)).all()
    np.testing.assert_array_equal(drawn([[5, 1], [1, 7]]).values, [[0, 1], [1, 0]])
