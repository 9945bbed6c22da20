"""Several tables with the same columns -> one, whose rows still know the file that they came from.

Folders of Parquet files are such tables, plain or partitioned as Hive does: ``folder/year=2020/part-0.parquet``.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.text import counted, listed_names, quoted
from bayesfloor.tables.column_builders import numbers_in_text
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    as_text,
    codes_among,
    in_natural_order,
)

#: Most files of a folder: each takes milliseconds to open.
MOST_FILES = 10_000
#: Maximum depth of nested partition folders.
_DEEPEST = 16
#: Hive's name for a missing value.
MISSING_KEY = "__HIVE_DEFAULT_PARTITION__"


def join_tables(tables: Sequence[RawTable]) -> RawTable:
    """Put the rows of several tables below each other.

    Parameters
    ----------
    tables : sequence of RawTable
        With the same columns, in any order. They lose these.

    Returns
    -------
    RawTable
        With the columns of the first. A column that is text in one table and numbers in another is text; what goes
        together in no other way is an `OtherColumn`.

    Raises
    ------
    ValueError
        When the names of columns differ, or the targets that the files name.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    for other in tables[1:]:
        _check_alike(first, other)
    n_rows = sum(table.n_rows for table in tables)
    # each column is taken out of its table, so that its memory is free once it is copied
    by_name = [{column.name: column for column in table.columns} for table in tables]
    names = first.names
    for table in tables:
        table.columns = []
    lengths, n_samples = [table.n_rows for table in tables], [table.n_samples for table in tables]
    columns = [_joined(name, [each.pop(name) for each in by_name], lengths) for name in names]
    notes = [f"{counted(len(tables))} files, one below the other: {listed_names([table.source for table in tables])}."]
    notes += dict.fromkeys(note for table in tables for note in table.notes)
    words = {table.row_word for table in tables}
    return RawTable(
        f"{first.source} and {len(tables) - 1} more",
        columns,
        n_rows,
        np.concatenate([table.lines for table in tables]),
        first.target,
        notes,
        list(dict.fromkeys(caution for table in tables for caution in table.cautions)),
        words.pop() if len(words) == 1 else "row",
        tuple(table.source for table in tables),
        np.repeat(np.arange(len(tables)), lengths),
        n_drawn_from=sum(n_samples) if any(table.n_drawn_from is not None for table in tables) else None,
    )


def names_of_text_in_some(tables: Sequence[RawTable]) -> list[str]:
    """Name the columns that are text in some tables and hold numbers in others."""
    kinds: dict[str, set[type]] = {}
    for table in tables:
        for column in table.columns:
            if not isinstance(column, NumberColumn) or not np.isnan(column.values).all():
                kinds.setdefault(column.name, set()).add(type(column))
    return [name for name, found in kinds.items() if found >= {TextColumn, NumberColumn}]


def check_alike(first: tuple[str, Sequence[str]], other: tuple[str, Sequence[str]]) -> None:
    """Refuse two tables, each given by its name and those of its columns, that do not have the same columns."""
    pairs = ((other, first), (first, other))
    lacking = [(name, [each for each in wanted if each not in set(own)]) for (name, own), (_, wanted) in pairs]
    parts = [f"{name} lacks {listed_names(columns)}" for name, columns in lacking if columns]
    if parts:
        raise ValueError(f"Several files need the same columns: {', and '.join(parts)}")


def _check_alike(first: RawTable, other: RawTable) -> None:
    check_alike((first.source, first.names), (other.source, other.names))
    if first.target != other.target:
        raise ValueError(f"{first.source} names the target {first.target!r}, but {other.source} {other.target!r}")


def _joined(name: str, columns: Sequence[Column], lengths: Sequence[int]) -> Column:
    numbers = [column for column in columns if isinstance(column, NumberColumn)]
    dates = [column for column in columns if isinstance(column, DateColumn)]
    if len(numbers) == len(columns):
        values = np.concatenate([column.values for column in numbers])
        is_truth = all(column.is_truth for column in numbers)
        return NumberColumn(name, values, sum(column.rounded for column in numbers), is_truth)
    if dates and all(_is_empty(column) or isinstance(column, DateColumn) for column in columns):
        parts = [
            column.values if isinstance(column, DateColumn) else np.full(length, np.nan)
            for column, length in zip(columns, lengths, strict=True)
        ]
        types = dict.fromkeys(column.type_name for column in dates)
        if len({type_name.split("(")[0] in ("Date", "Datetime") for type_name in types}) == 1:
            return DateColumn(name, np.concatenate(parts), " and ".join(types))
    texts = [as_text(column) for column in columns]
    if any(not isinstance(column, TextColumn) for column in texts):
        types = dict.fromkeys(_type_of(column) for column in columns)
        return OtherColumn(name, " and ".join(types))
    return _joined_text(name, [column for column in texts if isinstance(column, TextColumn)])


def _joined_text(name: str, columns: Sequence[TextColumn]) -> TextColumn:
    everything = list(dict.fromkeys(text for column in columns for text in column.categories))
    same_order = all(column.categories == columns[0].categories for column in columns)
    categories = everything if same_order else in_natural_order(everything)
    codes = [np.append(codes_among(column.categories, categories), -1)[column.codes] for column in columns]
    return TextColumn(name, tuple(categories), np.concatenate(codes))


def _is_empty(column: Column) -> bool:
    return isinstance(column, NumberColumn) and bool(np.isnan(column.values).all())


def _type_of(column: Column) -> str:
    if isinstance(column, DateColumn | OtherColumn):
        return column.type_name
    return "numbers" if isinstance(column, NumberColumn) else "text"


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
            codes = np.full(table.n_rows, -1 if value == MISSING_KEY else 0, dtype=np.int64)
            added.append(TextColumn(key, () if value == MISSING_KEY else (value,), codes))
    table.columns[:0] = added
    return table


def keys_as_numbers(table: RawTable, keys: Collection[str]) -> None:
    """Turn keys into numbers where all of their values are."""
    for place, column in enumerate(table.columns):
        if isinstance(column, TextColumn) and column.name in keys:
            table.columns[place] = numbers_in_text(column, leading_zeros=True)
