"""Numbers, truth values and dates as people write them."""

import numpy as np
import pandas as pd
import pytest

from bayesfloor.tables.spellings import (
    DATE_FORMATS,
    decimal_sign,
    folded_text,
    is_gap,
    read_dates,
    read_numbers,
    truth_of,
)
from helpers.one_case import for_each


@for_each(
    "texts, numbers",
    [
        (["1,234", "5,678,901"], [1234, 5678901]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,50", "2"], [1234.5, 2]),
        (["1,234.50", "2"], [1234.5, 2]),
        (["1.234,50", "2.000", "12.345"], [1234.5, 2000, 12345]),  # one decimal sign for all of a column
        (["1,234.50", "2,000", "12,345"], [1234.5, 2000, 12345]),
        (["1.234.567", "2.000"], [1234567, 2000]),
        (["0,126", "0,345"], [0.126, 0.345]),  # no group of thousands begins with 0
        (["0.126", "1.345"], [0.126, 1.345]),
        (["1 234,567", "2,000"], [1234.567, 2]),
        (["$1,200.50", "$3", "-$4"], [1200.5, 3, -4]),
        (["12 €", "3,5 €"], [12, 3.5]),
        (["USD 12", "7 CHF"], [12, 7]),
        (["45%", "7.5 %"], [0.45, 0.075]),
        (["(1,200)", "3"], [-1200, 3]),
        (["1 234", "12", "1\u202f234\u202f567"], [1234, 12, 1234567]),
        (["1'234.5", "3"], [1234.5, 3]),
        (["1e5", "-2.5E-3", "+4"], [1e5, -2.5e-3, 4]),
        (["−5", "5"], [-5, 5]),
        (["1.234", "2.345"], [1.234, 2.345]),  # points between thousands would need "1.234.567" or a comma somewhere
    ],
)
def test_numbers(texts, numbers):
    found, strays = read_numbers(texts)
    assert found.tolist() == pytest.approx(numbers)
    assert strays == []


@for_each("text", ["inf", "1.2.3", "10-20", "12,34,5", "(5", "1_000", "abc", "5 kg", "%", "$", "1/2", "0x10"])
def test_what_is_no_number_is_named(text):
    numbers, strays = read_numbers([text, "7"])
    assert np.isnan(numbers[0])
    assert strays == [text]


@for_each("text", ["", "-", "--", ".", "n/a", "NaN", "None", "unknown", "#N/A", " missing "])
def test_gaps_among_numbers_are_no_strays(text):
    numbers, strays = read_numbers([text, "7"])
    assert np.isnan(numbers[0])
    assert strays == []
    assert is_gap(text)


@for_each(
    "texts, sign",
    [
        (["1.234", "2.000", "7"], None),
        (["1,234"], None),
        (["1.5", "2.000"], "."),
        (["1.5", "2,25", "3,75"], ","),
        (["a", "-", ""], None),
    ],
)
def test_the_decimal_sign_of_a_column(texts, sign):
    assert decimal_sign(texts) == sign


def test_the_sign_of_a_column_holds_for_its_cells():
    numbers, strays = read_numbers(["1.234,50", "2,5", "3.75"])
    assert (numbers[:2].tolist(), strays) == ([1234.5, 2.5], ["3.75"])
    assert read_numbers(["2.000"], ",")[0].tolist() == [2000]
    assert read_numbers(["2.000"], ".")[0].tolist() == [2]


@for_each(
    "texts, expected",
    [
        (["yes", "no"], ("no", "yes")),
        (["No", "YES"], ("No", "YES")),
        (["F", "T"], ("F", "T")),
        (["false", "true"], ("false", "true")),
        (["0", "1"], ("0", "1")),
        (["nein", "ja"], ("nein", "ja")),
        (["yes", "maybe"], None),
        (["yes", "no", "perhaps"], None),
        (["yes", "YES"], None),
    ],
)
def test_truth_values(texts, expected):
    assert truth_of(texts) == expected


MOMENTS = pd.to_datetime(["1999-12-31 23:59:07", "2020-02-29 00:00:00", "2024-07-04 13:05:59", "2011-11-25 08:30:00"])


@for_each("date_format", [each for each in DATE_FORMATS if "%#z" not in each])
def test_every_format_is_read_as_pandas_reads_it(date_format):
    plain = date_format.replace("%.f", "")
    texts = [moment.strftime(plain) for moment in MOMENTS]
    expected = pd.to_datetime(texts, format=plain)
    seconds, found = read_dates(texts)
    assert found is not None
    assert (pd.to_datetime(seconds, unit="s") == expected).all(), found


def test_dates_with_zones_and_in_either_order():
    texts = ["2012-01-01 00:16:41-05:00", "2012-07-01 00:16:41.250+02:00"]
    expected = [pd.Timestamp(text).timestamp() for text in texts]
    assert read_dates(texts)[0].tolist() == expected
    assert read_dates(["2020-01-02T10:00:00Z"])[0].tolist() == [pd.Timestamp("2020-01-02T10:00:00Z").timestamp()]
    assert read_dates(["1/2/2020", "13/2/2020"])[1] == "%d/%m/%Y"
    assert read_dates(["1/2/2020", "1/13/2020"])[1] == "%m/%d/%Y"
    assert read_dates(["5/1/20", "5/31/20"])[1] == "%m/%d/%y"


def test_times_of_day_and_gaps():
    seconds, found = read_dates(["14:35", "02:10"])
    assert (seconds.tolist(), found) == ([14 * 3600 + 35 * 60, 2 * 3600 + 600], "%H:%M")
    seconds, found = read_dates(["2020-01-01", "", "unknown"])
    assert found == "%Y-%m-%d"
    assert np.isnan(seconds).tolist() == [False, True, True]


@for_each(
    "texts",
    [["12.5", "3.4"], ["hello 3"], ["1-3", "4-5"], ["A-10 20"], ["2020-13-45"], ["192.168.0.1"], ["Jan 20", "Feb 21"]],
)
def test_what_is_no_date(texts):
    assert read_dates(texts)[1] is None


def test_folded_text():
    assert folded_text("New  York ") == folded_text("new york")
    assert folded_text("a") != folded_text("A")
