"""The page of a report on numbers: well formed, complete, and no name gets out of its place."""

import re
from itertools import pairwise

import pytest

from bayesfloor.report.page.charts import noise_chart
from bayesfloor.report.page.page import render_page
from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.runtime.text import visible
from report import sample_regression
from report.sample_summary import HOSTILE
from report.test_page import Outline


def test_hostile_text_is_text():
    outline = Outline(render_page(sample_regression.hostile()))
    assert set(outline.tags()) == set(Outline(render_page(sample_regression.houses())).tags())
    for name in HOSTILE:
        assert " ".join(visible(name).split()) in outline.words()
    for text in (render_text(sample_regression.hostile()), render_markdown(sample_regression.hostile())):
        assert "\x1b" not in text
    lines = render_markdown(sample_regression.hostile()).splitlines()
    assert not any("<script" in line for line in lines if not line.startswith("    "))  # indented lines are code


def test_the_parts_are_in_order():
    summary = sample_regression.houses()
    words = Outline(render_page(summary)).words()
    order = [
        "Predicted SalePrice (a number from 34,900 to 755,000)",
        *summary["answer"],
        summary["goal"]["sentence"],
        "ceiling 91.0%, 95% range 83.0–94.0%",
        "The lower end of the range is never above",
        "RMSE",
        summary["curve"]["note"],
        summary["noise"]["sentence"],
        "60,000–110,000",
        summary["noise"]["note"],
        summary["suspects"]["note"],
        "SalePrice 184,750 where rows like it have 702,000",
        "7.9 standard deviations below",
        summary["data"]["columns_note"],
        "OverallQual number, 17 values, 12 missing scaled 68.0%",
        summary["findings"][0]["hint"],
        summary["learners"][0]["name"],
        summary["command"],
    ]
    start = words.index("Skip to the answer")
    places = [words.index(part, start) for part in order]
    assert places == sorted(places)


def test_what_is_missing_leaves_no_trace():
    page = render_page(sample_regression.shares())
    present = set(re.findall(r'<section id="(\w+)"', page))
    assert present == {"answer", "floor", "curve", "noise", "suspects", "data", "details"}
    assert re.findall(r'<details id="(\w+)"', page) == ["reading", "again"]
    assert "None" not in Outline(page).words()


@pytest.mark.parametrize("width", [720.0, 335.0])
def test_noise_is_drawn_where_it_is_predicted(width):
    noise = sample_regression.houses()["noise"]
    picture = noise_chart(noise, "SalePrice", width)
    lines = re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)"[^>]*class="floor-mark"', picture)
    assert len(lines) == len(noise["bins"])
    starts, ends, heights = (list(map(float, side)) for side in zip(*lines, strict=True))
    # bins touch each other, and are as wide as their predictions
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.05)
    scale = (ends[-1] - starts[0]) / (noise["bins"][-1]["high"] - noise["bins"][0]["low"])
    for start, end, each in zip(starts, ends, noise["bins"], strict=True):
        assert end - start == pytest.approx(scale * (each["high"] - each["low"]), abs=0.05)
    # more noise is higher up, in proportion
    zero = heights[0] + (heights[0] - heights[1]) / (20e3 - 18e3) * 18e3
    for height, each in zip(heights, noise["bins"], strict=True):
        assert zero - height == pytest.approx((heights[0] - heights[1]) / 2e3 * each["sd"], abs=1.0)
    marks = [float(x) for x in re.findall(r'<line x1="([\d.]+)"[^>]*class="axis"', picture)]
    assert all(second - first > 20 for first, second in pairwise(marks))
    assert max(ends) <= width


def test_a_bin_of_one_value_can_be_seen_and_very_wide_ranges_are_logarithmic():
    noise = sample_regression.shares()["noise"]
    lines = re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)"[^>]*class="floor-mark"', noise_chart(noise, "y", 720.0))
    assert min(float(end) - float(start) for start, end in lines) >= 2.0
    noise = sample_regression.houses()["noise"]
    noise["bins"][0]["low"] = 2.0
    lines = re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)"[^>]*class="floor-mark"', noise_chart(noise, "y", 720.0))
    assert float(lines[-1][1]) - float(lines[-1][0]) > 40
    assert noise_chart({"bins": [], "sd": 1.0}, "y", 720.0) is None
