"""Large text tables: read in pieces, and split by polars where the csv module would give the same rows."""

import csv
import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesfloor import read_table
from bayesfloor.tables import text_rows, text_tables
from bayesfloor.tables.column_builders import NumberBuilder
from bayesfloor.tables.columns import NumberColumn, TextColumn
from bayesfloor.tables.spellings import has_leading_zero
from bayesfloor.tables.text_rows import split_plain_text
from bayesfloor.tables.text_tables import read_text_table
from bayesfloor.tables.unpacking import Contents
from helpers.one_case import for_each


@pytest.fixture(scope="module")
def read_as():
    """Read bytes as a small file is read, by the csv module in one piece, or as a large one is, in small pieces."""

    def read_as(content, *, large, n_bytes=40, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_rows, "FAST_BYTES", 0 if large else 2**40)
            patch.setattr(text_rows, "_PIECE_BYTES", n_bytes if large else 2**40)
            patch.setattr(text_tables, "_BLOCK_ROWS", 3)
            try:
                return described(read_text_table(Contents("a.csv", ".csv", content), **options))
            except ValueError as error:
                return str(error)

    return read_as


def described(table):
    columns = []
    for column in table.columns:
        if isinstance(column, NumberColumn):
            columns.append((column.name, column.values.tobytes(), column.rounded))
        elif isinstance(column, TextColumn):
            columns.append((column.name, column.categories, column.codes.tolist()))
        else:
            columns.append(column)
    return columns, table.n_rows, table.lines.tolist(), table.notes


NUMBERS = ["1", "-2.5", "1e3", " 4", "5 ", "+.5", "9007199254740993", "0.1", "-0", "1e-400", "00", "7."]
ODD = ["", "NA", "?", "nan", "x", " x", "x ", "é", "1_0", "1,5", "inf"]
ODD += ['"q"', '"a b"', '" q"', '"1"', '""', 'a"b', '"a""b"']
HOSTILE = ['"a\nb"', '"open', '"x"y', "\ufeff", "a\rb", "\x0b", "\x1c", "\x85", "\u2028", "１"]
CELLS = st.sampled_from(NUMBERS * 4 + ODD + HOSTILE)
ROWS = st.one_of(
    st.lists(st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3), max_size=12),
    st.lists(st.lists(st.sampled_from(NUMBERS * 2 + ODD), min_size=3, max_size=3), max_size=12),
    st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=12),
)


@settings(max_examples=150)
@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]), st.integers(1, 60), st.booleans())
@example([["1", "2", "3"], ['"a\nb', "2", '3"']], ",", "\n", 5, True)
@example([["1", "2", '"a\nb"', "2", "3"]], ",", "\n", 50, True)
@example([["1", "2", "3"], ["\ufeffx", "1", "2"]], ",", "\n", 6, True)
@example([[" 1", '"2"', "3"]], ",", "\n", 50, False)
@example([["1", " ", " a"]] * 4, ";", "\n", 50, True)
def test_large_files_are_read_as_small_ones_are(read_as, rows, separator, line_end, n_bytes, ends):
    lines = [separator.join(row) for row in [["a", "b", "y"], *rows]]
    content = (line_end.join(lines) + line_end * ends).encode()
    options = {"separator": separator, "header": True}
    assert read_as(content, large=True, n_bytes=n_bytes, **options) == read_as(content, large=False, **options)


@for_each("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1"])
def test_encodings_of_large_files(read_as, encoding):
    content = ("größe;y\n" + "1,5;süß\n-2;é\n" * 20).encode(encoding)
    large = read_as(content, large=True)
    assert large == read_as(content, large=False)
    assert large[0][0][:2] == ("größe", np.tile([1.5, -2.0], 20).tobytes())


@given(st.text(st.sampled_from("0123456789+-.,eEinfatyNAx_ \t１"), max_size=8), st.sampled_from(".,"))
@example("1.5", ",")
@example("1,5", ",")
def test_polars_and_python_read_the_same_numbers(text, decimal):
    by_python, by_polars = NumberBuilder("a", decimal), NumberBuilder("a", decimal)
    by_python.add([text])
    by_polars.add(pl.Series([text]))
    assert by_polars.column().values.tobytes() == by_python.column().values.tobytes()
    assert (by_polars.strays, by_polars.infinite, by_polars.n_missing) == (
        by_python.strays,
        by_python.infinite,
        by_python.n_missing,
    )


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50), st.sampled_from([".", ","]))
def test_polars_rounds_as_python_does(numbers, decimal):
    builder = NumberBuilder("a", decimal)
    builder.add(pl.Series([repr(number).replace(".", decimal) for number in numbers]))
    assert builder.column().values.tolist() == numbers


PLAIN = ["a,b\n1,2\n", 'a,"b, c"\n1,"2"\n', " a, b\n1,  2\n", "a,b\r\n1,2\r\n", "a,\n,\n", '"",""\nx,""\n', "é,b\n1,2"]


@for_each("text", PLAIN)
def test_plain_text_is_split_by_polars(text):
    frame = split_plain_text(text, ",", 2)
    expected = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    assert [list(row) for row in frame.rows()] == list(expected)


@for_each("text", ['a, "b"\n', "a,b\n" + "9" * 200_000 + ",1\n"])
def test_what_polars_reads_otherwise_is_left_to_the_csv_module(text):
    """Beside what random rows show: a quote behind a space, and a field that is too long."""
    assert split_plain_text(text, ",", 2) is None


def write_large(path, n_rows=60_000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({f"x{j}": rng.standard_normal(n_rows) for j in range(4)} | {"y": rng.integers(0, 3, n_rows)})
    frame.write_csv(path)
    return frame


def test_a_large_file(tmp_path):
    frame = write_large(tmp_path / "large.csv")
    assert (tmp_path / "large.csv").stat().st_size > text_rows.FAST_BYTES
    told = []
    table = read_table(tmp_path / "large.csv", scale="none", progress=lambda done, total: told.append((done, total)))
    assert np.array_equal(table.X, frame.drop("y").to_numpy())
    assert np.array_equal(table.y, frame["y"].to_numpy())
    assert table.lines.tolist() == list(range(2, 60_002))
    size = (tmp_path / "large.csv").stat().st_size
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert len(told) > 4
    with pytest.raises(ValueError, match="'progress' parameter must be a bool or a callable"):
        read_table(tmp_path / "large.csv", progress="yes")


def test_what_is_wrong_deep_in_a_large_file_is_named(tmp_path):
    path = tmp_path / "large.csv"
    write_large(path)
    lines = path.read_bytes().splitlines(keepends=True)
    for bad, words in ((b"1,2,3\n", "line 50001: 3 fields, but line 1 has 5"), (b'1,2,"3"x,4,1\n', "text follows")):
        path.write_bytes(b"".join([*lines[:50_000], bad, *lines[50_001:]]))
        with pytest.raises(ValueError, match=words):
            read_table(path, prepare=None)
    path.write_bytes(b"".join([*lines[:50_000], b'\n"1\n",2,3,4,1\n', b",1,2,3,1\n", *lines[50_001:]]))
    with pytest.raises(ValueError, match=r"line 50004, column 'x0': there is no finite number"):
        read_table(path, prepare=None)


PEAK = """
import re, sys
from bayesfloor import read_table

def memory(of):
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(of + r":\\s+(\\d+)", status.read())[1])

before = memory("VmRSS")
table = read_table(sys.argv[1])
assert table.X.shape == (2_000_000, 9)
print(memory("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the memory of a process on Linux alone")
def test_two_million_rows_take_three_times_their_numbers(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{j}": rng.standard_normal(2_000_000) for j in range(9)})
    frame.with_columns(y=pl.Series(rng.integers(0, 2, 2_000_000))).write_csv(tmp_path / "large.csv")
    answer = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "large.csv")], capture_output=True, text=True, check=True
    )
    assert int(answer.stdout) <= 3 * 2_000_000 * 10 * 8


@for_each("row", [None, 0, 150, 250])
def test_columns_of_text_show_in_the_first_rows_or_later(row):
    texts = [str(i) for i in range(400)]
    if row is not None:
        texts[row] = "unknown to numbers"
    content = "a,b,y\n" + "".join(f"{text},{i}.5,u\n" for i, text in enumerate(texts))
    table = read_text_table(Contents("a.csv", ".csv", content.encode()))
    assert [table.column("a").shown(i) for i in range(400)] == texts
    assert isinstance(table.column("b"), NumberColumn)


def test_what_is_wrong_in_the_first_rows_is_reported_in_order():
    content = b'a,y\n1,u\n2\n3,"v\n'  # a row that is too short, and below it an open quote
    with pytest.raises(ValueError, match=r"a\.csv, line 3: 1 field, but line 1 has 2"):
        read_text_table(Contents("a.csv", ".csv", content))


@given(st.lists(st.text(alphabet="0123 +-.,x", max_size=5), min_size=1, max_size=6))
def test_leading_zeros_are_seen_among_all_texts(texts):
    builder = NumberBuilder("a")
    builder.add(tuple(texts))
    assert builder.has_leading_zeros == any(has_leading_zero(text.strip()) for text in texts)
