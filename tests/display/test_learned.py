"""A learned floor: the learning curve, what was reached, and where it ends."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot

from bayesfloor.floor.learned.result import LearningCurve, MetricFloor
from display.layout import assert_readable


def floor_of(
    errors, middle, limit, rate, interval, reached_interval, *, estimate=None, majority=0.5, sizes=(320, 160, 80)
):
    """Return a record of a curve with these values; it passes through the last of `middle`."""
    sizes, middle = np.array(sizes, float), np.array(middle, float)
    curve = LearningCurve(
        size=sizes,
        value=np.array(errors, float),
        expected=2 * middle - errors,
        middle=middle,
        fitted=limit + (middle[0] - limit) * (sizes / sizes[0]) ** -rate,
        limit=limit,
        rate=rate,
    )
    return MetricFloor(
        name="error",
        title="error",
        estimate=limit if estimate is None else estimate,
        interval=interval,
        reached=errors[0],
        reached_interval=reached_interval,
        baseline=majority,
        larger_is_better=False,
        curve=curve,
        confidence=0.95,
        is_rate=True,
    )


USUAL = floor_of([0.135, 0.19, 0.27], [0.117, 0.155, 0.21], 0.044, 0.5, (0.003, 0.151), (0.11, 0.151))
CASES = {
    "usual": USUAL,
    "without error": floor_of([0, 0, 0], [0, 0, 0], 0.0, 0.6, (0, 0.018), (0, 0.018), majority=0.66),
    "all zero": floor_of([0, 0, 0], [0, 0, 0], 0.0, 0.6, (0, 0), (0, 0)),
    "small": floor_of([5e-4, 7e-4, 1e-3], [5e-4, 6e-4, 9e-4], 4e-4, 0.6, (2e-4, 8e-4), (3e-4, 8e-4)),
    "noise": floor_of([0.51, 0.45, 0.5], [0.49, 0.46, 0.49], 0.45, 0.7, (0.38, 0.58), (0.44, 0.58), estimate=0.5),
    "flat noise": floor_of([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], 0.5, 0.7, (0.4, 0.6), (0.4, 0.6)),
    "far above": floor_of([0.4, 0.6, 0.8], [0.3, 0.5, 0.7], 0.01, 0.3, (0, 0.45), (0.35, 0.45), majority=0.9),
    "tiny": floor_of([0.54, 0.56, 0.55], [0.44, 0.49, 0.51], 0.39, 0.8, (0.2, 0.75), (0.33, 0.75), sizes=(19, 10, 5)),
    "many rows": floor_of([0.2, 0.21, 0.23], [0.2] * 3, 0.19, 0.8, (0.18, 0.21), (0.19, 0.21), sizes=(8e6, 4e6, 2e6)),
}


@pytest.fixture(scope="module")
def usual():
    return USUAL.plot()


def texts_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_what_is_drawn_where(usual):
    display = usual
    assert display.error_marks_.get_xydata().tolist() == [[320, 0.135], [160, 0.19], [80, 0.27]]
    assert set(display.floor_line_.get_ydata()) == {0.044}
    band = display.floor_band_.get_window_extent().transformed(display.ax_.transData.inverted())
    np.testing.assert_allclose([band.y0, band.y1], USUAL.interval)
    (segment,) = display.reached_line_.get_segments()
    assert segment.tolist() == [[320, 0.11], [320, 0.151]]
    assert texts_of(display) == [
        "error of the stack, reached 13.5%",
        "if it goes on like this",
        "floor 4.4%, 95% range 0.30–15.1%",
    ]
    assert display.ax_.get_xscale() == "log"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("training rows", "error")


def test_the_curve_is_dashed_beyond_the_data(usual):
    tried, beyond = usual.curve_line_, usual.extrapolation_
    assert tried.get_xdata()[[0, -1]] == pytest.approx([80, 320])
    assert beyond.get_xdata()[[0, -1]] == pytest.approx([320, 3200])
    # through the circles, and from the last of them on 0.044 + 0.091 (m / 320)^-1/2: at 3200 less by √10
    assert tried.get_ydata()[[0, -1]] == pytest.approx([0.27, 0.135])
    assert np.interp(160, tried.get_xdata(), tried.get_ydata()) == pytest.approx(0.19, abs=1e-4)
    assert beyond.get_ydata()[-1] == pytest.approx(0.044 + 0.091 / np.sqrt(10))
    assert tried.get_linestyle() == "-"
    assert beyond.is_dashed()


# the small axes are the hard ones
@pytest.mark.parametrize(
    ("name", "inches"),
    [*((name, (3, 2)) for name in CASES), ("noise", None), ("tiny", None)],
)
def test_all_is_on_the_picture(name, inches):
    case = CASES[name]
    ax = None if inches is None else pyplot.subplots(figsize=inches, layout="constrained")[1]
    display = case.plot(ax)
    assert_readable(display.figure_)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left < case.curve.size.min()
    assert right == pytest.approx(10 * case.curve.size.max())
    assert bottom < 0
    assert top > max(case.interval[1], case.reached_interval[1], case.curve.value.max())


def test_a_curve_that_rises_by_chance_is_smoothed():
    """Of .51, .45 and .5 at 320, 160 and 80 rows, the first two are taken to be one: the mean of both, or all three."""
    case = CASES["noise"]
    np.testing.assert_allclose(case.curve_at([320, 160, 80]), [0.48, 0.48, 0.5])
    surely = replace(case, curve=replace(case.curve, covariance=1e-6 * np.eye(3)))
    np.testing.assert_allclose(surely.curve_at([320, 160, 80]), case.curve.value)
    ceiling = replace(case, larger_is_better=True, curve=replace(case.curve, value=np.array([0.9, 0.92, 0.8])))
    np.testing.assert_allclose(ceiling.curve_at([320, 160, 80]), [0.91, 0.91, 0.8])


def test_the_largest_class_is_shown_where_it_is_on_the_picture(usual):
    assert usual.baseline_line_ is None  # 50%, and nothing above 27%
    display = CASES["noise"].plot()
    assert set(display.baseline_line_.get_ydata()) == {0.5}
    assert "always the commonest class 50.0%" in texts_of(display)


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("small", "floor 0.04%, 95% range 0.02–0.08%", {"100", "200", "500", "1,000", "2,000"}),
        ("many rows", "floor 19.0%, 95% range 18.0–21.0%", {"10,000,000"}),
    ],
)
def test_numbers_have_the_digits_they_need(name, text, rows):
    display = CASES[name].plot()
    assert text in texts_of(display)
    assert rows <= {label.get_text() for label in display.ax_.get_xticklabels()}
