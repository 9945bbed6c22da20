"""Few rows are dealt out to folds several times, and figures are means over the repeats."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from bayesfloor import floor_gap, learned_floor, regression_floor
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.learning import _is_settled, learn
from bayesfloor.floor.learned.paired import compare
from bayesfloor.floor.learned.row_plan import plan_rows, split_again
from bayesfloor.floor.learned.stacking import Stack
from helpers.one_case import for_each

pytestmark = pytest.mark.limits(repeats=10)
QUICK = {"classification": ["gaussian", "logistic"], "regression": ["linear"]}


def problem_of(task, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    signal = X[:, 0] + 0.8 * rng.standard_normal(n)
    if task == "classification":
        return Problem(X, np.arange(2), (signal > 0).astype(np.int64))
    return Problem(X, np.arange(0), np.zeros(n, np.int64), y=signal)


def learned_of(problem, seed=0, cv=5, learners=None):
    return learn(
        problem,
        cv=cv,
        max_rows=None,
        learners=learners or QUICK[problem.task],
        effort="default",
        n_jobs=1,
        seed=seed,
        progress=False,
        client=None,
    )


def floor_of(problem, **options):
    estimate, y = (learned_floor, problem.codes) if problem.task == "classification" else (regression_floor, problem.y)
    return estimate(problem.X, y, learners=QUICK[problem.task], n_jobs=1, **options)


@for_each("task", QUICK)
def test_deals_are_of_the_same_rows_in_other_folds(task):
    problem = problem_of(task)
    problem, plan = plan_rows(problem, cv=5, max_rows=None, is_default=False, seed=0, n_jobs=1)
    again, other = (split_again(plan, problem, 5, [0, number]) for number in (1, 2))
    assert_array_equal(again.rows, plan.rows)
    assert_array_equal(again.folds, split_again(plan, problem, 5, [0, 1]).folds)
    for one, two in ((plan, again), (plan, other), (again, other)):
        assert np.mean(one.folds == two.folds) < 0.4  # a fifth, by chance
        assert_array_equal(np.bincount(one.folds), np.bincount(two.folds))
    if task == "classification":
        by_class = np.bincount(2 * again.folds + problem.codes[plan.rows], minlength=10).reshape(5, 2)
        assert np.ptp(by_class, axis=0).max() <= 1
    for split in again.splits:
        for rows, _ in split.tests:
            assert not np.isin(rows, split.train).any()


def test_groups_stay_together_in_every_deal():
    problem = problem_of("regression")
    problem.__dict__["groups"] = np.arange(90) // 3
    problem, plan = plan_rows(problem, cv=5, max_rows=None, is_default=False, seed=0, n_jobs=1)
    again = split_again(plan, problem, 5, [0, 1])
    groups = problem.groups[plan.rows]
    assert all(len(np.unique(again.folds[groups == group])) == 1 for group in np.unique(groups))
    assert np.mean(again.folds == plan.folds) < 0.5


def test_what_is_reached_is_the_mean_over_the_deals():
    problem = problem_of("classification")
    learned = learned_of(problem)
    assert len(learned.folds) == 10  # of 90 rows, as many as make 1000 rows, and no more than 10
    codes = learned.used.codes
    wrong = learned.stacks[0].predicted[:, 0].argmax(axis=-1) != codes
    floor = floor_of(problem)
    assert floor.reached == pytest.approx(wrong.mean())
    smaller = learned.stacks[2].predicted.argmax(axis=-1) != codes
    assert smaller.shape == (10, 4, 90)
    assert floor.curve.value[2] == pytest.approx(smaller.mean())


def test_numbers_likewise():
    problem = problem_of("regression")
    learned = learned_of(problem)
    y = learned.used.y
    squares = (learned.stacks[0].predicted[:, 0] - y) ** 2
    assert floor_of(problem).metrics["r2"].reached == pytest.approx(1.0 - squares.mean() / y.var())


@pytest.mark.parametrize("task", QUICK)
def test_a_gap_is_to_what_the_report_says_is_reached(task):
    problem = problem_of(task)
    model, y = (LogisticRegression(), problem.codes) if task == "classification" else (LinearRegression(), problem.y)
    gap = floor_gap(model, problem.X, y, learners=QUICK[task], n_jobs=1)
    reached = gap.learned.metrics[gap.metric].reached
    assert gap.difference.second == pytest.approx(reached if task == "classification" else 1.0 - reached)
    if task == "classification":
        by_class = gap.by_class()
        shares = np.bincount(y)[by_class["label"]] / len(y)
        assert shares @ by_class["reached"] == pytest.approx(gap.difference.second)
        assert gap.by_pair()["reached"].sum() == pytest.approx(gap.difference.second)


def test_where_rows_are_dealt_out_once():
    """As a splitter says, in an order of time, and where there are many."""
    few, many = problem_of("classification"), problem_of("classification", n=2100)
    assert len(learned_of(few, cv=KFold(5)).folds) == 1
    assert len(learned_of(many, learners=["gaussian"]).folds) == 1
    few.__dict__["time"] = np.arange(90.0)
    assert len(learned_of(few).folds) == 1


def test_deals_go_on_until_they_are_settled():
    """Means of repeats that differ by d standard errors from each other."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(400)
    noise = (noise - noise.mean()) / noise.std()
    target = SimpleNamespace(losses=lambda predicted: predicted)

    def stack(*offsets):  # one row's loss varies by 1, so that the mean of 400 has a standard error of .05
        return Stack(np.array([[noise + 0.05 * offset] for offset in offsets]), np.ones((1, 1)))

    assert _is_settled(stack(0.0, 0.1), target)
    assert not _is_settled(stack(-1.0, 1.0), target)
    apart = [-0.6, 0.6]
    assert not _is_settled(stack(*apart), target)
    assert _is_settled(stack(*apart * 4), target)  # 8 repeats that vary by .6: the mean by .2


def test_rows_that_are_wrong_now_and_then_count_as_a_part():
    rng = np.random.default_rng(0)
    first = (rng.random(300) < 0.3).astype(float)
    second = rng.choice([0.0, 0.25, 0.5, 1.0], 300, p=[0.6, 0.2, 0.1, 0.1])
    rows = PlainRows(np.zeros(300, np.int64), np.array([300]))
    found = compare(first, second, rows, None, 0.95)
    assert found.value == pytest.approx(first.mean() - second.mean())
    difference = first - second
    reach = 1.96 * difference.std() / np.sqrt(300)
    # no narrower than the difference of means is known, and hardly wider
    assert found.interval[0] < found.value - reach
    assert found.interval[1] > found.value + reach
    assert np.ptp(found.interval) < 1.6 * 2 * reach
    whole = compare(first > 0, second > 0.6, rows, None, 0.95)
    assert_allclose(whole.interval, compare(first, (second > 0.6).astype(float), rows, None, 0.95).interval)
