"""Columns of a data frame whose names are no text, or are shared, and rows that a column leaves out."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import bayesfloor as bf
from bayesfloor.runtime.frames import column_named, column_texts
from bayesfloor.tables.arguments import check_problem, subgroups_of, table_of
from bayesfloor.tables.columns import UnknownColumnError

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


@pytest.mark.parametrize("kind", NAMES)
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
    report = bf.difficulty_report(frame, y, fast=True)
    assert report.summary["data"]["n_columns"] == 5
    X = bf.TablePreparer(drop=[names[4]]).fit(frame, plain["y"]).transform(frame)
    np.testing.assert_array_equal(X, bf.TablePreparer(drop="when").fit(plain, plain["y"]).transform(plain))


@pytest.mark.parametrize("kind", ["numbers", "tuples", "shared"])
def test_a_model_gets_the_columns_that_are_features(kind):
    names = NAMES[kind]
    frame = frame_of(names).iloc[:, [0, 2, 5]]
    found = bf.floor_gap(LogisticRegression(), frame, names[2], **FEW)
    expected = bf.floor_gap(LogisticRegression(), frame_of(PLAIN)[["size", "y", "w"]], "y", **FEW)
    assert (found.error, found.reached) == (expected.error, expected.reached)
    copies = frame_of(["x", "x", "y", "y", "x", "x"]).iloc[:, [0, 5]]
    y = np.arange(N) % 2
    found = bf.bayes_error(copies, y)
    assert found.cross_edges.mean == bf.bayes_error(copies.to_numpy(), y).cross_edges.mean


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


def test_a_number_that_names_no_column():
    frame = frame_of(NAMES["numbers"])
    with pytest.raises(UnknownColumnError, match="y=17: the data frame has no column of that name"):
        bf.difficulty_report(frame, 17)
    assert bf.read_table(frame_of(PLAIN), target=2).target == "y"  # a position


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("of_numbers", [True, False])
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
        assert (found.error, found.reached) == (expected.error, expected.reached)
    assert bf.difficulty_report(given, y, time="when", fast=True).summary["data"]["n_rows"] == (~gaps).sum()


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


def test_a_column_of_times_without_a_value():
    frame = frame_of(PLAIN).assign(when=pd.NaT)
    with pytest.raises(ValueError, match=r"neither dates nor numbers|no values at all"):
        bf.learned_floor(frame, "y", time="when", **FEW)
