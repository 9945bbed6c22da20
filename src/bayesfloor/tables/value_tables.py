"""Tables of values of any type: JSON, a record on each line or an array of records."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesfloor.runtime.text import quoted
from bayesfloor.tables.column_builders import BLOCK_ROWS, ValueBuilder
from bayesfloor.tables.columns import RawTable
from bayesfloor.tables.sniffing import detect_encoding
from bayesfloor.tables.unpacking import Contents, check_size

_BLANK = re.compile(r"\s*")
_KINDS = {list: "an array", dict: "an object", str: "text", bool: "a truth value", type(None): "null"}

Record = dict[str, Any]


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
