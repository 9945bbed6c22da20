"""Compared representations, the best on top."""

import numpy as np
import pytest

from bayesfloor.display import FeatureComparisonDisplay
from display.layout import assert_readable

TABLE = {
    "name": ["PCA(2)", "$all$", "noise"],
    "estimate": [0.12, 0.11, 0.4],
    "interval_low": [0.1, 0.1, 0.3],
    "interval_high": [0.13, 0.14, 0.5],
    "n_features": [2, 34, 7],
    "distinguishable": [False, False, True],
}
REACHED = {"reached": [0.13, 0.14, 0.45], "reached_low": [0.12, 0.13, 0.4], "reached_high": [0.14, 0.15, 0.5]}


def rows_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_marks_are_in_the_order_of_the_table():
    display = FeatureComparisonDisplay(TABLE).plot()
    assert rows_of(display) == ["PCA(2) (d = 2)", "$all$ (d = 34)", "noise (d = 7)"]
    assert display.marks_.get_xydata().tolist() == [[0.12, 0], [0.11, 1]]
    assert display.distinct_marks_.get_xydata().tolist() == [[0.4, 2]]
    assert display.reached_marks_ is None
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], np.column_stack([TABLE["interval_low"], TABLE["interval_high"]]))
    assert display.ax_.get_ylim() == (2.5, -0.5)
    assert_readable(display.figure_)


def test_what_is_reached_stands_below_the_floor():
    display = FeatureComparisonDisplay(TABLE | REACHED, title="R²", larger_is_better=True, is_rate=False).plot()
    assert display.reached_marks_.get_xdata().tolist() == REACHED["reached"]
    assert (display.reached_marks_.get_ydata() > np.arange(3)).all()
    assert display.ax_.get_xlabel() == "R²"
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["ceiling, like the first", "ceiling, differs from it", "reached"]
    assert_readable(display.figure_)


def test_frame():
    frame = FeatureComparisonDisplay(TABLE | REACHED).plot().frame()
    assert {name: frame[name].tolist() for name in frame.columns} == TABLE | REACHED


@pytest.mark.parametrize("missing", ["name", "estimate"])
def test_missing_columns(missing):
    with pytest.raises(ValueError, match=f"There is no column '{missing}'"):
        FeatureComparisonDisplay({name: column for name, column in TABLE.items() if name != missing}).plot()


@pytest.mark.parametrize("n", [1, 26])
def test_readable_with_long_names(n):
    table = {
        "name": [f"a pipeline of some length with PCA({k}) in it and more" for k in range(n)],
        "estimate": np.linspace(0, 0.2, n),
        "n_features": np.arange(n),
        "distinguishable": np.arange(n) > 3,
    }
    display = FeatureComparisonDisplay(table).plot()
    assert_readable(display.figure_)
    assert len(set(rows_of(display))) == n
