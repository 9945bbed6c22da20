"""A model beside the floor by every metric: values beside scikit-learn's own, numbers, weights, subgroups, refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn import metrics as sk
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bayesfloor import floor_gap
from helpers.one_case import for_each
from helpers.plans import floor_and_predictions
from helpers.refusals import options_not_refused

QUICK = {"learners": [GaussianNB()], "n_jobs": 1}
LINES = {"learners": ["linear"], "n_jobs": 1}


def classes(n_classes, n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, 3))
    X[:, :2] += 1.5 * np.eye(max(n_classes, 2))[y][:, :2]
    return X, y, rng.gamma(2.0, size=n_rows)


def numbers(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, 3.0 + X[:, 0] - X[:, 1] ** 2 + rng.normal(size=n_rows), rng.gamma(2.0, size=n_rows)


COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [8.0, 3.0, 0.0]])


def of_scikit_learn(metric, y, labels, p, w):
    """Compute what scikit-learn has for a metric, with weights."""
    two = p.shape[1] == 2
    each = [(y == k, labels == k, p[:, k]) for k in range(p.shape[1])]
    ranked = {"roc_auc": sk.roc_auc_score, "average_precision": sk.average_precision_score}
    if metric in ranked:
        score = ranked[metric]
        if two:
            return score(y, p[:, 1], sample_weight=w)
        return np.mean([score(is_one, q, sample_weight=w) for is_one, _, q in each])
    if metric == "brier":
        square = ((np.eye(p.shape[1])[y] - p) ** 2).sum(axis=1)
        return np.average(square / (2.0 if two else 1.0), weights=w)
    return {
        "error": lambda: 1 - sk.accuracy_score(y, labels, sample_weight=w),
        "balanced_error": lambda: 1 - sk.balanced_accuracy_score(y, labels, sample_weight=w),
        "f1": lambda: sk.f1_score(y, labels, average="binary" if two else "macro", sample_weight=w),
        "log_loss": lambda: sk.log_loss(y, p, sample_weight=w),
        "top_2_error": lambda: 1 - sk.top_k_accuracy_score(y, p, k=2, sample_weight=w),
        "cost": lambda: np.average(COSTS[y, labels], weights=w),
    }[metric]()


@pytest.mark.parametrize(
    ("metric", "n_classes"),
    [
        *((name, 3) for name in ("error", "balanced_error", "log_loss", "average_precision", "top_2_error", "cost")),
        *((name, k) for name in ("f1", "brier", "roc_auc") for k in (2, 3)),
    ],
)
def test_values_are_those_of_scikit_learn(metric, n_classes):
    """Of three classes with weights, of two without."""
    X, y, weight = classes(n_classes)
    weight = weight if n_classes == 3 else None
    model = LogisticRegression().fit(*classes(n_classes, seed=1)[:2])
    found = floor_gap(
        model, X, y, metric=metric, costs=COSTS if metric == "cost" else None, sample_weight=weight, **QUICK
    )
    labels, p = model.predict(X), model.predict_proba(X)
    assert found.metric == metric
    assert found.value == pytest.approx(of_scikit_learn(metric, y, labels, p, weight), abs=1e-9)
    assert found.value_interval[0] <= found.value <= found.value_interval[1]
    better = 1 if found.floor.larger_is_better else -1
    assert found.sure_gap == pytest.approx(better * (found.reached - found.value), abs=1e-9)
    assert found.sure_gap_interval[0] <= found.sure_gap <= found.sure_gap_interval[1]
    assert found.possible_gap >= 0.0
    assert found.sentence().startswith("Your model ")
    assert json.loads(json.dumps(found.to_dict()))["metric"] == metric
    if metric in ("f1", "roc_auc"):  # the same from what was predicted
        given = labels if metric == "f1" else p
        again = floor_gap(None, X, y, predictions=given, metric=metric, sample_weight=weight, **QUICK)
        assert again.value == pytest.approx(found.value, abs=1e-12)


def test_a_probability_of_0_loses_what_scikit_learn_says():
    X, y, _ = classes(3)
    tree = DecisionTreeClassifier(random_state=0).fit(*classes(3, seed=1)[:2])
    found = floor_gap(tree, X, y, metric="log_loss", **QUICK)
    assert found.value == pytest.approx(sk.log_loss(y, tree.predict_proba(X)), rel=1e-9)


@for_each(("metric", "weighted"), [("r2", False), ("rmse", True), ("mae", True)])
def test_numbers_are_those_of_scikit_learn(metric, weighted):
    X, y, weight = numbers()
    model = DecisionTreeRegressor(max_depth=3).fit(*numbers(seed=1)[:2])
    weight = weight if weighted else None
    expected = {
        "r2": sk.r2_score,
        "rmse": sk.root_mean_squared_error,
        "mae": sk.mean_absolute_error,
    }[metric](y, model.predict(X), sample_weight=weight)
    found = floor_gap(model, X, y, metric=metric, sample_weight=weight, **LINES)
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.value_interval[0] <= found.value <= found.value_interval[1]
    assert found.sure_gap == pytest.approx(abs(found.reached - found.value), rel=1e-5) or found.sure_gap < 0
    assert len(found.by_class()) == 0
    assert found.classes.size == 0
    same = floor_gap(None, X, y, predictions=pd.DataFrame({"p": model.predict(X)}), metric=metric,
                     sample_weight=weight, task="regression", **LINES)  # fmt: skip
    assert same.value == found.value
    assert found.plot().figure_ is not None


def test_a_regressor_is_trained_on_the_folds_of_the_stack():
    """A stack of one learner is that learner, up to its weight and offset."""
    X, y, _ = numbers()
    one = floor_gap(Ridge(1e-6), X, y, learners=[Ridge(1e-6)], n_jobs=1)
    assert one.origin == "cross-fitted"
    assert one.metric == "r2"
    assert one.value == pytest.approx(one.reached, abs=0.01)
    assert not one.is_sure
    worse = floor_gap(DecisionTreeRegressor(max_depth=1), X, y, **LINES)
    assert worse.is_sure
    assert "more can surely be won" in worse.sentence()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    named = floor_gap(make_pipeline(StandardScaler(), LinearRegression()), frame, "y", **LINES)
    assert named.value == pytest.approx(one.value, abs=0.06)  # other folds


def test_the_test_of_a_mean_is_students():
    X, y, _ = numbers()
    predicted = y + np.random.default_rng(3).normal(size=len(y))
    found = floor_gap(None, X, y, predictions=predicted, metric="mae", rows_are_new=True, **LINES)
    residual = floor_and_predictions(X, y, metric="mae", **LINES)[1] - y
    lost = np.abs(predicted - y), np.abs(residual - np.median(residual))
    expected = ttest_rel(*lost)
    # medians of an even number of rows lie between two of them
    assert found.sure_gap == pytest.approx(np.mean(lost[0] - lost[1]), abs=0.01)
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.3, abs=1e-6)


def test_thresholds_are_told_apart_from_the_model():
    """A rare class: the model never names it, and its probabilities would do."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)
    X = rng.normal(size=(600, 2)) + 1.2 * y[:, np.newaxis]
    found = floor_gap(LogisticRegression(), X, y, metric="balanced_error", **QUICK)
    assert found.value > 0.3
    assert found.tuned < found.value - 0.05
    assert "by decisions that suit this metric" in found.sentence()
    assert floor_gap(LogisticRegression(), X, y, **QUICK).tuned is None


def test_scores_rank_as_probabilities_do():
    X, y, _ = classes(2)
    other = classes(2, seed=1)[:2]
    model = LinearSVC().fit(*other)
    found = floor_gap(model, X, y, metric="roc_auc", **QUICK)
    assert found.value == pytest.approx(sk.roc_auc_score(y, model.decision_function(X)))
    again = floor_gap(None, X, y, metric="roc_auc", predictions=model.decision_function(X), **QUICK)
    assert again.value == pytest.approx(found.value)
    p = CalibratedClassifierCV(LinearSVC()).fit(*other).predict_proba(X)
    last = floor_gap(None, X, y, metric="log_loss", predictions=p[:, 1], **QUICK)
    assert last.value == pytest.approx(sk.log_loss(y, p))


def test_weights_count_in_fits_and_figures():
    X, y, _ = classes(2)
    X = X / 2 + np.random.default_rng(1).normal(size=X.shape)
    weight = np.where(y == 0, 9.0, 1.0)
    found = floor_gap(make_pipeline(StandardScaler(), LogisticRegression()), X, y, sample_weight=weight, **QUICK)
    plain = floor_gap(make_pipeline(StandardScaler(), LogisticRegression()), X, y, **QUICK)
    assert found.value < 0.12 < plain.value  # always naming the heavy class errs on 10%
    pairs = found.by_pair()
    assert pairs["error"].sum() == pytest.approx(found.value)
    assert found.by_class()["gap_of_all"].sum() == pytest.approx(found.sure_gap)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=weight)
    model = LogisticRegression().fit(frame[list("abc")], y)
    named = floor_gap(model, frame, "y", sample_weight="w", **QUICK)
    assert named.value == pytest.approx(
        1 - sk.accuracy_score(y, model.predict(frame[list("abc")]), sample_weight=weight)
    )


@for_each("metric", ["roc_auc", "r2"])
def test_subgroups(metric):
    """A model that is blind in one subgroup is found there."""
    is_numbers = metric == "r2"
    X, y, _ = numbers(400) if is_numbers else classes(2, 400)
    by = np.arange(400) % 2
    if is_numbers:
        given = np.where(by == 0, 3.0 + X[:, 0] - X[:, 1] ** 2, y.mean())
    else:
        given = LogisticRegression().fit(X, y).predict_proba(X)
        given[by == 1] = 0.5
    found = floor_gap(
        None, X, y, predictions=given, metric=metric, by=np.array(["seen", "blind"])[by],
        rows_are_new=True, task="auto" if not is_numbers else "regression", **(LINES if is_numbers else QUICK)
    )  # fmt: skip
    rows = found.by_subgroup()
    assert rows["subgroup"].tolist()[0] == "blind"
    assert rows["p_adjusted"].iloc[0] < 0.001
    assert rows["gap_low"].iloc[1] <= 0.0 or rows["gap"].iloc[1] < 0.02
    assert rows["n_rows"].tolist() == [200, 200]
    assert json.loads(json.dumps(found.to_dict()))["by_subgroup"][0]["subgroup"] == "blind"
    own = by == 1
    if metric == "roc_auc":
        assert rows["value"].iloc[0] == pytest.approx(sk.roc_auc_score(y[own], given[own, 1]))
    if is_numbers:
        assert rows["value"].iloc[0] == pytest.approx(sk.r2_score(y[own], given[own]))


def test_groups_and_time():
    X, y, weight = classes(2, 400)
    groups = np.arange(400) // 8
    weighted = {"groups": groups, "sample_weight": weight}
    for options, metric in ((weighted, "error"), ({"time": np.arange(400)}, "log_loss"), (weighted, "log_loss")):
        found = floor_gap(DecisionTreeClassifier(max_depth=1), X, y, metric=metric, **options, **QUICK)
        assert 0.0 <= found.p_value <= 1.0
        assert found.sure_gap_interval[0] <= found.sure_gap <= found.sure_gap_interval[1]


def test_a_model_that_has_seen_the_rows_is_found_out_by_any_metric():
    X, y, _ = numbers()
    found = floor_gap(DecisionTreeRegressor().fit(X, y), X, y, **LINES)
    assert [finding.code for finding in found.findings] == ["BF058"]
    assert "has an R² of 1 on these rows" in found.sentence()
    better = floor_gap(None, X, y, predictions=0.8 * y + 0.4, rows_are_new=True, task="regression", **LINES)
    assert [finding.code for finding in better.findings] == ["BF061"]
    assert better.interval[1] > better.learned.interval[1] or better.interval[1] == 1.0
    assert "so the ceiling is at least" in better.sentence()
    X, y, _ = classes(2)
    found = floor_gap(None, X, y, predictions=np.eye(2)[y] * 0.98 + 0.01, metric="log_loss", **QUICK)
    assert [finding.code for finding in found.findings] == ["BF058"]


def test_what_is_refused():
    X, y, _ = classes(3)
    two, numeric = classes(2)[:2], numbers()[:2]
    other_label = LogisticRegression().fit(X, np.where(y == 2, 7, y))
    gaps = [np.nan, *[0.0] * 239]
    of_classes = [
        ({"given": two, "metric": "accuracy"}, "metric"),
        ({"given": two, "metric": ["error", "f1"]}, "the name of one metric"),
        ({"given": two, "metric": "cost"}, "needs costs"),
        ({"given": two, "metric": "r2"}, "metric"),
        ({"model": LinearSVC(), "metric": "log_loss"}, "LinearSVC has no predict_proba"),
        ({"model": None, "predictions": y, "metric": "brier"}, "pass a column for each class"),
        ({"model": None, "given": two, "predictions": np.linspace(-1, 2, 240), "metric": "log_loss"}, "from -1 to 2"),
        ({"model": other_label, "metric": "f1"}, "only metric='error' can count"),
    ]
    of_numbers = [
        ({"model": LogisticRegression(), "task": "regression"}, "LogisticRegression predicts classes, and y holds num"),
        ({"model": None, "predictions": gaps, "task": "regression"}, "predictions has 1 missing value"),
        ({"model": LinearRegression(), "costs": COSTS}, "costs and positive are for classes"),
    ]

    def gap(model=None, given=(X, y), **more):
        return floor_gap(model, *given, **more)

    of_classes = [({"model": GaussianNB(), **QUICK, **options}, words) for options, words in of_classes]
    of_numbers = [({"given": numeric, **LINES, **options}, words) for options, words in of_numbers]
    assert options_not_refused(gap, of_classes + of_numbers) == []
