"""Tables of values of any type: JSON, a record on each line or an array of records, and tables of SQLite databases.

A database is opened to be read only. Nothing in it runs: no view, no trigger and no module.
"""

import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesfloor.runtime.text import listed_names, quoted
from bayesfloor.tables.column_builders import BLOCK_ROWS, ValueBuilder
from bayesfloor.tables.columns import RawTable, check_names
from bayesfloor.tables.sniffing import detect_encoding
from bayesfloor.tables.unpacking import Contents, check_size

if TYPE_CHECKING:
    from sqlite3 import Connection

_BLANK = re.compile(r"\s*")
_KINDS = {list: "an array", dict: "an object", str: "text", bool: "a truth value", type(None): "null"}

Record = dict[str, Any]

#: Bytes of the longest value that SQLite makes: an expression in the file can ask for gigabytes.
_LONGEST_VALUE = 2**24


def looks_like_json(head: bytes) -> bool:
    """Tell whether a text begins with an array of objects, or with a line that is an object."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return text[1:].lstrip().startswith(b"{")
    if not text.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(text.splitlines()[0]), dict)
    except (ValueError, RecursionError):
        return False


def read_json(contents: Contents) -> RawTable:
    """Read a file of JSON lines, or an array of records.

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    RawTable
        A column for each key, in the order in which they first come; null and keys that a record lacks are missing.
        Numbers, booleans and text are read; columns of mixed types are text, and arrays and objects are no values.

    Raises
    ------
    ValueError
        Naming the line or the record: what is no JSON or no object, keys that come twice, and too deep a nest.
    """
    name = contents.name
    with contents.open() as stream:
        encoding, reason = detect_encoding(stream, name)
    is_array = contents.head.decode(encoding, "ignore").lstrip("\ufeff \t\r\n").startswith("[")
    records = _records_of_array(contents, encoding) if is_array else _records_of_lines(contents, encoding)
    builders: dict[str, ValueBuilder] = {}
    block: list[Record] = []
    places: list[int] = []
    n_rows = 0
    try:
        for place, record in records:
            block.append(record)
            places.append(place)
            if len(block) == BLOCK_ROWS:
                n_rows = _add(builders, block, n_rows, name)
                block = []
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not {encoding} ({error.reason})") from error
    n_rows = _add(builders, block, n_rows, name)
    if not n_rows or not builders:
        raise ValueError(f"{name} holds {n_rows} records and {len(builders)} keys")
    what = "an array of records" if is_array else "a record on each line"
    note = f"JSON file, {what}, encoding {encoding}{f' ({reason})' * bool(reason)}."
    columns = [builder.column() for builder in builders.values()]
    return RawTable(
        name, columns, n_rows, np.array(places, dtype=np.int64), None, [note], row_word="row" if is_array else "line"
    )


def _add(builders: dict[str, ValueBuilder], block: list[Record], n_before: int, name: str) -> int:
    """Add records to the columns; return how many there are now."""
    n_rows = n_before + len(block)
    new = dict.fromkeys(key for record in block for key in record if key not in builders)
    check_size(n_rows, len(builders) + len(new), name)
    for key in new:
        builders[key] = ValueBuilder(key, n_before)
    for key, builder in builders.items():
        builder.add([record.get(key) for record in block])
    return n_rows


def _records_of_lines(contents: Contents, encoding: str) -> Iterator[tuple[int, Record]]:
    with io.TextIOWrapper(contents.open(), encoding) as lines:
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if text:
                where = f"{contents.name}, line {number}"
                value, end = _decode(text, 0, where)
                rest = text[end:].strip()
                if rest:
                    raise ValueError(f"{where}: {quoted(rest)} follows the record; a line holds one")
                yield number, _checked(value, where)


def _records_of_array(contents: Contents, encoding: str) -> Iterator[tuple[int, Record]]:
    text = contents.data.decode(encoding)
    place = text.index("[") + 1
    number = 0
    while True:
        where = f"{contents.name}, row {number + 1}"
        place = _BLANK.match(text, place).end()  # type: ignore[union-attr]
        if number == 0 and text.startswith("]", place):
            place += 1
            break
        value, place = _decode(text, place, where)
        number += 1
        yield number, _checked(value, where)
        place = _BLANK.match(text, place).end()  # type: ignore[union-attr]
        sign, place = text[place : place + 1], place + 1
        if sign == "]":
            break
        if sign != ",":
            raise ValueError(f"{where}: {quoted(sign)} follows the record" if sign else f"{where}: the file ends here")
    rest = text[place:].strip()
    if rest:
        raise ValueError(f"{contents.name}: {quoted(rest)} follows the array")


def _decode(text: str, place: int, where: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, place)
    except json.JSONDecodeError as error:
        at = f", column {error.pos + 1}" if len(text) < 10_000 else ""
        raise ValueError(f"{where}{at}: {error.msg}; this is no JSON record") from error
    except RecursionError as error:
        raise ValueError(f"{where}: arrays or objects within each other, too deep to be read") from error
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _record(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(quoted(key) for key in keys if keys.count(key) > 1)} comes twice")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_record)


def _checked(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        kind = _KINDS.get(type(value), "a number")
        raise ValueError(f"{where}: {kind}, where an object with named values is needed")
    return value


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
