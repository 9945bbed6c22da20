"""Text tables of any size as a `Source`: CSV files, plain or packed, one below the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from bayesfloor.tables.binary_tables import text_codes
from bayesfloor.tables.columns import Column, RawTable, likely_target, text_column
from bayesfloor.tables.joining import check_alike, join_tables, names_of_text_in_some
from bayesfloor.tables.source_kinds import NOTHING_KNOWN, KnownColumns, Part, Source
from bayesfloor.tables.text_rows import HeldRows, Rows
from bayesfloor.tables.text_tables import TextTable, open_text_table
from bayesfloor.tables.unpacking import Contents


class TextSource(Source):
    """Text tables one below the other, read as `read_text_table` reads each.

    Parameters
    ----------
    files : sequence of Contents
        The files; they need the same columns, in any order.
    **how
        What is known of how they are written, as for `open_text_table`.
    """

    def __init__(self, files: Sequence[Contents], **how: Any):
        self.files, self.how = list(files), how
        more = len(self.files) - 1
        self.name = f"{files[0].name} and {more} more" if more else files[0].name
        self.n_bytes = sum(contents.expected_size for contents in files)

    @cached_property
    def tables(self) -> list[TextTable]:
        """How each file is written, found when it is first needed."""
        found = [open_text_table(contents, **self.how) for contents in self.files]
        first = found[0]
        for other in found[1:]:
            check_alike((first.reader.name, first.names), (other.reader.name, other.names))
        return found

    @cached_property
    def columns(self) -> list[str]:  # type: ignore[override]
        """Names of the columns."""
        return self.tables[0].names

    def n_expected(self) -> int:
        """Guess the number of rows from the first lines of each file."""
        return sum(table.reader.n_expected(len(self.columns)) for table in self.tables)

    def _parts(self) -> Iterator[Part]:
        for number, table in enumerate(self.tables):
            held: list[Part] = []
            n_held = 0
            for rows in table.parts():
                held.append(Part(_frame_of(rows, len(self.columns)), rows.lines, number))
                n_held += len(rows.lines)
                while n_held >= self.chunk_rows:
                    whole, n_rows = _one(held), self.chunk_rows
                    assert whole.lines is not None
                    yield Part(whole.rows[:n_rows], whole.lines[:n_rows], number)
                    held = [Part(whole.rows[n_rows:], whole.lines[n_rows:], number)]
                    n_held -= n_rows
            if n_held:
                yield _one(held)

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Read the columns of a part."""
        return self._read(part, {"target": known.target or "", "categorical": known.text, "decimals": known.decimals})

    def _read(self, part: Part, how: dict[str, Any]) -> RawTable:
        """Read the columns of rows of one file, in the order of the first file."""
        table = self.tables[part.file]
        assert part.lines is not None
        held = HeldRows(table.reader.name, table.reader.dialect, [Rows(part.rows, part.lines)])
        found = replace(table, reader=held).read(**how)
        found.notes[:0] = self.files[part.file].notes
        if part.file:
            place = {name: number for number, name in enumerate(self.columns)}
            found.columns.sort(key=lambda column: place[column.name])
        return found

    def joined(self, parts: Sequence[Part], *, target: Any = None, **text_options: Any) -> RawTable:
        """Make one table of parts, as several files are read: a column that is text in one of them is text."""
        name = self.columns[target] if isinstance(target, int) and target != -1 else target
        if name in (None, -1):
            name = likely_target(self.columns, text_options.get("dropped", ()))
        how = {**text_options, "target": name}
        wholes = [_one(list(own)) for _, own in groupby(parts, key=lambda part: part.file)]
        tables = [self._read(whole, how) for whole in wholes]
        mixed = names_of_text_in_some(tables)
        if mixed:
            how["categorical"] = [*how.get("categorical", ()), *mixed]
            tables = [self._read(whole, how) for whole in wholes]
        return join_tables(tables)

    def column(self, part: Part, name: str) -> Column:
        """Make one column of a part, as text."""
        texts = part.rows[f"{self.tables[part.file].names.index(name)}"]
        return text_column(name, *text_codes(texts), frozenset({""}))


def _frame_of(rows: Rows, n_columns: int) -> Any:
    """Return rows as a polars frame of strings."""
    import polars

    if not isinstance(rows.fields, list):
        return rows.fields
    return polars.DataFrame(rows.fields, schema={f"{j}": polars.String for j in range(n_columns)}, orient="row")


def _one(parts: Sequence[Part]) -> Part:
    """Return parts of one file as one."""
    if len(parts) == 1:
        return parts[0]
    import polars

    lines = [part.lines for part in parts if part.lines is not None]
    return Part(polars.concat([part.rows for part in parts]), np.concatenate(lines), parts[0].file)
