"""What a caller names -> its columns: one file of any format, a part of one, several files, a folder, or stdin."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.arff import looks_like_arff, read_arff
from bayesfloor.tables.binary_tables import read_frame, read_npz
from bayesfloor.tables.columns import RawTable, likely_target
from bayesfloor.tables.excel import read_excel
from bayesfloor.tables.joining import (
    find_parts,
    join_tables,
    keys_as_numbers,
    keys_of,
    names_of_text_in_some,
    with_keys,
)
from bayesfloor.tables.libsvm import looks_like_libsvm, read_libsvm
from bayesfloor.tables.text_tables import read_text_table
from bayesfloor.tables.unpacking import STDIN, Contents, read_contents
from bayesfloor.tables.value_tables import looks_like_json, read_json

Source = str | os.PathLike[str]

#: First bytes of formats that nothing else begins with.
_SIGNATURES = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_READERS: dict[str, Callable[[Contents], RawTable]] = {
    "arff": read_arff,
    "json": read_json,
    "libsvm": read_libsvm,
    "npz": read_npz,
}
#: File name extensions of formats that have a signature of their own.
_PROMISES = [".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xlsm"]


def detect_format(contents: Contents) -> str:
    """Return "parquet", "arrow", "stream", "npz", "excel", "json", "arff", "libsvm" or "text".

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        When the name promises a format that the bytes do not hold, for pickles, and for formats that are not read.
    """
    data, suffix, name = contents.head, contents.suffix, contents.name
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            return kind
    if data.startswith(b"SQLite format 3\0"):
        raise ValueError(f"{name} is a SQLite database; read a table of it as a data frame, with polars.read_database")
    if data.startswith(b"FEA1"):
        raise ValueError(f"{name} is a Feather file of version 1; write it again as version 2")
    if suffix == ".orc" or (data.startswith(b"ORC") and b"\0" in data):
        raise ValueError(f"{name} is an ORC file, which polars does not read; save the table as Parquet")
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise ValueError(f"{name} is an Excel workbook in the old format, or locked by a password; save it as .xlsx")
    if suffix == ".npz":
        return "npz"
    if suffix in (".xlsx", ".xlsm") and data.startswith(b"PK"):
        return "excel"
    if data.startswith(b"\x93NUMPY"):
        raise ValueError(f"{name} is a single NumPy array; save it with numpy.savez(..., X=..., y=...)")
    if data[0] == 0x80 and len(data) > 1 and data[1] <= 5:
        raise ValueError(f"{name} is a pickle, and reading one can run code; save the table as Parquet, CSV or NPZ")
    if data.startswith(b"\xff\xff\xff\xff"):
        return "stream"
    if suffix in _PROMISES:
        raise ValueError(f"{name} is named like a {suffix[1:].capitalize()} file, but it is not one, or it is damaged")
    if suffix == ".arff" or looks_like_arff(data):
        return "arff"
    if suffix in _LIBSVM_SUFFIXES or looks_like_libsvm(data):
        return "libsvm"
    if suffix in _JSON_SUFFIXES or (suffix in ("", ".txt", ".data") and looks_like_json(data)):
        return "json"
    return "text"


def read_raw(source: Source | Sequence[Source], limit: int | None = None, **text_options: Any) -> RawTable:
    """Read a file of any format, several of them, or a folder of Parquet files.

    Parameters
    ----------
    source : str, path-like or sequence of these
        The file; "-" for stdin, ``book.xlsx::sheet`` for a part of one. Several files need the same columns, in any
        order.
    limit : int or None
        The largest number of unpacked bytes, of all files together; None for that of `Limits`.
    **text_options
        Those of `read_text_table`; other formats do without.

    Returns
    -------
    RawTable
        The rows of several files follow each other.
    """
    limit = limits().unpacked_bytes if limit is None else limit
    if not isinstance(source, str | os.PathLike):
        return _read_several(list(source), limit, text_options)
    path, part = split_source(source)
    if str(path) != STDIN and path.is_dir():
        return _read_folder(path, limit)
    return _read_contents(read_contents(path, limit=limit), part, text_options)


def split_source(source: Source) -> tuple[Path, str | None]:
    """Split what names a table into a path and the part of the file that is meant.

    Parameters
    ----------
    source : str or path-like
        A path; behind ``::`` may follow the name of a sheet. A file whose own name has ``::`` in it is found by that
        name.

    Returns
    -------
    path : Path
        The file or folder, whether it exists or not.
    part : str or None
        The sheet.
    """
    text = os.fspath(source)
    if "::" not in text or os.path.lexists(text):
        return Path(text), None
    places = [place for place in range(len(text)) if text.startswith("::", place)]
    place = next((place for place in places if os.path.isfile(text[:place])), places[0])
    return Path(text[:place]), text[place + 2 :]


def _read_contents(contents: Contents, part: str | None, text_options: dict[str, Any]) -> RawTable:
    kind = detect_format(contents)
    if kind == "excel":
        table = read_excel(contents, part)
    elif part is not None:
        raise ValueError(f"{contents.name}::{part}: only Excel workbooks have parts to be named")
    elif kind == "text":
        table = read_text_table(contents, **text_options)
    elif kind in _READERS:
        table = _READERS[kind](contents)
    else:
        table = read_frame(contents, kind)
    table.notes[:0] = contents.notes
    return table


def _read_several(sources: list[Source], limit: int, text_options: dict[str, Any]) -> RawTable:
    if not sources:
        raise ValueError("no file was named")
    if len(sources) == 1:
        return read_raw(sources[0], limit, **text_options)
    if STDIN in map(str, sources):
        raise ValueError("stdin (-) is read alone, not together with files")
    first = read_raw(sources[0], limit, **text_options)
    text_options = {**text_options, "target": _name_of_target(first, text_options)}
    tables = [first, *_read_each(sources[1:], limit, text_options, first)]
    mixed = names_of_text_in_some(tables)
    if mixed:
        # numbers are read again, so that text keeps how they were written: "007" is not "7"
        options = {**text_options, "categorical": [*text_options.get("categorical", ()), *mixed]}
        tables = _read_each(sources, limit, options)
    return join_tables(tables)


def _name_of_target(first: RawTable, text_options: dict[str, Any]) -> Any:
    """Return the target by its name: the last column of one file need not be that of another."""
    target = text_options.get("target")
    if target is None:
        dropped = text_options.get("dropped", ())
        return first.target or likely_target(first.names, dropped)
    if isinstance(target, int) and -len(first.names) <= target < len(first.names):
        return first.names[target]
    return target


def _read_each(
    sources: Sequence[Source], limit: int, text_options: dict[str, Any], *before: RawTable
) -> list[RawTable]:
    """Read files one after the other, as long as all of them, with those that came before, are within the limit."""
    tables = list(before)
    for source in sources:
        tables.append(read_raw(source, limit, **text_options))
        n_bytes = sum(8 * table.n_rows * len(table.columns) for table in tables)
        if n_bytes > limit:
            raise ValueError(f"the first {len(tables)} files unpack to {in_gib(n_bytes)}; the limit is {in_gib(limit)}")
    return tables[len(before) :]


def _read_folder(folder: Path, limit: int) -> RawTable:
    files = find_parts(folder, limit)
    keys = [keys_of(file, folder) for file in files]
    tables = [with_keys(table, own) for table, own in zip(_read_each(files, limit, {}), keys, strict=True)]
    for table, file in zip(tables, files, strict=True):
        table.source = file.relative_to(folder).as_posix()
    joined = join_tables(tables)
    joined.source = folder.resolve().name
    keys_as_numbers(joined, keys[0])
    return joined
