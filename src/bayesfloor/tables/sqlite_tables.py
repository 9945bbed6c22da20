"""Tables of SQLite databases, opened to be read only. Nothing in them runs: no view, no trigger and no module."""

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesfloor.runtime.text import listed_names, quoted
from bayesfloor.tables.column_builders import BLOCK_ROWS, ValueBuilder
from bayesfloor.tables.columns import RawTable, check_names
from bayesfloor.tables.sizes import check_size
from bayesfloor.tables.unpacking import Contents

if TYPE_CHECKING:
    from sqlite3 import Connection

#: Bytes of the longest value that SQLite makes: an expression in the file can ask for gigabytes.
_LONGEST_VALUE = 2**24


def read_sqlite(contents: Contents, table: str | None) -> RawTable:
    """Read a table of a SQLite database.

    Parameters
    ----------
    contents : Contents
        The file.
    table : str or None
        The table; None where there is only one.

    Returns
    -------
    RawTable

    Raises
    ------
    ValueError
        Listing the tables where none or one that is not there was named; for views, damaged files, and files that
        another program is writing to.
    """
    import sqlite3

    if contents.path is not None:
        _check_finished(contents.path, contents.name)
    try:
        with closing(_connect(contents)) as connection:
            return _read(connection, contents, table)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{contents.name} cannot be read as SQLite: {error}") from error


def _check_finished(path: Path, name: str) -> None:
    """Refuse a file whose last changes lie in another: a file that is opened as it is would lack them."""
    for ending in ("-wal", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.is_file() and beside.stat().st_size:
            raise ValueError(
                f"{name}: changes that are not in the file yet lie in {beside.name}; close the program that writes it"
            )


def _connect(contents: Contents) -> "Connection":
    import sqlite3

    if contents.path is not None:
        uri = f"{contents.path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True)
    else:
        connection = sqlite3.connect(":memory:")
        connection.deserialize(contents.data)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _read(connection: "Connection", contents: Contents, wanted: str | None) -> RawTable:
    name = contents.name
    kinds = _tables(connection)
    known = [table for table, kind in kinds.items() if kind == "table"]
    if wanted is None and len(known) != 1:
        raise ValueError(f"{name} has {_listed(known)}; name one: {name}::{known[0] if known else 'TABLE'}")
    table = known[0] if wanted is None else wanted
    if table not in kinds:
        raise ValueError(f"{name} has no table {quoted(table)}; it has {_listed(known)}")
    where = name if len(known) == 1 else f"{name}::{table}" if table.isprintable() else f"{name}::{table!r}"
    if kinds[table] != "table":
        raise ValueError(f"{where} is a {kinds[table]}, which would be computed; save it as a table")
    names = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({_quoted(table)})")]
    check_names(names, where)
    builders = [ValueBuilder(column) for column in names]
    cursor = connection.execute(f"SELECT {', '.join(map(_quoted, names))} FROM {_quoted(table)}")
    n_rows = 0
    # a row takes bytes of the file; a damaged one can lead back to pages that were read before
    most = contents.size
    while block := list(islice(cursor, BLOCK_ROWS)):
        n_rows += len(block)
        if n_rows > most:
            raise ValueError(f"{where} holds more rows than the file has bytes; it is damaged")
        check_size(n_rows, len(names), where)
        for builder, values in zip(builders, zip(*block, strict=True), strict=True):
            builder.add(values)
    if not n_rows:
        raise ValueError(f"{where} holds no rows")
    notes = [f"SQLite file, table {quoted(table)}."]
    columns = [builder.column() for builder in builders]
    return RawTable(where, columns, n_rows, np.arange(1, n_rows + 1), None, notes, row_word="row")


def _tables(connection: "Connection") -> dict[str, str]:
    """Return the name and the kind of each table: "table", "view" or "virtual table"."""
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')")
    found = {}
    for name, kind, sql in rows:
        if not str(name).startswith("sqlite_"):
            words = str(sql).upper().split(maxsplit=2)
            found[str(name)] = "virtual table" if words[1:2] == ["VIRTUAL"] else str(kind)
    return found


def _listed(tables: list[str]) -> str:
    return f"the tables {listed_names(tables, most=12)}" if tables else "no tables"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
