"""The learned floor where rows belong together or follow each other in time."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import norm
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut

from bayesfloor.data.folds import grouped_folds, time_blocks
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import clustered_error, effective_rows
from bayesfloor.floor.learned.cross_fitting import CrossFit
from bayesfloor.floor.learned.estimate import learned_floor
from bayesfloor.floor.learned.ranking import _rank, auc_interval
from bayesfloor.floor.learned.row_plan import choose_rows, plan_rows
from bayesfloor.floor.learned.splits import splits_of
from bayesfloor.floor.learned.stack_errors import residual_test
from bayesfloor.floor.learned.stacking import StackFits, fit_stacks
from bayesfloor.floor.learned.time_periods import time_scheme
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.training_rows import target_means
from bayesfloor.runtime.threads import WorkerPool
from bayesfloor.tables.arguments import check_problem
from helpers.agreement import codes_of
from helpers.one_case import for_each
from helpers.plans import target_of
from helpers.refusals import options_not_refused

#: Learners that take milliseconds, for tests that are not about accuracy.
QUICK = ["gaussian", "neighbours"]


def random_intercepts(n_groups=50, size=20, spread=1.0, seed=0):
    """Two classes two apart, each group shifted by its own amount: the floor for new groups is that of both spreads."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = rng.integers(0, 2, len(groups))
    X = rng.standard_normal((len(groups), 3)) + spread * rng.standard_normal((n_groups, 3))[groups]
    X[:, 0] += 2.0 * y
    return X, y, groups, float(norm.cdf(-1 / np.hypot(1, spread)))


def copies_with_noise(n_groups=100, size=10, noise=0.02, seed=0):
    """Several rows of each of a few points: the floor for new points is 0.1587."""
    rng = np.random.default_rng(seed)
    groups, labels = np.repeat(np.arange(n_groups), size), rng.integers(0, 2, n_groups)
    points = rng.standard_normal((n_groups, 3))
    points[:, 0] += 2.0 * labels
    return points[groups] + noise * rng.standard_normal((n_groups * size, 3)), labels[groups], groups


def turning(n=600, turn=np.pi, seed=0):
    """Two classes whose boundary turns with time: at each moment the floor is 0.1587."""
    rng = np.random.default_rng(seed)
    time, y = np.arange(n), rng.integers(0, 2, n)
    X = rng.standard_normal((n, 2))
    X += (2.0 * y - 1.0)[:, None] * np.column_stack([np.cos(turn * time / n), np.sin(turn * time / n)])
    return X, y, time


# --- who is trained on what


@for_each("n_folds", [5, 9])
def test_no_group_is_on_both_sides_of_a_split(n_folds):
    _, y, groups, _ = random_intercepts(30, 5)
    splits = splits_of(grouped_folds(y, groups, n_folds, np.arange(150).astype(np.uint64)))
    assert len(splits) == 3 * n_folds + n_folds * (n_folds - 1) // 2
    for split in splits:
        assert not any(set(groups[split.train]) & set(groups[tests]) for tests, _ in split.tests)
    n_groups = [np.mean([len(set(groups[s.train])) for s in splits if s.size == size]) for size in range(3)]
    assert n_groups[0] > 1.5 * n_groups[1] > 2.2 * n_groups[2]  # smaller training sets take fewer groups


@for_each("task", ["classification", "regression"])
def test_a_category_of_one_group_tells_its_rows_nothing(task):
    """Within the group it tells the labels, and of new groups nothing is known."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(40), 6))
    y = rng.normal(size=40)[groups] + 0.3 * rng.normal(size=240)
    frame = pd.DataFrame({"town": [f"town {group}" for group in groups], "x": rng.normal(size=240)})
    y = y > 0 if task == "classification" else y
    problem = check_problem(frame, y, groups=groups, task=task)
    ((column, first, last),) = problem.tabular.from_labels
    known = np.flatnonzero(groups < 30)
    train, rows = training_set(problem, known, np.flatnonzero(groups >= 30))
    for features in (problem.X, train.X):
        assert len(np.unique(features[:, first:last], axis=0)) <= 5  # what all other folds have in common
    assert len(np.unique(rows.X[:, first:last])) == 1
    own = groups[known] == 7
    codes = train.table.values[:, column]
    turned = train._replace(y=np.where(own, 1 - train.y, train.y))
    for each in (train, turned):
        found, expected = (target_means(codes, of)[0][own] for of in (each, train))
        assert_array_equal(found, expected)


@for_each(("with_groups", "ties"), [(False, 1), (True, 7), (False, 45)])
def test_no_future_and_no_group_in_the_training_sets(with_groups, ties):
    rng = np.random.default_rng(0)
    n = 240
    time = (rng.permutation(n) // ties).astype(float)
    group_folds = rng.integers(0, 5, n) if with_groups else None
    scheme = time_scheme(time, 5, group_folds)
    assert scheme.tested.any()
    assert time[scheme.tested].min() > np.quantile(time, 0.4)
    seen = {size: np.zeros(n, int) for size in range(3)}
    for split in scheme.splits:
        ((tests, view),) = split.tests
        assert view == 0
        assert time[split.train].max() < time[tests].min()
        seen[split.size][tests] += 1
        periods = time_blocks(time, 10)
        past = periods < periods[tests[0]]
        if with_groups:
            assert not set(group_folds[split.train]) & set(group_folds[tests])
            past &= group_folds != group_folds[tests[0]]
        assert len(split.train) == np.count_nonzero(past) >> split.size
        older = np.setdiff1d(np.flatnonzero(past), split.train)
        assert time[older].max(initial=-1) <= time[split.train].min()  # the most recent ones are taken
    for counts in seen.values():
        assert_array_equal(counts, scheme.folds >= 0)
        assert counts[scheme.tested].all()
    for fold, earlier in enumerate(scheme.earlier):
        rows, before = scheme.folds == fold, np.isin(scheme.folds, earlier)
        assert time[before].max(initial=-1) < time[rows].min()
        if with_groups:
            assert not set(group_folds[before]) & set(group_folds[rows])
        assert before.any() or not scheme.tested[rows].any()


def test_the_stack_of_a_period_has_not_seen_later_labels():
    rng = np.random.default_rng(0)
    n = 300
    scheme = time_scheme(np.arange(n).astype(float), 5)
    codes = rng.integers(0, 2, n)
    log_p = [np.log(rng.dirichlet(np.ones(2), (4, 1, n))).astype(np.float32) for _ in range(3)]
    raced = 3 * [np.ones((int(scheme.folds.max()) + 1, 4), bool)]
    fitted = CrossFit(list("abcd"), log_p, (1.0, 0.5, 0.25), scheme.folds, raced, scheme.earlier).with_recent()
    assert fitted.names[4] == "a, recent half"
    assert [len(of_size) for of_size in fitted.predicted] == [12, 8, 4]
    later = np.where(np.arange(n) >= 240, 1 - codes, codes)
    before, after = (
        fit_stacks(fitted, StackFits(target_of(labels, 2), 0, WorkerPool(1)))[0] for labels in (codes, later)
    )
    assert_array_equal(before.predicted[0, 150:240], after.predicted[0, 150:240])
    assert_array_equal(before.weights[:-2], after.weights[:-2])
    assert np.any(before.weights[-1] != after.weights[-1])  # the last but one period is among its past


def test_a_single_group_to_learn_from_tells_nothing_of_categories():
    groups, y = np.repeat(np.arange(5), 40), np.tile([0.0, 1.0, 0.0, 1.0], 50)
    frame = pd.DataFrame({"town": [f"town {place % 7}" for place in range(200)], "x": np.arange(200.0)})
    for task in ("classification", "regression"):
        problem = check_problem(frame, y, groups=groups, task=task)
        train, _ = training_set(problem, np.flatnonzero(groups == 2), np.arange(3))
        assert len(np.unique(target_means(train.table.values[:, 0], train)[0])) == 1


# --- what comes out


def test_copies_with_noise():
    X, y, groups = copies_with_noise()
    floor = learned_floor(X, y, groups=groups, learners=QUICK)
    assert abs(floor.reached - 0.1587) < 0.08  # of 100 points, two standard errors
    of_points = np.ptp(proportion_interval(100 * floor.reached, 100, 0.95))
    assert 0.95 * of_points < np.ptp(floor.reached_interval) < 1.2 * of_points
    assert floor.n_rows == floor.n_samples == 1000


def test_a_boundary_that_turns():
    X, y, time = turning()
    mixed = learned_floor(X, y, learners=QUICK)
    floor = learned_floor(X, y, time=time, learners=QUICK)
    assert mixed.interval[0] > 0.1587  # one boundary for all times is never right
    assert floor.reached < mixed.reached
    assert "BF029" in codes_of(floor)
    of_recent = sum(weight for name, weight in floor.weights.items() if "recent" in name)
    assert of_recent > 0.9 * sum(floor.weights.values())
    assert_allclose(floor.curve.size, [0.7 * 600, 0.35 * 600, 0.175 * 600], atol=1)
    assert floor.n_rows == 600
    both = learned_floor(
        X, y, time=np.datetime64("2020-01-01") + time.astype("m8[D]"), groups=time % 30, learners=QUICK
    )
    assert_allclose(both.curve.size, 0.8 * 600 * 0.7 / np.array([1, 2, 4]), rtol=0.05)
    assert both.reached == pytest.approx(floor.reached, abs=0.05)  # other values deal out other folds


def test_splitters():
    X, y, groups, _ = random_intercepts(20, 8)
    floor = learned_floor(X, y, groups=groups, cv=GroupKFold(5), learners=QUICK)
    assert_allclose(floor.curve.size, [128, 64, 32])
    every = learned_floor(X, y, groups=groups // 2, cv=LeaveOneGroupOut(), learners=["gaussian"])
    assert_allclose(every.curve.size[0], 160 * 9 / 10)
    sampled = learned_floor(X, y, groups=groups, cv=GroupKFold(5), max_rows=80, learners=["gaussian"])
    assert sampled.n_rows == 80


def test_findings_about_groups():
    X, y, groups, _ = random_intercepts(10, 10)
    few = learned_floor(X, y, groups=groups, learners=QUICK)
    assert "BF027" in codes_of(few)
    assert "There are 10 groups" in str(few.findings)
    assert "BF028" not in codes_of(few)
    X, y, groups, _ = random_intercepts(30, 5)
    assert "BF027" not in codes_of(learned_floor(X, y, groups=groups, learners=["gaussian"]))
    y[groups == 4] = 2
    alone = learned_floor(X, y, groups=groups, learners=["gaussian"])
    assert "1 class is in one group only: 2" in str([f for f in alone.findings if f.code == "BF028"])


def test_one_group_for_each_class():
    """No class is ever recognised then, and the floor may be anything up to that of always naming one class."""
    X, _, groups, _ = random_intercepts(6, 12)
    floor = learned_floor(X, groups, groups=groups)
    assert floor.reached >= 5 / 6  # that of always naming one class
    assert floor.interval[0] == 0.0
    assert floor.interval[1] == pytest.approx(5 / 6)
    assert "6 classes are in one group only" in str(floor.findings)


def test_interval_of_an_auc_in_clusters():
    """Rows of one group are ranked alike: intervals for independent rows are too short, those for groups are not."""
    missed = np.zeros(2)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(40), 10)
        is_class = (np.arange(40) % 3 == 0)[clusters]
        score = is_class + rng.standard_normal(400) + 1.5 * rng.standard_normal(40)[clusters]
        ranks, truth = _rank(score, is_class, np.ones(400)), norm.cdf(1 / np.sqrt(2 * (1 + 1.5**2)))
        ends = [auc_interval(ranks, is_class, np.ones(400), 0.95, each) for each in (clusters, None)]
        missed += [not low <= truth <= high for low, high in ends]
    assert missed[0] <= 0.05 * 200 + 3 * (200 * 0.05 * 0.95) ** 0.5
    assert missed[1] > 0.3 * 200


def test_groups_and_times_that_cannot_be_used():
    X, y, _ = turning(100)
    table = [
        ({"groups": np.arange(100) % 4}, "at least 5 of them. Got 4"),
        ({"groups": np.zeros(100)}, "groups holds one value only"),
        ({"groups": np.arange(99)}, "one value for each of the 100 rows"),
        ({"time": np.arange(100) // 50}, "time has 2 different values"),
        ({"time": np.arange(100), "cv": KFold(5)}, "'cv' parameter must be an int with time"),
        ({"time": np.arange(100), "cv": 9}, "needs at least 108 rows. Got 100"),
        ({"time": np.arange(100), "y": np.arange(100) // 50}, "later half of the time are of class 1"),
        ({"cv": KFold(4)}, "at least 5 folds. Got 4"),
        ({"groups": np.arange(100) // 10, "cv": 4}, "'cv' parameter"),
    ]
    assert (
        options_not_refused(lambda **given: learned_floor(X, **{"y": y, "learners": ["gaussian"], **given}), table)
        == []
    )


def test_a_class_that_is_gone():
    X, y, time = turning(200)
    y[time < 60] = 2
    floor = learned_floor(X, y, time=time, learners=["gaussian"])
    assert floor.n_classes == 3
    assert [each.n_rows for each in floor.ranking][2] == 0


# --- how sure it is


def test_clustered_error_by_brute_force():
    rng = np.random.default_rng(0)
    values, clusters = rng.random(60), rng.integers(0, 7, 60)
    total = sum(
        (values[i] - values.mean()) * (values[j] - values.mean())
        for i in range(60)
        for j in range(60)
        if clusters[i] == clusters[j]
    )
    assert_allclose(clustered_error(values, clusters) ** 2, 7 / 6 * total / 60**2)
    each = np.arange(60)
    assert_allclose(clustered_error(values, each), values.std(ddof=1) / 60**0.5)


def test_rows_that_say_as_much():
    clusters = np.repeat(np.arange(200), 10)
    rng = np.random.default_rng(0)
    independent = (rng.random(2000) < 0.2).astype(float)
    alike = (rng.random(200) < 0.2).astype(float)[clusters]
    assert 1700 < effective_rows(independent, clusters, 0.95) <= 2000
    assert 170 < effective_rows(alike, clusters, 0.95) < 230
    assert 180 < effective_rows(np.zeros(2000), clusters, 0.95) <= 200  # none seen: groups may err as a whole
    assert effective_rows(alike, clusters // 20, 0.95) < 200  # few clusters say less about themselves


def test_residuals_of_groups_are_white():
    """Labels of one group lean one way. Neighbours in other groups tell nothing that a row's posterior does not."""
    z = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(40), 10)
        X = rng.standard_normal((40, 2))[groups] + 0.05 * rng.standard_normal((400, 2))
        lean = 3.0 * rng.standard_normal(40)
        lean_grid = np.linspace(-5, 5, 101)
        weight = norm.pdf(lean_grid)
        p = expit(X[:, :1] + 3.0 * lean_grid) @ (weight / weight.sum())
        y = (rng.random(400) < expit(X[:, 0] + lean[groups])).astype(int)
        q, folds = np.column_stack([1 - p, p]), groups % 5
        z.append([residual_test(X, y, q[np.newaxis], folds[np.newaxis], 1, 0, each) for each in (groups, None)])
    own, none = np.array(z).T
    assert abs(own.mean()) < 0.5
    assert own.std() < 1.3
    assert none.mean() > 5  # where groups are not told


def test_a_sample_takes_rows_of_all_groups():
    """As many rows of more groups say more about new ones than whole groups do."""
    X, y, groups, _ = random_intercepts(40, 20)
    problem = check_problem(X, y, groups=groups)
    rows = choose_rows(problem, 200, 0)
    assert len(rows) == len(set(rows)) == 200
    assert len(set(groups[rows])) == 40
    without = choose_rows(replace(problem, groups=None), 200, 0)
    assert set(without) != set(rows)


@for_each(("n_groups", "n_clusters"), [(200, 20), (40, 20), (12, None)])
def test_groups_in_time_are_clusters_of_stretches(n_groups, n_clusters):
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, n_groups, 600))
    time = 100.0 * groups + rng.random(600)  # groups follow each other
    order = rng.permutation(600)
    problem = Problem(
        rng.normal(size=(600, 2)), np.array([0, 1]), rng.integers(0, 2, 600), groups=groups[order], time=time[order]
    )
    used, plan = plan_rows(problem, cv=5, max_rows=None, is_default=False, seed=0, n_jobs=1)
    rows = plan.rows[plan.predicted[plan.counted]]
    own, when = used.groups[rows], used.time[rows]
    n_own = len(np.unique(own))
    assert len(np.unique(plan.clusters)) == (n_own if n_clusters is None else min(n_clusters, n_own))
    assert len(np.unique(np.c_[own, plan.clusters], axis=0)) == n_own  # no group is in two
    assert (np.diff(plan.clusters[np.argsort(when)]) != 0).sum() == len(np.unique(plan.clusters)) - 1
