"""Tables that need not fit into memory: what all of them can do, lazy frames of polars, and collections of Dask.

Each is a `Source`: it yields its rows in order, as `Part`s in the form that it has them, and makes a `RawTable` of a
part, or of rows of several parts together. No more than a few parts are in memory at a time. Files are in
`parquet_sources` and `text_sources`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.frames import column_texts, with_text_names
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.columns import Column, RawTable, as_text
from bayesfloor.tables.frames import raw_of_array, raw_of_frame
from bayesfloor.tables.unpacking import check_n_columns

#: Values of a chunk, at the most: 32 MiB as numbers.
CHUNK_VALUES = 2**22


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive rows of a source, or some of them.

    Attributes
    ----------
    rows : data frame of polars or pandas, or ndarray
        The values, as the source has them.
    lines : ndarray or None
        The line of a text on which each row begins.
    file : int
        The position of the file that they are from.
    """

    rows: Any
    lines: Ints | None = None
    file: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, kept: Ints) -> "Part":
        """Keep some of the rows."""
        if len(kept) == len(self):
            return self
        rows = self.rows.iloc[kept] if hasattr(self.rows, "iloc") else self.rows[kept]
        if hasattr(rows, "with_columns"):
            import polars

            # text of polars points into the memory of all rows that it was read with; new text does not
            rows = rows.with_columns(polars.col(polars.String) + polars.lit(""))
        return replace(self, rows=rows, lines=None if self.lines is None else self.lines[kept])


class KnownColumns(NamedTuple):
    """What is known of columns before a part is read.

    Attributes
    ----------
    text : sequence of str
        Columns that are text in every chunk, even where one has numbers alone (`preparation.text_columns`).
    decimals : mapping of str to str or None
        The decimal signs of columns of numbers that are written as text (`preparation.decimal_signs`).
    target : str or None
        The column of labels, in which ``NA`` and the like are kept as they are where the source is text.
    """

    text: Sequence[str] = ()
    decimals: Mapping[str, str] | None = None
    target: str | None = None


NOTHING_KNOWN = KnownColumns()


class Source:
    """A table of any size, read from its first row to its last as often as it is asked for.

    Attributes
    ----------
    name : str
        For messages: the name of a file or folder, or what it is.
    columns : list of str
        Names of the columns.
    n_rows : int or None
        Number of rows; None where it is not known before they are read.
    n_bytes : int
        About how many bytes all values take as numbers, or a text takes; 0 where that is not known.
    """

    name: str
    columns: list[str]
    n_rows: int | None = None
    n_bytes: int = 0

    def n_expected(self) -> int | None:
        """Return how many rows there are, about; None where that is not known before they are read."""
        return self.n_rows

    @property
    def chunk_rows(self) -> int:
        """Rows of a chunk at the most."""
        return max(1, min(limits().chunk_rows, CHUNK_VALUES // len(self.columns)))

    def chunks(self, **known: Any) -> Iterator[RawTable]:
        """Yield all rows in order, chunk by chunk.

        Parameters
        ----------
        **known
            `text`, `decimals` and `target`, as in `KnownColumns`.

        Yields
        ------
        RawTable
            At most `chunk_rows` rows. Its `lines` are positions among all rows, from 0.

        Raises
        ------
        ValueError
            For a source without rows, and for what cannot be read; the message names the file.
        """
        first, of_columns = 0, KnownColumns(**known)
        for part in self.parts():
            table = self.raw(part, of_columns)
            yield replace(table, lines=np.arange(first, first + len(part)), row_word="row", files=(), file_codes=None)
            first += len(part)

    def parts(self) -> Iterator[Part]:
        """Yield all rows in order, at most `chunk_rows` at a time; none of the parts is empty.

        Raises
        ------
        ValueError
            Where there are no rows.
        """
        is_empty = True
        for part in self._parts():
            if len(part):
                is_empty = False
                yield part
        if is_empty:
            raise ValueError(f"{self.name} has no rows")

    def _parts(self) -> Iterator[Part]:
        raise NotImplementedError

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Make columns of a part, of kinds that do not depend on the part."""
        raise NotImplementedError

    def joined(self, parts: Sequence[Part], *, target: Any = None, **text_options: Any) -> RawTable:
        """Make one table of parts, its columns as a table of these rows alone has them when it is read as a whole."""
        raise NotImplementedError

    def column(self, part: Part, name: str) -> Column:
        """Make one column of a part, that of the labels."""
        return self.raw(part, KnownColumns(target=name)).column(name)

    def frame(self, parts: Sequence[Part]) -> Any:
        """Return parts in the form in which the caller would have them in memory; None for files."""
        return None


def cut(frames: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Join data frames of polars that are small, and cut those that are large; each but the last has so many rows."""
    import polars

    held: list[Any] = []
    n_held = 0
    for frame in frames:
        held.append(frame)
        n_held += len(frame)
        if n_held < n_rows:
            continue
        whole = held[0] if len(held) == 1 else polars.concat(held)
        n_whole = len(whole) // n_rows * n_rows
        for start in range(0, n_whole, n_rows):
            yield whole[start : start + n_rows]
        held, n_held = [whole[n_whole:]], len(whole) - n_whole
    if n_held:
        yield held[0] if len(held) == 1 else polars.concat(held)


class LazyFrameSource(Source):
    """A lazy frame of polars, whose query runs once for each pass over its rows."""

    name = "the lazy frame"

    def __init__(self, lazy: Any):
        self.lazy = lazy
        self.columns = lazy.collect_schema().names()
        check_n_columns(len(self.columns), self.name)
        if not self.columns:
            raise ValueError(f"{self.name} has no columns")

    def _parts(self) -> Iterator[Part]:
        if hasattr(self.lazy, "collect_batches"):
            frames = self.lazy.collect_batches(chunk_size=self.chunk_rows, maintain_order=True)
        else:  # polars before 1.33
            frames = iter([self.lazy.collect()])
        return map(Part, cut(frames, self.chunk_rows))

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Make columns of a part, as those of a data frame."""
        return replace(raw_of_frame(part.rows, known.target), source=self.name)

    def column(self, part: Part, name: str) -> Column:
        """Make one column of a part."""
        return raw_of_frame(with_text_names(part.rows)[[name]], name).columns[0]

    def joined(self, parts: Sequence[Part], *, target: Any = None, **text_options: Any) -> RawTable:
        """Make one table of parts, as of a data frame."""
        return replace(raw_of_frame(self.frame(parts), target), source=self.name)

    def frame(self, parts: Sequence[Part]) -> Any:
        """Return a polars data frame."""
        import polars

        return polars.concat([part.rows for part in parts])


class DaskFrameSource(LazyFrameSource):
    """A Dask data frame, whose partitions are computed one after the other for each pass."""

    name = "the Dask data frame"

    def __init__(self, collection: Any):
        self.collection = collection
        self.columns = column_texts(collection)
        check_n_columns(len(self.columns), self.name)
        if not self.columns:
            raise ValueError(f"{self.name} has no columns")

    def _parts(self) -> Iterator[Part]:
        for number in range(self.collection.npartitions):
            frame = self.collection.partitions[number].compute()
            for start in range(0, len(frame), self.chunk_rows):
                yield Part(frame.iloc[start : start + self.chunk_rows])

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Make columns of a part; one of Python's objects is text where it is named so, whatever the part has."""
        table = super().raw(part, known)
        kinds = zip(table.names, part.rows.dtypes, strict=True)
        as_named = {name for name, kind in kinds if kind.kind == "O" and name in known.text}
        table.columns = [as_text(column) if column.name in as_named else column for column in table.columns]
        return table

    def frame(self, parts: Sequence[Part]) -> Any:
        """Return a pandas data frame."""
        from dask.dataframe.dispatch import concat

        return parts[0].rows if len(parts) == 1 else concat([part.rows for part in parts])


class DaskArraySource(Source):
    """A Dask array of two dimensions, whose chunks are computed one after the other for each pass."""

    name = "the Dask array"

    def __init__(self, collection: Any):
        if getattr(collection, "ndim", 0) != 2 or not hasattr(collection, "chunks"):
            raise ValueError(
                f"Expected a Dask array of two dimensions or a Dask data frame, got {collection!r} instead."
            )
        if collection.dtype.kind not in "biuf":
            raise ValueError(f"{self.name} holds {collection.dtype}, not numbers")
        n_rows, n_columns = collection.shape
        if not n_columns or not n_columns == n_columns:
            raise ValueError(f"{self.name} has {'no' if not n_columns else 'an unknown number of'} columns")
        check_n_columns(n_columns, self.name)
        self.collection = collection.rechunk({1: -1})
        self.columns = [f"x{j}" for j in range(n_columns)]
        self.n_rows = int(n_rows) if n_rows == n_rows else None
        self.n_bytes = 8 * (self.n_rows or 0) * n_columns

    def _parts(self) -> Iterator[Part]:
        for number in range(self.collection.numblocks[0]):
            values = np.asarray(self.collection.blocks[number].compute())
            for start in range(0, len(values), self.chunk_rows):
                yield Part(values[start : start + self.chunk_rows])

    def raw(self, part: Part, known: KnownColumns = NOTHING_KNOWN) -> RawTable:
        """Make columns of a part, called x0, x1 and so on."""
        return raw_of_array(part.rows, self.name)

    def joined(self, parts: Sequence[Part], *, target: Any = None, **text_options: Any) -> RawTable:
        """Make one table of parts."""
        return self.raw(Part(self.frame(parts)))

    def frame(self, parts: Sequence[Part]) -> Any:
        """Return an array."""
        return np.concatenate([part.rows for part in parts])
