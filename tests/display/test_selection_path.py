"""The path of a selection, step by step."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import FloorSelector
from bayesfloor.display import SelectionPathDisplay
from display.layout import assert_readable

PATH = {
    "features": ["", "x", "y, z", "w"],
    "floor": [0.5, 0.2, 0.1, 0.09],
    "interval_low": [0.4, 0.1, 0.05, 0.04],
    "interval_high": [0.6, 0.3, 0.15, 0.14],
    "selected": [True, True, True, False],
}


def steps_of(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def test_forward():
    display = SelectionPathDisplay(PATH).plot()
    assert steps_of(display) == ["start", "+ x", "+ y, z", "+ w"]
    assert display.line_.get_xydata().tolist() == [[0, 0.5], [1, 0.2], [2, 0.1]]
    assert display.dropped_.get_xydata().tolist() == [[3, 0.09]]
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 1], np.column_stack([PATH["interval_low"], PATH["interval_high"]]))
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["kept", "not kept"]
    assert display.ax_.get_ylim()[0] <= 0
    assert_readable(display.figure_)


def test_backward():
    display = SelectionPathDisplay(PATH, direction="backward").plot()
    assert steps_of(display) == ["start", "− x", "− y, z", "− w"]


def test_floors_alone():
    display = SelectionPathDisplay({"floor": [0.5, 0.2]}).plot()
    assert steps_of(display) == ["start", "+ step 1"]
    assert display.interval_lines_ is None
    assert display.ax_.get_legend() is None
    assert display.frame()["selected"].tolist() == [True, True]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back(library):
    frame = pytest.importorskip(library).DataFrame(PATH)
    back = SelectionPathDisplay(frame).plot().frame()
    assert {name: list(back[name]) for name in back.columns} == PATH


def test_of_a_selector():
    X, y = load_wine(return_X_y=True, as_frame=True)
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(X[["proline", "ash", "alcohol"]])
    selector = FloorSelector(2)
    path = selector.fit(scaled, y).path_
    display = path.plot()
    np.testing.assert_array_equal(display.frame()["floor"], path.frame()["floor"])
    assert steps_of(display) == ["start", *(f"+ {step.features[0]}" for step in path.steps[1:])]
    assert display.ax_.get_ylabel() == "floor, 95% interval"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"features": ["a"]}, "There is no column 'floor'"),
        ({"floor": []}, "no rows to draw"),
        ({"floor": [0.1, 0.2], "features": ["a"]}, "one length"),
        ({"floor": [0.1, np.inf]}, "floor should be finite"),
        ({"floor": [0.1], "interval_low": [0.2], "interval_high": [0.1]}, "lower end of each interval first"),
    ],
)
def test_what_cannot_be_drawn(path, message):
    with pytest.raises(ValueError, match=message):
        SelectionPathDisplay(path).plot()


def test_directions_that_are_none():
    with pytest.raises(ValueError, match="The 'direction' parameter must be one of"):
        SelectionPathDisplay(PATH, direction="sideways").plot()


@pytest.mark.parametrize("n", [2, 40])
def test_readable_with_long_names(n):
    names = ["", *(f"white_king_file={k}, white_king_file={k + 1}, white_king_rank={k}" for k in range(n - 1))]
    display = SelectionPathDisplay({"features": names, "floor": np.linspace(0.5, 0.1, n)}).plot()
    assert_readable(display.figure_)
    assert len(set(steps_of(display))) == n
