"""Reports on other metrics than the error: what is said is true, in the metric's own words, in every rendering."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bayesfloor import difficulty_report
from bayesfloor.floor.learned.result import CostDecisions
from bayesfloor.report.sections.answer import answer_of_metric
from bayesfloor.report.sections.costs import notes_on_costs
from bayesfloor.report.sections.floor import note_on_curve
from bayesfloor.report.verdict import limit_of
from bayesfloor.runtime.text import difference, figure, percent

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

APART = 1.5
COSTS = np.array([[0.0, 5.0, 0.3], [1.0, 0.0, 0.3]])  # true bad, good; decide bad, good, or not


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(5)
    y = np.repeat(["bad", "good"], [120, 280])
    X = rng.normal(size=(400, 2)) + [[APART, 0.0]] * (y == "bad")[:, None]
    return difficulty_report(
        X, y, metric=["roc_auc", "log_loss", "f1"], costs=COSTS, positive="bad", target_value=0.99, n_jobs=1
    )


def test_the_report_is_about_the_first_metric(report):
    floor, own = report.summary["floor"], report.learned.metrics["roc_auc"]
    assert (floor["metric"], floor["estimate"], floor["low"], floor["high"]) == ("roc_auc", own.estimate, *own.interval)
    assert floor["reached"]["value"] == own.reached
    assert (floor["larger_is_better"], floor["is_rate"], floor["perfect"]) == (True, False, 1.0)
    assert floor["baseline"] == pytest.approx(0.5)
    assert report.summary["curve"]["limit"] == own.estimate
    assert [each["value"] for each in report.summary["curve"]["points"]] == own.curve.value.tolist()
    assert [each["metric"] for each in report.summary["metrics"]] == ["roc_auc", "log_loss", "f1", "cost", "error"]
    assert report.summary["schema"] == "bayesfloor/summary/1"


def test_the_answer_leads_with_it_and_has_the_error_beside(report):
    answer, floor = report.summary["answer"], report.summary["floor"]
    assert floor["high"] < 0.99
    assert answer[0].startswith(f"The ceiling is about an ROC AUC of {figure(floor['estimate'])} (95% range ")
    assert f"{figure(floor['low'])}–{figure(floor['high'])})" in answer[0]
    assert f"reaches {figure(floor['reached']['value'])} (0.5 without features)" in answer[1]
    error = report.learned.metrics["error"]
    assert f"The floor of the error is about {percent(error.estimate)}" in answer[-1]
    text = " ".join(report.to_text().split())
    assert "The lower end of the range is never above what a model reached on rows it had not seen." in text
    assert "The upper end is extrapolated" in text
    headings = [each["heading"] for each in report.summary["how_to_read"]]
    assert headings[:2] == ["The ceiling", "The fast model"]
    assert {"ROC AUC", "Log-loss", "F1 for 'bad'", "Cost per row"} <= set(headings)
    assert report.summary["goal"]["verdict"] == "not feasible"


def test_every_form_tells_the_costs_and_the_target(report):
    told = [*report.summary["costs"]["notes"], report.summary["goal"]["sentence"], "Where the money goes"]
    told += [each["title"] for each in report.summary["metrics"]]
    for text in report.to_text(width=2000), report.to_markdown().replace("\\", ""), report.to_html():
        assert [each for each in told if each not in text.replace("&#39;", "'").replace("&gt;", ">")] == []
    call = "metric=['roc_auc', 'log_loss', 'f1'], positive='bad', target_value=0.99, costs=costs)"
    assert call in report.summary["command"]


def test_what_costs_add_up_to(report):
    costs, metric = report.summary["costs"], report.learned.metrics["cost"]
    # decisions are the stack's, also where what was reached is that of one decision for all rows
    assert sum(each["cost_per_row"] for each in costs["rows"]) == pytest.approx(metric.curve.value[0])
    assert sum(each["share"] for each in costs["rows"]) == pytest.approx(1)
    paid = [each["cost_per_row"] for each in costs["rows"]]
    assert paid == sorted(paid, reverse=True)
    for each in costs["rows"]:
        assert each["cost_per_row"] == pytest.approx(each["cost"] * each["rows"])
    asked = [each["rows"] for each in costs["rows"] if each["decision"] == "no decision"]
    assert costs["undecided"] == pytest.approx(sum(asked))
    assert costs["class_weights"] is None
    assert f"{percent(costs['undecided'])} of the rows are not decided" in costs["notes"][-2]
    assert "no weight says when not to decide" in costs["notes"][-1]


def decided(costs, rows, weights=None):
    """Costs of classes a and b, with the share of rows that each decision is taken for."""
    costs, rows = np.array(costs, float), np.array(rows, float)
    names = ("a", "b", "no decision")[: costs.shape[1]]
    return CostDecisions(costs, names, costs * rows, rows, weights, np.array(["a", "b"]))


def test_the_dearest_decision_in_words(report):
    taking = decided([[0, 9], [1, 0]], [[0.4, 0.1], [0.1, 0.4]])
    moved = replace(report.learned, cost=taking)
    assert "90.0% of the cost is for taking a for b." in notes_on_costs(moved)
    assert "depends on what a row is taken for" in notes_on_costs(moved)[-1]
    asking = decided([[0, 9, 1], [1, 0, 1]], [[0.5, 0.0, 0.0], [0.0, 0.2, 0.3]])
    assert "100% of the cost is for not deciding on b." in notes_on_costs(replace(report.learned, cost=asking))
    right = decided([[2, 9], [1, 0]], [[0.5, 0.0], [0.1, 0.4]])
    assert any("naming a rightly" in note for note in notes_on_costs(replace(moved, cost=right)))


def test_gains_have_no_shares(report):
    gains = decided([[-3, 9], [1, 0]], [[0.4, 0.1], [0.1, 0.4]], np.array([1.8, 0.2]))
    notes = notes_on_costs(replace(report.learned, cost=gains))
    assert not any("of the cost is for" in note for note in notes)
    assert "with the class weights below" in notes[-1]


def test_what_more_rows_would_bring(report):
    own = replace(report.learned.metrics["roc_auc"], estimate=0.93, interval=(0.86, 0.97))
    own = replace(own, reached=0.9, reached_interval=(0.86, 0.94))
    for changes, says in [
        ({"reached_interval": (0.48, 0.6)}, "not surely better than what needs no features"),
        ({"reached": 1.0, "reached_interval": (0.996, 1.0)}, "nothing is left to win"),
        ({"reached": 1.0, "estimate": 1.0, "interval": (0.98, 1.0), "reached_interval": (0.97, 1.0)}, "too few rows"),
        ({"estimate": 0.96}, "still improving"),
        ({"estimate": 0.905}, "more rows would change that little"),
        ({"estimate": 0.93, "reached_interval": (0.7, 0.98)}, "too few rows to tell"),
        ({"interval": (0.86, 1.0)}, "how high it can get cannot be told"),
    ]:
        limit = limit_of(replace(own, **changes))
        assert says in " ".join(answer_of_metric(report.learned, limit, report.learned.metrics["error"], "", []))


def test_the_gap_is_in_the_metrics_own_units(report):
    own = report.learned.metrics["roc_auc"]
    moved = replace(own, reached=0.9, estimate=0.95)
    won = limit_of(moved).by_doubling
    assert f"would win about {difference(won, is_rate=False)}," in note_on_curve(limit_of(moved), False)
    same = note_on_curve(limit_of(replace(moved, reached=0.96)), True)
    assert "What was reached is about the ceiling." in same
    assert "a better model could win something" in same
    perfect = replace(moved, reached=own.perfect, reached_interval=(0.999, 1.0))
    assert note_on_curve(limit_of(perfect), False) == "Nothing is left to win."
    balanced = replace(own, name="balanced_error", is_rate=True, larger_is_better=False, perfect=0.0)
    balanced = replace(balanced, reached=0.2, reached_interval=(0.15, 0.25), estimate=0.15)
    flat = SimpleNamespace(metric=balanced, gap=0.05, by_doubling=0.0, more_rows="little")
    assert note_on_curve(flat, False).startswith("Between what was reached and the floor lies 5.0 points.")
    few = SimpleNamespace(metric=balanced, gap=0.05, by_doubling=0.02, more_rows="unknown")
    assert note_on_curve(few, False).startswith("These are too few rows to tell what more of them would win.")


def test_a_rare_class_is_judged_by_the_metric_that_was_asked_for():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(2000) < 20, "fraud", "ok")
    X = rng.normal(size=(2000, 2)) + 3.0 * (y == "fraud")[:, None] * [1.0, 0.0]
    report = difficulty_report(X, y, metric=["average_precision", "roc_auc"], positive="fraud", max_rows=500, n_jobs=1)
    summary = report.summary
    assert "an average precision of" in summary["answer"][0]
    assert "for 'fraud'" in summary["answer"][0]
    assert "20 rows of fraud" in summary["answer"][2]
    (ranked,) = summary["rare"]["rows"]
    assert (ranked["auc_low"], ranked["auc_high"]) == report.learned.metrics["roc_auc"].reached_interval
    text = report.to_text()
    assert text.index("The ceiling") < text.index("Rare classes")
    assert summary["metrics"][0]["baseline"] == pytest.approx(0.01)
