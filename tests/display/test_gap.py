"""The picture of a model beside the floor: three errors on one scale, and bars for where it errs more."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.dummy import DummyRegressor

from bayesfloor import floor_gap
from bayesfloor.display import FloorGapDisplay
from bayesfloor.display.gap import MOST_DRAWN, PALE
from display.layout import assert_readable

VALUES = {
    "value": 0.081,
    "reached": 0.051,
    "estimate": 0.039,
    "value_interval": (0.07, 0.093),
    "reached_interval": (0.042, 0.061),
    "interval": (0.02, 0.06),
    "names": ["$3$ against 8", "4 against 9", "1 against 7"],
    "gap": np.array([0.015, 0.0, -0.006]),
    "is_sure": np.array([True, False, False]),
    "confidence": 0.9,
}


def test_errors_and_bars_are_where_their_values_are():
    display = FloorGapDisplay(**VALUES).plot()
    np.testing.assert_array_equal(display.marks_.get_xdata(), [0.081, 0.051, 0.039])
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], [[0.07, 0.093], [0.042, 0.061], [0.02, 0.06]])
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert texts == ["your model\n8.1%", "reached by the stack\n5.1%", "the floor\n3.9%"]
    assert display.ax_.get_xlabel() == "error, 90% interval"
    # what does not differ has no bar
    assert [bar.get_width() for bar in display.bars_] == [0.015, -0.006]
    assert [label.get_text() for label in display.places_ax_.get_yticklabels()] == ["$3$ against 8", "1 against 7"]
    colours = [pyplot.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in display.bars_]
    assert colours[0] != PALE
    assert colours[1] == PALE
    assert "pale: may be chance" in display.places_ax_.get_title(loc="left")
    assert_readable(display.figure_)


def test_the_best_value_is_a_ceiling_where_larger_is_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    found = floor_gap(DummyRegressor(), X, X[:, 0] + 0.3 * rng.normal(size=120), learners=["linear"])
    texts = [label.get_text() for label in found.plot().ax_.get_yticklabels()]
    assert texts[2].startswith("the ceiling\n")
    by_rmse = floor_gap(DummyRegressor(), X, X[:, 0] + X[:, 1] ** 2, metric="rmse", learners=["linear"])
    assert by_rmse.plot().ax_.get_yticklabels()[2].get_text().startswith("the floor\n")


def test_nothing_differs():
    display = FloorGapDisplay(**VALUES | {"gap": np.zeros(3)}).plot()
    assert display.places_ax_ is display.bars_ is None
    assert_readable(display.figure_)


@pytest.mark.parametrize("n_pairs", [1, 60])
def test_few_and_many_pairs_are_readable(n_pairs):
    many = {
        "names": [f"a rather long name against another of number {place}" for place in range(n_pairs)],
        "gap": np.linspace(0.02, -0.001, n_pairs),
        "is_sure": np.ones(n_pairs, bool),
    }
    display = FloorGapDisplay(**VALUES | many).plot()
    assert len(display.bars_) == min(n_pairs, MOST_DRAWN)
    assert_readable(display.figure_)


def test_axes_that_are_given():
    _, axes = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained")
    display = FloorGapDisplay(**VALUES).plot(axes)
    assert [display.ax_, display.places_ax_] == list(axes)
    _, alone = pyplot.subplots()
    display = FloorGapDisplay(**VALUES).plot(alone)
    assert display.ax_ is alone
    assert display.bars_ is None


def test_the_frame_has_what_is_drawn():
    frame = FloorGapDisplay(**VALUES).frame()
    assert frame["pair_of_classes"].tolist() == VALUES["names"]
    assert frame["gap"].tolist() == [0.015, 0.0, -0.006]


def test_a_metric_that_is_no_rate_has_an_axis_of_numbers():
    numbers = {name: np.multiply(1000.0, VALUES[name]) for name in ("value", "reached", "estimate")}
    ranges = {name: np.multiply(1000.0, VALUES[name]) for name in ("value_interval", "reached_interval", "interval")}
    display = FloorGapDisplay(**VALUES | numbers | ranges, title="MAE", is_rate=False, places="subgroup").plot()
    display.figure_.canvas.draw()
    for axes in (display.ax_, display.places_ax_):
        assert not any("%" in label.get_text() for label in axes.get_xticklabels())
    assert display.ax_.get_yticklabels()[0].get_text() == "your model\n81"
    assert display.ax_.get_xlabel() == "MAE, 90% interval"
