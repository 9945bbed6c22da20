"""Groups and subgroups of rows and the time of each: codes and numbers, or an error that says what is wrong."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_array_equal

from bayesfloor.data.row_groups import MISSING, check_groups, check_subgroups, check_time
from helpers.one_case import for_each
from helpers.refusals import not_refused


def test_rows_of_a_group_have_one_code():
    text = ["b", "a", "b", "c"]
    for groups in ([7, 3, 7, 5], text, pd.Series(text), np.array([2.5, -1.0, 2.5, 9.0])):
        codes = check_groups(groups, 4)
        assert codes[0] == codes[2]
        assert sorted(np.unique(codes)) == [0, 1, 2]


def test_moments_grow_with_time():
    for time in (
        [3, 1, 2],
        np.array([0.3, -1e9, 0.2]),
        np.array(["2024-03-01", "2023-01-01", "2023-02-01"], "datetime64[D]"),
        [datetime.datetime(2024, 3, 1), datetime.datetime(2023, 1, 1), datetime.datetime(2023, 2, 1)],
        pd.to_timedelta([3, 1, 2], unit="h"),
    ):
        assert_array_equal(np.argsort(check_time(time, 3)), [1, 2, 0])


def test_none_is_given():
    assert check_groups(None, 3) is None
    assert check_time(None, 3) is None
    assert check_subgroups(None, 3) is None


def test_times_and_groups_that_cannot_be_used():
    times = [
        ([1.0, 2.0], r"time has shape \(2,\); one value for each of the 3 rows is needed"),
        ([1.0, np.nan, 2.0], "time has 1 missing value$"),
        ([1.0, np.inf, 2.0], "time contains infinity"),
        ([5.0, 5.0, 5.0], "time holds one value only"),
        (["soon", "later", "now"], "time must hold numbers or dates"),
    ]
    groups = [
        (["a", "b"], r"groups has shape \(2,\); one value for each of the 3 rows is needed"),
        ([["a"], ["b"], ["c"]], r"groups has shape \(3, 1\)"),
        (["a", None, None], "groups has 2 missing values"),
        (["a", "a", "a"], "groups holds one value only, 'a'; at least two groups are needed"),
        (["a", 1, ("b",)], "groups holds values that cannot be sorted"),
    ]
    assert not_refused(lambda time: check_time(time, 3), times) == []
    assert not_refused(lambda each: check_groups(each, 3), groups) == []


def counts_of(found):
    return dict(zip(found.names, np.bincount(found.codes, minlength=len(found.names)).tolist(), strict=True))


def test_values_are_groups_in_their_order():
    found = check_subgroups(["b", "a", "b", "10", "9"], 5)
    assert found.names == ("10", "9", "a", "b")
    assert found.codes.tolist() == [3, 2, 3, 0, 1]
    assert check_subgroups(["10", "9", "9"], 3).names == ("9", "10")  # numbers that are written as text
    assert check_subgroups([True, False, True], 3).names == ("False", "True")
    assert check_subgroups([3, 1, 3], 3).names == ("1", "3")
    assert found.column == "subgroup"
    assert found.note == ""


def test_a_series_has_a_name():
    for series in (pd.Series(["x", "y"], name="town"), pl.Series("town", ["x", "y"])):
        assert check_subgroups(series, 2).column == "town"


def test_rows_without_a_value_are_the_last_group():
    for values in (
        [1.0, np.nan, 2.0],
        [1, None, 2],
        ["1", None, "2"],
        np.ma.array([1, 0, 2], mask=[0, 1, 0]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Categorical(["1", None, "2"]),
        pl.Series([1, None, 2]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], "datetime64[D]"),
    ):
        found = check_subgroups(values, 3)
        assert len(found.names) == 3, values
        assert found.names[2] == MISSING
        assert found.codes.tolist() == [0, 2, 1]


def test_a_value_that_is_called_missing_is_another_group():
    found = check_subgroups([MISSING, None, MISSING], 3)
    assert len(set(found.names)) == 2
    assert found.codes.tolist() == [0, 1, 0]


def test_many_numbers_are_cut_at_quartiles():
    values = np.random.default_rng(0).permutation(np.arange(1.0, 101.0))
    found = check_subgroups(values, 100)
    assert found.names == ("up to 25", "above 25, up to 50", "above 50, up to 75", "above 75")
    np.testing.assert_array_equal(found.codes, np.ceil(values / 25).astype(int) - 1)
    assert "100 different values" in found.note


@for_each("heavy", [0.0, 11.0])
def test_a_number_that_most_rows_have_is_on_one_side_of_the_cut(heavy):
    values = np.concatenate([np.full(90, heavy), np.arange(12.0)])
    found = check_subgroups(values, 102)
    assert len(found.names) == 2
    assert len(np.unique(found.codes[values == heavy])) == 1
    assert counts_of(found) == ({"up to 0": 91, "above 0": 11} if heavy == 0.0 else {"up to 10": 11, "above 10": 91})


def test_infinite_numbers_and_dates_are_cut():
    found = check_subgroups([-np.inf, np.inf, *range(18)], 20)
    assert counts_of(found)["up to 3"] == 5
    days = np.arange("2020-01-01", "2020-01-21", dtype="datetime64[D]")
    assert check_subgroups(days, 20).names[0] == "up to 2020-01-05"


def test_of_many_groups_the_largest_stay():
    values = [f"g{code:03d}" for code in range(500) for _ in range(1 + (code >= 480))]
    found = check_subgroups(values, len(values))
    assert found.names[:20] == tuple(f"g{code}" for code in range(480, 500))
    assert found.names[20] == "the other 480"
    assert np.bincount(found.codes).tolist() == [2] * 20 + [480]
    assert "500 groups" in found.note


def test_mixed_and_unhashable_values_are_told_apart_by_how_they_are_written():
    assert counts_of(check_subgroups([1, "a", None, "a", 2.5], 5)) == {"1": 1, "2.5": 1, "a": 2, MISSING: 1}
    assert counts_of(check_subgroups([[1], [1, 2], [1], {"a": 1}], 4)) == {"[1, 2]": 1, "[1]": 2, "{'a': 1}": 1}
    cells = np.empty(2, object)
    cells[:] = [[1], {2}]
    assert counts_of(check_subgroups(cells, 2)) == {"[1]": 1, "{2}": 1}


def test_a_wrong_shape_is_refused():
    table = [
        (values, "by has shape .*one value for each of the 3 rows")
        for values in (["a"], ["a"] * 4, np.zeros((3, 2)), [], "abc", 3)
    ]
    assert not_refused(lambda values: check_subgroups(values, 3), table) == []
