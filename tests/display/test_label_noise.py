"""Floors with labels redrawn, beside the line on which they should lie."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot

from bayesfloor.display import LabelNoiseDisplay
from bayesfloor.floor.learned.label_noise import LabelNoiseCheck
from display.layout import assert_readable


def check_of(floor, n_classes, off, *, half=0.03, above=0.02, share=(0, 0.1, 0.2, 0.4)):
    """Return a record of estimates that are `off` the line by turns up and down."""
    share = np.array(share, float)
    expected = floor + share * (1 - 1 / n_classes - floor)
    estimate = expected + np.where(np.arange(len(share)) % 2, off, -off) * (share > 0)
    return LabelNoiseCheck(
        share=share,
        estimate=estimate,
        interval=np.clip(np.column_stack([estimate - half, estimate + above + half]), 0, 1),
        expected=expected,
        deviation=estimate - expected,
        mean_deviation=off,
        reached=estimate + above,
        n_samples=500,
        n_rows=500,
        n_classes=n_classes,
        confidence=0.95,
    )


CASES = {
    "usual": check_of(0.1, 3, 0.012),
    "without error": check_of(0.0, 2, 0.0, half=0.0, above=0.0),
    "noise": check_of(0.5, 2, 0.01, half=0.06),
    "wide": check_of(0.2, 10, 0.06, half=0.3),
    "every share": check_of(0.1, 4, 0.01, share=np.arange(11) / 10),
    "all noise": check_of(0.1, 26, 0.0004, share=(0, 1)),
}

#: Deviations as they are written, those other than 1.0%.
DEVIATIONS = {0.0: "0", 0.0004: "0.04", 0.012: "1.2", 0.06: "6.0"}


@pytest.fixture(scope="module")
def usual():
    return CASES["usual"].plot()


def test_what_is_drawn_where(usual):
    case, display = CASES["usual"], usual
    np.testing.assert_array_equal(display.floor_marks_.get_xydata(), np.column_stack([case.share, case.estimate]))
    np.testing.assert_array_equal(display.reached_marks_.get_xydata(), np.column_stack([case.share, case.reached]))
    np.testing.assert_array_equal(display.expected_line_.get_xydata(), np.column_stack([case.share, case.expected]))
    segments = np.array(display.interval_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, 0, 0], case.share)
    np.testing.assert_array_equal(segments[:, :, 1], case.interval)


# the small axes are the hard ones
@pytest.mark.parametrize(
    ("name", "inches"), [*((name, (3, 2)) for name in CASES), *((name, None) for name in ("usual", "wide"))]
)
def test_all_is_on_the_picture(name, inches):
    case = CASES[name]
    ax = None if inches is None else pyplot.subplots(figsize=inches, layout="constrained")[1]
    display = case.plot(ax)
    assert_readable(display.figure_)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left < 0 < case.share[-1] < right
    assert bottom < 0
    assert top > case.interval.max()
    deviation = DEVIATIONS.get(case.mean_deviation, "1.0")
    assert display.legend_.get_texts()[-1].get_text() == f"expected floor, mean deviation {deviation}%"


def test_words(usual):
    display = usual
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["floor, 95% interval", "reached", "expected floor, mean deviation 1.2%"]
    assert display.ax_.get_xlabel() == "labels redrawn at random"
    assert {"0%", "20%", "40%"} <= {label.get_text() for label in display.ax_.get_xticklabels()}


def test_reached_marks_are_open(usual):
    assert usual.reached_marks_.get_markerfacecolor() == "white"
    assert usual.floor_marks_.get_markerfacecolor() != "white"


def test_frame(usual):
    frame = usual.frame()
    assert frame["share"].tolist() == [0, 0.1, 0.2, 0.4]
    np.testing.assert_array_equal(frame["interval_low"], CASES["usual"].interval[:, 0])


def test_on_given_axes_of_a_subfigure_and_again():
    left, right = pyplot.figure(layout="constrained", figsize=(8, 3)).subfigures(1, 2)
    first, second = left.subplots(), right.subplots()
    display = CASES["usual"].plot(ax=second)
    assert isinstance(display, LabelNoiseDisplay)
    assert (display.ax_, display.figure_) == (second, right)
    assert not first.has_data()
    assert display.plot(first) is display
    assert display.ax_ is first


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'bayesfloor\[plot\]'"):
        CASES["usual"].plot()
