"""Targets that are numbers."""

import numpy as np
import pandas as pd
import pytest

from bayesfloor.data.numbers import check_numbers, kind_of_numbers


@pytest.mark.parametrize(
    "y", [[1, 2.5, 3], np.array([1, 2, 3], np.int8), pd.Series([1.0, 2.0, 4.0]), np.array([True, False, True])]
)
def test_numbers_become_float64(y):
    numbers = check_numbers(y, 3)
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [float(value) for value in list(y)]


@pytest.mark.parametrize(
    ("y", "message"),
    [
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
    ],
)
def test_what_is_no_target_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_numbers(y, 3)


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
