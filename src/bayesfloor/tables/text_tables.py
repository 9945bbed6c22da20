"""Tables in text with separators: CSV, TSV and their relatives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import Progress
from bayesfloor.runtime.text import counted, listed, unique_names
from bayesfloor.tables.column_builders import GrowingArray, NumberBuilder, TextBuilder
from bayesfloor.tables.columns import OtherColumn, RawTable, likely_target
from bayesfloor.tables.sniffing import (
    SEPARATOR_NAMES,
    SEPARATORS,
    Dialect,
    detect_dialect,
    detect_encoding,
    sample_rows,
)
from bayesfloor.tables.spellings import MISSING_TEXTS
from bayesfloor.tables.text_rows import HeldRows, RowReader, Rows
from bayesfloor.tables.unpacking import HEAD_BYTES, Contents, check_n_columns, check_n_rows

#: Most columns of numbers that are read into one array, which can then become X without a second copy. Reading one
#: column of it loads eight times as much memory as if it were an array of its own.
_SIDE_BY_SIDE = 64

#: Number of first rows that are searched for columns of text.
_FIRST_ROWS = 200
#: After this many rows, and at the end, columns that turn out to be text are read again as such.
_BLOCK_ROWS = 20_000


def read_text_table(
    contents: Contents,
    *,
    target: str | int | None = None,
    categorical: Sequence[str] = (),
    dropped: Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    decimals: Mapping[str, str] | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    least_columns: int = 2,
    progress: Progress | None = None,
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
    separator, decimal, encoding, header
        How the file is written; None asks for detection.
    decimals : mapping of str to str
        The decimal signs of columns that are known; numbers that do not fit it are read as text.
    least_columns : int
        1 where a single column is a table too, such as one of predictions.
    progress : callable or None
        Called as ``progress(done, total)`` with numbers of bytes.

    Returns
    -------
    RawTable

    Raises
    ------
    ValueError
        Naming the line, where there is one: rows of different lengths, quotes left open, NUL bytes, and a file without
        rows.
    """
    table = open_text_table(
        contents,
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        header=header,
        least_columns=least_columns,
        progress=progress,
    )
    return table.read(target=target, categorical=categorical, dropped=dropped, decimals=decimals)


def open_text_table(
    contents: Contents,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    least_columns: int = 2,
    progress: Progress | None = None,
) -> "TextTable":
    """Tell how a text table is written and how its columns are called, without reading its rows.

    Parameters
    ----------
    contents, separator, decimal, encoding, header, least_columns, progress
        As for `read_text_table`.

    Returns
    -------
    TextTable
    """
    name = contents.name
    reason = ""
    if encoding is None:
        with contents.open() as stream:
            encoding, reason = detect_encoding(stream, name)
    try:
        lines = sample_rows(contents.head, encoding, is_cut=contents.expected_size > HEAD_BYTES)
    except LookupError as error:
        raise ValueError(f"there is no encoding {encoding!r}") from error
    dialect = detect_dialect(lines, separator=separator, decimal=decimal, header=header)
    reader = RowReader(contents, encoding, dialect, progress)
    names, first_line = reader.header()
    check_n_columns(len(names), name)
    notes = [_how_it_is_written(dialect, encoding, reason, first_line)]
    names = fill_names(names, notes)
    names = without_copies(names, notes)
    if len(names) < least_columns:
        _, second = next(islice(reader.rows(), 1, None), (0, [""]))
        if len(second) > 1:
            raise ValueError(
                f"{name}, line {first_line}: one field only, but the next row has {len(second)}; if it is a title or a "
                "comment, delete it"
            )
        tried = ", ".join(SEPARATOR_NAMES[candidate] for candidate in SEPARATORS)
        raise ValueError(f"{name} has one column only; none of the separators {tried} splits it")
    return TextTable(reader, names, first_line, notes)


@dataclass(frozen=True)
class TextTable:
    """A text table whose columns are known by name; its rows are still to be read.

    Attributes
    ----------
    reader : RowReader or HeldRows
        Gives the rows.
    names : list of str
        Names of the columns.
    first_line : int
        The line that sets how many columns there are.
    notes : list of str
        How it is written.
    """

    reader: RowReader | HeldRows
    names: list[str]
    first_line: int
    notes: list[str]

    def parts(self) -> Iterator[Rows]:
        """Yield the rows, some thousands at a time."""
        return self.reader.parts(len(self.names), self.first_line)

    def read(
        self,
        *,
        target: str | int | None = None,
        categorical: Sequence[str] = (),
        dropped: Sequence[str] = (),
        decimals: Mapping[str, str] | None = None,
    ) -> RawTable:
        """Read the rows, each column as what all of its values are; `read_text_table` describes the parameters."""
        reader, names = self.reader, self.names
        if target is None:
            target = likely_target(names, dropped)
        elif isinstance(target, int) and -len(names) <= target < len(names):
            target = names[target]
        as_text = {target, *categorical}
        columns = _Columns(reader, names, self.first_line, target, set(dropped), decimals or {})
        as_text |= columns.text_in_first_rows({*as_text, *dropped})
        while (table := columns.read(as_text)) is None:  # a column that turns out to be text is read again as such
            as_text |= columns.turned
        if not table.n_rows:
            raise ValueError(f"{reader.name} has a header and no rows")
        notes = list(self.notes)
        if reader.n_blank:
            notes.append(f"{counted(reader.n_blank)} blank line{'s were' if reader.n_blank > 1 else ' was'} skipped.")
        table.notes, table.decimal = notes, reader.dialect.decimal
        return table


@dataclass
class _Columns:
    """The columns of a text table, to be read until it is known which of them are text."""

    reader: RowReader | HeldRows
    names: list[str]
    first_line: int
    label: str | int
    dropped: set[str]
    decimals: Mapping[str, str]
    turned: set[str] = field(default_factory=set)  # columns that were taken for numbers and are text after all

    def numbers(self, name: str, place: tuple[GrowingArray, int] | None = None) -> NumberBuilder:
        """Return what collects a column of numbers."""
        return NumberBuilder(name, self.decimals.get(name, self.reader.dialect.decimal), place)

    def is_text(self, builder: NumberBuilder | TextBuilder) -> bool:
        """Tell whether a column that was taken for numbers is to be read as text, as it is written."""
        if isinstance(builder, TextBuilder):
            return False
        return bool(builder.strays or builder.rounded or builder.has_leading_zeros)

    def text_in_first_rows(self, known: set[str | int]) -> set[str]:
        """Name the columns that the first rows show to be text, so that the file need not be read again for them."""
        columns: list[Any] = []
        with suppress(ValueError):  # the reading of all rows says what is wrong, and where
            columns = self.reader.first_rows(_FIRST_ROWS, len(self.names)).columns()
        builders = [(self.numbers(name), texts) for name, texts in zip(self.names, columns, strict=False)]
        unknown = [(builder, texts) for builder, texts in builders if builder.name not in known]
        for builder, texts in unknown:
            builder.add(texts)
        return {builder.name for builder, _ in unknown if self.is_text(builder)}

    def read(self, as_text: set[str | int]) -> RawTable | None:
        """Read all columns, those in `as_text` as text; None where some are text after all: they are in `turned`."""
        reader, names, dropped = self.reader, self.names, self.dropped
        n_expected = reader.n_expected(len(names))
        of_numbers = [name for name in names if name not in as_text and name not in dropped]
        is_narrow = len(of_numbers) <= _SIDE_BY_SIDE
        side_by_side = GrowingArray(np.float64, n_expected, len(of_numbers)) if is_narrow else None
        builders: list[NumberBuilder | TextBuilder] = []
        for name in names:
            if name in as_text or name in dropped:
                missing = {""} if name == self.label else MISSING_TEXTS
                builders.append(TextBuilder(name, missing, 0 if name in dropped else n_expected))
            else:
                place = None if side_by_side is None else (side_by_side, of_numbers.index(name))
                builders.append(self.numbers(name, place))
        lines: list[Ints] = [np.empty(0, np.int64)]
        n_rows = 0
        for rows in _cut(reader.parts(len(names), self.first_line)):
            lines.append(rows.lines)
            n_rows += len(rows.lines)
            check_n_rows(n_rows, reader.name)
            for builder, texts in zip(builders, rows.columns(), strict=True):
                if builder.name not in dropped:
                    builder.add(texts)
            if n_rows % _BLOCK_ROWS == 0 and any(map(self.is_text, builders)):
                break
        self.turned = {builder.name for builder in builders if self.is_text(builder)}
        if self.turned:
            return None
        table = RawTable(reader.name, [], n_rows, np.concatenate(lines))
        for builder in builders:
            if builder.name in dropped:
                table.columns.append(OtherColumn(builder.name, "what was not read"))
                continue
            table.columns.append(builder.column())
        return table


def _cut(parts: Iterable[Rows]) -> Iterator[Rows]:
    """Cut parts so that one ends after every `_BLOCK_ROWS` rows."""
    n_rows = 0
    for part in parts:
        rest = part
        while len(rest.lines):
            block, rest = rest.cut(_BLOCK_ROWS - n_rows % _BLOCK_ROWS)
            n_rows += len(block.lines)
            yield block


def without_copies(names: list[str], notes: list[str]) -> list[str]:
    """Number the columns that share a name, from the second on."""
    numbered = unique_names(names)
    renamed = [new for name, new in zip(names, numbered, strict=True) if name != new]
    if renamed:
        notes.append(f"Columns that share a name with one before are called {listed(list(map(repr, renamed)), 6)}.")
    return numbered


def fill_names(names: list[str], notes: list[str]) -> list[str]:
    """Name the columns that have no name by their position."""
    unnamed = [position for position, name in enumerate(names, start=1) if not name]
    if unnamed:
        places = ", ".join(map(str, unnamed[:5])) + (" and more" if len(unnamed) > 5 else "")
        notes.append(f"Columns without a name ({places}) are called column_1 and so on, by position.")
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
