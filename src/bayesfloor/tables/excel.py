"""Sheets of Excel workbooks, by fastexcel. Formulas give the values that the workbook holds for them; no macro runs.

A workbook is a zip file of XML. Its members are unpacked and measured here first, and handed over as they were
measured: the reader makes a dense array of the sheet, and ends the process where there is no memory for it.
"""

import io
import logging
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.text import counted, listed_names, quoted
from bayesfloor.tables.binary_tables import column_of, told_as
from bayesfloor.tables.column_builders import numbers_in_text
from bayesfloor.tables.columns import Column, RawTable, check_names, codes_among, text_column
from bayesfloor.tables.sniffing import has_header
from bayesfloor.tables.text_tables import fill_names
from bayesfloor.tables.unpacking import Contents, check_n_columns

#: Search the names of the columns in the first rows only, this many.
_TOP_ROWS = 100
#: Bytes that fastexcel allocates for each cell, empty or not.
_CELL_BYTES = 32
#: Rows and columns of the largest sheet.
_MOST_ROWS, _MOST_COLUMNS = 2**20, 2**14

# Where a row or cell says that it is: r="7" or r="AB7". Other attributes that end in r may be taken for it; a pattern
# that begins with a letter is found twice as fast.
_ROW = re.compile(rb"r\s*=\s*[\"']\s*[A-Za-z]*(\d+)")
_COLUMN = re.compile(rb"r\s*=\s*[\"']\s*([A-Za-z]+)\d")
_ELEMENT = re.compile(rb"<(?:[^\s<>/:]+:)?(row|c)[\s/>]")


def read_excel(contents: Contents, sheet: str | None) -> RawTable:
    """Read a sheet of a workbook.

    Parameters
    ----------
    contents : Contents
        The file.
    sheet : str or None
        Its name; None for the first.

    Returns
    -------
    RawTable
        Rows above the names of the columns, and blank rows and columns, are left out. Errors in cells are missing
        values.

    Raises
    ------
    ValueError
        For a sheet that is not there or holds no table, names that occur twice, a file that is damaged, and one that
        unpacks to too much.
    """
    name = contents.name
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError(f"{name}: Excel workbooks are read by fastexcel: pip install fastexcel") from error
    # what it logs about columns without values is of no use here, and would go to stderr
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    data = _measured(contents)
    damaged = f"{name} is no Excel workbook that can be read, or it is damaged ("
    with told_as(damaged, fastexcel.FastExcelError, end=")"):
        workbook = fastexcel.read_excel(data)
        sheets = list(workbook.sheet_names)
        if not sheets:
            raise ValueError(f"{name} has no sheets")
        if sheet is not None and sheet not in sheets:
            raise ValueError(f"{name} has no sheet {quoted(sheet)}; it has {listed_names(sheets, most=12)}")
        return _read_sheet(workbook, sheet or sheets[0], sheets, name)


def _measured(contents: Contents) -> bytes:
    """Return the parts of a workbook that hold its tables, as a zip file that unpacks to what was measured."""
    name = contents.name
    packed, total, most = io.BytesIO(), 0, limits().unpacked_bytes
    try:
        with contents.open() as stream, zipfile.ZipFile(stream) as archive, zipfile.ZipFile(packed, "w") as measured:
            members = [m for m in archive.infolist() if m.filename.lower().endswith((".xml", ".rels"))]
            if len({member.filename for member in members}) < len(members):
                raise ValueError(f"{name} is damaged: it holds two files of one name")
            for member in members:
                if member.flag_bits & 1:
                    raise ValueError(f"{name} is locked by a password; save it without")
                total += member.file_size
                if total > most:
                    raise ValueError(f"{name} unpacks to more than {in_gib(most)}, which is the limit")
                check_memory(4 * total, f"Unpacking {name}")
                part = archive.read(member)  # ends where the file says that it does, or fails
                _check_extent(part, name)
                measured.writestr(member.filename, part)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise ValueError(f"{name} is no Excel workbook, or it is damaged ({error})") from error
    return packed.getvalue()


def _check_extent(part: bytes, name: str) -> None:
    """Refuse a sheet that is too large as a dense array: two cells can lie a million rows and columns apart."""
    if b"\0" in part:
        raise ValueError(f"{name} is damaged, or written in an encoding that Excel does not write")
    if b"sheetData" not in part:
        return
    # a row or cell that does not say where it is comes behind the one before it
    if b":row" in part or b":c" in part:  # with a prefix, or in a text
        elements = _ELEMENT.findall(part)
        starts = [place for place, element in enumerate(elements) if element == b"row"]
        n_elements, most_in_row = len(starts), int(np.diff([0, *starts, len(elements)]).max())
    else:
        in_rows = part.split(b"<row")
        n_elements, most_in_row = len(in_rows), max(row.count(b"<c") for row in in_rows)
    n_rows = max([n_elements, *(int(digits.lstrip(b"0")[:9] or b"0") for digits in set(_ROW.findall(part)))])
    n_columns = max([most_in_row, *map(_column_number, set(_COLUMN.findall(part)))])
    n_rows, n_columns = min(n_rows, _MOST_ROWS), min(n_columns, _MOST_COLUMNS)
    n_bytes = _CELL_BYTES * n_rows * n_columns
    most = limits().unpacked_bytes
    if n_bytes > most:
        raise ValueError(
            f"{name}: a sheet has cells as far as row {counted(n_rows)} and column {counted(n_columns)}, "
            f"{in_gib(n_bytes)} in all; the limit is {in_gib(most)}. Delete what lies far from the table"
        )
    # places that are given and places that are counted may add up, in rows and in columns
    check_memory(4 * n_bytes, f"Reading {name}")


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters[:8].upper():
        number = 26 * number + letter - 64
    return number


def _read_sheet(workbook: Any, sheet: str, sheets: Sequence[str], name: str) -> RawTable:
    where = name if len(sheets) == 1 else f"{name}::{sheet}" if sheet.isprintable() else f"{name}::{sheet!r}"
    top = workbook.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=_TOP_ROWS, dtypes="string").to_polars()
    rows = [[(text or "").strip() for text in row] for row in top.rows()]
    header = _header_row(rows)
    if header is None:
        raise ValueError(f"{where} holds no rows of two or more cells")
    check_n_columns(top.width, where)
    is_named = has_header([row for row in rows[header:] if any(row)], ".")
    first = header + is_named
    frame = _load(workbook, sheet, first, top.width).to_polars()
    is_blank = np.ones(len(frame), dtype=bool)
    for series in frame.get_columns():
        is_blank &= series.is_null().to_numpy()
    kept = np.flatnonzero(~is_blank)
    if not len(kept):
        raise ValueError(f"{where} has a header and no rows")
    notes = [_what_it_is(sheet, sheets, header, is_named)]
    n_blank = int(is_blank[: kept[-1]].sum())
    if n_blank:
        notes.append(f"{counted(n_blank)} blank row{'s were' if n_blank > 1 else ' was'} skipped.")
    frame = frame[kept]
    names = rows[header] if is_named else [f"x{place + 1}" for place in range(frame.width)]
    used = [place for place in range(frame.width) if names[place] or frame.to_series(place).null_count() < len(frame)]
    names = fill_names([names[place] for place in used], notes)
    check_names(names, f"{where}, row {header + 1}")
    columns = [_column(label, frame.to_series(place)) for label, place in zip(names, used, strict=True)]
    return RawTable(where, columns, len(frame), kept + first + 1, None, notes, row_word="row")


def _header_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Find the first row that is about as wide as the table; titles above it are narrow."""
    widths = [sum(map(bool, row)) for row in rows]
    wide = max(2.0, 2 / 3 * max(widths, default=0))
    return next((row for row, width in enumerate(widths) if width >= wide), None)


def _load(workbook: Any, sheet: str, first: int, width: int) -> Any:
    """Load the rows from `first` on; columns of types that do not go together as text."""
    import fastexcel

    as_text: dict[int, str] = {}
    while True:
        try:
            dtypes: Any = as_text or None
            return workbook.load_sheet(sheet, header_row=None, skip_rows=first, schema_sample_rows=None, dtypes=dtypes)
        except fastexcel.UnsupportedColumnTypeCombinationError as error:
            place = re.search(r"__UNNAMED__(\d+)", str(error))
            new = {int(place[1])} - as_text.keys() if place else set(range(width)) - as_text.keys()
            if not new:
                raise
            as_text |= dict.fromkeys(new, "string")


def _column(name: str, series: Any) -> Column:
    import polars

    if series.dtype != polars.String:
        return column_of(series.alias(name))
    different = series.unique().drop_nulls().to_list()
    return numbers_in_text(text_column(name, different, codes_among(series, different), frozenset({""})))


def _what_it_is(sheet: str, sheets: Sequence[str], header: int, is_named: bool) -> str:
    parts = [f"Excel file, sheet {quoted(sheet)}"]
    others = [other for other in sheets if other != sheet]
    if others:
        parts[0] += f" (not used: {listed_names(others)})"
    if header:
        parts.append(f"what stands above row {header + 1} left out")
    if is_named:
        parts.append(f"column names from row {header + 1}")
    else:
        parts.append(f"no header (row {header + 1} holds values): columns are called x1, x2 and so on")
    return ", ".join(parts) + "."
