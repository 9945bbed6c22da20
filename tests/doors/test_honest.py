"""Every function that shows a figure says what speaks against it, and has the figures that hold."""

import warnings

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from bayesfloor import (
    StackedClassifier,
    StackedRegressor,
    compare_features,
    difficulty_report,
    floor_gap,
    learned_floor,
    regression_floor,
)
from bayesfloor.exceptions import TrustWarning
from helpers.one_case import for_each

#: Quick ones, which know a patient again.
LEARNERS = ["neighbours", "gaussian"]
OF_NUMBERS = ["neighbours", "linear"]


def leaking(n=200, *, is_number=False):
    """A copy of the target beside two columns that tell half of it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 2)), columns=["a", "b"])
    y = frame["a"] + frame["b"] + 1.5 * rng.standard_normal(n)
    frame["code"] = 3.0 * y - 1.0 if is_number else y + 5.0 * np.sign(y)
    frame["y"] = y if is_number else np.where(y > 0, "sick", "well")
    return frame


def of_patients(*, is_number=False):
    """Six rows of each patient, close together, with one label that no other patient's rows tell."""
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(60), 6)
    points = 2.0 * rng.standard_normal((60, 3))[patient] + 0.2 * rng.standard_normal((360, 3))
    frame = pd.DataFrame(points, columns=["a", "b", "c"])
    frame["patient_id"] = 1000 + patient
    frame["y"] = (
        rng.standard_normal(60)[patient] if is_number else np.where(rng.random(60) < 0.5, "ill", "well")[patient]
    )
    return frame


def drifting():
    """What tells the classes turns with the days."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.standard_normal((300, 3)), columns=["a", "b", "c"])
    angle = np.linspace(-2.5, 2.5, 300)
    frame["c"] += angle
    frame["day"] = pd.date_range("2020-01-01", periods=300, freq="D")
    frame["y"] = np.where(np.cos(angle) * frame["a"] + np.sin(angle) * frame["b"] > 0, "up", "down")
    return frame


def floor_of(*given, is_number=False, **asked):
    if is_number:
        return regression_floor(*given, n_jobs=1, learners=OF_NUMBERS, **asked)
    return learned_floor(*given, n_jobs=1, learners=LEARNERS, **asked)


def honest(frame, *, is_number=False):
    with pytest.warns(TrustWarning) as caught:
        found = floor_of(frame, "y", is_number=is_number)
    assert len(caught) == 1
    assert " ".join(found.trust.headline) in str(caught[0].message)
    return found


@for_each("is_number", [False, True])
def test_a_leak_is_told_with_the_figures_without_it(is_number):
    frame = leaking(is_number=is_number)
    found = honest(frame, is_number=is_number)
    alone = floor_of(frame.drop(columns="code"), "y", is_number=is_number)
    assert found.honest.metrics[found.metric].reached == alone.reached
    assert found.honest.interval == alone.interval
    assert "BF009" in [each.code for each in found.findings]
    name = type(found).__name__
    assert repr(found).startswith(f"{name}('code' gives the answer away")
    assert "As asked for:" in repr(found)
    assert found.sentence().startswith("'code' gives the answer away")
    assert "gives the answer away" in found._repr_html_()
    (reason,) = [each for each in found.trust.reasons if each.kind == "leak"]
    assert (reason.columns, reason.value) == (("code",), found.reached)
    assert found.to_dict()["trust"]["instead"]["reached"] == alone.reached


class SecondColumn(LogisticRegression):
    """A model of two columns that asks for the second by its place."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[:, 1:2], y, sample_weight)

    def predict_proba(self, X):
        return super().predict_proba(X[:, 1:2])


def test_a_model_of_the_callers_finds_its_columns_where_they_were():
    frame = leaking()[["code", "b", "a", "y"]]
    with pytest.warns(TrustWarning, match="'code' gives the answer away"):
        found = learned_floor(frame, "y", n_jobs=1, learners=[*LEARNERS, SecondColumn()])
    assert found.reached < 0.05 < 0.2 < found.honest.reached


def test_nothing_is_looked_for_without_checks():
    found = floor_of(leaking(), "y", checks=False)
    assert found.honest is found
    assert found.trust.reasons == ()
    assert found.to_dict()["trust"]["instead"] is None
    assert found.reached < 0.05


@pytest.mark.parametrize("form", ["polars", "array", "file"])
def test_rows_of_one_patient_are_found_in_any_form(form, tmp_path):
    frame = of_patients()
    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    asked = {"polars": (polars.DataFrame(frame), "y"), "array": (X.to_numpy(), y), "file": (str(path), "y")}
    with pytest.warns(TrustWarning, match="For a new '(patient_id|x3)' a model errs on"):
        found = floor_of(*asked[form])
    assert found.reached < 0.2 < 0.35 < found.honest.reached
    told = floor_of(frame, "y", groups="patient_id")
    assert found.honest.reached == pytest.approx(told.reached, abs=0.08)


def test_a_number_of_patients():
    found = honest(of_patients(is_number=True), is_number=True)
    assert found.reached > 0.5 > 0.15 > found.honest.reached
    assert found.trust.reasons[0].kind == "groups"


def test_later_rows_are_predicted_from_earlier_ones():
    found = honest(drifting())
    assert found.trust.reasons[0].columns == ("day",)
    told = floor_of(drifting(), "y", time="day")
    assert found.honest.reached == pytest.approx(told.reached, abs=0.1)
    assert found.honest.reached > found.reached + 0.1


def test_who_says_how_rows_are_dealt_out_is_not_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert floor_of(of_patients(), "y", groups="patient_id").trust.reasons == ()
        assert floor_of(of_patients(), "y", cv=KFold(5, shuffle=True, random_state=0)).honest.trust.reasons == ()


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_rows_on_disk_are_looked_at(tmp_path, set_limits):
    set_limits(disk_rows=3000)
    frame = leaking(4000)
    polars.DataFrame(frame).write_parquet(tmp_path / "many.parquet")
    with pytest.warns(TrustWarning, match="'code' gives the answer away"):
        found = learned_floor(tmp_path / "many.parquet", "y", n_jobs=1)  # other learners need rows in memory
    assert found.n_samples == found.honest.n_samples == 4000
    assert found.reached < 0.02 < 0.15 < found.honest.reached


# --- a model beside the floor


def test_an_unfitted_model_is_compared_on_rows_kept_apart():
    frame = of_patients()
    model = RandomForestClassifier(20, random_state=0)
    gap = floor_gap(model, frame, "y", n_jobs=1, learners=LEARNERS)
    told = floor_gap(
        model, frame.drop(columns="patient_id"), "y", groups=frame["patient_id"], n_jobs=1, learners=LEARNERS
    )
    assert gap.are_alike
    assert gap.reached == pytest.approx(told.reached, abs=0.08)
    assert gap.value > 0.3  # at random it would know each patient
    assert gap.sentence().startswith("Rows of one 'patient_id' are alike")


def test_predictions_that_knew_the_patients_are_never_surely_worse():
    frame = of_patients()
    rng = np.random.default_rng(0)
    wrong = rng.random(len(frame)) < 0.05
    predictions = np.where(wrong, "ill", frame["y"])  # of folds that mix the rows of each patient
    with pytest.warns(TrustWarning, match="Rows of one 'patient_id' are alike"):
        gap = floor_gap(None, frame, "y", predictions=predictions, n_jobs=1, learners=LEARNERS)
    assert not gap.are_alike
    assert not gap.is_sure
    assert np.isnan(gap.p_value)
    assert gap.sure_gap_interval[0] <= 0.0 <= gap.sure_gap_interval[1]
    assert "BF062" in [each.code for each in gap.findings]
    assert "surely" not in gap.sentence()
    assert all(each["p_adjusted"] is None for each in gap.to_dict()["by_class"])
    assert "nan" not in gap._repr_html_().lower()


def test_beside_a_leak_nothing_is_sure():
    model = RandomForestClassifier(5, max_depth=1, random_state=0)
    with pytest.warns(TrustWarning, match="'code' gives the answer away"):
        gap = floor_gap(model, leaking(), "y", n_jobs=1, learners=LEARNERS)
    assert not gap.is_sure
    assert gap.learned.honest.reached > gap.reached
    assert "Leave these columns out" in next(each.hint for each in gap.findings if each.code == "BF062")


# --- models and comparisons


@pytest.mark.parametrize("is_number", [False, True])
def test_held_out_figures_of_a_stack_are_of_new_patients(is_number):
    frame = of_patients(is_number=is_number)
    kind, learners = (StackedRegressor, OF_NUMBERS) if is_number else (StackedClassifier, LEARNERS)
    model = kind(n_jobs=1, learners=learners)
    with pytest.warns(TrustWarning, match="patient_id"):
        model.fit(frame.drop(columns="y"), frame["y"])
    name = "r2" if is_number else "error"
    assert model.held_out_.measured[name] == pytest.approx(model.floor_.honest.metrics[name].reached)
    assert abs(model.floor_.metrics[name].reached - model.held_out_.metrics[name].value) > 0.15
    assert model.n_features_in_ == 4  # the model has all columns


def test_representations_are_compared_on_rows_kept_apart():
    frame = of_patients()
    found = compare_features({"two": ["a", "b"], "all": "passthrough"}, "y", X=frame, n_jobs=1, learners=LEARNERS)
    assert found.sentence().startswith("Rows of the same 'patient_id' are alike")
    assert all(each.reached > 0.3 for each in found.features)
    assert "BF034" in [each.code for each in found.findings]
    mixed = compare_features(
        {"two": ["a", "b"], "all": "passthrough"}, "y", X=frame, n_jobs=1, learners=LEARNERS, checks=False
    )
    assert mixed.features[0].reached < 0.2


def test_a_representation_that_gives_the_target_away_is_named():
    frame = leaking()
    features = {"plain": frame[["a", "b"]], "more": frame[["a", "b", "code"]]}
    with pytest.warns(TrustWarning, match="'code' gives the answer away of 'more'"):
        found = compare_features(features, frame["y"], n_jobs=1, learners=LEARNERS)
    assert found.trust.reasons[0].columns == ("code",)


# --- reports


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_all_of_a_report_speaks_of_the_honest_figure():
    report = difficulty_report(leaking(), "y", n_jobs=1, target_value=0.05)
    summary, verdict = report.summary, report.verdict
    alone = learned_floor(leaking().drop(columns="code"), "y", n_jobs=1)
    assert verdict.trust == "leak"
    assert summary["floor"]["estimate"] == report.learned.estimate > 0.1
    assert report.learned.reached == alone.reached
    assert summary["goal"]["verdict"] != "feasible"
    assert summary["verdict"]["limit"]["as_asked"]["reached"] < 0.02
    assert summary["verdict"]["telling"][0] == "code"
    assert "Not testable" in report.to_text()
    assert "Trust: yes" not in report.to_text()
