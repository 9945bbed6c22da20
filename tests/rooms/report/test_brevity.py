"""A page says little: what is folded, and which findings come first."""

import re

import numpy as np
import pytest

from bayesfloor import difficulty_report, load_dataset
from bayesfloor.report.page.page import render_page
from bayesfloor.report.sections.notes import sorted_findings
from bayesfloor.report.text import render_markdown, render_text
from helpers import sample_summary
from helpers.outline import Outline

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))


@pytest.fixture(scope="module")
def two_classes():
    return difficulty_report(load_dataset("breast_cancer"), n_jobs=1)


def at_once(page: str) -> str:
    """A page without what is folded."""
    folded = re.compile(
        r"(<details[^>]*><summary>(?:(?!</summary>).)*</summary>)(?:(?!<details).)*?</details>", flags=re.DOTALL
    )
    while folded.search(page):
        page = folded.sub(r"", page)
    return page


def test_two_classes_have_no_tables_of_classes_and_no_tree_of_two_leaves(two_classes):
    page, text = two_classes.to_html(), two_classes.to_text() + two_classes.to_markdown()
    for key in ("classes", "pairs", "tree"):
        assert f'id="{key}"' not in page
    assert "Class tree" not in text
    assert two_classes.summary["classes"]  # the data keep them
    assert two_classes.summary["tree"]["pairs"]


def test_the_first_screen_says_what_is_predicted_from_what_by_which_metric(two_classes):
    start = ["Predicted", "class (benign 62.7%, malignant 37.3%)", "From", "569 rows, 30 columns, breast_cancer"]
    start += ["Judged by", "error, the share of rows predicted wrongly", "Nothing suspicious was found."]
    start += ["Not testable: columns that were filled in after the outcome", "The most telling columns: '"]
    page = two_classes.to_html()
    first = Outline(page[page.index('<section id="answer"') : page.index("</section>")]).words()
    for text in (first, " ".join(two_classes.to_text().split()), two_classes.to_markdown().replace("\\", "")):
        places = [text.index(part) for part in [*start, "Do next", "The upper end of the range is never below"]]
        assert places == sorted(places)


def finding(code):
    return {"code": code, "sentence": f"Something about {code}.", "hint": "Do something."}


def test_three_findings_are_shown_and_the_others_folded():
    summary = sample_summary.digits()
    codes = ["BF009", "BF004", "BF022", "BF057", "BF035", "BF034", "BF008", "BF012", "BF003"]
    summary["findings"] = [finding(code) for code in codes]
    found = sorted_findings(summary)
    assert [each["code"] for each in found.shown] == ["BF009", "BF004", "BF022"]
    # one too many; one that changes nothing; one that the trust line says
    assert {each["code"] for each in found.folded} == {"BF057", "BF035", "BF034"}
    assert {each["code"] for each in found.of_trees} == {"BF008", "BF012", "BF003"}
    page = render_page(summary)
    seen = at_once(page)
    assert [code for code in codes if f">{code}</span>" in seen] == ["BF009", "BF004", "BF022"]
    assert all(page.count(f">{code}</span>") == 1 for code in codes)
    assert "BF022" in render_text(summary)
    assert "BF057" not in render_text(summary)
    assert all(code in render_markdown(summary) for code in codes)
    # what concerns the spanning trees alone stands with the class tree
    trees = page[page.index('<details id="tree">') : page.index('<details id="learners">')]
    assert all(code in trees for code in ("BF008", "BF012", "BF003"))
    assert "BF008" in render_markdown(summary).partition("### Class tree")[2]


def test_a_curve_without_errors_is_a_detail():
    summary = sample_summary.digits()
    assert '<section id="curve">' in render_page(summary)
    summary["verdict"]["limit"]["more_rows"] = "done"
    assert '<details id="curve">' in render_page(summary)


def test_a_leak_is_not_told_twice():
    summary = sample_summary.digits()
    summary["findings"] = [finding("BF009")]
    assert sorted_findings(summary).shown
    leak = {"kind": "leak", "columns": ["x"], "sentence": "'x' gives it away.", "value": 0.4, "in_headline": True}
    summary["verdict"] |= {"trust": "leak", "reasons": [leak]}
    assert not sorted_findings(summary).shown


def test_findings_that_say_nothing_new_are_a_detail():
    summary = sample_summary.digits()
    summary["findings"] = [finding("BF035"), finding("BF025")]
    page = render_page(summary)
    assert '<details id="findings">' in page
    assert "BF035" not in at_once(page)
    assert "BF035" not in render_text(summary)


def test_findings_of_a_report_come_by_consequence():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    # sorted by label, which changes nothing; a constant column; a column that gives the label away
    X = np.column_stack([rng.normal(size=(120, 2)), np.full(120, 7.0), y + 10.0])
    report = difficulty_report(X, y, effort="fast", checks=False, n_jobs=1)
    codes = [each["code"] for each in report.summary["findings"]]
    assert codes[0] == "BF009"
    assert codes[-1] == "BF006"
