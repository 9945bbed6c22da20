"""Floors of subgroups beside what was reached, each in the row of its subgroup."""

import numpy as np

from bayesfloor import learned_floor
from bayesfloor.display import SubgroupsDisplay
from display.layout import assert_readable

VALUES = {
    "names": ["north", "$south$", "tiny"],
    "interval": np.array([[0.01, 0.04], [0.2, 0.4], [0.0, 0.8]]),
    "reached": np.array([0.03, 0.35, 0.5]),
    "reached_interval": np.array([[0.02, 0.04], [0.3, 0.4], [0.1, 0.8]]),
    "confidence": 0.9,
    "column": "re_gion",
}
FLOORS = np.array([0.02, 0.3, np.nan])


def test_marks_and_intervals_are_in_the_row_of_their_subgroup():
    display = SubgroupsDisplay(FLOORS, **VALUES).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == VALUES["names"]
    np.testing.assert_array_equal(display.floor_marks_.get_xdata(), FLOORS)
    np.testing.assert_array_equal(display.reached_marks_.get_xdata(), VALUES["reached"])
    for lines, interval in (
        (display.interval_lines_, VALUES["interval"]),
        (display.reached_lines_, VALUES["reached_interval"]),
    ):
        segments = np.array(lines.get_segments())
        np.testing.assert_array_equal(segments[:, :, 0], interval)
        np.testing.assert_array_equal(segments[:, 0, 1].round(), [0, 1, 2])
    assert display.ax_.get_xlabel() == "error by re_gion"
    assert "90% interval" in display.ax_.get_legend().get_texts()[0].get_text()
    assert_readable(display.figure_)


def test_subgroups_of_an_array_without_a_name_are_called_subgroups():
    X = np.random.default_rng(0).normal(size=(60, 2))
    by = np.repeat(["north", "south"], 30)
    found = learned_floor(X, (X[:, 0] > 0).astype(int), by=by, learners=["gaussian"], checks=False).subgroups
    assert found.plot().ax_.get_xlabel() == "error by subgroup"


def test_the_frame_has_what_is_drawn():
    frame = SubgroupsDisplay(FLOORS, **VALUES).frame()
    assert frame["group"].tolist() == VALUES["names"]
    assert frame["reached_high"].tolist() == [0.04, 0.4, 0.8]
    assert frame["interval_low"].tolist() == [0.01, 0.2, 0.0]


def test_twenty_one_subgroups_are_readable():
    n = 21
    ends = np.column_stack([np.full(n, 0.1), np.full(n, 0.3)])
    names = [f"a rather long name of group {code}" for code in range(n)]
    display = SubgroupsDisplay(
        np.full(n, 0.2), names=names, interval=ends, reached=np.full(n, 0.25), reached_interval=ends, confidence=0.95
    )
    assert_readable(display.plot().figure_)
