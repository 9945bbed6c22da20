"""Names on pictures, and the measure of text."""

import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib import pyplot

from bayesfloor.display.canvas import LONGEST_NAME, points_per_unit, shortened, text_width, write_names
from helpers.layout import cut_off, drawn_texts, overlapping


def test_matplotlib_is_not_loaded_before_the_first_picture():
    script = "import sys, bayesfloor.display, bayesfloor.report; print({'matplotlib', 'sklearn'} & sys.modules.keys())"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_short_names_stay_as_they_are_but_for_control_characters():
    names = ["a", "<script>", "$x$", "versicolor", "x" * LONGEST_NAME]
    assert shortened(names) == names
    assert shortened([1, 2.0, True]) == ["1", "2.0", "True"]
    assert shortened(["a\nb", "\x1b[31m", ""]) == [repr("a\nb"), repr("\x1b[31m"), "''"]


def test_long_names_lose_their_middle():
    (short,) = shortened(["abcdefghijklmnopqrstuvwxyz0123456789"])
    assert len(short) == LONGEST_NAME
    head, tail = short.split("…")
    assert "abcdefghijklmnopqrstuvwxyz0123456789".startswith(head)
    assert "abcdefghijklmnopqrstuvwxyz0123456789".endswith(tail)


def test_long_names_stay_different():
    for names in (
        [f"a long name with number {k:03d} in the middle of it" for k in range(30)],
        [f"a long name with a number at the end {k}" for k in range(30)],
        [f"{k} a long name with a number at the beginning" for k in range(30)],
        ["x" * 50 + "1" + "y" * 50 + str(k) + "z" * 50 for k in range(30)],
        ["x" * k for k in range(60, 90)],
    ):
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
