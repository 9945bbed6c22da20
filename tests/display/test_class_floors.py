"""Floors of the classes, with intervals and confusion rates, each in the row of its class."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import confusion_matrix

from bayesfloor import one_vs_rest_bayes_error
from bayesfloor.display import ClassFloorsDisplay
from display.layout import assert_readable

FLOORS = [0.1, 0.3, 0.2]
INTERVAL = [[0.05, 0.12], [0.2, 0.4], [0.2, 0.25]]
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def wine_floors(wine):
    return one_vs_rest_bayes_error(*wine)


def rows_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_marks_and_intervals_are_in_the_row_of_their_class():
    display = ClassFloorsDisplay(FLOORS, NAMES, interval=INTERVAL).plot(order="name")
    assert rows_of(display) == display.order_.tolist() == NAMES
    assert display.floor_marks_.get_xdata().tolist() == FLOORS
    assert display.floor_marks_.get_ydata().tolist() == [0, 1, 2]
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], INTERVAL)
    np.testing.assert_array_equal(segments[:, :, 1], [[0, 0], [1, 1], [2, 2]])
    assert display.ax_.get_ylim() == (2.5, -0.5)  # the first on top
    assert display.ax_.get_xlim()[0] <= 0


def test_the_highest_floor_comes_first():
    display = ClassFloorsDisplay(FLOORS, NAMES, interval=INTERVAL).plot()
    assert rows_of(display) == ["b", "c", "a"]
    assert display.floor_marks_.get_xdata().tolist() == [0.3, 0.2, 0.1]
    assert display.interval_lines_.get_segments()[0][:, 0].tolist() == [0.2, 0.4]


def test_a_given_order():
    display = ClassFloorsDisplay(FLOORS, NAMES).plot(order=["c", "a", "b"])
    assert rows_of(display) == ["c", "a", "b"]
    assert display.floor_marks_.get_xdata().tolist() == [0.2, 0.1, 0.3]
    assert display.interval_lines_ is None
    with pytest.raises(ValueError, match="The 'order' parameter"):
        display.plot(order="size")


def test_confusion_rates_are_those_of_the_confusion_matrix(wine_floors):
    y_true, y_pred = np.random.default_rng(0).integers(3, size=(2, 200))
    display = wine_floors.plot(y_true=y_true, y_pred=y_pred, order=[1, 2, 0])
    counts = confusion_matrix(y_true, y_pred, labels=[0, 1, 2])
    expected = (counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diagonal(counts)) / 200
    np.testing.assert_allclose(display.confusion, expected)
    np.testing.assert_allclose(display.confusion_marks_.get_xdata(), expected[[1, 2, 0]])
    # beside the floor in the same row
    assert np.round(display.confusion_marks_.get_ydata()).tolist() == [0, 1, 2]
    assert (display.confusion_marks_.get_ydata() > display.floor_marks_.get_ydata()).all()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["floor, 95% interval", "confusion rate"]
    assert display.frame()["confusion"].tolist() == pytest.approx(expected.tolist())


def test_of_a_result(wine, wine_floors):
    display = wine_floors.plot(y_true=wine[1], y_pred=wine[1])
    frame = display.frame()
    assert list(frame.columns) == ["class", "floor", "interval_low", "interval_high", "confusion"]
    assert frame["class"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(frame["floor"], wine_floors.estimate)
    np.testing.assert_array_equal(frame["interval_low"], wine_floors.interval[:, 0])
    np.testing.assert_array_equal(frame["confusion"], 0.0)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "floor, 95% interval"


def test_normalized(wine_floors):
    display = wine_floors.plot(normalize=True)
    np.testing.assert_allclose(display.floors, wine_floors.normalized)
    shares = np.array([59, 71, 48]) / 178
    np.testing.assert_allclose(display.interval, np.minimum(wine_floors.interval / shares[:, None], 1.0))
    assert display.ax_.get_xlabel() == "normalized floor against the rest, 95% interval"
    assert set(rows_of(display)) == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("floors", "options", "message"),
    [
        ([[0.1, 0.2]], {}, "floors should have the shape"),
        ([0.1, np.nan], {}, "floors should be finite, got 1 NaN"),
        (["a", "b"], {}, "floors should be numbers"),
        (FLOORS, {"interval": [[0, 1]]}, r"interval should have the shape \(3, 2\), got \(1, 2\)"),
        (FLOORS, {"interval": [[0.2, 0.1]] * 3}, "lower end of each interval first"),
        (FLOORS, {"classes": ["a", "b"]}, "3 values need 3 labels"),
        (FLOORS, {"confusion": [0.1]}, "confusion should have the shape"),
    ],
)
def test_what_cannot_be_drawn(floors, options, message):
    with pytest.raises(ValueError, match=message):
        ClassFloorsDisplay(floors, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_true": [0, 1]}, "y_true and y_pred go together"),
        ({"y_true": [0, 1], "y_pred": [0, 7]}, "y_pred holds labels that have no floor: 7"),
        ({"y_true": [0, "x"], "y_pred": [0, 1]}, "y_true holds labels that have no floor: '0', 'x'"),
        ({"y_true": [0, 1], "y_pred": [0]}, "inconsistent numbers of samples"),
        ({"y_true": [], "y_pred": []}, "y_true is empty"),
        ({"y_true": [0], "y_pred": [0], "normalize": True}, "leave normalize off"),
    ],
)
def test_predictions_that_cannot_be_compared(wine_floors, options, message):
    with pytest.raises(ValueError, match=message):
        wine_floors.plot(**options)


@pytest.mark.parametrize("n", [2, 60])
def test_readable(n):
    floors = np.linspace(0, 0.5, n)
    interval = np.column_stack([0.9 * floors, 1.1 * floors])
    names = [f"${chr(97 + k % 26)}$ and a name that goes on for {k} more" for k in range(n)]
    display = ClassFloorsDisplay(floors, names, interval=interval, confusion=floors).plot()
    assert_readable(display.figure_)
    assert len(set(rows_of(display))) == n
