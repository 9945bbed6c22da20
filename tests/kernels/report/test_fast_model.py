"""The fast model of a report is judged on the rows, and by the figures, that the stack is judged by."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.naive_bayes import GaussianNB

from bayesfloor import LandmarkClassifier, difficulty_report, learned_floor, read_table
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.held_out import log_of_known
from bayesfloor.floor.trees.problem import check_options
from bayesfloor.report.fast_model import FastModel, try_fast_model
from bayesfloor.report.sections.answer import is_good, sentence_on_fast_model
from bayesfloor.tables.arguments import check_problem

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

#: Learners that take milliseconds; the stack is not what these tests are about.
QUICK = {"learners": [GaussianNB()]}


def two_classes(n_rows=240, apart=1.5):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    return rng.normal(size=(n_rows, 2)) + apart * y[:, np.newaxis], y


def judged(held_out, model=None):
    """Predictions of the tested rows by a model that is trained again for each split."""
    log_p = np.full((len(held_out.tested), len(held_out.used.classes)), np.nan)
    for each in held_out.training_sets():
        fitted = (GaussianNB() if model is None else model).fit(each.train.X, each.train.codes)
        assert np.isnan(log_p[each.places]).all()  # each row is predicted once
        log_p[each.places] = log_of_known(fitted.predict_proba(each.others), fitted.classes_, each.train)
    assert np.isfinite(log_p).all()
    return log_p


def test_the_folds_are_those_of_the_stack():
    """A stack of one learner without offsets decides as that learner does, so both err on the same rows."""
    X, y = two_classes()
    groups = np.arange(len(y)) // 6
    learned, held_out = learned_floor_of(check_problem(X, y, groups=groups), **QUICK)
    assert held_out.values(judged(held_out)) == pytest.approx({"error": learned.reached})
    rows = held_out.learned.plan.rows
    for train, places in held_out.splits:
        of_train, of_tests = (set(groups[rows[some]]) for some in (train, held_out.tested[places]))
        assert not of_train & of_tests
    for each, (train, _) in zip(held_out.training_sets(), held_out.splits, strict=True):
        np.testing.assert_array_equal(each.groups, groups[rows[train]])
    assert sum(len(places) for _, places in held_out.splits) == len(y)


def test_features_from_labels_do_not_know_those_of_tested_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.4f},v{rng.integers(60)},{rng.integers(2)}" for _ in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["x,level,y", *rows]) + "\n")
    problem = check_problem(read_table(tmp_path / "t.csv", target="y"), None)
    assert problem.tabular.from_labels
    _, held_out = learned_floor_of(problem, **QUICK)
    first = next(held_out.training_sets())
    codes = held_out.used.codes.copy()
    tested = held_out.tested[first.places]
    codes[tested] = 1 - codes[tested]
    learned = held_out.learned._replace(used=replace(held_out.used, codes=codes))
    changed = next(replace(held_out, learned=learned).training_sets())
    np.testing.assert_array_equal(changed.others, first.others)
    assert np.any(changed.others != held_out.used.X[tested])


def test_landmarks_are_trained_and_timed():
    X, y = load_iris(return_X_y=True)
    _, held_out = learned_floor_of(check_problem(X, y), metric=["log_loss", "error"], **QUICK)
    found = try_fast_model(held_out, check_options())
    assert found.values == held_out.values(judged(held_out, LandmarkClassifier()))
    assert found.name == "LandmarkClassifier"
    assert found.n_rows == 120
    assert found.seconds > 0
    assert found.values["error"] < 0.1


def test_a_past_of_one_class_is_no_crash():
    X, y = two_classes(300)
    order = np.argsort(y[:200], kind="stable")
    y = np.concatenate([y[:200][order], y[200:]])
    _, held_out = learned_floor_of(check_problem(X, y, time=np.arange(300)), learners=["gaussian"])
    split = held_out.splits[0]
    held_out = replace(held_out, splits=((split[0][:20], split[1]), *held_out.splits[1:]))
    assert len(np.unique(held_out.used.codes[split[0][:20]])) == 1
    assert 0 <= try_fast_model(held_out, check_options()).values["error"] <= 1


def test_classes_that_a_fold_does_not_know():
    X, y = make_blobs(60, centers=3, random_state=0)
    y[y == 2] = 1
    y[0] = 2
    _, held_out = learned_floor_of(check_problem(X, y), metric="log_loss", **QUICK)
    assert np.isfinite(list(try_fast_model(held_out, check_options()).values.values())).all()


@pytest.fixture(scope="module")
def report():
    return difficulty_report(*two_classes(120, apart=3.0), metric="roc_auc")


def test_it_is_in_every_form(report):
    fast = report.summary["fast_model"]
    assert fast == json.loads(report.to_json())["fast_model"]
    assert [each["metric"] for each in fast["metrics"]] == ["roc_auc", "error"]
    for each in fast["metrics"]:
        assert each["stack"] == report.learned.metrics[each["metric"]].reached
    assert fast["sentence"] in " ".join(report.to_text().split())
    assert fast["sentence"] in report.to_markdown()
    assert fast["sentence"] in report.to_html()
    assert "The fast model" in [each["heading"] for each in report.summary["how_to_read"]]


@pytest.fixture(scope="module")
def learned():
    """By the error and by the ROC AUC."""
    X, y = two_classes()
    return {name: learned_floor(X, y, metric=name, **QUICK) for name in ("error", "roc_auc")}


def test_what_is_said(learned):
    known = {"error": 0.038, "roc_auc": 0.92}
    for metric, seconds, said in [
        ("error", 0.213, "errs on 4.1% (the stack: 3.8%) and trains in 0.2 s."),
        ("error", 0.0312, "errs on 4.1% (the stack: 3.8%) and trains in 0.03 s."),
        ("error", 31.4, "errs on 4.1% (the stack: 3.8%) and trains in 31 s."),
        (
            "roc_auc",
            2.0,
            "reaches an ROC AUC of 0.9 (the stack: 0.92), errs on 4.1% (the stack: 3.8%) and trains in 2.0 s.",
        ),
    ]:
        metrics = {
            name: replace(each, reached=known[name], reached_interval=(known[name] - 0.02, known[name] + 0.002))
            for name, each in learned[metric].metrics.items()
        }
        floor = replace(learned[metric], metrics=metrics)
        fast = FastModel("LandmarkClassifier", {"error": 0.041, "roc_auc": 0.9}, seconds, 1000)
        assert sentence_on_fast_model(fast, floor) == f"The fastest good model: LandmarkClassifier {said}"


def test_a_model_is_good_that_wins_nearly_all(learned):
    metric = replace(learned["error"].metrics["error"], baseline=0.5, reached=0.1, reached_interval=(0.08, 0.12))
    auc = replace(learned["roc_auc"].metrics["roc_auc"], baseline=0.5, reached=0.9, reached_interval=(0.88, 0.92))

    def fast(value):
        return FastModel("LandmarkClassifier", {"error": value, "roc_auc": value}, 0.1, 1000)

    assert [is_good(fast(value), metric) for value in (0.05, 0.1, 0.13, 0.15, 0.6, 0.95)] == [True] * 3 + [False] * 3
    assert [is_good(fast(value), auc) for value in (0.95, 0.9, 0.87, 0.85, 0.4, 0.05)] == [True] * 3 + [False] * 3
    hopeless = replace(metric, reached=0.49, reached_interval=(0.45, 0.53))
    assert not is_good(fast(0.49), hopeless)
    floors = {"not as good as the stack": metric, "A fast model:": hopeless}
    for said, each in floors.items():
        floor = replace(learned["error"], metrics={"error": each})
        assert said in sentence_on_fast_model(fast(0.3), floor)
