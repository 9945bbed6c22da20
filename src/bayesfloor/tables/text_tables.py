"""Tables in text with separators: CSV, TSV and their relatives."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import (
    MISSING_TEXTS,
    Column,
    NumberBuilder,
    OtherColumn,
    RawTable,
    TextBuilder,
    check_n_columns,
    check_names,
)
from bayesfloor.tables.sniffing import (
    SEPARATOR_NAMES,
    SEPARATORS,
    Dialect,
    detect_dialect,
    detect_encoding,
    open_text,
    sample_rows,
)
from bayesfloor.tables.unpacking import Contents

#: Rows that are split before they become columns: bounds the memory for Python strings.
_BLOCK_ROWS = 20_000

#: Characters of the longest field. The csv module has a limit too, but other code may change it.
LONGEST_FIELD = 131_072

Block = tuple[list[list[str]], list[int]]  # rows, and the line on which each begins


class _Reader:
    """Rows of a text table, checked for their length, with the lines on which they begin."""

    def __init__(self, contents: Contents, encoding: str, dialect: Dialect):
        self.name = contents.name
        self.data = contents.data
        self.encoding = encoding
        self.dialect = dialect
        self.n_blank = 0

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row that is not blank, after the line on which it begins."""
        lines = open_text(self.data, self.encoding)
        line = self.dialect.n_skipped
        for _ in range(line):
            next(lines)
        offset = line
        reader = csv.reader(lines, delimiter=self.dialect.separator, skipinitialspace=True, strict=True)
        self.n_blank = n_blank_at_end = 0
        try:
            for row in reader:
                start, line = line + 1, offset + reader.line_num
                if not row or (len(row) == 1 and not row[0].strip()):
                    n_blank_at_end += 1
                    continue
                if sum(map(len, row)) > LONGEST_FIELD and max(map(len, row)) > LONGEST_FIELD:
                    raise ValueError(f"{self.name}, line {start}: {_too_long()}")
                self.n_blank, n_blank_at_end = self.n_blank + n_blank_at_end, 0
                yield start, row
        except csv.Error as error:
            raise ValueError(f"{self.name}, line {line + 1}: {_in_plain_words(error)}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name}, after line {line}: not {self.encoding} ({error.reason})") from error

    def header(self) -> tuple[list[str], int]:
        """Return the names of the columns, and the line that sets how many there are."""
        line, first = next(self.rows(), (0, []))
        if not first:
            raise ValueError(f"{self.name} holds no rows")
        if not self.dialect.has_header:
            return [f"x{column + 1}" for column in range(len(first))], line
        return [name.strip() for name in first], line

    def blocks(self, n_columns: int, first_line: int) -> Iterator[Block]:
        """Yield the rows below the header, some thousands at a time."""
        rows: list[list[str]] = []
        starts: list[int] = []
        source = self.rows()
        if self.dialect.has_header:
            next(source)
        for start, row in source:
            if len(row) != n_columns:
                raise ValueError(
                    f"{self.name}, line {start}: {len(row)} field{'s' if len(row) != 1 else ''}, but line "
                    f"{first_line} has {n_columns}"
                )
            rows.append(row)
            starts.append(start)
            if len(rows) == _BLOCK_ROWS:
                yield rows, starts
                rows, starts = [], []
        if rows:
            yield rows, starts


def _too_long() -> str:
    limit = min(LONGEST_FIELD, csv.field_size_limit())
    return f"a field of more than {counted(limit)} characters; is a quote left open?"


def _in_plain_words(error: csv.Error) -> str:
    text = str(error)
    if "field larger" in text:
        return _too_long()
    if "unexpected end" in text:
        return "a quote is opened here and never closed"
    if "expected after" in text:
        return "text follows a closing quote; a quote within quotes must be doubled"
    return text


def read_text_table(
    contents: Contents,
    *,
    target: str | int | None = None,
    categorical: Sequence[str] = (),
    dropped: Sequence[str] = (),
    strays: str = "refuse",
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> RawTable:
    """Read a table in text with separators.

    Parameters
    ----------
    contents : Contents
        The file.
    target : str, int or None
        The column of labels, kept as text; None for the last.
    categorical : sequence of str
        Columns to keep as text even when all of their values are numbers.
    dropped : sequence of str
        Columns whose values do not matter.
    strays : {"refuse", "text"}
        What to do with a few values that are no numbers in a column of numbers: refuse them, or read it as text.
    separator, decimal, encoding, header
        How the file is written; None asks for detection.

    Returns
    -------
    RawTable

    Raises
    ------
    ValueError
        Naming the line, and the column where there is one: rows of different lengths, names that occur twice, quotes
        left open, single values that are no numbers, NUL bytes, and a file without rows.
    """
    name = contents.name
    reason = ""
    if encoding is None:
        encoding, reason = detect_encoding(contents.data, name)
    try:
        lines = sample_rows(contents.data, encoding)
    except LookupError as error:
        raise ValueError(f"there is no encoding {encoding!r}") from error
    dialect = detect_dialect(lines, separator=separator, decimal=decimal, header=header)
    reader = _Reader(contents, encoding, dialect)
    names, first_line = reader.header()
    check_n_columns(len(names), name)
    notes = [_how_it_is_written(dialect, encoding, reason, first_line)]
    names = _fill_names(names, notes)
    check_names(names, f"{name}, line {first_line}")
    if len(names) == 1:
        _, second = next(islice(reader.rows(), 1, None), (0, [""]))
        if len(second) > 1:
            raise ValueError(
                f"{name}, line {first_line}: one field only, but the next row has {len(second)}; if it is a title or a "
                "comment, delete it"
            )
        listed = ", ".join(SEPARATOR_NAMES[candidate] for candidate in SEPARATORS)
        raise ValueError(f"{name} has one column only; none of the separators {listed} splits it")

    if target is None:
        target = next((name for name in reversed(names) if name not in dropped), names[-1])
    elif isinstance(target, int) and -len(names) <= target < len(names):
        target = names[target]
    as_text = {target, *categorical}
    while True:  # a column that turns out to be text is read again as such
        table, turned = _read_columns(
            reader, names, first_line, label=target, as_text=as_text, dropped=set(dropped), strays=strays
        )
        if not turned:
            break
        as_text |= turned
    if not table.n_rows:
        raise ValueError(f"{name} has a header and no rows")
    if reader.n_blank:
        notes.append(f"{counted(reader.n_blank)} blank line{'s were' if reader.n_blank > 1 else ' was'} skipped.")
    table.notes = notes
    return table


def _read_columns(
    reader: _Reader,
    names: list[str],
    first_line: int,
    *,
    label: str | int,
    as_text: set[str | int],
    dropped: set[str],
    strays: str,
) -> tuple[RawTable, set[str]]:
    """Read all columns, those in `as_text` as text; name those that are text after all."""
    builders: list[NumberBuilder | TextBuilder] = []
    for name in names:
        if name in as_text or name in dropped:
            builders.append(TextBuilder(name, {""} if name == label else MISSING_TEXTS))
        else:
            builders.append(NumberBuilder(name, reader.dialect.decimal))
    starts: list[int] = []
    for rows, lines in reader.blocks(len(names), first_line):
        starts += lines
        for builder, texts in zip(builders, zip(*rows, strict=True), strict=True):
            if builder.name not in dropped:
                builder.add(texts)
        numbers = [builder for builder in builders if isinstance(builder, NumberBuilder)]
        turned = {builder.name for builder in numbers if builder.is_text or (builder.strays and strays == "text")}
        if turned:
            return RawTable(reader.name, [], 0, np.empty(0, np.int64)), turned
    table = RawTable(reader.name, [], len(starts), np.array(starts, dtype=np.int64))
    columns: list[Column] = []
    for builder in builders:
        if builder.name in dropped:
            columns.append(OtherColumn(builder.name, "what was not read"))
            continue
        if isinstance(builder, NumberBuilder):
            hint = f"; to read the column as text, name it in categorical=[{builder.name!r}]"
            if strays == "refuse":
                builder.complain(table, hint)
        columns.append(builder.column())
    table.columns = columns
    return table, set()


def _fill_names(names: list[str], notes: list[str]) -> list[str]:
    """Name the columns that have no name by their position."""
    unnamed = [position for position, name in enumerate(names, start=1) if not name]
    if unnamed:
        listed = ", ".join(map(str, unnamed[:5])) + (" and more" if len(unnamed) > 5 else "")
        notes.append(f"Columns without a name ({listed}) are called column_1 and so on, by position.")
    return [name or f"column_{position}" for position, name in enumerate(names, start=1)]


def _how_it_is_written(dialect: Dialect, encoding: str, reason: str, first_line: int) -> str:
    parts = [f"separator {SEPARATOR_NAMES.get(dialect.separator, repr(dialect.separator))}"]
    parts.append(f"encoding {encoding}" + (f" ({reason})" if reason else ""))
    if dialect.decimal == ",":
        parts.append("decimal comma")
    if dialect.has_header:
        parts.append(f"column names from line {first_line}")
    else:
        parts.append(f"no header (line {first_line} holds values): columns are called x1, x2 and so on")
    return f"Text table: {', '.join(parts)}."
