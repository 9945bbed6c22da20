"""The page of a report on numbers: well formed, complete, and no name gets out of its place."""

import re

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
