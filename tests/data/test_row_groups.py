"""Groups of rows and the time of each: codes and numbers, or an error that says what is wrong."""

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bayesfloor.data.row_groups import check_groups, check_time


@pytest.mark.parametrize(
    "groups", [[7, 3, 7, 5], ["b", "a", "b", "c"], pd.Series(["b", "a", "b", "c"]), np.array([2.5, -1.0, 2.5, 9.0])]
)
def test_rows_of_a_group_have_one_code(groups):
    codes = check_groups(groups, 4)
    assert codes[0] == codes[2]
    assert sorted(np.unique(codes)) == [0, 1, 2]


@pytest.mark.parametrize(
    "time",
    [
        [3, 1, 2],
        np.array([0.3, -1e9, 0.2]),
        np.array(["2024-03-01", "2023-01-01", "2023-02-01"], "datetime64[D]"),
        [datetime.datetime(2024, 3, 1), datetime.datetime(2023, 1, 1), datetime.datetime(2023, 2, 1)],
        pd.to_timedelta([3, 1, 2], unit="h"),
    ],
)
def test_moments_grow_with_time(time):
    assert_array_equal(np.argsort(check_time(time, 3)), [1, 2, 0])


def test_none_is_given():
    assert check_groups(None, 3) is None
    assert check_time(None, 3) is None


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1.0, 2.0], r"time has shape \(2,\); one value for each of the 3 rows is needed"),
        ([1.0, np.nan, 2.0], "time has 1 missing value$"),
        ([1.0, np.inf, 2.0], "time contains infinity"),
        ([5.0, 5.0, 5.0], "time holds one value only"),
        (["soon", "later", "now"], "time must hold numbers or dates"),
    ],
)
def test_times_that_cannot_be_used(time, message):
    with pytest.raises(ValueError, match=message):
        check_time(time, 3)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"groups has shape \(2,\); one value for each of the 3 rows is needed"),
        ([["a"], ["b"], ["c"]], r"groups has shape \(3, 1\)"),
        (["a", None, None], "groups has 2 missing values"),
        (["a", "a", "a"], "groups holds one value only, 'a'; at least two groups are needed"),
        (["a", 1, ("b",)], "groups holds values that cannot be sorted"),
    ],
)
def test_groups_that_cannot_be_used(groups, message):
    with pytest.raises(ValueError, match=message):
        check_groups(groups, 3)
