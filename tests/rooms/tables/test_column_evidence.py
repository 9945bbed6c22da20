"""What columns tell about each other's kinds."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from bayesfloor import read_table
from bayesfloor.tables.column_evidence import levels_without_order, profile_columns
from bayesfloor.tables.columns import NumberColumn, RawTable
from helpers.one_case import for_each

N = 400


def kinds(columns, wanted=None):
    columns = [NumberColumn(name, np.asarray(values, float)) for name, values in columns.items()]
    table = RawTable("t.csv", columns, len(columns[0].values), np.arange(len(columns[0].values)))
    return {each.column.name: each for each in profile_columns(columns, table, wanted or {})}


def share_as_smooth(values, witnesses):
    """Return the share of all orders of the values that are as smooth in other columns, by brute force."""
    levels = np.unique(values)
    means = np.array([[witness[values == level].mean() for level in levels] for witness in witnesses])
    means = (means - means.mean(axis=1, keepdims=True)) / means.std(axis=1, keepdims=True)
    rough = [
        sum(((means[:, a] - means[:, b]) ** 2).sum() for a, b in pairwise(order))
        for order in permutations(range(len(levels)))
    ]
    return np.mean(np.array(rough) <= rough[0] + 1e-9)


@for_each("seed", range(12))
def test_order_is_seen_as_brute_force_sees_it(seed):
    rng = np.random.default_rng(seed)
    n_levels = 3 + seed % 4
    values = rng.integers(0, n_levels, 900)
    effects = rng.normal(size=(2, n_levels)) + (seed % 3) * np.arange(n_levels)
    witnesses = [effect[values] + rng.normal(size=900) > effect.mean() for effect in effects]
    expected = () if share_as_smooth(values, witnesses) <= 0.35 else tuple(range(n_levels))
    assert levels_without_order(values.astype(float), witnesses) == expected


def test_amounts_are_in_order_and_codes_are_not():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9, 2000).astype(float)
    likes_neighbours = values + rng.normal(size=2000) > 4.5
    likes_some = np.isin(values, [2, 4, 7]) ^ (rng.random(2000) < 0.2)
    by_chance = rng.random(2000) < 0.5
    assert levels_without_order(values, [likes_neighbours]) == ()
    assert levels_without_order(values, [likes_some, by_chance]) == tuple(range(1, 9))
    assert levels_without_order(values, [by_chance]) == ()  # nothing differs between the values
    order = rng.permutation(2000)
    assert levels_without_order(values[order], [likes_some[order], by_chance[order]]) == tuple(range(1, 9))


def test_rare_values_and_gaps_have_no_part():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 5, N).astype(float)
    values[:30] = np.nan
    values[30] = 9.0
    assert levels_without_order(values, [np.isin(values, [1, 3])]) == (1.0, 2.0, 3.0, 4.0)
    assert levels_without_order(np.repeat([1.0, 2.0], 50), [np.arange(100) < 50]) == ()


def panel(rng):
    persons = np.repeat(np.cumsum(rng.integers(1, 40, 50)), 4)
    return {"who": persons, "born": np.repeat(rng.integers(1940, 1970, 50), 4), "pay": rng.normal(size=200)}


def test_persons_of_a_panel_are_an_id():
    columns = panel(np.random.default_rng(0))
    assert kinds(columns)["who"].kind == "id"
    assert kinds(columns, {"who": "number"})["who"].kind == "number"
    alone = {name: values for name, values in columns.items() if name != "born"}
    assert kinds(alone)["who"].kind == "number"  # nothing tells what it numbers
    assert kinds({**alone, "squared": columns["who"] ** 2.0})["who"].kind == "number"  # says the same again
    assert kinds({"year": columns["who"], "born": columns["born"]})["year"].kind == "number"
    order = np.random.default_rng(1).permutation(200)
    assert kinds({name: values[order] for name, values in columns.items()})["who"].kind == "number"


def test_columns_of_like_names_are_alike():
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 7, (3, N))
    found = kinds({"occupation": codes[0], "occupation_husb": codes[1], "occupation_years": codes[2] * 11})
    assert found["occupation"].kind == found["occupation_husb"].kind == "category"
    assert found["occupation_husb"].column.categories == ("1", "2", "3", "4", "5", "6")
    assert found["occupation_years"].kind == "number"


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    form = rng.integers(1, 5, N)
    dose = np.where(np.isin(form, [1, 3]), 5.0, 1.0) + rng.normal(size=N)
    labels = np.where(rng.random(N) < np.where(form == 3, 0.8, 0.2), "ill", "well")
    path = tmp_path / "forms.csv"
    lines = [f"{a},{b:.4f},{c}" for a, b, c in zip(form, dose, labels, strict=True)]
    path.write_text("\n".join(["form,dose,y", *lines]) + "\n")
    return path


def test_a_column_in_both_forms_counts_as_one(file):
    table = read_table(file, target="y")
    assert table.feature_names == ("form", "form=1", "form=2", "form=3", "form=4", "dose")
    assert table.columns[0].treatment == "scaled, and 0 and 1 for each of 4 values, as they may be codes"
    form = table.X[:, :5]
    apart = ((form[:, np.newaxis] - form) ** 2).sum(axis=2).mean()
    levels = np.round(form[:, 1:] @ [1, 2, 3, 4] * 2**0.5)
    assert apart == pytest.approx(1.0 + np.mean(levels[:, np.newaxis] != levels))  # halves of a number and a category
    assert table.preparation.as_in_file(table.X[0])[0] == f"{levels[0]:.0f}"
    assert table.tabular.names == ("form", "dose")


def test_other_tables_have_the_same_forms(file, tmp_path):
    table = read_table(file, target="y")
    (tmp_path / "other.csv").write_text("form,dose\n3,1.0\n7,1.0\n,1.0\n")
    X = read_table(tmp_path / "other.csv", preparation=table.preparation).X
    assert (X[:, 1:5] > 0).tolist() == [[False, False, True, False], [False] * 4, [False] * 4]
    assert read_table(file, target="y", numeric=["form"]).feature_names == ("form", "dose")
    assert read_table(file, target="y", scale="none").feature_names == ("form", "dose")


def test_columns_that_are_treated_alike_are_one_note(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 40)).round(3).astype(str)
    for j in range(40):
        values[: 1 + j % 3, j] = ""
    rows = [",".join([*row, label]) for row, label in zip(values, rng.choice(["a", "b"], 200), strict=True)]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join([",".join([*(f"x{j}" for j in range(40)), "y"]), *rows]) + "\n")
    table = read_table(path, target="y")
    notes = [note for note in table.notes if "gap" in note]
    assert len(notes) == 1
    assert notes[0].endswith("and 28 more: number; scaled, gaps filled by the median.")
    assert {column.treatment for column in table.columns} == {
        f"scaled, {gaps} filled by the median" for gaps in ("1 gap", "2 gaps", "3 gaps")
    }
