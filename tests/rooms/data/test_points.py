"""X as callers hand it in: what is accepted, what is refused, and in which words."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, floating_dtypes, integer_dtypes

from bayesfloor.data import points as points_module
from bayesfloor.data.points import check_points, check_sparse_points
from helpers.refusals import not_refused

VALUES = [[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]]


def refused(X, message, error=ValueError, **options):
    with pytest.raises(error, match=re.escape(message)):
        check_points(X, **options)


ACCEPTED = {
    "list": VALUES,
    "tuple": tuple(map(tuple, VALUES)),
    "float64": np.array(VALUES),
    "float32": np.array(VALUES, np.float32),
    "float16": np.array(VALUES, np.float16),
    "longdouble": np.array(VALUES, np.longdouble),
    "int8": np.array(VALUES, np.int8),
    "uint64": np.array(VALUES, np.uint64),
    "fortran": np.asfortranarray(VALUES),
    "byte-swapped": np.array(VALUES, ">f8"),
    "byte-swapped integers": np.array(VALUES, ">i4"),
    "strided": np.repeat(np.repeat(VALUES, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": np.array(VALUES)[::-1, ::-1][::-1, ::-1],
    "unaligned": np.frombuffer(b"x" + np.array(VALUES).tobytes(), np.uint8)[1:].view("f8").reshape(2, 3),
    "np.matrix": np.asmatrix(VALUES),
    "masked, nothing hidden": np.ma.array(VALUES),
    "objects": np.array([[1, Decimal(2), False], [Fraction(3), np.float32(4), np.True_]], object),
    "csr": scipy.sparse.csr_matrix(VALUES),
    "coo array of integers": scipy.sparse.coo_array(np.array(VALUES, int)),
    "pandas": pd.DataFrame(VALUES),
    "pandas, mixed types": pd.DataFrame({"a": [1, 3], "b": np.float32([2, 4]), "c": [False, True]}),
    "pandas, nullable": pd.DataFrame(VALUES).astype({0: "Int64", 1: "Float32", 2: "boolean"}),
    "pandas, objects": pd.DataFrame(VALUES, dtype=object),
    "pandas, sparse": pd.DataFrame(VALUES).astype(pd.SparseDtype("float64")),
    "polars": pl.DataFrame({"a": [1, 3], "b": [2.0, 4.0], "c": [False, True]}),
    "polars, decimals": pl.DataFrame(VALUES, orient="row").cast(pl.Decimal(10, 2)),
    "pyarrow": pa.table({"a": [1, 3], "b": [2.0, 4.0], "c": [0, 1]}),
}


@pytest.mark.parametrize("X", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted_in_every_dress(X):
    points = check_points(X)
    assert type(points) is np.ndarray
    assert points.dtype == np.float64
    assert points.dtype.isnative
    assert points.flags.c_contiguous
    assert points.flags.aligned
    assert not points.flags.writeable
    np.testing.assert_array_equal(points, VALUES)


def test_a_good_array_is_not_copied_and_stays_writable():
    X = np.array(VALUES)
    points = check_points(X)
    assert np.shares_memory(points, X)
    assert X.flags.writeable


def test_read_only_and_memory_mapped(tmp_path):
    X = np.array(VALUES)
    X.flags.writeable = False
    np.testing.assert_array_equal(check_points(X), VALUES)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(check_points(mapped), VALUES)


@given(arrays(integer_dtypes() | floating_dtypes(), array_shapes(min_dims=2, max_dims=2, min_side=2), fill=st.just(1)))
def test_values_survive_or_are_refused(X):
    if X.dtype.kind == "i" and (np.abs(X.astype(object)) > 2**53).any():
        with pytest.warns(UserWarning, match="beyond"):
            points = check_points(X)
        np.testing.assert_array_equal(points, X.astype(np.float64))
    elif np.isfinite(X).all():
        np.testing.assert_array_equal(check_points(X), X)
    else:
        with pytest.raises(ValueError, match="Input X contains"):
            check_points(X)


def test_nan_names_columns_and_counts_rows():
    X = np.zeros((50, 4))
    X[3:15, 1] = np.nan
    X[3:6, 3] = np.nan
    refused(X, "Input X contains NaN in 12 rows, columns 1, 3")
    frame = pd.DataFrame(X, columns=["a", "age", "c", "fare"])
    refused(frame, "Input X contains NaN in 12 rows, columns 'age', 'fare'")
    refused(pl.from_pandas(frame), "Input X contains NaN in 12 rows, columns 'age', 'fare'")
    refused(scipy.sparse.csr_matrix(X), "Input X contains NaN in 12 rows, columns 1, 3")
    refused([[0.0], [np.nan]], "Input X contains NaN in 1 row, column 0")


def test_every_kind_of_missing_value_is_nan():
    frames = [
        pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": [1, 2], "b": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": [1, 2], "b": [Decimal(1), None]}),
        pd.DataFrame({"a": [1, 2], "b": pd.Series([1, pd.NA], dtype=object)}),
        pl.DataFrame({"a": [1, 2], "b": [1, None]}),
        pl.DataFrame({"a": [1, 2], "b": [None, True]}),
        pa.table({"a": [1, 2], "b": [None, 2.0]}),
    ]
    table = [(frame, "Input X contains NaN in 1 row, column 'b'") for frame in frames]
    assert not_refused(check_points, table) == []


def test_masked_values_are_missing():
    refused(np.ma.array(VALUES, mask=[[0, 0, 1], [0, 0, 0]]), "NaN in 1 row, column 2")
    refused(np.ma.array([[1, 2], [3, 4]], mask=[[1, 0], [1, 0]]), "NaN in 2 rows, column 0")


def test_infinity_and_overflow():
    message = "Input X contains infinity or a value too large for dtype('float64') in 1 row, column 1"
    refused([[1.0, np.inf], [2.0, 3.0]], message)
    refused(np.array([[1, 10**400], [2, 3]], object), message)
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        refused(np.array([["1", "1e4000"], ["2", "3"]]).astype(np.longdouble), message)
    refused([[np.inf, 1.0], [-np.inf, 1.0]], "in 2 rows, column 0")


def test_large_finite_values_are_fine_although_their_sum_overflows():
    X = np.full((4, 3), 1.7e308)
    np.testing.assert_array_equal(check_points(X), X)


def test_nan_is_found_beside_infinity():
    refused([[np.inf, 1.0], [-np.inf, np.nan]], "NaN in 1 row, column 1")


def test_columns_that_are_no_numbers_are_named():
    level = pl.col("c").cast(pl.Categorical)
    table = [
        (pd.DataFrame({"n": [1, 2], "town": ["a", "b"], "when": pd.to_datetime(["2020", "2021"])}), "'town', 'when'"),
        (pl.DataFrame({"n": [1, 2], "town": ["a", "b"], "l": [[1], [2]]}), "'town', 'l'"),
        (pd.DataFrame({"n": [1, 2], "town": ["1", "2"], "x": [1, "b"]}), "'town', 'x'"),
        (pl.DataFrame({"a": [1, 2], "c": ["x", "y"], "d": ["x", "y"]}).with_columns(level), "'c', 'd'"),
        ([[1, "a", "b"], [2, "c", "d"]], "1, 2"),
        (np.array([[1, "2", None], [1, "2", object()]], object), "1, 2"),
        (np.array([["1", "2"], ["3", "4"]]), "0, 1"),
        (np.array([[1, 2], [3, 4]], "m8[s]"), "0, 1"),
        (np.array([[1, 2], [3, 4]], "M8[s]"), "0, 1"),
    ]
    words = [(X, rf"could not convert to float: columns {columns} \((.|\n)*OneHotEncoder") for X, columns in table]
    assert not_refused(check_points, words) == []


class Celsius:
    def __float__(self):
        return 2.5


def test_objects_are_numbers_where_float_takes_them():
    np.testing.assert_array_equal(
        check_points(np.array([[Celsius(), 1], [2, Fraction(1, 2)]], object)), [[2.5, 1], [2, 0.5]]
    )
    message = "float() argument must be a string or a real number, not 'dict': column 1"
    refused(np.array([[1, {}], [2, 3]], object), message, error=TypeError)
    refused(pd.DataFrame({"a": [1, 2], "b": [1, {}]}), message.replace("1", "'b'"), error=TypeError)


def test_squares_that_overflow():
    X = np.array([[1.0, 2.0, -1e150], [1e200, 3.0, 4.0]])
    message = "Input X contains values beyond 2.4e+153, whose squares overflow, in 1 row, column 0"
    np.testing.assert_array_equal(check_points(X), X)
    refused(X, message, squares=True)
    refused(pd.DataFrame(-X, columns=["a", "b", "c"]), message.replace("column 0", "column 'a'"), squares=True)
    for container in (scipy.sparse.csc_array, scipy.sparse.coo_matrix):
        with pytest.raises(ValueError, match=r"beyond .* in 1 row, column 0"):
            check_sparse_points(container(X), squares=True)
        with pytest.raises(ValueError, match=r"infinity .* in 1 row, column 1"):
            check_sparse_points(container(np.where(X == 2.0, np.inf, X)))


def test_many_columns_are_cut_short_and_control_characters_escaped():
    refused(np.full((2, 13), "x"), "columns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more")
    refused(pd.DataFrame({"\x1b[31m": ["x", "y"]}), r"column '\x1b[31m'")


def test_complex():
    refused(np.zeros((2, 2), complex), "Complex data not supported: columns 0, 1")
    refused(pd.DataFrame({"a": [1, 2], "b": [1j, 2]}), "Complex data not supported: column 'b'")
    refused(np.array([[1, 1j], [1, 2]], object), "Complex data not supported: column 1")
    refused(scipy.sparse.csr_matrix(np.eye(2) * 1j), "Complex data not supported")


def test_shapes():
    """In scikit-learn's words where it has some."""
    from sklearn.utils import check_array

    table = [
        (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required."),
        (np.zeros(3), "Expected 2D array, got 1D array instead"),
        (pd.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        (pl.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        ([], "Expected 2D array, got 1D array instead"),
        (5, "Expected 2D array, got scalar array instead"),
        (None, "Expected 2D array, got scalar array instead"),
        (np.zeros((0, 2)), "Found array with 0 sample(s) (shape=(0, 2)) while a minimum of 2 is required."),
        (pd.DataFrame({"a": []}), "Found array with 0 sample(s) (shape=(0, 1)) while a minimum of 2 is required."),
        (np.zeros((2, 0)), "Found array with 0 feature(s) (shape=(2, 0)) while a minimum of 1 is required."),
        (np.zeros((1, 2)), "Found array with 1 sample(s) (shape=(1, 2)) while a minimum of 2 is required."),
        ([[1, 2], [3]], "inhomogeneous shape"),
    ]
    for X in (np.zeros((2, 2, 2)), np.zeros(3), np.zeros((0, 2)), np.zeros((2, 0)), [[1, 2], [3]]):
        with pytest.raises(ValueError) as theirs:  # noqa: PT011
            check_array(X, ensure_min_samples=2)
        table.append((X, str(theirs.value)))
    assert not_refused(check_points, [(X, re.escape(message)) for X, message in table]) == []


def test_columns_that_share_a_name_are_numbered():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    assert check_points(frame).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    refused(frame.replace(4.0, np.nan), "'a_2'")


def test_one_row_is_enough_where_one_is_asked_for():
    assert check_points([[1.0]], min_rows=1).shape == (1, 1)


def test_lazy_frames_are_refused():
    refused(pl.LazyFrame({"a": [1, 2]}), "call its .collect() first", error=TypeError)


def test_sparse_beyond_the_limit(monkeypatch):
    refused(
        scipy.sparse.csr_matrix((100_000, 50_000)),
        "Sparse X of shape (100000, 50000) takes 37.3 GiB as a dense array; the limit is 2.0 GiB",
    )
    monkeypatch.setattr(points_module, "SPARSE_LIMIT", 31)
    refused(scipy.sparse.csr_matrix((2, 2)), "the limit is 0.0 MiB")


def test_integers_beyond_float64_come_with_a_warning():
    large = 2**53 + 1
    for X in (
        np.array([[0, large], [0, 1]]),
        np.array([[0, -large], [0, 1]]),
        np.array([[0, large], [0, 1]], np.uint64),
        np.array([[0, large], [0, 1]], object),
    ):
        with pytest.warns(UserWarning, match=r"integers beyond 2\*\*53 may be rounded in float64: column 1"):
            check_points(X)
    frame = pd.DataFrame({"a": [0, 1], "id": [large, 1]})
    with pytest.warns(UserWarning, match="column 'id'"):
        check_points(frame)
