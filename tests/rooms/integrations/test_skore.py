"""Checks in the reports of skore, by the released package."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from bayesfloor.integrations import skore_checks
from bayesfloor.integrations.skore_checks import floor_checks
from helpers.one_case import for_each

skore = pytest.importorskip("skore", reason="needs the extra 'skore'")

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

CODES = ["BF-GAP", "BF-TARGET", "BF-LABELS", "BF-CLASSES"]


def rows(n=200):
    """Three classes: one far away with a row that is labelled wrongly, two that are the same."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3))
    X[y == 0] += 8.0
    X[:, 2] = 1e6 * rng.normal(size=n)  # says nothing, and hides the others unless they are scaled
    labels = np.array(["far<b>", "same 1", "same 2"])[y]
    labels[3] = "same 1"
    return X, labels


@pytest.fixture
def only_ours():
    """Nothing of skore's own is run: that takes longer than all of this."""

    def summary(report, **options):
        for listed in list(report.checks.available()):
            report.checks.remove(listed.split(" - ")[0])
        report.checks.add(floor_checks(n_jobs=1, **options))
        return report.checks.summarize().frame().set_index("code")

    return summary


def test_findings_of_cross_validation(only_ours):
    X, y = rows()
    model = DummyClassifier(strategy="most_frequent")
    report = skore.CrossValidationReport(model, X, y, splitter=3)
    found = only_ours(report, target_value=0.01)
    assert found.index.tolist() == CODES
    assert found["section"].tolist() == ["issue", "issue", "tip", "tip"]
    said = found["explanation"]
    error = 1 - max(np.mean(y == label) for label in set(y))
    assert said["BF-GAP"].startswith(f"Your model errs on {error:.1%}; ")
    assert "points of it can surely be won" in said["BF-GAP"]
    assert said["BF-TARGET"].startswith("An error of 1% is out of reach.")
    assert "row 3 (same 1, looks like far<b>)" in said["BF-LABELS"]
    assert said["BF-CLASSES"].startswith("Neither neighbours nor models tell these classes apart: same 1 and same 2.")
    assert not hasattr(model, "classes_")
    assert "far&lt;b&gt;" in report.checks.summarize()._repr_html_()


def test_nothing_is_found_where_all_is_well(only_ours):
    rng = np.random.default_rng(1)
    y = np.arange(160) % 2
    X = pd.DataFrame(rng.normal(size=(160, 2)) + 5 * y[:, None], columns=["a", "b"])
    report = skore.EstimatorReport(
        LogisticRegression(), X_train=X[:120], y_train=y[:120], X_test=X[120:], y_test=y[120:]
    )
    before = report.estimator_.coef_.copy()
    found = only_ours(report)
    assert found["section"].tolist() == ["passed", "not_applicable", "passed", "passed"]
    assert "No target_value was given" in found["explanation"]["BF-TARGET"]
    np.testing.assert_array_equal(report.estimator_.coef_, before)


def test_parts_of_the_rows(only_ours):
    X, y = rows()
    report = skore.EstimatorReport(
        DecisionTreeClassifier(max_depth=1), X_train=X[:2], y_train=y[:2], X_test=X[2:], y_test=y[2:]
    )
    assert "row 1 of the test rows (same 1" in only_ours(report)["explanation"]["BF-LABELS"]
    X, y = rows(120)
    fitted = DummyClassifier().fit(X, y)
    found = only_ours(skore.EstimatorReport(fitted, X_test=X, y_test=y))
    assert found["section"]["BF-GAP"] == "issue"


@for_each("sure_gap, said", [(0.1, "Your model errs."), (-0.1, None)])
def test_a_model_that_is_surely_better_has_no_errors_to_avoid(sure_gap, said):
    gap = SimpleNamespace(is_sure=True, sure_gap=sure_gap, sentence=lambda: "Your model errs.")
    assert skore_checks._gap(SimpleNamespace(gap=gap), None) == said


def test_what_cannot_be_checked(only_ours):
    X, y = rows(60)
    numbers = skore.CrossValidationReport(RandomForestRegressor(2), X, X[:, 0], splitter=2)
    found = only_ours(numbers)
    assert set(found["section"]) == {"not_applicable"}
    assert "the task is regression" in found["explanation"]["BF-GAP"]
    few = skore.CrossValidationReport(DecisionTreeClassifier(), X[:12], y[:12] == "far<b>", splitter=2)
    assert "cannot be told" in only_ours(few)["explanation"]["BF-GAP"]


def test_they_are_checks_and_slow(only_ours):
    checks = floor_checks()
    assert all(isinstance(check, skore.Check) for check in checks)
    X, y = rows(60)
    report = skore.CrossValidationReport(DecisionTreeClassifier(), X, y, splitter=2)
    report.checks.add(checks)
    found = report.checks.summarize(fast_mode=True).frame().set_index("code")
    assert found.loc[CODES, "section"].tolist() == ["skipped"] * 4


def test_a_target_that_is_no_error():
    with pytest.raises(ValueError, match="'target_value' parameter must be a float in the range"):
        floor_checks(target_value=5)
