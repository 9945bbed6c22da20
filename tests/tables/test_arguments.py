"""The one door for X and y: whatever the rows come in, the problem is the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from bayesfloor import read_table
from bayesfloor.data.problem import MOST_RATIO, Problem, check_row_weights
from bayesfloor.tables.arguments import check_problem, problem_and_table

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
LABELS = np.array(["no", "yes"])[np.arange(N) % 2]
AMOUNTS = RNG.normal(size=N)
WHO, WHEN, WEIGHT = np.arange(N) // 3, np.arange(N)[::-1].astype(float), 1.0 + RNG.random(N)
SITE = np.array(["north", "south", "west"])[np.arange(N) % 3]
KNOWN = {"groups": WHO, "time": WHEN, "sample_weight": WEIGHT, "by": SITE}


def frame_of(kind, y):
    columns = {"a": X[:, 0], "b": X[:, 1], "y": y, "who": WHO, "when": WHEN, "weight": WEIGHT}
    return kind(columns)


def check_known(problem):
    np.testing.assert_array_equal(problem.X, X)
    np.testing.assert_array_equal(problem.groups, WHO)
    np.testing.assert_array_equal(np.argsort(problem.time), np.argsort(WHEN))
    np.testing.assert_allclose(problem.sample_weight, WEIGHT / WEIGHT.mean())
    assert problem.by.names == ("north", "south", "west")
    np.testing.assert_array_equal(np.array(problem.by.names)[problem.by.codes], SITE)


@pytest.mark.parametrize("points", [X, X.tolist(), pd.DataFrame(X), pl.DataFrame(X), sparse.csr_array(X)])
def test_classes_beside_points_of_any_type(points):
    problem, table = problem_and_table(points, LABELS, **KNOWN)
    assert table is None
    assert problem.task == "classification"
    assert problem.classes.tolist() == ["no", "yes"]
    assert problem.class_counts.tolist() == [30, 30]
    np.testing.assert_array_equal(problem.classes[problem.codes], LABELS)
    assert len(problem.y) == 0
    check_known(problem)


@pytest.mark.parametrize("task", ["regression", "auto"])
def test_numbers_are_a_target_too(task):
    problem = check_problem(X, AMOUNTS, task=task, **KNOWN)
    assert problem.task == "regression"
    np.testing.assert_array_equal(problem.y, AMOUNTS)
    assert problem.class_counts.tolist() == [N]
    check_known(problem)
    assert check_problem(X, LABELS, task="auto").task == "classification"


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("y", [LABELS, AMOUNTS], ids=["classes", "numbers"])
def test_columns_of_a_frame_are_named(kind, y):
    frame = frame_of(kind, y)
    problem, table = problem_and_table(
        frame, "y", task="auto", groups="who", time="when", sample_weight="weight", by=SITE
    )
    assert table.column_names == ("a", "b")
    assert tuple(problem.feature_names) == ("a", "b")
    np.testing.assert_array_equal(table.lines, np.arange(N))
    expected = check_problem(X, y, task="auto", **KNOWN)
    assert problem.task == expected.task
    np.testing.assert_array_equal(problem.codes, expected.codes)
    np.testing.assert_array_equal(problem.y, expected.y)
    np.testing.assert_array_equal(problem.groups, expected.groups)
    np.testing.assert_array_equal(problem.sample_weight, expected.sample_weight)
    np.testing.assert_array_equal(problem.by.codes, expected.by.codes)


def test_what_a_table_knows_is_used_unless_something_else_is_given():
    table = read_table(
        frame_of(pd.DataFrame, LABELS).assign(site=SITE), target="y", groups="who", time="when", by="site"
    )
    problem, given = problem_and_table(table)
    assert given is table
    np.testing.assert_array_equal(problem.groups, WHO)
    assert problem.by.column == "site"
    assert problem.tabular is table.tabular
    other = np.arange(N) % 5
    np.testing.assert_array_equal(check_problem(table, groups=other).groups, other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": None}, "requires y to be passed"),
        ({"y": LABELS[:-1]}, "inconsistent numbers of samples"),
        ({"groups": "who"}, "groups='who' names a column, but X is no data frame"),
        ({"sample_weight": "w"}, "sample_weight='w' names a column, but X is no data frame"),
        ({"by": "site"}, "by='site' names a column, but X is no data frame"),
        ({"sample_weight": -WEIGHT}, "sample_weight must be finite and not below zero"),
        ({"groups": np.zeros(N)}, "at least two groups are needed"),
        ({"time": np.zeros(N)}, "rows cannot be put in order"),
        ({"by": SITE[1:]}, "one value for each of the 60 rows"),
        ({"prepare": "none"}, "prepare"),
    ],
)
def test_what_cannot_be_used(given, message):
    with pytest.raises(ValueError, match=message):
        check_problem(X, **{"y": LABELS, **given})


def test_a_weight_names_a_column_that_is_there():
    with pytest.raises(ValueError, match="sample_weight='mass': there is no such column"):
        check_problem(frame_of(pd.DataFrame, LABELS), "y", sample_weight="mass")


def test_weights():
    assert check_row_weights(None, 3) is None
    assert check_row_weights([2.0, 2.0, 2.0], 3) is None
    # 1 on average over the rows that count
    np.testing.assert_allclose(check_row_weights([0.0, 1.0, 5.0], 3), [0.0, 1 / 3, 5 / 3])
    np.testing.assert_allclose(check_row_weights([1e308, 1e308, 0.0], 3), [1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="Set their weight to 0"):
        check_row_weights([1.0, 10.0 * MOST_RATIO], 2)


@pytest.mark.parametrize("y", [LABELS, AMOUNTS], ids=["classes", "numbers"])
def test_some_of_the_rows(y):
    rows = np.array([5, 2, 40])
    problem = check_problem(X, y, task="auto", **KNOWN)
    part = problem.take(rows)
    assert part.task == problem.task
    for name in ("X", "codes", "groups", "time", "sample_weight"):
        np.testing.assert_array_equal(getattr(part, name), getattr(problem, name)[rows])
    np.testing.assert_array_equal(part.y, problem.y[rows] if len(problem.y) else [])
    np.testing.assert_array_equal(part.by.codes, problem.by.codes[rows])
    assert part.classes is problem.classes


@pytest.mark.parametrize("y", [LABELS, AMOUNTS], ids=["classes", "numbers"])
def test_keys_follow_the_rows(y):
    order = RNG.permutation(N)
    moved = check_problem(X[order], y[order], task="auto", time=WHEN[order], sample_weight=WEIGHT[order])
    problem = check_problem(X, y, task="auto", time=WHEN, sample_weight=WEIGHT)
    np.testing.assert_array_equal(moved.keys(3), problem.keys(3)[order])
    assert len(np.unique(problem.keys(3))) == N
    assert not np.array_equal(problem.keys(3), problem.keys(4))


def test_a_problem_of_numbers_has_one_class():
    problem = Problem.of_numbers(X, AMOUNTS, groups=WHO)
    assert problem.classes.tolist() == [0.0]
    assert not problem.codes.any()
    assert problem.groups is WHO
