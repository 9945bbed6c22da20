"""What a column holds, told from its name and its values."""

import numpy as np
import pytest

from bayesfloor.tables.column_builders import TextBuilder
from bayesfloor.tables.columns import DateColumn, NumberColumn, OtherColumn, RawTable, TextColumn, distinct_numbers
from bayesfloor.tables.profiles import possible_groups, profile_column
from bayesfloor.tables.readings import UnseenValues
from helpers.one_case import for_each

RNG = np.random.default_rng(0)
N = 200


def text(name, values):
    builder = TextBuilder(name)
    builder.add(list(map(str, values)))
    return builder.column()


def number(name, values):
    return NumberColumn(name, np.asarray(values, dtype=np.float64))


def found(column, wanted=None):
    n_rows = 0 if isinstance(column, OtherColumn) else len(getattr(column, "codes", getattr(column, "values", ())))
    return profile_column(column, RawTable("t.csv", [column], n_rows, np.arange(n_rows)), wanted)


COLUMNS = {
    "numbers": (number("weight", RNG.normal(size=N)), "number"),
    "small numbers": (number("cylinders", RNG.integers(3, 9, N)), "number"),
    "numbers in text": (text("price", [f"${v:,}" for v in RNG.integers(500, 99999, N)]), "number"),
    "percent": (text("share", [f"{v}%" for v in RNG.integers(0, 100, N)]), "number"),
    "numbers with a few errors": (text("age", [*RNG.integers(18, 80, N - 4), "old", "x", "y", "z"]), "number"),
    "0 and 1": (number("smoker", RNG.integers(0, 2, N)), "yes/no"),
    "yes and no": (text("smoker", RNG.choice(["yes", "no"], N)), "yes/no"),
    "yes, no and gaps": (text("smoker", RNG.choice(["Yes", "No", "NA", "?"], N)), "yes/no"),
    "words": (text("colour", RNG.choice(["red", "green", "blue"], N)), "category"),
    "codes by name": (number("zip_code", RNG.choice([10115, 20095, 80331], N)), "category"),
    "codes by name, camel case": (number("storeType", RNG.integers(1, 5, N)), "category"),
    "gender as numbers": (number("Gender", RNG.integers(1, 3, N)), "category"),
    "dates": (text("when", [f"20{v:02d}-03-17" for v in RNG.integers(10, 24, N)]), "date"),
    "compact dates": (number("date", [20200101 + v for v in RNG.integers(0, 28, N)]), "date"),
    "seconds since 1970": (number("timestamp", RNG.integers(1_500_000_000, 1_600_000_000, N)), "date"),
    "years": (number("year", np.arange(1900, 1900 + N)), "number"),
    "titles": (text("title", [f"the tale of {v} and number {v * 7}" for v in range(N)]), "text"),
    "models": (text("model", [f"{RNG.choice(['Civic', 'Golf', 'Corsa'])} {v}d" for v in range(N)]), "text"),
    "models with an id's name": (text("user", [f"{RNG.choice(['Ann', 'Bo', 'Cy'])} {v}d" for v in range(N)]), "id"),
    "numbered": (text("part", [f"part {v}" for v in range(N)]), "id"),
    "people": (text("who", [f"{chr(65 + v % 26)}{v}a Mc{v}x" for v in range(N)]), "id"),
    "names": (text("code", [f"K{v * 31}" for v in range(N)]), "id"),
    "count of rows": (number("n", np.arange(1, N + 1)), "id"),
    "count of rows with holes": (number("column_1", np.flatnonzero(RNG.random(2 * N) < 0.7)[:N]), "id"),
    "id by name": (number("customer_id", RNG.permutation(10**6)[:N]), "id"),
    "id that comes again": (number("PatientID", RNG.integers(0, 40, N)), "id"),
    "uuid that comes again": (text("user_id", [f"u{v}" for v in RNG.integers(0, 60, N)]), "id"),
    "few ids": (number("plant_id", RNG.integers(0, 3, N)), "category"),
    "ids with gaps between them": (number("n", 100 + np.cumsum(RNG.integers(1, 30, N))), "id"),
    "squares": (number("tsq", np.arange(1, N + 1) ** 2), "number"),
    "tens": (number("mark", np.arange(1, N + 1) * 10), "number"),
    "ids that start anew every year": (number("unitid", np.tile(np.cumsum(RNG.integers(1, 9, N // 4)), 4)), "id"),
    "numbers of villages": (number("villnum", np.sort(RNG.integers(0, 40, N))), "id"),
    "numbers of a few villages": (number("villnum", np.sort(RNG.integers(0, 8, N))), "category"),
    "a number named like one": (number("roomnum", RNG.integers(0, 40, N)), "number"),
    "own numbers of schools": (number("schid", RNG.permutation(10**4)[:N]), "id"),
    "amounts that were paid": (number("paid", RNG.permutation(10**4)[:N]), "number"),
    "codes with a number at the end": (number("cowcode2", RNG.integers(1, 90, N)), "category"),
    "race and ethnicity": (number("raceth", RNG.integers(1, 6, N)), "category"),
    "codes of a mode": (number("mode", RNG.integers(1, 5, N)), "category"),
    "grades and a word": (text("grade", [*RNG.integers(9, 13, N - 6), *["other"] * 6]), "category"),
    "grades and a typing error": (text("grade", [*RNG.integers(9, 13, N - 1), "1o"]), "number"),
    "short years and hours": (text("when", [f"{1 + k % 12}/{1 + k % 28}/20 {k % 24}:05" for k in range(N)]), "date"),
    "one value": (text("country", ["DE"] * N), "constant"),
    "one number": (number("version", [3] * N), "constant"),
    "one value and gaps": (text("flag", [*["x"] * 50, *[""] * (N - 50)]), "category"),
    "nothing": (text("notes", [""] * N), "empty"),
    "only dashes": (text("notes", ["-"] * N), "empty"),
    "lists": (OtherColumn("tags", "List(String)"), "other"),
    "true dates": (DateColumn("day", np.arange(N) * 86400.0, "Date"), "date"),
}


@for_each("name", COLUMNS)
def test_kinds(name):
    """The column of a profile, of which the first table is made, is what its reading makes of other tables."""
    column, expected = COLUMNS[name]
    profile = found(column)
    assert profile.kind == expected
    if profile.reading is None:
        return
    table = RawTable("t.csv", [column], len(column.gaps), np.arange(len(column.gaps)))
    read = profile.reading.read(column, table, UnseenValues())
    assert type(read) is type(profile.column)
    if isinstance(read, TextColumn):
        assert read.categories == profile.column.categories
        np.testing.assert_array_equal(read.codes, profile.column.codes)
    else:
        np.testing.assert_array_equal(read.values, profile.column.values)


@for_each(
    "values",
    [
        [3.0, 1.0, np.nan, 3.0, -2.0],
        [0.5, 0.25, 0.5],
        [1e300, -1e300, 7.0],
        [np.inf, 1.0, -np.inf],
        [np.inf, np.inf],
        [5.0, 5.0],
        [np.nan, np.nan],
        [],
        RNG.integers(-50, 50, 300).astype(float),
        RNG.integers(0, 10**9, 300).astype(float),
    ],
)
def test_distinct_numbers_are_those_of_numpy(values):
    values = np.array(values, np.float64)
    known = ~np.isnan(values)
    expected, places = np.unique(values[known], return_inverse=True)
    distinct, codes = distinct_numbers(values)
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes[known], places)
    assert (codes[~known] == -1).all()


def test_what_is_none_is_left_empty_and_said():
    kind = found(COLUMNS["numbers with a few errors"][0])
    assert np.isnan(kind.column.values).sum() == 4
    assert "'old', 'x', 'y' and 'z' are none" in kind.cautions[0].replace(", 'z'", " and 'z'")
    kind = found(number("income", [-999.0, -999.0, *RNG.integers(10, 99, 98)]))
    assert np.isnan(kind.column.values).sum() == 2
    assert kind.notes == ("-999 in 'income' is taken for a missing value.",)
    assert found(number("balance", [-999.0, -999.0, *RNG.integers(-50, 99, 98)])).notes == ()
    kind = found(number("ratio", [np.inf, 1.5, 2.5]))
    assert np.isnan(kind.column.values).tolist() == [True, False, False]
    assert "infinite" in kind.notes[0]


@for_each("column", [text("n", [10**25 + k for k in range(N)]), number("n", [1e25] * N)])
def test_integers_that_no_float_holds_are_an_id(column):
    if not hasattr(column, "codes"):
        column.rounded = N
    kind = found(column)
    assert (kind.kind, kind.reason) == ("id", f"{N} integers beyond 2**53")
    assert found(text("n", [10**25 + 1] * N)).kind == "constant"


def test_case_and_blanks_are_merged():
    kind = found(text("city", ["Rome", "Rome", "rome", " ROME", "Oslo", "New  York", "new york"]))
    assert kind.column.categories == ("New  York", "Oslo", "Rome")
    assert found(text("allele", ["a", "A", "b"])).column.categories == ("A", "a", "b")


def test_ambiguous_dates_get_a_caution():
    kind = found(text("day", ["1/2/2020", "3/4/2021"]))
    assert kind.kind == "date"
    assert "the month is taken" in kind.cautions[0]


@for_each(
    "column, wanted, kind",
    [
        (number("n", [1, 2, 2, 3]), "category", "category"),
        (number("n", [1, 2, 2, 3]), "text", "text"),
        (number("id", np.arange(50)), "number", "number"),
        (number("t", [1.5e9, 1.6e9]), "date", "date"),
        (text("s", ["12%", "5%"]), "number", "number"),
        (text("s", ["2020-01-01", "2020-05-01"]), "category", "category"),
    ],
)
def test_the_caller_decides(column, wanted, kind):
    assert (found(column, wanted).kind, found(column, wanted).reason) == (kind, "as asked")


@for_each(
    "column, wanted, says",
    [
        (text("s", ["a", "b"]), "number", "column 's' cannot be read as numbers"),
        (text("s", ["a", "b"]), "date", "column 's' cannot be read as dates; 'a' is in no known format"),
        (DateColumn("d", np.arange(3.0), "Date"), "category", "holds dates"),
        (DateColumn("d", np.arange(3.0), "Date"), "text", "holds dates"),
    ],
)
def test_what_cannot_be_decided(column, wanted, says):
    with pytest.raises(ValueError, match=f"t.csv: .*{says}"):
        found(column, wanted)


def test_possible_groups():
    columns = [
        found(number("patient", RNG.integers(0, 40, N))),
        found(text("ward", np.repeat([f"w{v}" for v in range(10)], N // 10))),  # rows stand together
        found(text("colour", RNG.choice(["red", "green", "blue"], N))),
        found(number("weight", RNG.normal(size=N))),
        found(number("n", np.arange(N))),  # never comes again
    ]
    groups = possible_groups(columns, N)
    assert list(groups) == ["patient", "ward"]
    assert groups["ward"].tolist() == np.repeat(range(10), N // 10).tolist()
