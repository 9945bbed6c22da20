"""A file on disk -> its bytes, unpacked where it is a gzip or zip file.

Packed files are recognised by their first bytes, not by their names. What they hold is read up to a limit, so that a
small file cannot fill the memory.
"""

import gzip
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.text import listed

#: Bytes of the largest file, unpacked, that is read; larger ones are refused.
UNPACKED_LIMIT = 4 * 2**30

#: Endings of files that hold several tables, or a table in a form that is not read here, and what to do about each.
_OTHER_PROGRAMS = {
    suffix: what
    for suffixes, what in (
        (".xlsx .xls", "an Excel workbook; save the sheet as CSV"),
        (".ods", "a spreadsheet; save it as CSV"),
        (".pkl .pickle .joblib", "a pickle, and reading one can run code; save the table as Parquet, CSV or NPZ"),
        (".rds", "an R object; save the table as CSV or Parquet"),
        (".rdata", "an R workspace; save the table as CSV or Parquet"),
        (".h5 .hdf5", "an HDF5 file; save the table as Parquet, CSV or NPZ"),
        (".sqlite .db", "a database; save the table as CSV or Parquet"),
        (".tar .tgz .7z .rar", "an archive; unpack it and name one table"),
        (".bz2", "packed by bzip2; unpack it, or pack it with gzip or zip"),
        (".xz", "packed by xz; unpack it, or pack it with gzip or zip"),
        (".zst", "packed by zstd; unpack it, or pack it with gzip or zip"),
    )
    for suffix in suffixes.split()
}


@dataclass(frozen=True)
class Contents:
    """The bytes of a table.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    suffix : str
        How the table's own name ends, in lower case: ".csv" for both ``a.csv`` and ``a.csv.gz``.
    data : bytes
        What it holds.
    notes : tuple of str
        How it was packed.
    """

    name: str
    suffix: str
    data: bytes
    notes: tuple[str, ...] = ()


def read_contents(path: Any, *, limit: int = UNPACKED_LIMIT) -> Contents:
    """Read a file, plain, gzip or zip.

    Parameters
    ----------
    path : str or path-like
        The file.
    limit : int
        The largest number of unpacked bytes.

    Returns
    -------
    Contents

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        When there is no such file, or it cannot be opened.
    ValueError
        For an empty file, a broken one, a zip that holds more or less than one file, more bytes than the limit, and
        files of programs whose formats are not read.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"{str(file)!r}: no such file")
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; name one file in it")
    if not file.is_file():
        raise ValueError(f"{str(file)!r} is not a plain file")
    name = _shown(file.name)
    suffix = file.suffix.lower()
    _refuse_other_programs(name, suffix)
    size = file.stat().st_size
    if size == 0:
        raise ValueError(f"{name} is empty")
    if size > limit:
        raise ValueError(f"{name} has {in_gib(size)}; the limit is {in_gib(limit)}")
    check_memory(2 * size, f"Reading {name}")
    data = file.read_bytes()
    if data[:2] == b"\x1f\x8b":
        return _unpack_gzip(name, file.stem, data, limit)
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06") and suffix != ".npz":
        return _unpack_zip(name, data, limit)
    if suffix in (".gz", ".zip"):
        raise ValueError(f"{name} is named like a packed file, but it is not one")
    return Contents(name, suffix, data)


def _unpack_gzip(name: str, stem: str, data: bytes, limit: int) -> Contents:
    suffix = PurePosixPath(stem).suffix.lower()
    _refuse_other_programs(name, suffix)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            unpacked = _read_up_to(packed, limit, name)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name}: the gzip file is damaged or cut off ({error})") from error
    if not unpacked:
        raise ValueError(f"{name} is empty")
    return Contents(name, suffix, unpacked, ("The file was packed by gzip.",))


def _unpack_zip(name: str, data: bytes, limit: int) -> Contents:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # folders, and what macOS adds for itself, are no tables
            members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
            if len(members) != 1:
                names = listed([_shown(m.filename) for m in members]) or "none"
                raise ValueError(f"{name}: a zip file must hold exactly one file; it holds {len(members)}: {names}")
            (member,) = members
            if member.flag_bits & 1:
                raise ValueError(f"{name} is locked by a password; unpack it first")
            if member.file_size > limit:
                raise _too_large(name, limit)
            with archive.open(member) as packed:
                unpacked = _read_up_to(packed, limit, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{name}: the zip file is damaged or cut off ({error})") from error
    if not unpacked:
        raise ValueError(f"{name}: the file in it, {_shown(member.filename)}, is empty")
    suffix = PurePosixPath(member.filename).suffix.lower()
    _refuse_other_programs(name, suffix)
    return Contents(name, suffix, unpacked, (f"The zip file holds {_shown(member.filename)}.",))


def _read_up_to(packed: IO[bytes] | gzip.GzipFile, limit: int, name: str) -> bytes:
    """Read a stream piece by piece; refuse it as soon as it exceeds the limit."""
    pieces, total = [], 0
    while piece := packed.read(2**22):
        total += len(piece)
        if total > limit:
            raise _too_large(name, limit)
        check_memory(2 * total, f"Unpacking {name}")  # the pieces, and the whole that they become
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(name: str, limit: int) -> ValueError:
    return ValueError(f"{name} unpacks to more than {in_gib(limit)}, which is the limit; unpack it and take a part")


def _refuse_other_programs(name: str, suffix: str) -> None:
    if suffix in _OTHER_PROGRAMS:
        raise ValueError(f"{name} is {_OTHER_PROGRAMS[suffix]}")


def _shown(name: str) -> str:
    """Name a file in a message; control characters show as escapes."""
    return name if name.isprintable() else repr(name)
