"""Targets that are numbers: when a column is one, and what a table makes of it."""

import numpy as np
import pandas as pd
import pytest

import bayesfloor
from bayesfloor import read_table
from bayesfloor.tables.arguments import check_problem, table_of
from bayesfloor.tables.preparation import Preparation
from helpers.one_case import for_each


def column_of(values):
    return "x,y\n" + "".join(f"{place % 7}.5,{value}\n" for place, value in enumerate(values))


RNG = np.random.default_rng(0)
AUTO = {
    "fractions": (RNG.normal(size=60), "regression"),
    "prices": (RNG.integers(100, 900, 60) * 1000, "regression"),
    "counts with long tails": (np.concatenate([np.arange(30), RNG.poisson(6, 500)]), "regression"),
    "three whole numbers": ([1, 2, 3] * 20, "classification"),
    "ten digits": (RNG.integers(0, 10, 200), "classification"),
    "numbered classes": (np.arange(600) % 60, "classification"),
    "a few numbers, each twice": (np.repeat([3, 9, 27], 2), "classification"),
    "two values with fractions": ([0.5, 1.5] * 20, "regression"),
    "whole floats": ([0.0, 1.0] * 20, "classification"),
}


@for_each("values, task", AUTO.values())
def test_the_task_by_the_values(write, values, task):
    assert check_problem(np.zeros((len(values), 1)), list(values), task="auto").task == task
    table = read_table(write(column_of(values)), target="y")
    assert table.task == task
    if task == "regression":
        np.testing.assert_array_equal(table.y, values)
        assert table.y.dtype == np.float64
        assert len(table.classes) == 0
        assert "the number 'y'" in repr(table)
    if task == "classification" and len(table.classes) > 2:
        assert any("--task regression" in note for note in table.notes)


def test_a_task_that_is_asked_for(write):
    quality = write(column_of([3, 4, 5, 6, 7] * 8))
    assert read_table(quality, target="y", task="regression").y.tolist() == [3.0, 4, 5, 6, 7] * 8
    stars = write(column_of([0.5, 1.0, 1.5] * 10))
    assert any("--task classification" in note for note in read_table(stars, target="y").notes)
    assert read_table(stars, target="y", task="classification").classes.tolist() == ["0.5", "1.0", "1.5"]
    with pytest.raises(ValueError, match=r"'y' holds values such as 'a', not numbers\. Classes need .*--task class"):
        read_table(write(column_of(["a", "b"] * 9)), target="y", task="regression")
    with pytest.raises(ValueError, match="'task' parameter must be one of 'auto', 'classification', 'regression'"):
        read_table(quality, task="numbers")


def test_numbers_as_people_write_them(write):
    values = ['"$1,250.50"', '"$900"', "", "n/a", '"$12,000"', *[f'"${n},000"' for n in range(20, 45)]]
    table = read_table(write(column_of(values)), target="y")
    assert table.y[:3].tolist() == [1250.5, 900.0, 12000.0]
    assert "2 rows without a number in 'y' left out." in table.notes
    assert table.n_samples == len(values)
    table = read_table(write(column_of(["sold", *(n + 0.25 for n in range(30))])), target="y")
    assert len(table.y) == 30
    assert "'sold' is none" in table.cautions[0]


def test_decimal_commas_gaps_and_infinity(write):
    assert read_table(write("x;y\n1;0,5\n2;0,75\n3;1\n"), prepare=None).y.tolist() == [0.5, 0.75, 1.0]
    for drop_missing in (False, True):
        table = read_table(write("x,y\n1,0.5\n2,\n3,1.5\n"), prepare=None, drop_missing=drop_missing)
        assert table.y.tolist() == [0.5, 1.5]
        assert "1 row without a number in 'y' left out." in table.notes
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0.5, np.inf, 1.5, 2.5]})
    with pytest.raises(ValueError, match=r"row 1: the target 'y' is infinite in 1 row, the first here"):
        read_table(frame, target="y")


@for_each(
    "values, says",
    [([0.5] * 9, "'y' is 0.5 in every row: there is nothing to predict"), (["", "", ""], "has no values at all")],
)
def test_numbers_that_cannot_be_a_target(write, values, says):
    with pytest.raises(ValueError, match=says):
        read_table(write(column_of(values)), target="y", task="auto")


def test_the_last_column_where_no_column_can_hold_classes(write):
    rows = "".join(f"{n * 0.3:.2f},{n * 1.7:.2f}\n" for n in range(40))
    table = read_table(write("size,price\n" + rows))
    assert (table.target, table.task) == ("price", "regression")
    kinds = write("kind,price\n" + "".join(f"{'ab'[n % 2]},{n * 1.7:.2f}\n" for n in range(40)))
    with pytest.raises(ValueError, match="'price', does not look like classes"):
        read_table(kinds)
    assert read_table(kinds, task="regression").target == "price"


def test_a_sample_has_low_and_high_numbers(write):
    values = np.round(np.random.default_rng(0).lognormal(size=500), 4)
    path = write(column_of(values))
    table = read_table(path, target="y", max_rows=100)
    assert len(table.y) == 100
    assert any("as large a share of low and high values" in note for note in table.notes)
    tenths = np.quantile(values, np.arange(0, 1, 0.1))
    counts = np.bincount(np.searchsorted(tenths, table.y, side="right") - 1)
    assert counts.min() >= 9
    assert counts.max() <= 11


# --- categories with many values


@pytest.fixture(scope="module")
def towns():
    rng = np.random.default_rng(3)
    town = rng.integers(0, 60, 400)
    return pd.DataFrame(
        {
            "town": [f"t{code}" for code in town],
            "size": rng.normal(size=400),
            "price": 10.0 * town + rng.normal(size=400),
        }
    )


def test_a_category_with_many_values_becomes_the_mean_of_other_rows(towns):
    table = read_table(towns, target="price")
    place = table.feature_names.index("town: mean of price")
    assert np.corrcoef(table.X[:, place], table.y)[0, 1] > 0.9
    ((column, first, last),) = table.tabular.from_labels
    assert (first, last) == (place, place + 1)
    assert table.tabular.is_category[column]
    # no row sees its own number: of 60 means of 400 numbers that are in them, one would expect √(60 / 400) = 0.39
    found = []
    for seed in range(10):
        noise = towns.assign(price=np.random.default_rng(seed).permutation(towns["price"]))
        table = read_table(noise, target="price")
        found.append(np.corrcoef(table.X[:, place], table.y)[0, 1])
    assert abs(np.mean(found)) < 0.15


def test_another_table_is_made_ready_alike(towns):
    table = read_table(towns, target="price")
    stored = Preparation.from_dict(table.preparation.to_dict())
    again = read_table(towns.head(20), preparation=stored)
    assert again.task == "regression"
    np.testing.assert_array_equal(again.y, towns["price"].head(20))
    assert read_table(towns.drop(columns="price"), preparation=stored).y is None


# --- where classes are needed


def test_functions_of_classes_refuse_a_table_of_numbers(towns):
    table = read_table(towns, target="price")
    says = "'price' holds numbers: this is regression, and classes are needed here"
    for function in (bayesfloor.bayes_error, bayesfloor.learned_floor, bayesfloor.class_affinity):
        with pytest.raises(ValueError, match=says):
            function(table)
    with pytest.raises(ValueError, match="this looks like regression"):
        bayesfloor.bayes_error(towns, "price")
    beside = table_of(towns[["town", "size"]], towns["price"], task="auto")
    assert (beside.task, beside.target) == ("regression", "price")
    np.testing.assert_array_equal(beside.X, table_of(towns, "price", task="regression").X)
