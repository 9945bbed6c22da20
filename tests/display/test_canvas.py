"""Names on pictures, and the measure of text."""

import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib import pyplot

from bayesfloor.display import (
    ClassFloorsDisplay,
    ClassTreeDisplay,
    FeatureComparisonDisplay,
    PairwiseHeatmapDisplay,
    SelectionPathDisplay,
)
from bayesfloor.display.canvas import LONGEST_NAME, points_per_unit, shortened, text_width, write_names
from display.layout import assert_readable, cut_off, drawn_texts, overlapping

PAIRS = np.array([[0, 0.1, 0.2], [0.1, 0, 0.3], [0.2, 0.3, 0]])
EACH = {
    "heat map": lambda **options: PairwiseHeatmapDisplay(PAIRS).plot(**options),
    "class floors": lambda **options: ClassFloorsDisplay([0.1, 0.2, 0.3]).plot(**options),
    "class tree": lambda **options: ClassTreeDisplay([[-1, 1], [-2, -3]]).plot(**options),
    "selection": lambda **options: SelectionPathDisplay({"floor": [0.5, 0.2]}).plot(**options),
    "representations": lambda **options: FeatureComparisonDisplay({"name": ["a", "b"], "estimate": [0.1, 0.2]}).plot(
        **options
    ),
}


@pytest.fixture(params=EACH)
def draw(request):
    return EACH[request.param]


def test_a_figure_of_its_own(draw):
    display = draw()
    assert pyplot.get_fignums() == [display.figure_.number]
    assert display.ax_ in display.figure_.axes
    assert_readable(display.figure_)


def test_on_given_axes(draw):
    figure, (first, second) = pyplot.subplots(1, 2, layout="constrained")
    display = draw(ax=second)
    assert display.ax_ is second
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]
    assert not first.has_data()


def test_on_a_subfigure(draw):
    left, right = pyplot.figure(layout="constrained", figsize=(9, 4)).subfigures(1, 2)
    display = draw(ax=right.subplots())
    assert display.figure_ is right
    assert not left.axes


def test_plot_returns_the_display_and_draws_again_elsewhere(draw):
    display = draw()
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first


def test_every_display_has_a_table(draw):
    assert len(draw().frame()) >= 2


def test_without_matplotlib_the_error_names_the_extra(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'bayesfloor\[plot\]'"):
        draw()


def test_matplotlib_is_not_loaded_before_the_first_picture():
    script = "import sys, bayesfloor.display, bayesfloor.report; print({'matplotlib', 'sklearn'} & sys.modules.keys())"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_short_names_stay_as_they_are():
    names = ["a", "<script>", "$x$", "versicolor", "x" * LONGEST_NAME]
    assert shortened(names) == names
    assert shortened([1, 2.0, True]) == ["1", "2.0", "True"]


def test_control_characters_are_escaped():
    assert shortened(["a\nb", "\x1b[31m", ""]) == [repr("a\nb"), repr("\x1b[31m"), "''"]


def test_long_names_lose_their_middle():
    (short,) = shortened(["abcdefghijklmnopqrstuvwxyz0123456789"])
    assert len(short) == LONGEST_NAME
    head, tail = short.split("…")
    assert "abcdefghijklmnopqrstuvwxyz0123456789".startswith(head)
    assert "abcdefghijklmnopqrstuvwxyz0123456789".endswith(tail)


@pytest.mark.parametrize(
    "names",
    [
        [f"a long name with number {k:03d} in the middle of it" for k in range(30)],
        [f"a long name with a number at the end {k}" for k in range(30)],
        [f"{k} a long name with a number at the beginning" for k in range(30)],
        ["x" * 50 + "1" + "y" * 50 + str(k) + "z" * 50 for k in range(30)],
        ["x" * k for k in range(60, 90)],
    ],
)
def test_long_names_stay_different(names):
    short = shortened(names)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= LONGEST_NAME


@settings(max_examples=40)
@given(st.lists(st.text("ab", min_size=1, max_size=60), unique=True))
def test_any_names_stay_different(names):
    short = shortened(names)
    assert len(set(short)) == len(names)
    assert all(len(name) <= LONGEST_NAME for name in short)


def test_names_are_not_read_as_formulas():
    _, ax = pyplot.subplots()
    ax.set_xlim(-0.5, 1.5)
    write_names(ax.xaxis, ["$x$", r"\alpha_$"], 100)
    literal, other = ax.get_xticklabels()
    assert [literal.get_text(), other.get_text()] == ["$x$", r"\alpha_$"]
    formula = ax.text(0, 0, "$x$", fontsize=literal.get_fontsize())
    # drawn letter by letter it is three letters wide
    assert literal.get_window_extent().width > 2 * formula.get_window_extent().width


def test_names_survive_tex_switched_on_by_the_user():
    with pyplot.rc_context({"text.usetex": True}):
        _, ax = pyplot.subplots()
        ax.set_xlim(-0.5, 1.5)
        write_names(ax.xaxis, ["a_b", "50%"], 100)
        assert not any(label.get_usetex() for label in ax.get_xticklabels())


def test_crowded_names_are_thinned_out():
    _, ax = pyplot.subplots()
    ax.set_xlim(-0.5, 99.5)
    write_names(ax.xaxis, [f"c{k}" for k in range(100)], 2.0)
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert shown[0] == "c0"
    assert shown == [f"c{k}" for k in range(0, 100, 3)]
    assert ax.get_xticks().tolist() == list(range(0, 100, 3))


def test_points_per_unit_is_the_scale_of_the_axes():
    figure = pyplot.figure(figsize=(5, 4), dpi=50)
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.5))
    ax.set(xlim=(0, 4), ylim=(10, 0))
    # 0.8 of 5 inches is 288 points, 0.5 of 4 inches is 144
    np.testing.assert_allclose(points_per_unit(ax), [288 / 4, 144 / 10])


def test_text_width_is_that_of_drawn_text():
    _, ax = pyplot.subplots(dpi=72)
    drawn = ax.text(0, 0, "versicolor", fontsize=40).get_window_extent().width
    assert 40 * text_width(["i", "versicolor"]) == pytest.approx(drawn, rel=0.05)


def test_the_layout_checks_can_fail():
    figure, ax = pyplot.subplots()
    ax.set_axis_off()
    ax.text(0.5, 0.5, "over")
    ax.text(0.5, 0.5, "under")
    ax.text(-1, 0.5, "far out")
    texts, boxes = drawn_texts(figure)
    assert overlapping(texts, boxes) == [("over", "under")]
    assert cut_off(figure, texts, boxes) == ["far out"]
