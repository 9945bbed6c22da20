"""Representations that a report compares: groups of columns, and features from elsewhere."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bayesfloor import compare_features, difficulty_report
from bayesfloor.floor.learned.dependence import Dependence
from bayesfloor.floor.learned.trust.checks import keep_apart
from bayesfloor.floor.learned.trust.fewer_columns import without_columns
from bayesfloor.floor.learned.trust.source import source_of
from bayesfloor.report.representations import ALL_COLUMNS, check_compare, compare_in_report

pytestmark = pytest.mark.usefixtures("few_learners", "coarse_curves")


def table(n=160, task="classification"):
    """Two columns that tell, one that does not, and one of words that tells a little."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((n, 2))
    value = signal.sum(axis=1) + 0.3 * rng.standard_normal(n)
    frame = pd.DataFrame({"first": signal[:, 0], "second": signal[:, 1], "noise": rng.standard_normal(n)})
    frame["word"] = np.where(value + 2.0 * rng.standard_normal(n) > 0, "high", "low")
    frame["y"] = np.where(value > 0, "yes", "no") if task == "classification" else value
    return frame


GROUPS = {"useful": ["first", "second"], "useless": ["noise"], "both": ["useful", "useless"]}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_groups_of_columns_are_compared(task):
    report = difficulty_report(table(task=task), "y", compare=GROUPS, n_jobs=1)
    told = report.summary["compare"]
    rows = {each["name"]: each for each in told["rows"]}
    assert set(rows) == {ALL_COLUMNS, *GROUPS}
    assert rows["useless"]["differs"]
    assert not told["rows"][0]["differs"]
    assert [rows[name]["n_features"] for name in ("useful", "useless", "both")] == [2, 1, 3]
    assert told["limit"] == ("floor" if task == "classification" else "ceiling")
    assert report.comparison.sentence() == told["sentence"]
    for shown in (report.to_text(), report.to_markdown(), report.to_html()):
        assert "Representations" in shown
        assert "useless" in shown
    assert json.loads(report.to_json())["compare"] == told
    assert "compare=compare" in report.summary["command"]


def test_columns_are_those_of_a_comparison_of_the_same_features():
    frame = table().drop(columns="word")
    report = difficulty_report(frame, "y", compare={"useful": ["first", "second"]}, n_jobs=1)
    features = {ALL_COLUMNS: frame[["first", "second", "noise"]], "useful": frame[["first", "second"]]}
    expected = compare_features(features, frame["y"], n_jobs=1, checks=False)
    told = {each.name: each.reached for each in report.comparison.features}
    # the report standardises columns, whose rounding may move a prediction or two
    assert_allclose(
        [told[each.name] for each in expected.features],
        [each.reached for each in expected.features],
        atol=2 / len(frame),
    )


def test_features_from_elsewhere(tmp_path):
    frame = table()
    other = np.random.default_rng(1).standard_normal((len(frame), 5))
    np.save(tmp_path / "other.npy", other)
    report = difficulty_report(frame, "y", compare={"array": other, "file": tmp_path / "other.npy"}, n_jobs=1)
    rows = {each["name"]: each for each in report.summary["compare"]["rows"]}
    assert rows["array"]["reached"] == rows["file"]["reached"]
    assert rows["array"]["differs"]


def test_without_models_floors_come_from_trees():
    report = difficulty_report(table(), "y", compare=GROUPS, fast=True, n_jobs=1)
    told = report.summary["compare"]["rows"]
    assert {each["reached"] for each in told} == {None}
    assert told[0]["name"] != "useless"
    assert "useless" in report.to_html()


@pytest.mark.parametrize("fast", [False, True])
def test_rows_and_progress_are_those_of_the_report(fast):
    seen = []
    how = {"max_tree_rows" if fast else "max_rows": 100, "progress": lambda done, total: seen.append(done / total)}
    report = difficulty_report(table(), "y", compare=GROUPS, fast=fast, n_jobs=1, **how)
    assert report.comparison.n_rows == 100
    assert {each.n_rows for each in report.comparison.features} == {100}
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 0.2 in seen  # one training for the report, and four for what is compared
    assert fast or any(0.5 < share < 1.0 for share in seen)


def test_nothing_is_compared_by_default():
    report = difficulty_report(table(), "y", fast=True, n_jobs=1)
    assert report.comparison is report.summary["compare"] is None
    assert "Representations" not in report.to_html()


def test_rows_that_were_kept_apart_stay_apart(monkeypatch):
    frame = table()
    frame["patient_id"] = np.repeat(np.arange(40), 4) + 100
    source = source_of(frame, "y", None)
    asked = {}
    monkeypatch.setattr(
        "bayesfloor.choose.comparing.compare.compare_features",
        lambda features, y, **how: asked.update(features=features, y=y, **how),
    )
    apart = keep_apart(source, Dependence("BF036", "", "", "groups", "patient_id"), ())
    compare_in_report(check_compare(GROUPS, source), source, apart)
    groups = asked["groups"]
    assert len(np.unique(groups)) == 40
    assert all(len(np.unique(groups[4 * place : 4 * place + 4])) == 1 for place in range(40))
    assert "patient_id" not in map(str, asked["features"][ALL_COLUMNS].feature_names)
    compare_in_report(check_compare(GROUPS, source), source, without_columns(source, source.problem, ("first",)))
    assert asked["groups"] is None
    names = set(map(str, asked["features"][ALL_COLUMNS].feature_names))
    assert "first" not in names
    assert "second" in names


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        ({"a": ["frist"]}, "'frist' in 'a', which is no column that is used. Did you mean 'first'"),
        ({}, "'compare' parameter must be a dict of columns or features by name"),
        (["first"], "'compare' parameter must be a dict of columns or features by name"),
        ({"a": np.zeros((3, 2))}, "have 3 rows, and 160 rows are used"),
        ({"a": ["first", "b"], "b": ["second"]}, "'b' in 'a', which is no column"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_training(compare, message, monkeypatch):
    monkeypatch.setattr("bayesfloor.report.difficulty.figures_of_classes", None)
    with pytest.raises((ValueError, TypeError), match=message):
        difficulty_report(table(), "y", compare=compare, n_jobs=1)
