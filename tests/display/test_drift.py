"""How far columns moved, each in its row."""

import numpy as np
import pytest

from bayesfloor.display import DriftDisplay
from display.layout import assert_readable

TABLE = {
    "column": ["$age$", "income", "income", "a and b"],
    "what": ["values", "gaps", "values", "pair"],
    "share": [0.3, 0.2, 0.1, 0.05],
    "p_value": [0.001, 0.02, 0.06, 0.9],
}


def test_columns_that_surely_moved_have_full_marks():
    display = DriftDisplay(TABLE).plot()
    np.testing.assert_array_equal(display.moved_marks_.get_xdata(), [0.3, 0.2])
    np.testing.assert_array_equal(display.moved_marks_.get_ydata(), [0, 1])
    np.testing.assert_array_equal(display.other_marks_.get_xdata(), [0.1, 0.05])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["$age$", "income: gaps", "income", "a and b"]
    assert_readable(display.figure_)
    stricter = DriftDisplay(TABLE, confidence=0.99).plot()
    np.testing.assert_array_equal(stricter.moved_marks_.get_xdata(), [0.3])


def test_the_surest_of_many_are_drawn_and_all_are_in_the_frame():
    many = {"column": [f"column {j}" for j in range(50)], "what": ["values"] * 50, "share": [0.1] * 50}
    display = DriftDisplay(many | {"p_value": [0.5] * 50}).plot()
    assert len(display.ax_.get_yticklabels()) == 20
    assert len(display.frame()) == 50
    assert_readable(display.figure_)


def test_a_table_without_shares_is_refused():
    with pytest.raises(ValueError, match="There is no column 'share'"):
        DriftDisplay({"column": ["a"], "what": ["values"], "p_value": [0.1]})
