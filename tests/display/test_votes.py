"""Error rates of votes, each in a row with its interval."""

import numpy as np
import pytest
from matplotlib import pyplot

from bayesfloor.display import VoteFloorDisplay
from display.layout import assert_readable

MEASURES = {
    "measure": ["floor", "naive: votes outside the majority", "two annotators disagree"],
    "value": np.array([0.1, 0.05, 0.18]),
    "interval_low": np.array([0.07, np.nan, 0.15]),
    "interval_high": np.array([0.16, np.nan, 0.21]),
}


@pytest.mark.parametrize("inches", [None, (4.5, 2)])
def test_what_is_drawn_where(inches):
    ax = None if inches is None else pyplot.subplots(figsize=inches, layout="constrained")[1]
    display = VoteFloorDisplay(MEASURES, confidence=0.9).plot(ax)
    assert_readable(display.figure_)
    np.testing.assert_array_equal(display.floor_marks_.get_xydata(), [[0.1, 0]])
    np.testing.assert_array_equal(display.other_marks_.get_xydata(), [[0.05, 1], [0.18, 2]])
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], [[0.07, 0.16], [0.15, 0.21]])
    np.testing.assert_array_equal(segments[:, 0, 1], [0, 2])
    assert display.ax_.get_xlabel() == "error, 90% interval"
    assert display.ax_.get_yticklabels()[0].get_text() == "floor"
    assert display.frame()["value"].tolist() == [0.1, 0.05, 0.18]
