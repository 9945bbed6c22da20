"""Rows that are copies of one observation, or nearly so."""

import numpy as np
import pytest

from bayesfloor import bayes_error, learned_floor, regression_floor, spanning_forests
from bayesfloor.data import problem
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.copies import copies_of, distinct_rows
from bayesfloor.floor.learned.row_plan import choose_rows
from bayesfloor.floor.trees.near_copies import near_copies
from bayesfloor.tables.arguments import check_problem
from helpers.agreement import codes_of
from helpers.one_case import for_each
from helpers.plans import floor_and_predictions

FAST = {"learners": ["gaussian", "neighbours"], "n_jobs": 1}


def gaussians(seed=0, n=300, floor_at=1.683):
    """Two Gaussian classes; at a distance of 2 Phi^-1(.8) = 1.683 the floor is .200."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 3))
    X[:, 0] += floor_at * y
    return X, y


def copied(X, y, times=3, seed=1):
    rows = np.random.default_rng(seed).permutation(np.tile(np.arange(len(X)), times))
    return X[rows], y[rows], rows


def test_copies_give_the_answer_of_the_rows_that_were_copied():
    X, y = gaussians(n=500)
    plain = learned_floor(X, y, **FAST)
    X3, y3, _ = copied(X, y)
    floor = learned_floor(X3, y3, **FAST)
    assert (floor.estimate, floor.interval, floor.reached) == (plain.estimate, plain.interval, plain.reached)
    assert (floor.n_samples, floor.n_rows) == (1500, 500)
    assert codes_of(floor) == ["BF037", *codes_of(plain)]
    assert "1000 of 1500 rows are copies of others" in floor.findings[0].sentence


def test_equal_rows_are_data_where_all_columns_are_discrete():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    grade = rng.integers(0, 4, (400, 3)) + 0.5 * y[:, None]
    rounded = np.round(rng.standard_normal((400, 1)), 2)  # 250 different values
    scaled = (np.round(rng.uniform(0, 20, (400, 1)), 2) - 7.3) / 2.9  # 2000 steps: by chance some values are equal
    irregular = rng.standard_normal(10)[rng.integers(0, 10, (400, 1))]  # ten doses: a design
    for X in (grade, rounded, scaled, irregular):
        problem = check_problem(X, y)
        assert len(np.unique(X, axis=0)) < len(X)
        assert copies_of(problem, 0) is None
        assert distinct_rows(problem, 0).problem is problem


def test_a_value_that_comes_again_with_other_features_is_no_copy():
    X, y = gaussians()
    of_patient = np.repeat(X[:100, :1], 3, axis=0)
    rows = np.column_stack([of_patient, np.round(X[:, 1:])])
    assert len(np.unique(rows, axis=0)) < len(rows)
    assert copies_of(check_problem(rows, y), 0) is None


def test_copies_with_different_labels_are_held_out_together():
    X, y = gaussians(n=400)
    X3, y3, rows = copied(X, y)
    y3 = np.where(np.random.default_rng(2).random(len(y3)) < 0.15, 1 - y3, y3)
    distinct = distinct_rows(check_problem(X3, y3), 0)
    assert np.array_equal(np.unique(distinct.problem.groups, return_inverse=True)[1], distinct.problem.groups)
    assert len(np.unique(np.column_stack([distinct.problem.groups, rows]), axis=0)) == 400
    floor = learned_floor(X3, y3, **FAST)
    assert codes_of(floor) == ["BF037"]
    assert floor.n_rows == 1200
    assert floor.estimate == pytest.approx(0.29, abs=0.05)  # with .15 of the labels turned round: .2 (1 - .3) + .15


def test_few_wrong_labels_among_copies_do_not_matter():
    X, y = gaussians()
    X3, y3, _ = copied(X, y)
    y3[:3] = 1 - y3[:3]
    distinct = distinct_rows(check_problem(X3, y3), 0)
    assert distinct.problem.groups is None
    assert len(distinct.rows) == len(X)


def test_copies_in_one_group_stay_and_others_leave_one():
    X, y = gaussians(n=200)
    X2, y2 = np.tile(X, (2, 1)), np.tile(y, 2)
    patient = np.tile(np.arange(200) // 4, 2)
    within = check_problem(X2, y2, groups=patient)
    assert distinct_rows(within, 0).problem is within
    across = distinct_rows(check_problem(X2, y2, groups=np.arange(400) // 4), 0)
    assert len(np.unique(across.problem.X, axis=0)) == len(across.problem.X) == 200
    assert codes_of(across) == ["BF037"]


def noise_in_groups(rounded):
    """Noise in 40 groups, of which the last 20 are those before once more."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    X = np.round(X, 1) if rounded else X
    return np.vstack([X, X]), np.append(y, y), np.arange(400) // 10


@for_each("rounded", [False, True])
def test_numbers_are_not_predicted_from_a_copy_in_another_group(rounded):
    X, y, groups = noise_in_groups(rounded)
    # the nearest neighbour is the copy: it would explain all there is
    floor = regression_floor(X, y, groups=groups, learners=["neighbours"], n_jobs=1)
    assert floor.n_rows == 200
    assert codes_of(floor).count("BF037") == 1
    assert floor.reached < 0.05


def test_copied_numbers_are_told_from_counts_that_come_again():
    rng = np.random.default_rng(8)
    X = rng.random((300, 3)).round(1)
    y = np.round(
        np.sin(5 * X[:, 0]) + 2 * X[:, 1] + 0.5 * rng.standard_normal(300)
    )  # two rows are often the same in it
    assert copies_of(check_problem(X, y, task="regression"), 0) is None
    X, y = np.vstack([X, X[:90], X[:90]]), np.concatenate([y, y[:90], y[:90]])
    assert copies_of(check_problem(X, y, task="regression"), 0) is not None
    X = rng.integers(0, 5, (600, 1)).astype(float)
    assert copies_of(check_problem(X, rng.poisson(3.0 + X[:, 0]), task="regression"), 0) is None


def test_copies_without_weight_are_not_those_that_are_kept():
    X, y, _ = noise_in_groups(rounded=False)
    for weight in (np.repeat([0.0, 1.0], 200), np.repeat([1.0, 0.0], 200)):
        floor, predicted = floor_and_predictions(X, y, sample_weight=weight, learners=["linear"], n_jobs=1)
        assert floor.n_rows == 200
        assert np.array_equal(np.isfinite(predicted), weight > 0)


def test_groups_that_are_copies_are_not_counted():
    X, y = gaussians(n=100)
    X6, y6, groups = np.tile(X, (6, 1)), np.tile(y, 6), np.repeat(np.arange(6), 100)
    with pytest.raises(ValueError, match=r"needs at least 5 of them\. Got 1\."):  # the first group is the earliest
        learned_floor(X6, y6, groups=groups, time=np.arange(600.0), **FAST)
    with pytest.raises(ValueError, match=r"needs at least 5 of them\. Got 1\."):
        regression_floor(X6, X6[:, 0] + y6, groups=groups, time=np.arange(600.0), learners=["linear"], n_jobs=1)


def test_the_earliest_copy_is_kept_in_an_order_of_time():
    X, y = gaussians(n=200)
    X2, y2, rows = copied(X, y, 2)
    time = np.random.default_rng(3).permutation(400).astype(float)
    kept = distinct_rows(check_problem(X2, y2, time=time), 0).rows
    earliest = [time[rows == row].min() for row in rows[kept]]
    assert np.array_equal(time[kept], earliest)


def test_copies_are_found_among_all_rows_before_some_are_chosen():
    X3, y3, _ = copied(*gaussians(n=400))
    problem = distinct_rows(check_problem(X3, y3), 0).problem
    chosen = problem.X[choose_rows(problem, 150, 0)]
    assert len(np.unique(chosen, axis=0)) == 150
    assert learned_floor(X3, y3, max_rows=150, **FAST).n_rows == 150


def test_columns_computed_from_labels_do_not_hide_copies():
    X, y = gaussians(n=200)
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 200).astype(float)
    city[::10] = np.nan
    X2, y2, rows = copied(X, y, 2)
    with_shares = np.column_stack([X2, rng.random(400)])  # computed from the labels of other rows: differs
    tabular = TabularView(np.column_stack([X2, city[rows]]), np.array([False] * 3 + [True]), ("a",) * 4, ((3, 3, 4),))
    problem = Problem(with_shares, np.array([0, 1]), y2, None, tabular=tabular)
    assert len(distinct_rows(problem, 0).rows) == 200


def test_changed_shares_of_the_classes_are_named():
    X, y = gaussians(n=200)
    rows = np.concatenate([np.arange(200), np.flatnonzero(y == 1)])
    distinct = distinct_rows(check_problem(X[rows], y[rows]), 0)
    share, with_copies = 100 * np.mean(y), 100 * np.mean(y[rows])
    assert f"{share:.1f}% are 1 ({with_copies:.1f}% with copies)" in distinct.findings[0].sentence


def test_a_class_does_not_vanish_with_the_copies():
    X, y = gaussians(n=100)
    X2 = np.vstack([X, X[:60]])
    y2 = np.concatenate([y, y[:60]])
    y2[100] = 2  # the only row of its class is a copy
    problem = check_problem(X2, y2)
    assert all(len(np.unique(distinct_rows(problem, seed).problem.codes)) == 3 for seed in range(5))
    in_time = check_problem(X2, y2, time=np.arange(160))
    assert len(np.unique(distinct_rows(in_time, 0).problem.codes)) == 3


def jittered(X, y, size, times=3):
    X3, y3, rows = copied(X, y, times)
    return X3 + size * np.random.default_rng(7).standard_normal(X3.shape), y3, rows


def test_near_copies_are_held_out_together():
    X, y = gaussians(n=400)
    X3, y3, _ = jittered(X, y, 1e-4)
    floor = learned_floor(X3, y3, **FAST)
    assert "BF038" in codes_of(floor)
    found = next(finding for finding in floor.findings if finding.code == "BF038")
    assert found.sentence.startswith("1200 of 1200 rows are nearly copies of each other, at 400 places")
    assert floor.n_rows == 1200
    assert floor.reached > 0.12
    sampled = learned_floor(X3, y3, max_rows=900, **FAST)
    assert "may be on both sides" in next(each for each in sampled.findings if each.code == "BF038").sentence
    trees = bayes_error(X3, y3, n_jobs=1)
    assert "BF038" in codes_of(trees)


def test_near_copies_within_groups_are_no_news():
    X3, y3, rows = jittered(*gaussians(n=200), 1e-4)
    assert "BF038" not in codes_of(learned_floor(X3, y3, groups=rows, **FAST))
    assert "BF038" not in codes_of(bayes_error(X3, y3, groups=rows, n_jobs=1))


def places_in(X, n_classes=2):
    forest = spanning_forests(X, n_trees=1, n_jobs=1)
    return near_copies(forest.edges, forest.weights, len(X), n_classes)


def test_near_copies_are_the_rows_on_the_near_side_of_a_gap():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    some = np.vstack([X, X[:20] + 1e-5 * rng.standard_normal((20, 4))])
    places = places_in(some)
    assert np.array_equal(places[:20], places[300:])
    assert len(np.unique(places)) == 300
    # identical rows are none: their edges have no length
    assert places_in(np.vstack([X, X[:20]])) is None


CLOSE_BY_CHANCE = {
    "line": lambda rng: rng.standard_normal((1000, 1)),
    "ball": lambda rng: rng.standard_normal((500, 5)),
    "heavy tails": lambda rng: rng.standard_cauchy((500, 2)),
    "log-normal": lambda rng: np.exp(3 * rng.standard_normal((500, 2))),
    "grid": lambda rng: rng.integers(0, 30, (500, 3)).astype(float),
    "dense cluster": lambda rng: rng.standard_normal((500, 3)) * np.where(np.arange(500) < 250, 1.0, 1e-4)[:, None],
    "far classes": lambda rng: 100.0 * np.eye(4)[rng.integers(0, 4, 40)] + rng.standard_normal((40, 4)),
}


def test_rows_that_are_close_by_chance_are_no_copies():
    for name, draw in CLOSE_BY_CHANCE.items():
        assert all(places_in(draw(np.random.default_rng(seed)), 4) is None for seed in range(5)), name


def test_rows_are_hashed_in_blocks(monkeypatch):
    X, y = np.random.default_rng(0).standard_normal((48, 6)), np.arange(48) % 3
    given = Problem(X, np.arange(2), (y > 0).astype(int), list("abcdef"), groups=np.arange(48) // 2)
    keys = given.keys(3)
    monkeypatch.setattr(problem, "HASHED_ROWS", 7)
    assert np.array_equal(given.keys(3), keys)
