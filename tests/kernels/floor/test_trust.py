"""When models are trained again, on which problem, and which figures are told then."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bayesfloor import difficulty_report, regression_floor
from bayesfloor.floor.learned.trust.checks import learn_with_checks, possible_times
from bayesfloor.floor.learned.trust.fewer_columns import without_columns
from bayesfloor.floor.learned.trust.single_columns import explained_by_columns
from bayesfloor.floor.learned.trust.source import source_of
from bayesfloor.floor.trees.problem import check_options
from bayesfloor.runtime import threads

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

HOW = {"bias_correction": True, "forced_edges": "drop", "device": "cpu", "client": None}
OPTIONS = check_options(n_trees=3, confidence=0.95, n_jobs=1, random_state=0, progress=False, **HOW)


@pytest.fixture(scope="module")
def metric():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    return regression_floor(X, X[:, 0] + rng.standard_normal(80), n_jobs=1).metrics["r2"]


def grouped():
    """Rows of 30 patients, each with a level of its own, which lie close together."""
    rng = np.random.default_rng(1)
    of = np.repeat(np.arange(30), 5)
    points = 2.0 * rng.standard_normal((30, 3))[of] + 0.2 * rng.standard_normal((150, 3))
    frame = pd.DataFrame(points, columns=["a", "b", "c"])
    frame["patient_id"] = 500 + of
    frame["y"] = 3.0 * rng.standard_normal(30)[of] + 0.2 * rng.standard_normal(150)
    return frame


def dated():
    """Rows along which the meaning of two columns turns."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "c"])
    angle = np.linspace(-2.5, 2.5, 200)
    frame["c"] += angle
    frame["y"] = np.cos(angle) * frame["a"] + np.sin(angle) * frame["b"] + 0.1 * rng.standard_normal(200)
    frame["day"] = pd.date_range("2020-01-01", periods=200, freq="D")
    return frame


#: How many more trainings each one was told to expect, of the last call of `checked`.
expected: list[int] = []


def checked(frame, metric, reached, findings=()):
    """Train by a table of what is reached, and note the problems that were trained on."""
    source, seen = source_of(frame, "y", None, task="regression"), []
    expected.clear()

    def train(problem, n_more):
        seen.append(problem)
        expected.append(n_more)
        value = reached(problem)
        own = replace(metric, reached=value, estimate=value, reached_interval=(value - 0.02, value + 0.02))
        flat = np.full(3, value)
        own = replace(own, curve=replace(metric.curve, value=flat, fitted=flat, limit=value))
        return SimpleNamespace(metric="r2", metrics={"r2": own}, findings=findings), len(seen)

    columns = explained_by_columns(source, OPTIONS)
    return learn_with_checks(source, source.problem, OPTIONS, columns, train), seen


def reached_by(trained):
    return trained.floor.metrics["r2"].reached


def test_rows_of_one_patient_are_kept_apart_where_that_matters(metric):
    found, (first, second) = checked(grouped(), metric, lambda problem: 0.9 if problem.groups is None else 0.1)
    assert (found.split_by.kind, found.split_by.column) == ("groups", "patient_id")
    assert (reached_by(found.given), reached_by(found.honest), found.honest.held_out) == (0.9, 0.1, 2)
    assert first.groups is None
    assert len(np.unique(second.groups)) == 30
    assert found.honest.problem is second
    assert second.X.shape[1] == 3  # who it is, is no feature of a new one


def test_later_rows_are_predicted_from_earlier_ones_where_that_matters(metric):
    found, (first, second) = checked(dated(), metric, lambda problem: 0.9 if problem.time is None else 0.1)
    assert (found.split_by.kind, found.split_by.column) == ("time", "day")
    assert (np.diff(second.time) > 0).all()
    gone = set(map(str, first.feature_names)) - set(map(str, second.feature_names))
    assert gone == {"day: time"}  # months come again
    assert "day: year" not in second.tabular.names


def test_figures_stay_where_it_does_not_matter(metric):
    found, seen = checked(grouped(), metric, lambda problem: 0.6 if problem.groups is None else 0.59)
    assert len(seen) == 2
    assert found.split_by is None
    assert found.are_alike
    assert found.honest.problem is seen[0]
    assert [each.code for each in found.dependence] == ["BF034"]
    assert [(each.kind, each.in_headline) for each in found.reasons] == [("groups", False)]


def test_both_figures_are_told_where_the_difference_may_be_chance(metric):
    found, seen = checked(grouped(), metric, lambda problem: 0.6 if problem.groups is None else 0.55)
    assert found.split_by is None
    assert found.honest.problem is seen[0]
    (reason,) = found.reasons
    assert (reason.kind, reason.columns, reason.value, reason.in_headline) == ("groups", ("patient_id",), 0.55, True)
    assert "may be chance" in reason.sentence


def test_near_copies_are_named_by_their_column(metric):
    copied = [SimpleNamespace(code="BF038")]
    found, seen = checked(grouped(), metric, lambda problem: 0.2, copied)
    assert found.split_by.column == "patient_id"
    assert found.reasons[0].value is None
    assert "nearly copies" in found.reasons[0].sentence
    assert found.honest.problem is seen[1]


def test_a_leak_is_left_out_of_what_else_is_checked(metric):
    frame = grouped()
    frame["copy"] = 2.0 * frame["y"] + 1.0
    found, seen = checked(
        frame,
        metric,
        lambda problem: 0.99 if "copy" in problem.feature_names else 0.8 if problem.groups is None else 0.2,
    )
    assert found.leaks.columns == ("copy",)
    assert [problem.X.shape[1] for problem in seen] == [4, 3, 3]
    assert (reached_by(found.given), reached_by(found.honest)) == (0.99, 0.2)
    assert found.without_leaks is seen[1]
    ours, theirs = found.reasons[0].sentence, found.warnings[0].sentence
    assert ours.startswith("'copy' gives the answer away: with it a model explains 99.0% of the variance.")
    assert ours.endswith("These figures are without it and for a new 'patient_id'.")
    assert "Without it and for a new 'patient_id' a model explains 20.0% of the variance, and the ceiling" in theirs
    assert expected == [2, 1, 0]  # so that one bar can serve all


def test_the_time_is_left_out_beside_a_leak(metric):
    """Places of columns are those of the whole table, whatever was left out before."""
    frame = dated()
    frame.insert(0, "copy", 2.0 * frame["y"] + 1.0)
    found, seen = checked(
        frame,
        metric,
        lambda problem: 0.99 if "copy" in problem.feature_names else 0.8 if problem.time is None else 0.2,
    )
    kept = [{str(name).split(":")[0] for name in problem.feature_names} for problem in seen]
    assert kept == [{"copy", "a", "b", "c", "day"}, {"a", "b", "c", "day"}, {"a", "b", "c", "day"}]
    assert "day: time" in seen[1].feature_names
    assert "day: time" not in seen[2].feature_names
    assert len(seen[2].feature_names) == len(seen[1].feature_names) - 1
    assert reached_by(found.honest) == 0.2


def test_a_clean_table_is_trained_on_once(metric):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((150, 3)), columns=["a", "b", "c"])
    frame["day"] = pd.date_range("2020-01-01", periods=150, freq="D")
    frame["y"] = frame["a"] + rng.standard_normal(150)
    found, seen = checked(frame, metric, lambda problem: 0.5)
    assert len(seen) == 1
    assert not found.leaks
    assert found.dependence == found.reasons == ()


def test_which_columns_may_be_a_time():
    n = 60
    frame = pd.DataFrame(
        {"a": np.linspace(0, 1, n), "year": np.arange(n) // 6 + 1990, "year_built": np.arange(n) + 1900}
    )
    frame["seen"] = pd.date_range("2020-01-01", periods=n, freq="W")
    frame["birth_date"] = pd.date_range("1950-01-01", periods=n, freq="W")
    frame["y"] = np.sin(np.arange(n))
    assert set(possible_times(source_of(frame, "y", None, task="regression"))) == {"year", "seen"}


def test_columns_that_became_several_features_are_left_out_whole():
    frame = dated().assign(town=[f"t{code}" for code in np.arange(200) % 60], a_b=1.0 * (np.arange(200) % 7))
    source = source_of(frame, "y", None, task="regression")
    left = without_columns(source, source.problem, {"day", "a"})
    assert not any(str(name).startswith("day") or str(name) == "a" for name in left.feature_names)
    assert not any(name.startswith("day") or name == "a" for name in left.tabular.names)
    assert {"a_b", "b", "c"} <= set(left.tabular.names)
    for column, first, last in left.tabular.from_labels:
        assert left.tabular.names[column] == "town"
        assert all(str(left.feature_names[place]).startswith("town") for place in range(first, last))
    assert without_columns(source, source.problem, set(source.columns)) is None


def test_progress_does_not_start_over_where_models_are_trained_again(monkeypatch):
    monkeypatch.setattr(threads, "GLANCE_S", 0.001)
    frame, calls = grouped(), []
    frame["y"] = np.where(frame["y"] > 0, "high", "low")
    report = difficulty_report(frame, "y", n_jobs=1, progress=lambda *call: calls.append(call))
    assert report.verdict.reasons[0].kind == "groups"  # trained twice
    seen = [done / total for done, total in calls]
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert any(0.0 < share < 0.5 for share in seen)
    assert any(0.5 < share < 1.0 for share in seen)
