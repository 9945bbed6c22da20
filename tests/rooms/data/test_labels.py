"""y as callers hand it in, labels or numbers: what is accepted, what is refused, and in which words."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayesfloor.data.labels import check_labels
from bayesfloor.data.numbers import check_numbers, kind_of_numbers
from helpers.refusals import not_refused


def refused(y, message, **options):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_labels(y, len(y) if hasattr(y, "__len__") else 1, **options)


def of_labels(y):
    return check_labels(y, len(y))


DAY = datetime.date(2020, 1, 1)
ACCEPTED = {
    "list of int": ([3, 1, 3], [1, 3]),
    "tuple of text": (("b", "a", "b"), ["a", "b"]),
    "bool": ([True, False, True], [False, True]),
    "uint8": (np.array([200, 3, 200], np.uint8), [3, 200]),
    "byte-swapped": (np.array([3, 1, 3], ">i4"), [1, 3]),
    "whole floats": (np.array([3.0, -1.0, 3.0]), [-1.0, 3.0]),
    "int and whole float": ([3, 1.0, 3], [1, 3]),
    "text": (np.array(["b", "a", "b"]), ["a", "b"]),
    "text objects": (np.array(["b", "a", "b"], object), ["a", "b"]),
    "bytes": (np.array([b"b", b"a", b"b"]), [b"a", b"b"]),
    "text that looks missing": (["null", "NA", "null"], ["NA", "null"]),
    "empty text": (["x", "", "x"], ["", "x"]),
    "huge integers": (np.array([2**70, -1, 2**70], object), [-1, 2**70]),
    "integers that floats would merge": ([2**53 + 1, 2**53, 2**53 + 1], [2**53, 2**53 + 1]),
    "dates": ([DAY, datetime.date(1999, 1, 1), DAY], [datetime.date(1999, 1, 1), DAY]),
    "datetime64": (np.array(["2020", "1999", "2020"], "M8[ns]"), np.array(["1999", "2020"], "M8[ns]")),
    "pandas": (pd.Series([3, 1, 3], index=[7, 7, 9]), [1, 3]),
    "pandas text": (pd.Series(["b", "a", "b"]), ["a", "b"]),
    "pandas nullable": (pd.Series([3, 1, 3], dtype="Int64"), [1, 3]),
    "pandas categories": (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
    "pandas Categorical": (pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]), ["a", "b"]),
    "pandas Index": (pd.Index([3, 1, 3]), [1, 3]),
    "polars": (pl.Series([3, 1, 3]), [1, 3]),
    "polars text": (pl.Series(["b", "a", "b"]), ["a", "b"]),
    "polars categories": (pl.Series(["b", "a", "b"], dtype=pl.Categorical), ["a", "b"]),
    "pyarrow": (pa.chunked_array([["b", "a"], ["b"]]), ["a", "b"]),
    "masked, nothing hidden": (np.ma.array([3, 1, 3]), [1, 3]),
}


@pytest.mark.parametrize(("y", "expected"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted_in_every_dress(y, expected):
    classes, codes = check_labels(y, 3)
    assert classes.tolist() == np.asarray(expected).tolist() or classes.tolist() == list(expected)
    assert codes.dtype == np.int64
    assert codes.tolist() == [1, 0, 1]


@given(st.lists(st.integers(-5, 5), min_size=1) | st.lists(st.text("aAä\0 1", max_size=2), min_size=1))
@example(["a\0", "a"])
def test_classes_are_sorted_and_codes_give_y_back(y):
    classes, codes = check_labels(y, len(y), min_classes=1)
    assert classes.tolist() == sorted(set(y))
    assert classes[codes].tolist() == y


def test_types_are_kept():
    assert check_labels(np.array([2, 1], np.int16), 2)[0].dtype == np.int16
    assert check_labels(np.array(["a", "bcd"]), 2)[0].dtype == np.dtype("U3")
    assert check_labels(np.array([True, False]), 2)[0].dtype == bool


def test_read_only_labels_are_left_alone():
    y = np.array([1, 0, 1])
    y.flags.writeable = False
    assert check_labels(y, 3)[1].tolist() == [1, 0, 1]


def test_one_class():
    refused(["a", "a"], "needs two classes, got 1: 'a'")
    refused(np.array([7, 7, 7]), "needs two classes, got 1: 7")
    refused(["a", "b"], "needs 3 classes, got 2: 'a', 'b'", min_classes=3)
    refused([], "needs two classes, got 0: y is empty")
    assert check_labels(["a", "a"], 2, min_classes=1)[1].tolist() == [0, 0]


def test_missing_labels_are_counted():
    rest = [None] * 12
    ys = [
        [0.0, 1.0] + [np.nan] * 12,
        ["a", "b", *rest],
        ["a", "b"] + [np.nan] * 12,
        ["a", "b"] + [pd.NA] * 12,
        [0, 1, *rest],
        np.array(["a", "b", *rest], object),
        np.array(["2020", "2021"] + ["NaT"] * 12, "M8[D]"),
        np.ma.array(list(range(14)), mask=[0, 0] + [1] * 12),
        pd.Series(["a", "b", *rest]),
        pd.Series(["a", "b", *rest], dtype="category"),
        pd.Series([0, 1, *rest], dtype="Int64"),
        pd.Series([True, False, *rest], dtype="boolean"),
        pd.Series([pd.Timestamp(2020, 1, 1)] * 2 + [pd.NaT] * 12),
        pl.Series(["a", "b", *rest]),
        pl.Series([0, 1, *rest]),
        pa.chunked_array([["a", "b", *rest]]),
    ]
    table = [(y, "12 missing labels") for y in ys] + [(["a", "b", None], "y has 1 missing label$")]
    assert not_refused(of_labels, table) == []


def test_mixed_types_are_named():
    table = [
        ([1, "a"], "int and str"),
        (["a", 1.0], "float and str"),
        (np.array([1, "a"], object), "int and str"),
        (pd.Series([1, "a"]), "int and str"),
        ([True, 1], "bool and int"),
        ([np.True_, 2.0], "bool and float"),
        (["a", b"a"], "bytes and str"),
        ([DAY, "a"], "date and str"),
    ]
    assert not_refused(of_labels, [(y, f"Labels of mixed types in y: {types}") for y, types in table]) == []


def test_continuous_labels_look_like_regression():
    words = "Unknown label type: continuous(.|\n)*this looks like regression, and classes are needed here; "
    ys = [[1.5, 2.0], np.float32([0.25, 1]), np.array([1.5, 1], object), [1, 2.5]]
    assert not_refused(of_labels, [(y, words + "regression_floor takes numbers") for y in ys]) == []


def test_infinite_labels():
    refused([1.0, np.inf], "Input y contains infinity")


def test_labels_that_are_no_labels():
    refused(np.array([1j, 2]), "Unknown label type: complex128")
    refused(np.array([{"a"}, ["b"]], object), "Labels of mixed types in y: list and set")
    refused(np.array([{"a": 1}, {"b": 1}], object), "Labels of type dict cannot be sorted")
    refused(np.array([int, str], object), "Labels of type type cannot be sorted")


def test_shape():
    words = r"y should be a 1d array, got an array of shape \(2, "
    ys = [[[1, 2], [2, 1]], np.zeros((2, 1)), pd.DataFrame({"y": [1, 2]}), pl.DataFrame([[1, 2]])]
    assert not_refused(of_labels, [(y, words) for y in ys]) == []


def test_scalar_and_none():
    refused(5, "y should be a 1d array, got an array of shape ()")
    refused("text", "y should be a 1d array, got an array of shape ()")
    refused(None, "requires y to be passed, but the target y is None")


def test_lengths_in_scikit_learns_words():
    from sklearn.utils import check_consistent_length

    with pytest.raises(ValueError) as theirs:  # noqa: PT011
        check_consistent_length([0] * 3, [0] * 2)
    with pytest.raises(ValueError, match=re.escape(str(theirs.value))):
        check_labels([0, 1], 3)


# ---------------------------------------------------------------------------------------------------------- numbers


def test_numbers_become_float64():
    for y in ([1, 2.5, 3], np.array([1, 2, 3], np.int8), pd.Series([1.0, 2.0, 4.0]), np.array([True, False, True])):
        numbers = check_numbers(y, 3)
        assert numbers.dtype == np.float64
        assert numbers.tolist() == [float(value) for value in list(y)]


def test_what_is_no_target_is_refused():
    table = [
        (None, "requires y to be passed"),
        ([1.0, np.nan, 2.0], "y has 1 missing value"),
        ([1.0, None, 2.0], "y has 1 missing value"),
        ([1.0, np.inf, 2.0], "infinity"),
        ([1.0, 1.0, 1.0], "is 1 everywhere"),
        ([1.0, 2.0], r"inconsistent numbers of samples: \[3, 2\]"),
        ([[1.0], [2.0], [3.0]], r"1d array, got an array of shape \(3, 1\)"),
        (["a", "b", "c"], "must hold numbers"),
        ([1.0, "b", 2.0], "Got 'b' of type str"),
        (np.array(["2020-01-01"] * 3, "M8[D]"), "must hold numbers"),
        ([1e200, 0.0, 1.0], "divide it by a constant"),
        ([1e-200, 0.0, 0.0], "multiply it by a constant"),
        ([1 + 2j, 1j, 0], "must hold numbers"),
    ]
    assert not_refused(lambda y: check_numbers(y, 3), table) == []


def test_the_callers_array_stays_as_it_is():
    y = np.array([1.0, 2.0, 3.0])
    numbers = check_numbers(y, 3)
    numbers[0] = 9.0
    assert y[0] == 1.0


def test_kinds():
    rng = np.random.default_rng(0)
    assert kind_of_numbers(rng.standard_normal(300)) == "number"
    assert kind_of_numbers(rng.integers(1, 8, 300).astype(float)) == "ordered"
    assert kind_of_numbers(rng.negative_binomial(1, 0.05, 300).astype(float)) == "count"
    assert kind_of_numbers(rng.integers(25, 300, 900).astype(float)) == "number"
    assert kind_of_numbers(rng.uniform(size=300)) == "share"
    assert kind_of_numbers(np.maximum(rng.standard_normal(300), 0.0)) == "bounded"
    assert kind_of_numbers(1000.0 * rng.integers(50, 900, 300)) == "number"  # rounded prices
