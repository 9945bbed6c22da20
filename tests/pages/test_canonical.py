"""What the product says of six problems by its defaults, with all learners and repeats: every door says the same."""

import html
import json
import re

import pytest
from scipy.stats import norm

import canonical


def squeezed(text):
    """Return the words of a text, however it is wrapped or marked."""
    return " ".join(re.sub(r"[*_`\\]", "", text).split())


@pytest.mark.parametrize("name", canonical.ANSWERS)
def test_page_text_markdown_and_json_say_the_same(name):
    report = canonical.answers(name)["report"]
    summary = report.to_dict()
    assert json.loads(report.to_json()) == summary
    page = squeezed(html.unescape(re.sub(r"<[^>]+>", "", report.to_html())))
    for shown in (report.to_text(), report.to_markdown(), page):
        for sentence in summary["answer"]:
            assert squeezed(sentence) in squeezed(shown)
    for shown in (report.to_text(), report.to_markdown(), page):
        assert squeezed(summary["verdict"]["trust_sentence"]) in squeezed(shown)


@pytest.mark.parametrize("name", ["two", "numbers"])
def test_report_and_floor_agree(name):
    answers = canonical.answers(name)
    floor, told = answers["floor"], answers["report"].to_dict()["floor"]
    assert (told["estimate"], told["low"], told["high"]) == pytest.approx((floor.estimate, *floor.interval))


def test_two_classes_whose_floor_is_known():
    floor, trees = canonical.answers("two")["floor"], canonical.answers("two")["trees"]
    truth = norm.cdf(-1.0)
    for value, (low, high) in (
        (floor.estimate, floor.interval),
        (floor.reached, floor.reached_interval),
        (trees.estimate, trees.interval),
    ):
        assert abs(value - truth) <= 3 * (high - low) / 4  # which is about three standard errors


def test_numbers_half_of_which_can_be_told():
    floor = canonical.answers("numbers")["floor"]
    assert 0.2 < floor.reached <= floor.interval[1]
    summary = canonical.answers("numbers")["report"].to_dict()
    assert [row["row"] for row in summary["suspects"]["rows"]][:1] == [17]


def test_rows_of_a_patient_are_told_with_and_without_their_column():
    answers = canonical.answers("grouped")
    with_groups, bare = answers["report"].to_dict(), answers["bare"].to_dict()
    assert (with_groups["verdict"]["trust"], bare["verdict"]["trust"]) == ("nothing found", "with care")
    assert with_groups["floor"]["reached"]["value"] > 0.3 > bare["floor"]["reached"]["value"]


def test_a_table_is_judged_by_what_is_asked_for():
    summary = canonical.answers("mixed")["report"].to_dict()
    assert [each["metric"] for each in summary["metrics"]][:3] == ["roc_auc", "log_loss", "f1"]
    assert {each["name"] for each in summary["subgroups"]["rows"]} == {"Rome", "Oslo", "Bonn"}
    assert summary["gap"] is not None
    assert summary["goal"] is not None


def test_ten_classes_have_a_tree_with_ten_leaves():
    answers = canonical.answers("ten")
    assert sorted(answers["tree"].classes) == list(range(10))
    assert answers["pairs"].estimate.shape == (10, 10)
