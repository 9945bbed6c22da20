"""Parquet files of any size as a `Source`: one, several, or those of a folder as Hive and Spark write them."""

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from bayesfloor.runtime.limits import check_memory
from bayesfloor.tables.binary_tables import COPIES_OF_TEXT, column_of, rows_of_groups, told_as, unpacked_sizes
from bayesfloor.tables.column_builders import numbers_in_text
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, OtherColumn, RawTable, TextColumn, as_text
from bayesfloor.tables.joining import MISSING_KEY, check_alike, join_tables, with_keys
from bayesfloor.tables.source_kinds import NOTHING_KNOWN, KnownColumns, Part, Source, cut
from bayesfloor.tables.unpacking import check_n_columns

#: Values of a file that are unpacked at a time: a group of rows is cheapest to read as a whole.
_READ_VALUES = 2**24


class ParquetSource(Source):
    """Parquet files one below the other, those of a folder among them.

    Parameters
    ----------
    files : sequence of Path
        The files; they need the same columns, in any order.
    names : sequence of str
        How messages name each.
    keys : sequence of mappings of str to str
        What the folders above each file tell, as Hive has it.
    name : str
        Of all of them.
    """

    def __init__(self, files: Sequence[Path], names: Sequence[str], keys: Sequence[dict[str, str]], name: str):
        import polars

        self.name, self.files, self.names, self.keys = name, list(files), list(names), list(keys)
        self.groups: list[list[int]] = []  # rows of each group of each file
        self.schemas: list[dict[str, Any]] = []
        for file, own_name in zip(self.files, self.names, strict=True):
            with told_as(f"{own_name} cannot be read as Parquet: ", polars.exceptions.PolarsError, ValueError, OSError):
                self.groups.append(rows_of_groups(file))
                self.schemas.append(dict(self._scan(file).collect_schema()))
        self.columns = self._columns(0)
        check_n_columns(len(self.columns), name)
        if not self.columns:
            raise ValueError(f"{name} has no columns")
        for number in range(1, len(self.files)):
            check_alike((self.names[0], self.columns), (self.names[number], self._columns(number)))
        self.n_rows = sum(map(sum, self.groups))
        self.n_bytes = max(8 * self.n_rows * len(self.columns), sum(file.stat().st_size for file in self.files))

    @staticmethod
    def _scan(file: Path) -> Any:
        import polars

        return polars.scan_parquet(file, glob=False, hive_partitioning=False)

    def _columns(self, number: int) -> list[str]:
        own = self.schemas[number]
        return [*(key for key in self.keys[number] if key not in own), *own]

    @cached_property
    def _kinds(self) -> dict[str, str | None]:
        """What each column is in every file; None where all of them have it in one type, or as numbers."""
        found: dict[str, str | None] = {}
        for name in self.columns:
            types = {str(schema[name]): schema[name] for schema in self.schemas if name in schema}
            in_keys = {own[name] for own, schema in zip(self.keys, self.schemas, strict=True) if name not in schema}
            kinds = {_kind_of(dtype) for dtype in types.values()} - {"empty"}
            if in_keys:
                known = tuple(in_keys - {MISSING_KEY})
                numbers = numbers_in_text(TextColumn(name, known, np.arange(len(known))), leading_zeros=True)
                kinds.add("number" if isinstance(numbers, NumberColumn) else "text")
            if kinds <= {"number"}:
                found[name] = "number" if in_keys else None
            elif len(types) == 1 and not in_keys:
                found[name] = None
            else:
                found[name] = "text" if kinds <= {"number", "text"} else "date" if kinds == {"date"} else "other"
        return found

    def _parts(self) -> Iterator[Part]:
        for number, (file, name) in enumerate(zip(self.files, self.names, strict=True)):
            for frame in cut(self._frames(file, name, number), self.chunk_rows):
                yield Part(frame, file=number)

    def _frames(self, file: Path, name: str, number: int) -> Iterator[Any]:
        """Yield the rows of a file, several groups or a part of one at a time."""
        import polars

        groups, kept = (
            self.groups[number],
            [each for each, dtype in self.schemas[number].items() if not dtype.is_nested()],
        )
        if not sum(groups):
            return
        with told_as(f"{name} cannot be read as Parquet: ", polars.exceptions.PolarsError, ValueError, OSError):
            with mapped(file) as data:
                _, _, n_text_bytes, n_other_bytes = unpacked_sizes(data)
            n_bytes = (COPIES_OF_TEXT * n_text_bytes + n_other_bytes) / sum(groups)
            n_rows = max(self.chunk_rows, _READ_VALUES // max(len(kept), 1, int(n_bytes / 8)))
        check_memory(int(n_bytes * n_rows), f"Reading {name}")
        for first, last in _spans(groups, n_rows):
            with told_as(f"{name} cannot be read as Parquet: ", polars.exceptions.PolarsError, OSError):
                frame = self._scan(file).select(kept).slice(first, last - first).collect()
            if len(frame) != last - first:
                raise ValueError(f"{name} cannot be read as Parquet: rows {first} to {last - 1} are not all there")
            yield frame

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Make columns of a part; types are those of the files."""
        table = self._typed(part)
        order = {name: place for place, name in enumerate(self.columns)}
        table.columns.sort(key=lambda column: order[column.name])
        return table

    def _typed(self, part: Part) -> RawTable:
        """Make columns of rows of one file, of the kinds that they have in all files."""
        frame, schema = part.rows, self.schemas[part.file]
        columns = [
            OtherColumn(name, str(dtype)) if dtype.is_nested() else column_of(frame[name])
            for name, dtype in schema.items()
        ]
        table = RawTable(self.name, columns, len(part), np.arange(len(part)), None, ["Parquet file."], row_word="row")
        table = with_keys(table, self.keys[part.file])
        table.columns = [_as_kind(column, self._kinds[column.name], len(part)) for column in table.columns]
        return table

    def column(self, part: Part, name: str) -> Column:
        """Make one column of a part."""
        if name not in part.rows.columns:  # a key of a folder
            return super().column(part, name)
        return _as_kind(column_of(part.rows[name]), self._kinds[name], len(part))

    def joined(self, parts: Sequence[Part], *, target: Any = None, **text_options: Any) -> RawTable:
        """Make one table of parts, as a folder of files is read."""
        import polars

        tables = []
        for number, own in groupby(parts, key=lambda part: part.file):
            table = self._typed(Part(polars.concat([part.rows for part in own]), file=number))
            table.source = self.names[number]
            tables.append(table)
        whole = join_tables(tables)
        whole.source = self.name
        return whole


@contextmanager
def mapped(file: Path) -> Iterator[Any]:
    """Map a file into memory, so that its headers are read without the rest."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def bytes_of_group(file: Path) -> int:
    """Return about how many bytes the largest group of rows of a Parquet file takes in memory."""
    with mapped(file) as data:
        n_rows, n_columns, n_text_bytes, n_other_bytes = unpacked_sizes(data)
    share = max(rows_of_groups(file), default=0) / max(n_rows, 1)
    return int(share * max(COPIES_OF_TEXT * n_text_bytes + n_other_bytes, 8 * n_rows * n_columns))


def _spans(groups: Sequence[int], n_rows: int) -> Iterator[tuple[int, int]]:
    """Cut rows into spans of at most `n_rows`, at the ends of groups where these are not larger."""
    start = end = 0
    for n_own in groups:
        if end > start and end + n_own - start > n_rows:
            yield start, end
            start = end
        end += n_own
        while end - start > n_rows:
            yield start, start + n_rows
            start += n_rows
    if end > start:
        yield start, end


def _kind_of(dtype: Any) -> str:
    """Return what kind of column a type of polars becomes."""
    import polars

    if dtype == polars.Null:
        return "empty"
    if dtype == polars.Boolean or dtype.is_numeric():
        return "number"
    if dtype in (polars.String, polars.Categorical, polars.Enum):
        return "text"
    return "date" if dtype.is_temporal() and dtype not in (polars.Time, polars.Duration) else "other"


def _as_kind(column: Column, kind: str | None, n_rows: int) -> Column:
    """Return a column of one file as what it is in all of them."""
    if kind is None or isinstance(column, OtherColumn):
        return column
    if kind == "text":
        return as_text(column)
    if kind == "other":
        return OtherColumn(column.name, "values of several types")
    if kind == "number":
        read = numbers_in_text(column, leading_zeros=True) if isinstance(column, TextColumn) else column
        return read if isinstance(read, NumberColumn) else NumberColumn(column.name, np.full(n_rows, np.nan))
    return column if isinstance(column, DateColumn) else DateColumn(column.name, np.full(n_rows, np.nan), "Datetime")
