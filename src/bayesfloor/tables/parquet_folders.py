"""Folders of Parquet files, plain or partitioned as Hive does: ``folder/year=2020/part-0.parquet``."""

from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.text import counted, quoted
from bayesfloor.tables.column_builders import numbers_in_text
from bayesfloor.tables.columns import Column, RawTable, TextColumn

#: Most files of a folder: each takes milliseconds to open.
MOST_FILES = 10_000
#: Maximum depth of nested partition folders.
_DEEPEST = 16
#: Hive's name for a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def find_parts(folder: Path, limit: int) -> list[Path]:
    """List the Parquet files of a folder, in the order of their names.

    Parameters
    ----------
    folder : Path
        The folder. What begins with a dot or an underscore is left alone, as Hive and Spark do.
    limit : int
        The largest number of bytes.

    Returns
    -------
    list of Path

    Raises
    ------
    IsADirectoryError
        Where there are no Parquet files.
    ValueError
        For files of other kinds beside them, folders not named ``key=value``, links, too many files, or bytes.
    """
    files, n_bytes = [], 0
    for file in _walk(folder, folder, 0):
        files.append(file)
        n_bytes += file.stat().st_size
        if len(files) > MOST_FILES or n_bytes > limit:
            what = f"{counted(MOST_FILES)} files" if len(files) > MOST_FILES else in_gib(limit)
            raise ValueError(f"{folder.name} holds more than {what}, which is the limit")
    if not files:
        raise _no_table(folder)
    levels = {tuple(keys_of(file, folder)) for file in files}
    if len(levels) > 1:
        shown = " and ".join("/".join(keys) or "no key" for keys in sorted(levels)[:2])
        raise ValueError(f"{folder.name}: its files lie in folders of different keys, {shown}")
    return files


def _no_table(folder: Path) -> IsADirectoryError:
    return IsADirectoryError(f"{str(folder)!r} is a folder; name one file in it")


def _walk(folder: Path, top: Path, depth: int) -> Iterator[Path]:
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "_")))
    is_table = depth > 0 or any(_is_part(entry) for entry in entries)
    if not is_table:
        raise _no_table(top)
    if depth > _DEEPEST:
        raise ValueError(f"{top.name}: folders lie deeper than {_DEEPEST} levels")
    for entry in entries:
        where = f"{top.name}: {quoted(entry.relative_to(top).as_posix(), 80)}"
        if entry.is_symlink():
            raise ValueError(f"{where} is a link, which is not followed")
        if entry.is_dir():
            if "=" not in entry.name:
                raise ValueError(f"{where} is a folder that is not named key=value, so that it is no part of a table")
            yield from _walk(entry, top, depth + 1)
        elif _is_part(entry) and entry.is_file():
            yield entry
        else:
            raise ValueError(f"{where} is no Parquet file; a folder that is read as one table must hold these alone")


def _is_part(entry: Path) -> bool:
    return entry.suffix.lower() in (".parquet", ".pq") or ("=" in entry.name and entry.is_dir())


def keys_of(file: Path, folder: Path) -> dict[str, str]:
    """Return the keys that the folders above a file give, in their order."""
    parts = (part.partition("=") for part in file.relative_to(folder).parts[:-1])
    return {unquote(key): unquote(value) for key, _, value in parts}


def with_keys(table: RawTable, keys: dict[str, str]) -> RawTable:
    """Put the keys of a file before its columns, as text; a column that the file has itself is kept."""
    own = set(table.names)
    added: list[Column] = []
    for key, value in keys.items():
        if key not in own:
            codes = np.full(table.n_rows, -1 if value == _MISSING else 0, dtype=np.int64)
            added.append(TextColumn(key, () if value == _MISSING else (value,), codes))
    table.columns[:0] = added
    return table


def keys_as_numbers(table: RawTable, keys: Collection[str]) -> None:
    """Turn keys into numbers where all of their values are."""
    for place, column in enumerate(table.columns):
        if isinstance(column, TextColumn) and column.name in keys:
            table.columns[place] = numbers_in_text(column, leading_zeros=True)
