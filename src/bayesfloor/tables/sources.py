"""Tables larger than memory: what callers pass -> consecutive chunks of rows, or a random sample of all rows.

A row is in a sample by a hash of its number and the seed, so that the sample does not depend on how the rows are cut
into files and chunks. `parquet_sources`, `text_sources` and `source_kinds` have what differs between them.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.sampling import LEARNED_VALUES
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.frames import is_collection, is_lazy_frame
from bayesfloor.runtime.hash_kernels import GOLDEN, mix64
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import RawTable, TextColumn, as_text
from bayesfloor.tables.formats import detect_format, split_source
from bayesfloor.tables.joining import find_parts, keys_of
from bayesfloor.tables.parquet_sources import ParquetSource
from bayesfloor.tables.source_kinds import DaskArraySource, DaskFrameSource, LazyFrameSource, Part, Source
from bayesfloor.tables.text_sources import TextSource
from bayesfloor.tables.unpacking import STDIN, Contents, open_contents

__all__ = ["Sampled", "Source", "collected", "draw_rows", "keys_of_rows", "sample_of", "source_of"]

#: Bytes of the largest folder of Parquet files; none is too large to be read chunk by chunk.
_ANY_SIZE = 2**63
#: Values of a table, rows times columns, that is used as a whole; of a larger one rows are drawn.
FITTING_VALUES = LEARNED_VALUES
#: Values of the rows that are drawn: a million rows of up to 32 columns, as many as models are trained on.
DRAWN_VALUES = 32_000_000
#: Columns that a row counts for at the least, so that no more rows are drawn than are used.
_FEWEST = 32
#: A sample in the making may be larger than the sample by this share, so that it is made smaller now and then only.
_SPARE = 0.25
#: Different values of a target that are counted; more are those of a number.
_MOST_VALUES = 10_000


def source_of(X: Any, **how: Any) -> Source | None:
    """Return what reads X chunk by chunk.

    Parameters
    ----------
    X : object
        What a caller passes as X: the path of a Parquet file, of a folder of these or of a text table, plain or packed
        by gzip or bzip2; several paths of one of these kinds; a polars LazyFrame; a Dask array or data frame.
    **how
        How text tables are written, where the caller knows: `separator`, `decimal`, `encoding`, `header`.

    Returns
    -------
    Source or None
        None for anything else: what is in memory, other formats, stdin, and files that are not there.

    Raises
    ------
    ValueError
        Where the file cannot be read, or holds no columns.
    """
    if is_collection(X):
        return DaskFrameSource(X) if hasattr(X, "columns") else DaskArraySource(X)
    if is_lazy_frame(X):
        return LazyFrameSource(X)
    if isinstance(X, str | os.PathLike):
        return _source_of_files([X], how)
    if isinstance(X, list | tuple) and X and all(isinstance(each, str | os.PathLike) for each in X):
        return _source_of_files(list(X), how)
    return None


def _source_of_files(given: Sequence[Any], how: Mapping[str, Any]) -> Source | None:
    named = [split_source(each) for each in given]
    paths = [path for path, part in named if part is None and str(path) != STDIN and os.path.exists(path)]
    if len(paths) < len(given):
        return None
    if len(paths) == 1 and paths[0].is_dir():
        folder = paths[0]
        files = find_parts(folder, _ANY_SIZE)
        names = [file.relative_to(folder).as_posix() for file in files]
        return ParquetSource(files, names, [keys_of(file, folder) for file in files], folder.resolve().name)
    if any(path.is_dir() for path in paths):
        return None
    found = [contents for path in paths if (contents := open_contents(path)) is not None]
    kinds = {detect_format(contents) if contents.packer is None else _packed_format(contents) for contents in found}
    if len(found) < len(paths) or len(kinds) > 1:
        return None
    if kinds == {"text"}:
        return TextSource(found, **how)
    if kinds == {"parquet"} and all(contents.packer is None for contents in found):
        names = [contents.name for contents in found]
        name = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
        return ParquetSource([Path(path) for path in paths], names, [{} for _ in paths], name)
    return None


def _packed_format(contents: Contents) -> str:
    """Return the format of what is packed; "damaged" where its first bytes cannot be unpacked."""
    try:
        return detect_format(contents) if contents.head else "empty"
    except ValueError:
        return "damaged"


def keys_of_rows(first: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Return the random keys of consecutive rows: different for each row, and the same whatever is read with it.

    Parameters
    ----------
    first : int
        Number of the first of the rows among all rows of a source, from 0.
    n_rows : int
        How many rows.
    seed : int
        Another seed gives other keys.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    return keys_of_numbers(np.arange(first, first + n_rows), seed)


def keys_of_numbers(numbers: Ints, seed: int) -> NDArray[np.uint64]:
    """Return the random keys of any rows, by their numbers; see `keys_of_rows`."""
    salt = mix64(np.array([seed % 2**64], np.uint64) + GOLDEN)
    return mix64(numbers.astype(np.uint64) ^ salt)  # one to one, so that no two keys are equal


@dataclass(frozen=True, eq=False)
class Sampled:
    """Rows of a source drawn at random, and what was counted over all of its rows.

    Attributes
    ----------
    source : Source
        Where the rows are from.
    parts : tuple of Part
        The rows, as the source has them, in its order.
    rows : ndarray
        Their positions among all rows, from 0, rising.
    n_rows : int
        Number of all rows.
    counts : dict of str to int or None
        Rows of each value of the target; None where none is named, or more than ten thousand are different.
    seed : int
        What the rows were drawn by.
    target : str, int or None
        The column of labels.
    text_options : mapping
        What the caller says of the columns of a text table.
    """

    source: Source
    parts: tuple[Part, ...]
    rows: Ints
    n_rows: int
    counts: dict[str, int] | None
    seed: int
    target: Any
    text_options: Mapping[str, Any]

    @property
    def is_sampled(self) -> bool:
        """Whether the source has other rows as well."""
        return len(self.rows) < self.n_rows

    def fewer(self, n_rows: int) -> "Sampled":
        """Return the sample of fewer rows of the same source and seed: it is a part of this one."""
        drawn, place = _LowestKeys(n_rows), 0
        for part in self.parts:
            rows = self.rows[place : place + len(part)]
            drawn.add(part, rows, keys_of_numbers(rows, self.seed))
            place += len(part)
        drawn.cut()
        return replace(self, parts=tuple(drawn.parts), rows=np.concatenate(drawn.rows))

    @cached_property
    def raw(self) -> RawTable:
        """The rows as columns, typed as a table of these rows alone would be.

        `lines` are those of a text file; of other sources they are positions among all rows, counted from 1 in files
        and from 0 elsewhere.
        """
        table = self.source.joined(self.parts, target=self.target, **self.text_options)
        if not isinstance(self.source, TextSource):
            table.lines = self.rows + isinstance(self.source, ParquetSource)
            table.files, table.file_codes = (), None
        if self.counts is not None:  # which labels are classes is decided by all rows
            name = self.source.columns[self.target] if isinstance(self.target, int) else self.target
            table.label_counts = {name: {**self.counts, "": self.n_rows - sum(self.counts.values())}}
        return table

    @cached_property
    def frame(self) -> Any:
        """The rows as a data frame or an array, as the source gives them; None for files."""
        return self.source.frame(self.parts)


def sample_of(source: Source, n_rows: int, seed: int = 0, *, target: Any = None, **text_options: Any) -> Sampled:
    """Draw rows at random in one pass over a source, and count all rows.

    Parameters
    ----------
    source : Source
        The table.
    n_rows : int
        How many rows to draw; all where it has no more.
    seed : int, default=0
        Another seed draws other rows.
    target : str, int or None, default=None
        The column of labels, whose values are counted where it is named.
    **text_options
        What is known of the columns of a text table, as for `read_text_table`.

    Returns
    -------
    Sampled
    """
    drawn = _LowestKeys(n_rows)
    name = source.columns[target] if isinstance(target, int) else target
    counts: Counter[str] | None = Counter() if name in source.columns else None
    first = 0
    for part in source.parts():
        drawn.add(part, np.arange(first, first + len(part)), keys_of_rows(first, len(part), seed))
        if counts is not None:
            counts.update(_counts_of(source, part, name))
            counts = None if len(counts) > _MOST_VALUES else counts
        first += len(part)
    drawn.cut()
    rows = np.concatenate(drawn.rows)
    of_target = None if counts is None else dict(counts)
    return Sampled(source, tuple(drawn.parts), rows, first, of_target, seed, target, text_options)


def draw_rows(
    X: Any, seed: int = 0, *, target: Any = None, how: Mapping[str, Any] | None = None, **text_options: Any
) -> Sampled | None:
    """Draw as many rows as any function uses, where X is not in memory and is too large to be read as a whole.

    Parameters
    ----------
    X : object
        What a caller passes as X.
    seed : int, default=0
        Another seed draws other rows.
    target : str, int or None
        The column of labels.
    how, **text_options
        As for `source_of` and `sample_of`.

    Returns
    -------
    Sampled or None
        All rows of a lazy frame or a Dask collection that is small enough. None for what is in memory, and for files
        that can be read as a whole.
    """
    source = source_of(X, **(how or {}))
    if source is None or (isinstance(source, ParquetSource | TextSource) and _fits(source)):
        return None
    n_columns = len(source.columns)
    wanted = most = max(limits().learned_rows, DRAWN_VALUES // max(n_columns, _FEWEST))
    if source.n_rows is None:  # as many are kept as there is room for: they may be all
        most = max(wanted, DRAWN_VALUES // n_columns)
    elif _fits(source):
        most = max(wanted, source.n_rows)
    found = sample_of(source, most, seed, target=target, **text_options)
    if found.is_sampled:
        found = found.fewer(wanted) if len(found.rows) > wanted else found
        used, given = counted(len(found.rows)), counted(found.n_rows)
        found.raw.n_drawn_from = found.n_rows
        found.raw.notes.append(f"{used} of {given} rows are used, drawn at random: {source.name} is too large for all.")
    return found


def collected(X: Any) -> Any:
    """Return a lazy frame or a Dask collection with all of its rows in memory, anything else unchanged."""
    if is_collection(X):
        return X.compute()
    return X.collect() if is_lazy_frame(X) else X


def _fits(source: Source) -> bool:
    """Tell whether all rows of a source can be in memory."""
    if isinstance(source, TextSource) and source.n_bytes <= 2 * FITTING_VALUES:  # a value has a separator behind it
        return True
    n_rows = source.n_expected() or 0
    most = limits()
    is_small = n_rows <= most.table_rows and source.n_bytes <= most.unpacked_bytes
    return is_small and n_rows * len(source.columns) <= FITTING_VALUES


class _LowestKeys:
    """The rows of the lowest keys so far, in order."""

    def __init__(self, n_rows: int):
        self.n_rows = n_rows
        self.parts: list[Part] = []
        self.rows: list[Ints] = []
        self.keys: list[NDArray[np.uint64]] = []
        self.highest: np.uint64 | None = None  # key that a row must not exceed

    def add(self, part: Part, rows: Ints, keys: NDArray[np.uint64]) -> None:
        """Take the rows of a part that may be among the lowest."""
        self._take(part, rows, keys)
        if sum(map(len, self.parts)) > (1 + _SPARE) * self.n_rows:
            self.cut()

    def _take(self, part: Part, rows: Ints, keys: NDArray[np.uint64]) -> None:
        kept = np.arange(len(part)) if self.highest is None else np.flatnonzero(keys <= self.highest)
        if len(kept):
            self.parts.append(part.take(kept))
            self.rows.append(rows[kept])
            self.keys.append(keys[kept])

    def cut(self) -> None:
        """Keep no more rows than are wanted."""
        keys = np.concatenate(self.keys)
        if len(keys) <= self.n_rows:
            return
        self.highest = np.partition(keys, self.n_rows - 1)[self.n_rows - 1]
        held = list(zip(self.parts, self.rows, self.keys, strict=True))[::-1]
        self.parts, self.rows, self.keys = [], [], []
        while held:  # each part is let go once its rows are taken
            self._take(*held.pop())


def _counts_of(source: Source, part: Part, name: str) -> dict[str, int]:
    """Count the values of a column of a part, as text."""
    column = as_text(source.column(part, name))
    return dict(zip(column.categories, column.counts.tolist(), strict=True)) if isinstance(column, TextColumn) else {}
