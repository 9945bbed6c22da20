"""A preparation that repeats itself: a value becomes the same features from any reader, alone or among others."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from bayesfloor import TablePreparer, read_table
from bayesfloor.tables.frames import raw_of_frame
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.read import read_raw
from bayesfloor.tables.readings import UnseenValues
from helpers.every_kind import COLUMNS, SOURCES, N, table_of
from helpers.one_case import for_each

ROWS = list(range(N))
#: Rows that are read alone: with gaps, marks, an infinite number, words among numbers.
ALONE = (0, 3, 11, 33)


@cache
def trained(source):
    with TemporaryDirectory() as folder:
        return read_table(SOURCES[source](table_of(ROWS), Path(folder)), target="y")


def read_again(source, rows, preparation):
    columns = table_of(rows)
    if len(set(columns["y"])) < 2:  # labels of one class are no target
        del columns["y"]
    with TemporaryDirectory() as folder:
        return read_table(SOURCES[source](columns, Path(folder)), preparation=preparation)


def differing(table, X, rows=ROWS):
    """Name the features that differ in any bit, shares of classes aside."""
    encoded = {j for _, first, last in table.tabular.from_labels for j in range(first, last)}
    same = [np.array_equal(X[:, j], table.X[rows, j]) or j in encoded for j in range(X.shape[1])]
    return [name for name, is_same in zip(table.feature_names, same, strict=True) if not is_same]


def test_every_kind_is_there():
    kinds = {column.kind for column in trained("csv").columns}
    assert kinds == {"number", "yes/no", "category", "date", "text", "id"}
    treatments = {type(each).__name__ for each in trained("csv").preparation.columns}
    assert treatments == {
        "NumberFeature",
        "PresenceFeature",
        "CategoryFeatures",
        "SharesFeatures",
        "DateFeatures",
        "TextFeatures",
    }
    assert [each.name for each in trained("csv").preparation.columns if getattr(each, "levels", ())] == ["form"]
    used = {each.name for each in trained("csv").preparation.columns}
    assert COLUMNS.keys() - used == {"serial"}


@for_each("first", SOURCES)
def test_the_same_values_from_any_reader(first):
    table = trained(first)
    for source in SOURCES if first == "csv" else ("csv", first):
        again = read_again(source, ROWS, table.preparation)
        assert differing(table, again.X) == [], source


@for_each("first", SOURCES)
def test_rows_alone_and_in_another_order(first):
    table = trained(first)
    # not every source: 71,234 alone is another number where nothing tells the decimal sign
    for source in {first, "parquet" if first == "csv" else first}:
        for row in ALONE if first == "csv" else ALONE[-2:]:
            again = read_again(source, [row], table.preparation)
            assert differing(table, again.X, [row]) == [], (source, row)
        order = np.random.default_rng(1).permutation(N)[: N // 2]
        assert differing(table, read_again(source, order, table.preparation).X, order) == [], source


@for_each("source", SOURCES)
def test_the_tabular_view_too(source):
    table = trained(source)
    for other in ("csv", "parquet"):
        preparation, columns = table.preparation, table_of(ROWS)
        with TemporaryDirectory() as folder:
            raw = read_raw(SOURCES[other](columns, Path(folder)), target="y")
        read = preparation.read(raw)
        view = preparation.tabular(read, preparation.features(read))
        same = [
            np.array_equal(mine, other, equal_nan=True)
            for mine, other in zip(table.tabular.values.T, view.values.T, strict=True)
        ]
        assert [name for name, is_same in zip(view.names, same, strict=True) if not is_same] == []


def test_after_saving_and_loading():
    table = trained("csv")
    written = table.preparation.to_dict()
    json.dumps(written, default=lambda array: array.tolist())  # nothing but arrays needs help
    stored = Preparation.from_dict(written)
    for source in SOURCES:
        assert differing(table, read_again(source, ROWS, stored).X) == [], source


def test_table_preparer_repeats_itself():
    frame = pd.DataFrame(table_of(ROWS))
    X, y = frame.drop(columns="y"), frame.y
    preparer = TablePreparer()
    made = preparer.fit_transform(X, y)
    shares = np.char.find(preparer.get_feature_names_out().astype(str), ": share of") >= 0
    with pytest.warns(UserWarning, match=r"cannot be read, taken for missing: 'age' \(1, such as 'old'\)"):
        again = preparer.transform(X)
    np.testing.assert_array_equal(made[:, ~shares], again[:, ~shares])


# --- single decisions


def write(tmp_path, columns, name="t.csv"):
    pd.DataFrame(columns).to_csv(tmp_path / name, index=False)
    return tmp_path / name


def test_a_mark_of_gaps_is_kept(tmp_path):
    income = [-999.0 if k % 10 == 3 else 20.0 + k % 37 for k in range(100)]
    path = write(tmp_path, {"income": income, "y": [k % 2 for k in range(100)]})
    table = read_table(path)
    assert table.feature_names == ("income", "income=(missing)")
    again = read_table(path, preparation=table.preparation)
    np.testing.assert_array_equal(again.X, table.X)
    assert again.X[:, 1].sum() == 10
    assert "Rows with no value, filled as in the first table: 'income' (10)." in again.notes
    frame = pd.DataFrame({"income": income})
    preparer = TablePreparer()
    assert preparer.fit_transform(frame)[:, 1].sum() == preparer.transform(frame)[:, 1].sum() == 10
    assert preparer.transform(frame[:1]).tolist() == preparer.transform(frame)[:1].tolist()


@for_each("unit", [1, 1000, 10**6, 10**9])
def test_the_unit_of_a_clock_is_kept(unit):
    rng = np.random.default_rng(0)
    seconds = rng.integers(1_500_000_000, 1_600_000_000, 200)
    frame = pd.DataFrame({"timestamp": seconds * unit})
    y = seconds > 1_550_000_000
    model = make_pipeline(TablePreparer(), LogisticRegression()).fit(frame, y)
    assert model.score(frame, y) > 0.97
    assert (model.predict(frame[:1]) == y[:1]).all()


def test_codes_are_the_same_from_text_floats_and_integers():
    codes = [1, 2, 3, 3, 2, 1] * 10
    as_text = pd.DataFrame({"store_type": [f"{code}.0" for code in codes], "z": range(60)})
    as_numbers = pd.DataFrame({"store_type": codes, "z": range(60)})
    for first, second in ((as_text, as_numbers), (as_numbers, as_text)):
        preparer = TablePreparer(drop="z").fit(first)
        np.testing.assert_array_equal(preparer.transform(first), preparer.transform(second))
        assert preparer.get_feature_names_out().tolist() == ["store_type=1", "store_type=2", "store_type=3"]


def test_leading_zeros_are_part_of_a_code(tmp_path):
    path = write(tmp_path, {"zip": ["02139", "2139", "10115"] * 20, "y": ["a", "b"] * 30})
    table = read_table(path)
    assert table.feature_names == ("zip=02139", "zip=2139", "zip=10115")
    assert table.X.sum(axis=0).tolist() == [20, 20, 20]
    assert table.values_of(0) == ("02139",)


def test_what_cannot_be_read_is_said(tmp_path):
    table = read_table(
        write(tmp_path, {"a": np.arange(40) % 7, "d": ["2020-01-02", "2021-05-06"] * 20, "y": [0, 1] * 20})
    )
    other = pd.DataFrame({"a": ["1", "two", ""], "d": ["2020-01-02", "next week", "-"]})
    again = read_table(other, preparation=table.preparation)
    notes = [note for note in again.notes if note.startswith(("Values that", "Rows with"))]
    assert notes == [
        "Values that cannot be read, taken for missing: 'a' (1, such as 'two'), 'd' (1, such as what is no such date).",
        "Rows with no value, filled as in the first table: 'a' (1), 'd' (1).",
    ]


def test_unseen_values_count_rows():
    unseen = UnseenValues()
    frame = pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Paris"] * 5, "x": np.arange(20) % 3})
    preparation = TablePreparer().fit(frame).preparation_
    other = pd.DataFrame({"city": ["Bonn", "bonn", " rome", None], "x": [1.0, None, 2.0, 0.0]})
    preparation.apply(raw_of_frame(other), unseen)
    assert (unseen.unknown, unseen.gaps, unseen.unread) == ({"city": 2}, {"city": 1, "x": 1}, {})


# --- the order of the rows


def test_the_order_of_rows_changes_no_bit(tmp_path):
    rng = np.random.default_rng(2)
    order = rng.permutation(N)
    orders = [read_table(SOURCES["csv"](table_of(rows), tmp_path), target="y") for rows in (ROWS, order)]
    assert orders[1].feature_names == orders[0].feature_names
    np.testing.assert_array_equal(orders[1].X, orders[0].X[order])
    np.testing.assert_array_equal(orders[1].tabular.values, orders[0].tabular.values[order])


@for_each("scale", ["standard", "minmax"])
def test_sums_do_not_depend_on_the_order(tmp_path, scale):
    rng = np.random.default_rng(3)
    columns = {
        "a": rng.normal(size=300) * 10.0 ** rng.integers(-8, 8, 300),
        "b": rng.normal(size=300) + 1e6,
        "c": np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300)),
        "who": [f"w{k}" for k in rng.integers(0, 60, 300)],
        "y": rng.normal(size=300),
    }
    frame = pd.DataFrame(columns)
    for impute in (None, "mean"):
        first = read_table(frame, target="y", task="regression", scale=scale, impute=impute)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(300)
            again = read_table(frame.iloc[order], target="y", task="regression", scale=scale, impute=impute)
            np.testing.assert_array_equal(again.X, first.X[order])


def test_scikit_learn_checks():
    results = check_estimator(TablePreparer(), on_skip=None, on_fail=None)
    assert [result for result in results if result["status"] == "failed"] == []
