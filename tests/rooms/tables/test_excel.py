"""Sheets of Excel workbooks, tidy, messy and hostile. The workbooks are written here, so that any of them can be."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from bayesfloor.tables.columns import DateColumn, TextColumn
from bayesfloor.tables.read import read_raw, read_table
from helpers.one_case import for_each
from helpers.workbooks import DAY, MAIN, MOMENT, workbook, zipped


@pytest.fixture
def write(tmp_path):
    def write(content, name="book.xlsx"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else workbook(content))
        return tmp_path / name

    return write


TIDY = [["size", "kind", "y"], [1, "u", "p"], [2.5, "v", "q"], [3, "u", "p"]]


def test_a_tidy_sheet(write):
    table = read_table(write({"Sheet1": TIDY}), encode="onehot", scale="none")
    assert table.X.tolist() == [[1, 0], [2.5, 1], [3, 0]]
    assert table.feature_names == ("size", "kind=v")
    assert table.y.tolist() == ["p", "q", "p"]
    assert (table.source, table.origin.row_word, table.lines.tolist()) == ("book.xlsx", "row", [2, 3, 4])
    assert table.notes[0] == "Excel file, sheet 'Sheet1', column names from row 1."
    numbers = read_raw(write({"S": [[1, 2], [3, 4], [5, 6]]}))  # numbers alone mean no header
    assert [(each.name, each.values.tolist()) for each in numbers.columns] == [("x1", [1, 3, 5]), ("x2", [2, 4, 6])]
    assert numbers.lines.tolist() == [1, 2, 3]


def test_sheets_are_named(write, tmp_path):
    path = write({"first": TIDY, "se cond": [["a", "y"], [7, "u"], [8, "v"]], "empty": []})
    table = read_raw(path)
    assert table.source == "book.xlsx::first"
    assert table.notes[0].startswith("Excel file, sheet 'first' (not used: 'se cond', 'empty'), column names")
    assert read_raw(f"{path}::se cond").columns[0].values.tolist() == [7, 8]
    with pytest.raises(ValueError, match=r"book\.xlsx has no sheet 'third'; it has 'first', 'se cond', 'empty'"):
        read_raw(f"{path}::third")
    with pytest.raises(ValueError, match=r"book\.xlsx::empty holds no rows of two or more cells"):
        read_raw(f"{path}::empty")
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"a\.csv::x: only Excel workbooks have parts"):
        read_raw(f"{tmp_path / 'a.csv'}::x")


def test_a_messy_sheet(write):
    rows = [
        [None, "Results of 2020"],
        [],
        [None, "by", "me"],
        [None, " size", "code", "flag", "when", None, "mixed", "formula", "y"],
        [None, 1, "007", True, (43831, DAY), None, "NA", "=1+1", "u"],
        [],
        [None, 2, "010", False, (43831.5, MOMENT), None, 3, "=2+2", "v"],
        [None, "#DIV/0!", "011", True, None, None, "4.5", "=A1", " v "],
        [],
    ]
    table = read_raw(write({"S": rows}))
    columns = {column.name: column for column in table.columns}
    assert list(columns) == ["size", "code", "flag", "when", "mixed", "formula", "y"]
    assert table.lines.tolist() == [5, 7, 8]
    np.testing.assert_array_equal(columns["size"].values, [1, 2, np.nan])
    assert columns["code"].categories == ("007", "010", "011")
    assert columns["flag"].is_truth
    assert isinstance(columns["when"], DateColumn)
    np.testing.assert_array_equal(columns["when"].values, [18262 * 86400, 18262.5 * 86400, np.nan])
    np.testing.assert_array_equal(columns["mixed"].values, [np.nan, 3, 4.5])
    assert columns["formula"].values.tolist() == [42, 42, 42]
    assert columns["y"] == TextColumn("y", ("u", "v"), columns["y"].codes)
    assert table.notes == [
        "Excel file, sheet 'S', what stands above row 4 left out, column names from row 4.",
        "1 blank row was skipped.",
    ]
    assert read_raw(write({"S": [["a", "y"], [1, "u"], [(0.5, MOMENT), True]]})).columns[1].categories == ("true", "u")


REFUSED = {
    "same names": ({"S": [["t"], ["a", "a"], [1, 2]]}, r"book\.xlsx, row 2: columns 1 and 2 have the same name, 'a'"),
    "header only": ({"S": [["a", "y"]]}, r"book\.xlsx has a header and no rows"),
    "no zip": (b"PK\x03\x04 nonsense", r"book\.xlsx is no Excel workbook, or it is damaged"),
    "text": (b"a,y\n1,2\n", r"book\.xlsx is named like a Xlsx file, but it is not one"),
    "cut off": (workbook({"S": TIDY})[:-40], r"book\.xlsx is no Excel workbook, or it is damaged"),
    "no workbook": (zipped({"[Content_Types].xml": "<Types/>"}), r"book\.xlsx is no Excel workbook that can be read"),
    "broken XML": ({"S": "<row r='1'><c r='A1'><v>1</v></row>"}, r"book\.xlsx is no Excel workbook that can be read"),
    "no place": ({"S": "<row r='1'><c r='Ä'><v>1</v></c></row>"}, r"book\.xlsx"),
    "two of a name": (None, r"book\.xlsx is damaged: it holds two files of one name"),
    "UTF-16": (workbook({"S": TIDY}, **{"xl/styles.xml": "<a/>".encode("utf-16")}), "an encoding that Excel does not"),
}


@for_each("case", REFUSED)
def test_what_is_refused(write, case):
    content, words = REFUSED[case]
    if content is None:
        content = workbook({"S": TIDY})
        with (
            pytest.warns(UserWarning, match="Duplicate name"),
            zipfile.ZipFile(buffer := io.BytesIO(content), "a") as archive,
        ):
            archive.writestr("xl/styles.xml", "<a/>")
        content = buffer.getvalue()
    with pytest.raises(ValueError, match=words) as caught:
        read_raw(write(content))
    assert "\n" not in str(caught.value)


FAR = {
    "two cells": "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row>",
    "zeros before": "<row r='1'><c r='A1'/></row><row r='2'><c r='XFD00000001048576'><v>2</v></c></row>",
    "small letters": "<row r='1'><c r='a1'/></row><row r='1048576'><c r = \"xfd1048576\"><v>2</v></c></row>",
    "a sign in a value": "<row r='1'><c r='A1'/></row><row r='1048576'><c x='>' r='XFD1048576'><v>2</v></c></row>",
    "no places": "<row>" + "<c><v>1</v></c>" * 16_384 + "</row>" + "<row><c><v>1</v></c></row>" * 20_000,
    "no places, and others that lead astray": "<row>"
    + "<c x=' r=\"A1\"'><v>1</v></c>" * 16_384
    + "</row>"
    + "<row x=' r=\"1\"'><c><v>1</v></c></row>" * 20_000,
    "a prefix": "<row r='1'><c r='A1'/></row><x:row r='1048576'><x:c r='XFD1048576'><v>2</v></x:c></x:row>",
}


@for_each("case", FAR)
def test_cells_far_apart_are_refused(write, case):
    with pytest.raises(
        ValueError, match=r"book\.xlsx: a sheet has cells as far as row .* GiB in all; the limit is 4\.0 GiB"
    ):
        read_raw(write({"S": FAR[case]}))


def test_a_bomb_is_refused_before_it_is_unpacked(write, set_limits):
    path = write(workbook({"S": TIDY}, **{"xl/sharedStrings.xml": b" " * 5 * 2**20}))
    assert path.stat().st_size < 20_000
    set_limits(memory=8 * 2**20)
    with pytest.raises(MemoryError, match=r"Unpacking book\.xlsx would take about 20\.0 MiB of memory"):
        read_raw(path)
    set_limits(unpacked_bytes=2**20)
    with pytest.raises(ValueError, match=r"book\.xlsx unpacks to more than 1\.0 MiB, which is the limit"):
        read_raw(path)


def test_sizes_that_are_a_lie(write):
    content = workbook({"S": TIDY})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet0.xml"
    parts[name] = parts[name].replace(b"<sheetData>", b'<dimension ref="A1:XFD1048576"/><sheetData>')
    assert read_raw(write(zipped(parts))).n_rows == 3  # a sheet may claim any size
    content = bytearray(workbook({"S": TIDY}, **{"xl/sharedStrings.xml": b" " * 2**20}))
    size = (2**20).to_bytes(4, "little")
    while (place := content.find(size)) >= 0:
        content[place : place + 4] = (100).to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"book\.xlsx is no Excel workbook, or it is damaged \(Bad CRC"):
        read_raw(write(bytes(content)))


def test_entities_are_not_expanded(write):
    lol = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    sheet = '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&l9;</t></is></c></row></sheetData>'
    xml = f'<!DOCTYPE w [<!ENTITY l0 "lol">{lol}]><worksheet xmlns="{MAIN}">{sheet}</worksheet>'
    content = workbook({"S": TIDY}, **{"xl/worksheets/sheet0.xml": xml})
    with pytest.raises(ValueError, match=r"book\.xlsx"):
        read_raw(write(content))


def test_macros_are_left_alone_and_names_do_not_matter(write):
    content = workbook({"S": TIDY}, **{"xl/vbaProject.bin": b"\0 a macro"})
    assert read_raw(write(content, "book.xlsm")).n_rows == 3
    assert read_raw(write(content, "book")).n_rows == 3


@pytest.mark.slow
def test_nothing_is_written_to_stderr(write):
    rows = [["a", "b", "y"], [1, None, "u"], [2, None, "v"]]
    script = "import sys; from bayesfloor.tables.formats import read_raw; print(read_raw(sys.argv[1]).n_rows)"
    command = [sys.executable, "-c", script, str(write({"S": rows}))]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (answer.stdout, answer.stderr) == ("2\n", "")
