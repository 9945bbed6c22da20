"""Who goes on to larger training sets, and that nobody is judged by the fold that is predicted."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from tests.helpers.learners import FunctionLearner

from bayesfloor import learned_floor, regression_floor
from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.cross_fitting import cross_fit
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.racing import LearnerRace
from bayesfloor.floor.learned.stacking import StackFits, fit_stacks
from bayesfloor.runtime.threads import WorkerPool
from helpers.one_case import for_each
from helpers.plans import everybody, plan_of, target_of

NAMES = ("good", "fair", "poor", "late")


def problem_of(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    codes = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(np.int64)
    return Problem(X, np.arange(2), codes)


def scores(calls):
    """Two families: learners that see the first column, well, fairly and not at all; one that needs 300 rows for it."""

    def known(train, test, requested, seed):
        found = {"good": 2.0, "fair": 0.3, "poor": 0.0}
        return _told(train, test, requested, found, calls)

    def late(train, test, requested, seed):
        return _told(train, test, requested, {"late": 2.5 if len(train.X) > 300 else 0.0}, calls)

    return {"known": FunctionLearner(known, "good", "fair", "poor"), "late": FunctionLearner(late, "late")}


def _told(train, test, requested, slopes, calls):
    noise = np.random.default_rng(len(train.X)).standard_normal(len(test))
    wanted = {name: slope for name, slope in slopes.items() if name in requested}
    calls.update((name, len(train.X)) for name in wanted)
    return {
        name: softmax((slope * test[:, 0] + 2.0 * (slope == 0) * noise)[:, None] * [-1.0, 1.0], axis=1)
        for name, slope in wanted.items()
    }


def fit(problem, folds, effort, families=("known",), codes=None):
    """Train and combine, with or without a race."""
    calls: Counter = Counter()
    pool, target = WorkerPool(1), target_of(problem.codes if codes is None else codes, 2)
    target.light = 0.05
    fits = StackFits(target, 0, pool)
    race = everybody if effort is None else LearnerRace(fits, effort, families)
    fitted = cross_fit(problem, plan_of(folds), target, scores(calls), 0, pool, race)
    return fitted, fit_stacks(fitted, fits), calls


def folds_of(problem):
    return stratified_folds(problem.codes, 5, np.arange(len(problem.codes)))


def test_without_weight_nobody_is_missed():
    """Where nobody is dropped for what they tell, the stack is the same bit for bit, from fewer models."""
    problem = problem_of()
    folds = folds_of(problem)
    _, expected, all_calls = fit(problem, folds, None)
    _, found, calls = fit(problem, folds, EFFORTS["default"]._replace(behind=1e9, forgiven=1e9))
    for one, two in zip(expected, found, strict=True):
        assert_array_equal(one.predicted, two.predicted)
        assert_array_equal(one.weights, two.weights)
    assert calls.total() < all_calls.total()
    largest = max(n for _, n in calls)
    for name in NAMES:
        n_members = int((found[0].weights[:, NAMES.index(name)] > 0).sum())
        assert calls[name, largest] == n_members


def test_who_tells_nothing_stops_and_who_begins_late_does_not():
    problem = problem_of()
    fitted, stacks, calls = fit(problem, folds_of(problem), EFFORTS["fast"])
    smallest, _, middle = sorted({n for name, n in calls if name == "good"})[:3]
    assert calls["poor", smallest] == 5  # all are trained on the smallest sets
    assert calls["late", smallest] == 5
    assert calls["poor", middle] == 0
    assert calls["late", middle] > 0
    assert (stacks[0].weights[:, NAMES.index("late")] > 0).all()
    assert np.isfinite(stacks[0].predicted).all()
    assert not fitted.raced[0][:, NAMES.index("poor")].any()
    raced, stopped, _ = fit(problem, folds_of(problem), EFFORTS["fast"], ("known", "late"))
    assert not raced.raced[1][:, NAMES.index("late")].any()  # it does stop if it is among those that race
    assert np.isfinite(stopped[0].predicted).all()


def test_few_rows_are_nobody_judged_by():
    problem = problem_of(300)
    fitted, _, calls = fit(problem, folds_of(problem), EFFORTS["fast"], ("known", "late"))
    assert calls["poor", 120] == calls["good", 120] == 5
    assert calls["poor", 180] == 10  # all but two folds: nor are 120
    assert fitted.raced[1].all()


def test_who_goes_on_does_not_depend_on_labels_of_the_fold():
    """Learners are the same functions of the rows, so that labels of a fold can reach it by the race alone."""
    problem = problem_of()
    folds = folds_of(problem)
    other = np.where(folds == 2, 1 - problem.codes, problem.codes)
    one, two = (fit(problem, folds, EFFORTS["default"], ("known", "late"), codes) for codes in (problem.codes, other))
    for size in range(len(one[0].raced)):
        assert_array_equal(one[0].raced[size][2], two[0].raced[size][2])
    assert_array_equal(one[1][0].predicted[:, :, folds == 2], two[1][0].predicted[:, :, folds == 2])


def test_what_a_learner_tells_is_calibrated():
    """Probabilities that are far too sure tell as much as the same ones with the right exponent."""
    problem = problem_of(600)
    target = target_of(problem.codes, 2)
    log_odds = 3.4 * problem.X[:, 0]  # a logistic curve as near as can be to the normal one of the labels
    rows = np.arange(600)
    sure, right, none = (np.log(softmax(np.outer(k * log_odds, [-0.5, 0.5]), axis=1)) for k in (4.0, 1.0, 0.0))
    predicted = np.stack([sure, right, none])[:, None].astype(np.float32)
    losses = target.calibrated_losses(predicted, np.arange(3), np.zeros(600, int), rows).mean(axis=1)
    assert losses[0] == pytest.approx(losses[1], rel=0.03)
    shares = np.bincount(problem.codes) / 600
    assert losses[3] == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-3)
    assert losses[2] == pytest.approx(losses[3], abs=1e-3)
    assert losses[1] < 0.7 * losses[3]


def test_a_learner_of_the_caller_is_not_dropped_for_what_it_tells():
    X, y = make_classification(300, 6, random_state=0)
    floor = learned_floor(X, y, learners=["gaussian", LogisticRegression()], n_jobs=1)
    assert set(floor.weights) <= {"prior", "LDA", "QDA", "Gaussian naive Bayes", "LogisticRegression"}


@for_each("estimate", [learned_floor, regression_floor])
def test_efforts(estimate):
    X, y = make_classification(260, 6, flip_y=0.2, random_state=0)
    learners = ["gaussian", "neighbours"] if estimate is learned_floor else ["linear", "neighbours"]
    found = {effort: estimate(X, y, learners=learners, effort=effort, n_jobs=1) for effort in EFFORTS}
    reached = [floor.reached for floor in found.values()]
    assert np.ptp(reached) < 0.06
    assert len(found["default"].weights) >= len(found["fast"].weights)
    with pytest.raises(ValueError, match="'effort' parameter must be one of 'fast', 'default'"):
        estimate(X, y, effort="more")


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_fast_takes_a_part_of_many_rows():
    X = np.random.default_rng(0).standard_normal((4600, 2))
    y = (X[:, 0] > 0).astype(int)
    assert learned_floor(X, y, effort="fast", checks=False, n_jobs=1).n_rows <= 4010
    assert learned_floor(X, y, effort="fast", max_rows=4300, checks=False, n_jobs=1).n_rows > 4200
