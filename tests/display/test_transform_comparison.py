"""Compared transforms, the best on top."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import compare_transforms
from bayesfloor.display import TransformComparisonDisplay
from display.layout import assert_readable

TABLE = {
    "transform": ["PCA(2)", "$all$", "noise"],
    "whole": [0.12, 0.11, 0.4],
    "whole_low": [0.1, 0.1, 0.3],
    "whole_high": [0.13, 0.14, 0.5],
    "worst_class": [0.2, 0.3, 0.4],
    "n_features": [2, 34, 7],
    "distinguishable": [False, False, True],
}


def rows_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_marks_are_in_the_order_of_the_table():
    display = TransformComparisonDisplay.from_data(TABLE)
    assert rows_of(display) == ["PCA(2) (d = 2)", "$all$ (d = 34)", "noise (d = 7)"]
    assert display.marks_.get_xydata().tolist() == [[0.12, 0], [0.11, 1]]
    assert display.distinct_marks_.get_xydata().tolist() == [[0.4, 2]]
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], np.column_stack([TABLE["whole_low"], TABLE["whole_high"]]))
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["like the first", "differs from it"]
    assert display.ax_.get_ylim() == (2.5, -0.5)
    assert_readable(display.figure_)


def test_another_measure():
    display = TransformComparisonDisplay.from_data(TABLE, measure="worst_class")
    assert display.marks_.get_xdata().tolist() == [0.2, 0.3, 0.4]  # compared was another floor
    assert display.interval_lines_ is None
    assert display.ax_.get_legend() is None
    assert display.ax_.get_xlabel() == "floor of the worst class"
    with pytest.raises(ValueError, match="The 'measure' parameter must be one of"):
        TransformComparisonDisplay.from_data(TABLE, measure="best")


def test_frame():
    frame = TransformComparisonDisplay.from_data(TABLE).frame()
    columns = ["transform", "floor", "interval_low", "interval_high", "n_features", "distinguishable"]
    assert list(frame.columns) == columns
    expected = ["transform", "whole", "whole_low", "whole_high", "n_features", "distinguishable"]
    assert [frame[name].tolist() for name in columns] == [TABLE[name] for name in expected]


def test_of_a_comparison():
    X, y = load_wine(return_X_y=True)
    compared = compare_transforms(
        X, y, transforms={"as it is": "passthrough", "StandardScaler": StandardScaler()}, criterion="worst"
    )
    table = compared.frame()
    display = compared.plot()
    drawn = display.frame()
    assert list(drawn["transform"]) == compared.names
    np.testing.assert_array_equal(drawn["floor"], table["worst_pair"])
    np.testing.assert_array_equal(drawn["distinguishable"], table["distinguishable"])
    assert display.ax_.get_xlabel() == "floor of the worst pair, 95% interval"
    other = compared.plot(measure="whole").frame()
    np.testing.assert_array_equal(other["floor"], table["whole"])
    assert "distinguishable" not in other  # the worst pairs were compared


@pytest.mark.parametrize("missing", ["transform", "whole"])
def test_missing_columns(missing):
    with pytest.raises(ValueError, match=f"There is no column '{missing}'"):
        TransformComparisonDisplay.from_data({name: column for name, column in TABLE.items() if name != missing})


@pytest.mark.parametrize("n", [1, 26])
def test_readable_with_long_names(n):
    table = {
        "transform": [f"a pipeline of some length with PCA({k}) in it and more" for k in range(n)],
        "whole": np.linspace(0, 0.2, n),
        "n_features": np.arange(n),
        "distinguishable": np.arange(n) > 3,
    }
    display = TransformComparisonDisplay.from_data(table)
    assert_readable(display.figure_)
    assert len(set(rows_of(display))) == n
