"""Columns of a data frame whose names are no text, or are shared, and rows that a column leaves out."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import bayesfloor as bf
from bayesfloor.runtime.frames import column_named, column_texts
from bayesfloor.tables.arguments import check_problem, subgroups_of, table_of
from bayesfloor.tables.columns import OtherColumn, UnknownColumnError
from bayesfloor.tables.frames import raw_of_frame
from helpers.one_case import for_each
from helpers.pairwise_design import all_pairs

FEW = {"learners": ["gaussian"], "n_jobs": 1}
N = 84
#: The names that the columns of `frame_of` get, by kind: other types than text, tuples, and shared ones.
NAMES = {
    "numbers": [0, 1, 2, 3, 4, 5],
    "tuples": [("x", "size"), ("x", "color"), ("y", ""), ("who", ""), ("when", ""), ("more", "w")],
    "mixed": ["0", 0, 1.5, None, ("when", 1), "w"],
    "shared": ["x", "x", "y", "who", "when", "w"],
}


def frame_of(names):
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    columns = [
        y + rng.normal(size=N),
        np.array(["red", "green", "blue"], object)[rng.integers(0, 3, N)],
        y,
        np.arange(N) // 3,
        pd.date_range("2020-01-01", periods=N),
        1.0 + rng.random(N),
    ]
    frame = pd.concat([pd.Series(column) for column in columns], axis=1)
    return frame.set_axis(names if not isinstance(names[0], tuple) else pd.MultiIndex.from_tuples(names), axis=1)


def assert_same(found, expected):
    """Two tables hold the same rows, whatever their columns are called."""
    for name in ("X", "y", "groups", "time"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    if getattr(expected, "by", None) is not None:
        assert found.by.names == expected.by.names
        np.testing.assert_array_equal(found.by.codes, expected.by.codes)


PLAIN = ["size", "color", "y", "who", "when", "w"]


@for_each("kind", NAMES)
def test_columns_are_found_by_whatever_names_them(kind):
    names, frame, plain = NAMES[kind], frame_of(NAMES[kind]), frame_of(PLAIN)
    y, groups, time, weight = names[2:]
    given = {"groups": groups, "by": subgroups_of(frame, time)}
    assert_same(
        table_of(frame, y, **given), table_of(plain, "y", groups=groups and "who", by=subgroups_of(plain, "when"))
    )
    assert_same(table_of(frame, y, time=time), table_of(plain, "y", time="when"))
    found, expected = (
        check_problem(X, size, task="regression", sample_weight=w)
        for X, size, w in ((frame, names[0], weight), (plain, "size", "w"))
    )
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)
    table = bf.read_table(frame, target=y, time=time)
    np.testing.assert_array_equal(table.X, bf.read_table(plain, target="y", time="when").X)
    X = bf.TablePreparer(drop=[names[4]]).fit(frame, plain["y"]).transform(frame)
    np.testing.assert_array_equal(X, bf.TablePreparer(drop="when").fit(plain, plain["y"]).transform(plain))


def test_columns_that_share_a_name_are_numbered_with_a_note():
    table = bf.read_table(frame_of(["x", "x", "y", "x_2", "x", "w"]), target="y")
    assert [column.name for column in table.columns] == ["x", "x_2_", "x_2", "x_3", "w"]
    assert table.notes[0] == "Columns that share a name with one before are called 'x_2_', 'x_3'."
    arrow = pa.table(
        [pa.array([1.0, 2.5, 3.0, 4.5]), pa.array(list("uvuv")), pa.array(list("abab"))], names=["x", "x", "y"]
    )
    assert bf.read_table(arrow, target="y").column_names == ("x", "x_2")


def test_texts_of_names():
    frame = pd.DataFrame([[1, 2, 3]], columns=[1, "1", ("a", "", 2)])
    assert column_texts(frame) == ["1", "1_2", "a, 2"]
    assert [column_named(frame, name) for name in (1, "1", ("a", "", 2))] == ["1", "1_2", "a, 2"]
    assert column_named(frame, np.int64(1)) == "1"
    assert [column_named(frame, name) for name in (2, None, [1], np.array([1]))] == [None] * 4
    assert column_named(frame, "other") == column_named(np.eye(2), "other") == "other"
    assert column_named(pl.DataFrame({"a": [1]}), 0) is None


def test_columns_that_cannot_be_used():
    frame = frame_of(NAMES["numbers"])
    with pytest.raises(UnknownColumnError, match="y=17: the data frame has no column of that name"):
        bf.difficulty_report(frame, 17)
    assert bf.read_table(frame_of(PLAIN), target=2).target == "y"  # a position
    frame = frame_of(PLAIN).assign(when=pd.NaT)
    with pytest.raises(ValueError, match=r"neither dates nor numbers|no values at all"):
        bf.learned_floor(frame, "y", time="when", **FEW)


@for_each("kind", [pd.DataFrame, pl.DataFrame])
@for_each("of_numbers", [True, False])
def test_labels_go_with_the_rows_that_have_a_time(kind, of_numbers):
    """Labels beside the frame: those of rows without a time are left out with them."""
    frame = frame_of(PLAIN)[["size", "w" if of_numbers else "color", "when"]]
    gaps = np.arange(N) % 7 == 3
    times = frame["when"].where(~gaps)
    y, groups = np.array(["u", "v"])[np.arange(N) % 2], np.arange(N) // 3
    y[gaps] = "w"  # a class of which no row is left
    given = kind({name: frame[name].tolist() for name in frame} | {"when": [t if t == t else None for t in times]})
    kept = frame[~gaps].reset_index(drop=True)
    by = np.array(["a", "b"])[groups % 2]
    found = table_of(given, y, time="when", groups=groups, by=by)
    assert_same(found, table_of(kept, y[~gaps], time="when", groups=groups[~gaps], by=by[~gaps]))
    assert found.classes.tolist() == ["u", "v"]
    if kind is pd.DataFrame and of_numbers:
        guess = np.where(np.arange(N) % 5, y, "u")
        guess[gaps] = "v"
        found = bf.floor_gap(None, given, y, time="when", predictions=guess, **FEW)
        expected = bf.floor_gap(None, kept, y[~gaps], time="when", predictions=guess[~gaps], **FEW)
        assert (found.value, found.reached) == (expected.value, expected.reached)


def test_numbers_and_weights_go_with_the_rows_that_have_a_time():
    frame = frame_of(PLAIN)[["color", "w", "when"]]
    gaps = np.arange(N) % 7 == 3
    given = frame.assign(when=frame["when"].where(~gaps))
    rng = np.random.default_rng(1)
    y, weight = frame["w"].to_numpy() + rng.normal(size=N), 1.0 + rng.random(N)
    found = check_problem(given, y, task="regression", time="when", sample_weight=weight)
    expected = check_problem(frame[~gaps], y[~gaps], task="regression", time="when", sample_weight=weight[~gaps])
    assert_same(found, expected)
    # rows without a target too
    target = frame.assign(y=np.where(gaps, np.nan, y)).drop(columns="when")
    found = check_problem(target, "y", task="regression", sample_weight=weight)
    expected = check_problem(target[~gaps], "y", task="regression", sample_weight=weight[~gaps])
    assert_same(found, expected)
    np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)


def object_columns():
    """Give columns of objects as drivers of databases and stores of embeddings have them, with what they hold."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=2 * i) for i in range(N)]
    numbers = np.random.default_rng(0).normal(size=(N, 3)).round(3)
    seconds = [86_400.0 * (day - datetime.date(1970, 1, 1)).days for day in days]
    noon = [datetime.datetime(day.year, day.month, day.day, 12, tzinfo=datetime.UTC) for day in days]
    return {
        "decimals": ([Decimal(str(value)) for value in numbers[:, 0]], numbers[:, :1]),
        "days": (days, np.c_[seconds]),
        "moments": ([pd.Timestamp(day) for day in days], np.c_[seconds]),
        "moments with a zone": (noon, np.c_[seconds] + 43_200.0),
        "periods": (list(pd.PeriodIndex(days, freq="D")), np.c_[seconds]),
        "lists": ([list(row) for row in numbers], numbers),
        "tuples": ([tuple(row) for row in numbers], numbers),
        "arrays": (list(numbers), numbers),
    }


@for_each("kind", object_columns())
def test_objects_are_read_as_what_they_hold(kind):
    values, expected = object_columns()[kind]
    values[4] = None
    expected = expected.copy()
    expected[4] = np.nan
    column = pd.Series(values, dtype="period[D]" if kind == "periods" else object)
    frame = pd.DataFrame({"a": np.arange(N), "e": column, "e[1]": 0.0})
    found = raw_of_frame(frame).columns
    np.testing.assert_allclose(np.c_[tuple(each.values for each in found[1:-1])], expected)
    assert len({each.name for each in found}) == len(found)


@for_each("type_name", ["List(Float64)", "Array(Float64, 3)"])
def test_lists_of_numbers_of_polars_are_columns(type_name):
    numbers = np.random.default_rng(0).normal(size=(N, 3))
    column = pl.Series("e", numbers.tolist(), dtype=pl.List(pl.Float64))
    frame = pl.DataFrame([column if "List" in type_name else column.cast(pl.Array(pl.Float64, 3))])
    np.testing.assert_array_equal(np.c_[tuple(each.values for each in raw_of_frame(frame).columns)], numbers)
    arrow = raw_of_frame(frame.to_arrow()).columns
    np.testing.assert_array_equal(np.c_[tuple(each.values for each in arrow)], numbers)


@for_each("value", [{"a": 1}, [1.0, "x"], [], np.zeros((2, 2)), [[1.0], [2.0, 3.0]], np.array(["x"]), {1, 2}])
def test_other_objects_are_named_and_left_out(value):
    frame = pd.DataFrame({"a": np.arange(N) % 5, "e": pd.Series([value] * N, dtype=object)})
    column = raw_of_frame(frame).columns[1]
    assert isinstance(column, OtherColumn)
    assert type(value).__name__ in column.type_name
    table = bf.read_table(frame.assign(y=np.arange(N) % 2), target="y")
    assert table.column_names == ("a",)
    assert any("'e'" in note for note in (*table.notes, *table.cautions))
    several_lengths = pd.DataFrame({"e": [[1.0] * (1 + row % 2) for row in range(N)]})
    assert isinstance(raw_of_frame(several_lengths).columns[0], OtherColumn)


ESTIMATORS = {
    "stack": lambda: bf.StackedClassifier(**FEW, effort="fast"),
    "landmarks": lambda: bf.LandmarkClassifier(effort="fast"),
    "hierarchy": lambda: bf.HierarchicalClassifier(LogisticRegression()),
    "estimator": bf.BayesErrorEstimator,
    "selector": bf.FloorSelector,
}


@for_each("which, names", all_pairs(ESTIMATORS, [("a", "a", "b"), (0, "a", ("b", 1)), (2, 0, 1)])[::2])
def test_estimators_know_columns_by_the_same_names(which, names):
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    X = rng.normal(size=(N, 3)) + 2.0 * y[:, np.newaxis] * [1.0, 0.0, 0.0]
    frame = pd.DataFrame(X).set_axis(pd.Index(names, tupleize_cols=False), axis=1)
    model = ESTIMATORS[which]().fit(frame, y)
    assert list(model.feature_names_in_) == column_texts(frame)
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(frame), ESTIMATORS[which]().fit(X, y).predict(X))
        if "a" not in names:
            with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
                model.predict(frame[[0, 1, 2]])


@for_each("with_text", [False, True])
def test_groups_and_weights_that_are_columns_are_no_features(with_text):
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    frame = pd.DataFrame(rng.normal(size=(N, 3)) + y[:, np.newaxis], columns=list("abc"))
    frame = frame.assign(y=y, who=np.arange(N) // 3, weight=1.0 + y)
    if with_text:
        frame["who"] = "p" + frame["who"].astype(str)
    for model in (
        bf.StackedClassifier(**FEW, effort="fast").fit(frame, "y", groups="who", sample_weight="weight"),
        bf.learned_floor(frame, "y", groups="who", sample_weight="weight", return_model=True, **FEW)[1],
    ):
        assert model.n_features_in_ == 3
        assert list(model.feature_names_in_) == list("abc")
        assert len(model.predict(frame[list("abc")])) == N


def test_sparse_rows_to_predict_are_made_dense_where_there_is_room(set_limits):
    X = np.random.default_rng(0).normal(size=(N, 3))
    model = bf.StackedClassifier(**FEW, effort="fast").fit(X, np.arange(N) % 2)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(X)), model.predict(X))
    set_limits(memory=100)
    with pytest.raises(MemoryError, match=r"Sparse X of shape \(84, 3\) as a dense array would take"):
        model.predict(sparse.csr_array(X))
