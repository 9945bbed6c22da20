"""Rows on disk: .npy files, memory maps and Parquet files, read some rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bayesfloor.data.points import check_points, read_points
from bayesfloor.forest.order.arrays import F64
from bayesfloor.runtime.limits import check_memory
from bayesfloor.tables.arguments import is_point_file
from bayesfloor.tables.binary_tables import told_as
from bayesfloor.tables.parquet_sources import bytes_of_group


@dataclass(frozen=True)
class RowsInArrayFile:
    """Rows of an array on disk: a .npy file, or whatever a memory map looks at."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    offset: int
    order: str
    names: ClassVar[None] = None  # columns have none

    def read(self, first: int, last: int) -> Any:
        """Return a copy of rows first..last."""
        order: Any = self.order
        return np.array(np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order)[first:last])


@dataclass(frozen=True, eq=False)
class RowsOfMap:
    """Rows of a part of a memory map, which only this process can read."""

    array: np.memmap[Any, Any]
    names: ClassVar[None] = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.array.shape[0], self.array.shape[1]

    def read(self, first: int, last: int) -> Any:
        """Return a copy of rows first..last."""
        return np.array(self.array[first:last])


@dataclass(frozen=True, eq=False)
class RowsInParquetFile:
    """Rows of a Parquet file."""

    path: str
    shape: tuple[int, int]
    names: list[str]  # of the columns

    def read(self, first: int, last: int) -> Any:
        """Return rows first..last as a polars frame; only the parts of the file that hold them are unpacked."""
        return _scan(Path(self.path)).slice(first, last - first).collect()


#: Rows that are read when they are needed. Any process that sees the file can read them.
StoredRows = RowsInArrayFile | RowsOfMap | RowsInParquetFile


def open_rows(X: Any) -> StoredRows | None:
    """Return the rows that a path or a memory map stands for; None for anything else.

    Parameters
    ----------
    X : object
        A path to a .npy or a Parquet file, or a `numpy.memmap` of two dimensions.

    Returns
    -------
    StoredRows or None
    """
    if is_point_file(X):
        return _open_path(Path(X))
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf":
        return _rows_of_map(X)
    return None


def _open_path(path: Path) -> StoredRows:
    is_parquet = path.suffix.lower() != ".npy"
    inside = [*path.rglob("*")] if is_parquet and path.is_dir() else []
    for file in (path, *inside):
        # a pipe is read but once, and waits for whoever writes to it
        if file.exists() and not file.is_file() and not (is_parquet and file.is_dir()):
            raise ValueError(f"{file} is not a plain file")
    if not is_parquet:
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{path} cannot be read as .npy: {error}") from error
        if not isinstance(array, np.memmap) or array.ndim != 2 or array.dtype.kind not in "biuf":
            check_points(array)  # says what is wrong with it
            raise ValueError(f"{path} holds {array.dtype} in shape {array.shape}, not rows of numbers")
        return _rows_of_map(array)
    import polars

    with told_as(f"{path} cannot be read as Parquet: ", polars.exceptions.PolarsError, ValueError):
        lazy = _scan(path)
        kinds = lazy.collect_schema()
        n_rows = int(lazy.select(polars.len()).collect().item())
        n_bytes = max((bytes_of_group(file) for file in inside or [path] if is_point_file(file)), default=0)
    for name, kind in kinds.items():
        if not (kind.is_numeric() or kind in (polars.Boolean, polars.Null)):
            raise ValueError(
                f"could not convert to float: column {name!r} of {path} ({kind}). Only numbers are points; "
                "bayesfloor.read_table makes numbers of other columns"
            )
    check_memory(n_bytes, f"Reading {path}")
    return RowsInParquetFile(str(path.absolute()), (n_rows, len(kinds)), list(kinds))


def _scan(path: Path) -> Any:
    """Return the rows of a Parquet file, whatever is in its name, or of a folder of these."""
    import polars

    return polars.scan_parquet(path, glob=path.is_dir())


def _rows_of_map(array: np.memmap[Any, Any]) -> StoredRows:
    order = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else ""
    # A part of another map has the offset of the whole.
    if order == "" or array.filename is None or isinstance(array.base, np.memmap):
        return RowsOfMap(array)
    shape = (array.shape[0], array.shape[1])
    return RowsInArrayFile(str(Path(str(array.filename)).absolute()), array.dtype, shape, int(array.offset), order)


def as_points(raw: Any) -> F64:
    """Check some rows as `check_points` does, even if it is a single one, without its warnings."""
    return read_points(raw, min_rows=1)[0]
