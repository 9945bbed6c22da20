"""Metrics of the learned floor: values against scikit-learn's, influence against what removing rows does."""

from itertools import product

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    precision_recall_curve,
    roc_auc_score,
    top_k_accuracy_score,
    zero_one_loss,
)

from bayesfloor import learned_floor
from bayesfloor.floor.learned.metrics import (
    best_macro_f1_decisions,
    cheapest_decisions,
    check_costs,
    check_metrics,
    class_weights_of,
    one_hot,
)
from helpers.one_case import for_each
from helpers.refusals import options_not_refused

#: On coarse grids of its curve nothing rules out a perfect ROC AUC.
pytestmark = pytest.mark.limits(curve_detail=1.0)
FAST = ["gaussian", "logistic"]


def predictions(n_classes, n=300, seed=0, *, ties=False):
    """Probabilities, labels drawn from others that are near, and weights."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.standard_normal((n, n_classes)) + np.linspace(0, 1, n_classes)
    q = np.exp(scores)
    q /= q.sum(axis=1, keepdims=True)
    if ties:
        q = np.maximum(np.round(q, 1), 0.05)
        q /= q.sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > q.cumsum(axis=1)[:, :-1]).sum(axis=1)
    labels[:n_classes] = np.arange(n_classes)
    return q, labels, rng.uniform(0.5, 2.0, n)


def metric_of(name, n_classes, labels, costs=None, positive=None):
    counts = np.bincount(labels, minlength=n_classes)
    return check_metrics(name, costs, positive, np.arange(n_classes), counts)[0]


def scored(name, q, labels, weights):
    """The same by scikit-learn."""
    n_classes = q.shape[1]
    how = {"sample_weight": weights}
    if name == "error":
        return zero_one_loss(labels, q.argmax(axis=1), **how)
    if name == "log_loss":
        return log_loss(labels, q, labels=np.arange(n_classes), **how)
    if name == "brier":
        return brier_score_loss(labels, q if n_classes > 2 else q[:, 1], labels=np.arange(n_classes), **how)
    if name == "top_2_error":
        return 1 - top_k_accuracy_score(labels, q, k=2, labels=np.arange(n_classes), **how)
    if name == "balanced_error":
        shares = np.bincount(labels, weights, n_classes) / weights.sum()
        return 1 - balanced_accuracy_score(labels, (q / shares).argmax(axis=1), **how)
    own = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}[name]
    if n_classes == 2:
        return 1 - own(labels, q[:, 1], **how)
    return 1 - np.mean([own(labels == k, q[:, k], **how) for k in range(n_classes)])


VALUES = ["error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision"]


@for_each("name", [*VALUES, "top_2_error"])
def test_values_are_those_of_scikit_learn(name):
    for n_classes, ties in product((4,) if name == "top_2_error" else (2, 4), (False, name != "top_2_error")):
        q, labels, weights = predictions(n_classes, ties=ties)
        losses = metric_of(name, n_classes, labels).losses(one_hot(labels, n_classes), q, weights)
        assert_allclose(np.average(losses, weights=weights), scored(name, q, labels, weights), atol=1e-12)


@for_each("name", ["error", "log_loss", "brier", "roc_auc", "average_precision"])
def test_probabilities_as_targets_are_labels_with_weights(name):
    """A row that is of each class with some probability counts as one row of each class, with that weight."""
    n_classes = 3 if name in ("error", "roc_auc") else 2
    q, labels, weights = predictions(n_classes, ties=True)
    shared = metric_of(name, n_classes, labels).losses(q, q, weights)
    repeated, every = np.repeat(q, n_classes, axis=0), np.tile(np.arange(n_classes), len(q))
    expected = scored(name, repeated, every, (weights[:, None] * q).ravel())
    assert_allclose(np.average(shared, weights=weights), expected, atol=1e-12)


@for_each("name", ["roc_auc", "average_precision", "f1", "balanced_error"])
def test_values_of_rows_are_their_influence(name):
    """Giving one row a little more weight changes the statistic by its value less the mean."""
    q, labels, weights = predictions(2)
    metric = metric_of(name, 2, labels)
    targets, more = one_hot(labels, 2), 1e-6
    losses = metric.losses(targets, q, weights)
    mean = np.average(losses, weights=weights)
    for row in range(0, 300, 37):
        heavier = weights.copy()
        heavier[row] += more * weights.sum()
        moved = np.average(metric.losses(targets, q, heavier), weights=heavier) - mean
        assert_allclose(moved / more, losses[row] - mean, rtol=1e-3, atol=1e-4)


def test_f1_of_two_classes_is_at_the_best_threshold_as_probabilities_expect_it():
    q, labels, _ = predictions(2)
    even = np.ones(len(q))
    losses = metric_of("f1", 2, labels).losses(one_hot(labels, 2), q, even)
    expected = [2 * q[q[:, 1] >= t, 1].sum() / (q[:, 1].sum() + (q[:, 1] >= t).sum()) for t in np.sort(q[:, 1])]
    threshold = np.sort(q[:, 1])[int(np.argmax(expected))]
    assert_allclose(1 - losses.mean(), f1_score(labels, q[:, 1] >= threshold), atol=1e-12)
    precision, recall, _ = precision_recall_curve(labels, q[:, 1])
    assert 1 - losses.mean() <= (2 * precision * recall / np.maximum(precision + recall, 1e-12)).max() + 1e-12
    first = metric_of("f1", 2, labels, positive=0).losses(one_hot(labels, 2), q, even)
    assert abs(first.mean() - losses.mean()) > 0.01


def test_decisions_for_the_mean_f1_are_the_best_there_are():
    """Three classes, six rows, all 729 decisions."""
    q, _, _ = predictions(3, n=6, seed=3)
    weights = np.ones(6)

    def expected(named):
        taken = np.eye(3)[named]
        return (2 * (q * taken).sum(axis=0) / (q.sum(axis=0) + taken.sum(axis=0))).mean()

    every = np.array(np.meshgrid(*[range(3)] * 6)).reshape(6, -1).T
    best = max(expected(named) for named in every)
    assert expected(best_macro_f1_decisions(q, weights)) >= best - 0.01


def test_costs():
    costs = np.array([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0]])
    q, labels, weights = predictions(2)
    losses = metric_of("cost", 2, labels, costs).losses(one_hot(labels, 2), q, weights)
    decisions = [min(range(3), key=lambda d: row @ costs[:, d]) for row in q]
    assert_array_equal(cheapest_decisions(q, costs), decisions)
    assert_allclose(losses, costs[labels, decisions])
    same = metric_of("cost", 3, np.arange(3), 7 * (1 - np.eye(3)))
    q, labels, weights = predictions(3)
    assert_allclose(same.losses(one_hot(labels, 3), q, weights), 7.0 * (q.argmax(axis=1) != labels))


def test_class_weights_lead_to_the_same_decisions():
    costs = np.array([[0.0, 3.0], [1.0, 0.0]])
    weights = class_weights_of(costs)
    q, _, _ = predictions(2)
    assert_array_equal((q * weights).argmax(axis=1), cheapest_decisions(q, costs))
    assert_allclose(weights.mean(), 1.0)
    assert class_weights_of(np.array([[0.0, 1, 2], [1, 0, 1], [1, 1, 0]])) is None
    assert class_weights_of(np.array([[0.0, 1, 0.5], [1, 0, 0.5]])) is None


def test_what_cannot_be_used():
    two = np.array(["a", "b"])
    costs = [
        ({"costs": np.zeros((3, 3))}, "must have 2 rows"),
        ({"costs": [[0, 1], [np.nan, 0]]}, "finite"),
        ({"costs": [[1, 0], [1, 0]]}, "less than naming it rightly"),
        ({"costs": [[2, 2], [2, 2]]}, "nothing to decide"),
        ({"costs": [[1e20, 1e20], [1e20 + 1e5, 1e20]]}, "All costs are the same"),
        ({"costs": [[0, 1e300], [1, 0]]}, r"between 1e-100 and 1e\+100.*Got 1e\+300"),
        ({"costs": [[0, 1e-300], [1e-301, 0]]}, r"between 1e-100 and 1e\+100.*Got 1e-300"),
        ({"costs": ["a", "b"]}, "must be numbers"),
    ]
    assert options_not_refused(lambda costs: check_costs(costs, two), costs) == []
    metrics = [
        ({"metric": "auc"}, "'metric' parameter must be one of 'error'.* Did you mean 'roc_auc'"),
        ({"metric": "rmse"}, "'rmse' is for numbers"),
        ({"metric": []}, "'metric' parameter"),
        ({"metric": 3}, "'metric' parameter"),
        ({"metric": ["error", "error"]}, "named twice"),
        ({"metric": "top_k_error"}, "always among them"),
        ({"metric": "top_0_error"}, "top_k_error"),
        ({"metric": "cost"}, "needs costs"),
        ({"metric": "f1", "positive": "maybe"}, "none of the classes"),
    ]
    X, y = make_classification(60, random_state=0)
    assert options_not_refused(lambda **asked: learned_floor(X, y, **asked), metrics) == []


def test_costs_by_name():
    frame = pandas.DataFrame([[0.0, 4, 9], [0, 1, 9]], index=["b", "a"], columns=["a", "b", "ask"])
    with pytest.raises(ValueError, match="less than naming it rightly"):
        check_costs(frame, np.array(["a", "b"]))
    right = pandas.DataFrame([[4.0, 0, 9], [0, 1, 9]], index=["b", "a"], columns=["a", "b", "ask"])
    assert_array_equal(check_costs(right, np.array(["a", "b"])), [[0, 1, 9], [4, 0, 9]])
    with pytest.raises(ValueError, match="Missing: 'c'"):
        check_costs(right, np.array(["a", "b", "c"]))


@pytest.fixture(scope="module")
def floor():
    X, y = make_classification(600, n_informative=4, n_classes=2, weights=[0.8], flip_y=0.1, random_state=0)
    names = ["roc_auc", "error", "balanced_error", "log_loss", "brier", "average_precision", "f1"]
    return learned_floor(X, y, metric=names, costs=[[0, 1], [5, 0]], learners=FAST)


def test_the_first_metric_is_the_headline(floor):
    assert list(floor.metrics)[:2] == ["roc_auc", "error"]
    assert floor.metric == "roc_auc"
    own = floor.metrics["roc_auc"]
    assert (floor.estimate, floor.interval, floor.reached) == (own.estimate, own.interval, own.reached)
    assert floor.curve is own.curve
    assert "roc_auc" in repr(floor)
    assert len(floor.frame()) == len(floor.metrics) == 8
    assert floor.rows_for(0.3, "error").rows == floor.metrics["error"].rows_for(0.3).rows
    assert options_not_refused(floor.rows_for, [({"value": 0.1, "metric": "top_2_error"}, "'metric'")]) == []


def test_every_metric_is_between_its_ends(floor):
    for each in floor.metrics.values():
        low, high = each.interval
        assert low <= each.estimate <= high
        assert each.reached_interval[0] <= each.reached <= each.reached_interval[1]
        better, worse = (high, low) if each.larger_is_better else (low, high)
        assert (each.best, each.measured) == (better, worse)
        gain = each.baseline - each.reached
        assert (-gain if each.larger_is_better else gain) > 0
        assert each.curve.value[0] == pytest.approx(each.reached)
        assert each.title.split(" of ")[0] in each.sentence()


def test_the_error_is_the_same_whatever_else_is_asked_for(floor):
    X, y = make_classification(600, n_informative=4, n_classes=2, weights=[0.8], flip_y=0.1, random_state=0)
    alone = learned_floor(X, y, learners=FAST)
    own = floor.metrics["error"]
    assert (alone.estimate, alone.interval, alone.reached) == (own.estimate, own.interval, own.reached)
    assert alone.majority_error == floor.majority_error


def test_sentences_say_which_side_is_proven(floor):
    auc = floor.metrics["roc_auc"].sentence()
    assert "so at least" in auc
    assert "Models like those tried are not likely to get above an ROC AUC of" in auc
    assert "so at most" in floor.metrics["error"].sentence()


def test_what_the_money_goes_to(floor):
    cost = floor.cost
    assert cost.pair_costs.sum() == pytest.approx(floor.metrics["cost"].reached)
    assert cost.pair_rows.sum() == pytest.approx(1.0)
    assert_allclose(cost.class_weights, [1 / 3, 5 / 3])
    frame = cost.frame()
    assert frame["share_of_cost"].sum() == pytest.approx(1.0)
    assert "per row" in repr(cost)


def test_a_perfect_auc_has_an_interval():
    X = np.concatenate([np.zeros((60, 1)), np.ones((60, 1))]) + np.arange(120)[:, None] * 1e-3
    floor = learned_floor(X, np.repeat([0, 1], 60), metric=["roc_auc", "log_loss"], learners=["logistic"])
    assert floor.reached == 1.0
    assert floor.interval[0] < 1.0 == floor.interval[1]
    low, high = floor.metrics["log_loss"].interval
    assert low == 0.0 < high < 0.5
    assert "Nothing in these rows rules out a log-loss of 0;" in floor.metrics["log_loss"].sentence()


@for_each(("option", "values"), [("groups", np.arange(300) // 6), ("time", np.arange(300))])
def test_several_classes_in_groups_and_in_time(option, values):
    rng = np.random.default_rng(0)
    y = np.tile(np.arange(3), 100)
    X = np.eye(3)[y] + 0.7 * rng.standard_normal((300, 3))
    names = ["roc_auc", "average_precision", "f1", "balanced_error", "top_2_error"]
    floor = learned_floor(X, y, metric=names, learners=["gaussian"], **{option: values})
    for name in names:
        own = floor.metrics[name]
        assert own.interval[0] <= own.estimate <= own.interval[1]
        assert abs(own.reached - own.baseline) > 0.1
