"""A model of the reader's in a report: compared on the folds of the stack, in every form, and refused in good time."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bayesfloor import difficulty_report, floor_gap
from bayesfloor.report.sections.gap import gap_values, p_of, signed
from bayesfloor.runtime.text import figure, in_markdown, percent

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

X, Y = make_blobs(150, centers=3, cluster_std=3.0, random_state=0)


@pytest.fixture(scope="module")
def report():
    return difficulty_report(X, Y, model=DummyClassifier(strategy="constant", constant=0))


def section_of(page):
    """The part of a page on the model."""
    section = page[page.index('<section id="gap"') :]
    return section[: section.index("</section>")]


def test_it_is_the_comparison_that_floor_gap_makes(report):
    expected = floor_gap(DummyClassifier(strategy="constant", constant=0), X, Y)
    assert report.gap.to_dict() == expected.to_dict()
    assert report.gap.learned is report.learned  # nothing was trained twice
    summary = report.summary["gap"]
    assert summary == gap_values(report.gap)
    assert [each["value"] for each in summary["figures"]] == [expected.value, expected.reached, expected.estimate]
    assert report.summary["command"] == "difficulty_report(X, y, model=model)"


def test_it_is_in_every_form(report):
    gap, page = report.summary["gap"], report.to_html()
    assert json.loads(report.to_json())["gap"] == json.loads(json.dumps(gap))
    text = " ".join(report.to_text().split())
    assert gap["sentence"] in text
    assert "Where it errs more" in text
    assert "## Your model" in report.to_markdown()
    assert '<a href="#gap">Your model</a>' in page
    section = section_of(page)
    for name in ("your model", "stack of models", "the floor"):
        assert f'<th scope="row">{name}</th>' in section
    for label in ("0", "1"):
        assert f">{label}</bdi>" in section


def test_it_is_told_in_the_metric_of_the_report():
    is_first = (Y == 0).astype(int)
    found = difficulty_report(X, is_first, metric="roc_auc", model=GaussianNB(), n_jobs=1)
    gap, page = found.summary["gap"], found.to_html()
    assert (gap["metric"], gap["title"], gap["is_rate"], gap["classes"]) == ("roc_auc", "ROC AUC", False, [])
    # by its probabilities, and not by its decisions
    assert found.gap.value == floor_gap(GaussianNB(), X, is_first, metric="roc_auc", n_jobs=1).value
    assert f"your model {figure(gap['figures'][0]['value'])}" in " ".join(found.to_text().split())
    section = section_of(page)
    assert "%</td>" not in section
    assert "the ceiling" in section


def test_a_model_that_is_better_than_the_stack_is_the_best_one():
    rng = np.random.default_rng(0)
    ring = rng.standard_normal((200, 2))
    inside = (np.hypot(*ring.T) < 1.1).astype(int)
    found = difficulty_report(ring, inside, model=KNeighborsClassifier(5), n_jobs=1)
    others = [found.learned.reached, found.summary["fast_model"]["metrics"][0]["value"], found.gap.value]
    assert found.verdict.limit.metric.reached == min(others)
    assert found.summary["floor"]["low"] <= min(others)


def test_findings_of_the_comparison_are_among_the_others():
    found = difficulty_report(X, Y, predictions=Y, max_rows=120)
    assert "BF058" in [finding.code for finding in found.findings]
    assert "BF058" in [finding["code"] for finding in found.summary["findings"]]
    assert found.gap.n_rows == 120


def test_without_a_model_there_is_no_section():
    found = difficulty_report(X, Y, effort="fast")
    assert found.gap is found.summary["gap"] is None
    assert 'id="gap"' not in found.to_html()


def test_what_is_refused():
    for asked, error, message in [
        ({"model": GaussianNB(), "predictions": Y}, ValueError, "pass one of them"),
        ({"model": LinearRegression()}, TypeError, "predicts numbers"),
        ({"predictions": Y[1:]}, ValueError, "149 rows, and X has 150"),
    ]:
        with pytest.raises(error, match=message):
            difficulty_report(X, Y, **asked)


def numbers():
    """Of which the mean knows nothing."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3))
    return points, np.sin(2.0 * points[:, 0]) + points[:, 1] + 0.3 * rng.normal(size=200)


@pytest.mark.parametrize("metric", ["r2", pytest.param("rmse", marks=pytest.mark.slow)])
def test_a_model_of_numbers(metric):
    points, y = numbers()
    found = difficulty_report(points, y, metric=metric, model=DummyRegressor(), n_jobs=1)
    expected = floor_gap(DummyRegressor(), points, y, metric=metric, n_jobs=1)
    assert (found.gap.value, found.gap.p_value) == (expected.value, expected.p_value)
    gap = found.summary["gap"]
    assert json.loads(found.to_json())["gap"] == json.loads(json.dumps(gap))
    limit = "the ceiling" if metric == "r2" else "the floor"
    assert [each["name"] for each in gap["figures"]] == ["your model", "stack of models", limit]
    assert [each["value"] for each in gap["figures"]] == [expected.value, expected.reached, expected.estimate]
    value = percent(expected.value) if metric == "r2" else figure(expected.value)
    assert gap["sentence"] in " ".join(found.to_text().split())
    assert in_markdown(gap["sentence"]) in found.to_markdown()
    assert f"your model {value}" in " ".join(found.to_text().split())
    page = found.to_html()
    section = section_of(page)
    assert value in section
    assert "Holm" not in section
    assert '<a href="#gap">Your model</a>' in page
    assert found.verdict.steps[0].sentence.startswith("Improve your model: ")


def test_a_model_of_numbers_that_is_better_than_the_stack():
    """The function itself leaves only the noise, and all metrics follow."""
    points, y = numbers()

    class Known(LinearRegression):
        def predict(self, rows):
            return np.sin(2.0 * rows[:, 0]) + rows[:, 1]

    found = difficulty_report(points, y, model=Known(), n_jobs=1)
    residuals = y - Known().predict(points)
    assert found.verdict.limit.reached_by == "yours"
    assert found.verdict.limit.metric.reached == pytest.approx(1.0 - np.mean(residuals**2) / y.var())
    values = {each["metric"]: each["reached"]["value"] for each in found.summary["metrics"]}
    assert values["rmse"] == pytest.approx(np.sqrt(np.mean(residuals**2)))
    assert values["mae"] == pytest.approx(np.abs(residuals).mean())
    assert "the best model tried, yours, explains" in " ".join(found.summary["answer"])


def test_predictions_of_numbers_that_are_worse_than_none():
    points, y = numbers()
    found = difficulty_report(points, y, predictions=-y, n_jobs=1)
    assert found.gap.value < -1.0
    assert f"R² of -{100 * -found.gap.value:.0f}%" in found.summary["gap"]["sentence"]
    assert f"-{100 * -found.gap.value:.0f}%" in found.to_html()
    assert "BF058" in [each.code for each in difficulty_report(points, y, predictions=y, n_jobs=1).findings]


def test_numbers_and_few_rows():
    points, y = numbers()
    with pytest.raises(ValueError, match="pass one of them"):
        difficulty_report(points, y, task="regression", model=LinearRegression(), predictions=y)
    with pytest.raises(TypeError, match="GaussianNB predicts classes, and y holds numbers"):
        difficulty_report(points, y, model=GaussianNB())
    with pytest.raises(ValueError, match="199"):
        difficulty_report(points, y, predictions=y[1:])
    with pytest.raises(ValueError, match="at least 20 rows to train models"):
        difficulty_report(X[:12], Y[:12], predictions=Y[:12])


def test_signs_and_p_values():
    assert [signed(value) for value in (0.03, -0.004, 0.0)] == ["3.0", "-0.40", "0"]
    assert [p_of(value) for value in (1e-5, 0.03, None)] == ["< .001", ".03", "–"]
