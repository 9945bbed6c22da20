"""A file on disk, or what comes from stdin -> its bytes, unpacked where gzip, bzip2, xz or zip packed them.

Packed files are recognised by their first bytes, not by their names. What they hold is read up to a limit, so that a
small file cannot fill the memory. A plain file stays on disk until its bytes are asked for. How large a table may be
is said here as well: files are checked against these limits before their columns are made.
"""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.text import counted, listed

#: Number of first bytes that are used to detect the format.
HEAD_BYTES = 2**20

#: Bytes to unpack at a time.
_PIECE_BYTES = 2**22

#: Bytes for each packed one that are read piece by piece, beyond `unpacked_bytes`; tables of numbers have about four.
_MOST_PACKED = 200

#: Memory that unpacking an xz file may take: `xz -9` needs 65 MiB, and a file can ask for gigabytes.
_XZ_MEMORY = 2**28

#: Endings of files that hold several tables, or a table in a form that is not read here, and what to do about each.
_OTHER_PROGRAMS = {
    suffix: what
    for suffixes, what in (
        (".xlsb", "a binary Excel workbook; save it as .xlsx or CSV"),
        (".ods", "a spreadsheet; save it as .xlsx or CSV"),
        (".pkl .pickle .joblib", "a pickle, and reading one can run code; save the table as Parquet, CSV or NPZ"),
        (".rds", "an R object; save the table as CSV or Parquet"),
        (".rdata", "an R workspace; save the table as CSV or Parquet"),
        (".h5 .hdf5", "an HDF5 file; save the table as Parquet, CSV or NPZ"),
        (".tar .tgz .7z .rar", "an archive; unpack it and name one table"),
        (".zst", "packed by zstd; unpack it, or pack it with gzip, bzip2 or xz"),
    )
    for suffix in suffixes.split()
}


#: What is read from the standard input, in place of a path.
STDIN = "-"

#: Packers of one file: the first bytes, and how such files are named.
_STREAMS = {
    "gzip": ((b"\x1f\x8b",), ".gz"),
    # after the level comes a block or, in an empty file, the end
    "bzip2": (tuple(b"BZh%d%s" % (level, mark) for level in range(1, 10) for mark in (b"1AY", b"\x17rE")), ".bz2"),
    "xz": ((b"\xfd7zXZ\0",), ".xz"),
}
_ZSTD = b"\x28\xb5\x2f\xfd"
#: Extensions of zip files that are tables themselves.
_ZIPS_OF_ONE_TABLE = (".npz", ".xlsx", ".xlsm")


def check_n_columns(n_columns: int, name: str) -> None:
    """Refuse a file with too many columns, before any work is done on each."""
    most = limits().table_columns
    if n_columns > most:
        raise ValueError(
            f"{name} has {counted(n_columns)} columns; the limit is {counted(most)}. Are rows and columns exchanged?"
        )


def check_n_rows(n_rows: int, name: str) -> None:
    """Refuse a file with too many rows, before its columns are unpacked."""
    most = limits().table_rows
    if n_rows > most:
        raise ValueError(
            f"{name} has {counted(n_rows)} rows or more; the limit is {counted(most)}. Draw a sample of them first"
        )


def check_unpacked(n_bytes: int, name: str, what: str = "") -> None:
    """Refuse a file that unpacks to too many bytes."""
    most = limits().unpacked_bytes
    if n_bytes > most:
        raise ValueError(f"{name} unpacks to {what}{in_gib(n_bytes)}; the limit is {in_gib(most)}")


def check_size(n_rows: int, n_columns: int, name: str, copies: int = 3) -> None:
    """Refuse a table that is too large, before its columns are made: a few bytes can name a new one in each row."""
    check_n_columns(n_columns, name)
    check_n_rows(n_rows, name)
    n_bytes = 8 * n_rows * n_columns
    check_unpacked(n_bytes, name, f"{counted(n_rows)} rows of {counted(n_columns)} columns, ")
    check_memory(copies * n_bytes, f"Reading {name}")


@dataclass(frozen=True)
class Contents:
    """The bytes of a table.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    suffix : str
        How the table's own name ends, in lower case: ".csv" for both ``a.csv`` and ``a.csv.gz``.
    held : bytes or None
        What it holds; None where that is still on disk.
    notes : tuple of str
        How it was packed.
    path : Path or None
        Where a file lies that is not held.
    packer : {"gzip", "bzip2"} or None
        What unpacks that file while it is read.
    """

    name: str
    suffix: str
    held: bytes | None
    notes: tuple[str, ...] = ()
    path: Path | None = None
    packer: str | None = None

    @cached_property
    def data(self) -> bytes:
        """All of the bytes."""
        if self.held is not None:
            return self.held
        with self.open() as stream:
            return stream.read()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, `HEAD_BYTES` at most."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @property
    def size(self) -> int:
        """The number of bytes; as they lie on disk where they are unpacked while they are read."""
        return self.path.stat().st_size if self.path is not None else len(self.data)

    @cached_property
    def expected_size(self) -> int:
        """About how many bytes there are once they are unpacked, by how far the first ones were packed."""
        if self.packer is None:
            return self.size
        with self.open() as stream:
            n_first = len(stream.read(HEAD_BYTES))
            n_packed = cast("_PackedStream", stream).packed.tell()
        return max(self.size, self.size * n_first // max(n_packed, 1))

    def open(self) -> IO[bytes]:
        """Open the bytes for reading."""
        if self.held is not None:
            return io.BytesIO(self.held)
        assert self.path is not None
        stream = self.path.open("rb")
        return stream if self.packer is None else cast("IO[bytes]", _PackedStream(stream, self))


class _PackedStream:
    """What a packed file holds, unpacked while it is read; a small file cannot keep a reader busy for ever."""

    def __init__(self, packed: IO[bytes], contents: Contents):
        self.packed, self.contents = packed, contents
        opened = gzip.GzipFile(fileobj=packed) if contents.packer == "gzip" else bz2.BZ2File(packed)
        self.stream: Any = opened
        self.most = max(limits().unpacked_bytes, _MOST_PACKED * contents.size)

    def read(self, n_bytes: int = -1) -> bytes:
        """Read the next bytes."""
        try:
            data: bytes = self.stream.read(n_bytes)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(
                f"{self.contents.name}: the {self.contents.packer} file is damaged or cut off ({error})"
            ) from error
        if self.stream.tell() > self.most:
            raise _too_large(self.contents.name, self.most)
        return data

    def seek(self, place: int) -> None:
        """Go to a place among the unpacked bytes."""
        self.stream.seek(place)

    def tell(self) -> int:
        """Return how many bytes were unpacked."""
        return int(self.stream.tell())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stream.close()
        self.packed.close()


def read_contents(path: Any, *, limit: int | None = None) -> Contents:
    """Read a file, plain or packed by gzip, bzip2, xz or zip.

    Parameters
    ----------
    path : str or path-like
        The file; "-" for stdin.
    limit : int or None
        The largest number of unpacked bytes; None for that of `Limits`.

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
    limit = limits().unpacked_bytes if limit is None else limit
    if str(path) == STDIN:
        return _unpacked(_read_stdin(limit), "stdin", limit)
    found = _found(path)
    if found.size > limit:
        raise ValueError(f"{found.name} has {in_gib(found.size)}; the limit is {in_gib(limit)}")
    check_memory(2 * found.size, f"Reading {found.name}")
    return _unpacked(found, Path(path).stem, limit)


def open_contents(path: Any) -> Contents | None:
    """Find a file of any size whose bytes are to be read piece by piece, those packed by gzip or bzip2 unpacked so.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Contents or None
        None where it is packed in another way, or named so: `read_contents` reads it, or says what is wrong.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, ValueError
        As for `read_contents`, which has limits of size as well.
    """
    found = _found(path)
    packer = next((name for name, (first, _) in _STREAMS.items() if found.head.startswith(first)), None)
    if packer in ("gzip", "bzip2"):
        suffix = PurePosixPath(Path(path).stem).suffix.lower()
        _refuse_other_programs(found.name, suffix)
        notes = (f"The file was packed by {packer}.",)
        return Contents(found.name, suffix, None, notes, found.path, packer)
    is_packed = packer is not None or found.head.startswith((b"PK\x03\x04", b"PK\x05\x06", _ZSTD))
    return None if is_packed or found.suffix in (".gz", ".bz2", ".xz", ".zip") else found


def _found(path: Any) -> Contents:
    """Find a plain file that holds something."""
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
    if file.stat().st_size == 0:
        raise ValueError(f"{name} is empty")
    return Contents(name, suffix, None, path=file)


def _read_stdin(limit: int) -> Contents:
    if sys.stdin is None or sys.stdin.closed:
        raise ValueError("stdin is closed; name a file, or send one: bayesfloor … - < file.csv")
    data = _joined(iter(lambda: sys.stdin.buffer.read(_PIECE_BYTES), b""), limit, "stdin", "holds")
    if not data:
        raise ValueError("stdin is empty")
    return Contents("stdin", "", data)


def _unpacked(contents: Contents, stem: str, limit: int) -> Contents:
    """Unpack what is packed; `stem` is the name without the ending that says so."""
    name, suffix, head = contents.name, contents.suffix, contents.head
    if head.startswith(_ZSTD):
        _refuse_other_programs(name, ".zst")
    for packer, (first_bytes, own_suffix) in _STREAMS.items():
        if head.startswith(first_bytes):
            return _unpack_stream(contents, packer, stem, limit)
        if suffix == own_suffix:
            raise ValueError(f"{name} is named like a packed file, but it is not one")
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06") and suffix not in _ZIPS_OF_ONE_TABLE:
        return _unpack_zip(contents, limit)
    if suffix == ".zip":
        raise ValueError(f"{name} is named like a packed file, but it is not one")
    return contents


def _unpack_stream(contents: Contents, packer: str, stem: str, limit: int) -> Contents:
    name = contents.name
    suffix = PurePosixPath(stem).suffix.lower()
    _refuse_other_programs(name, suffix)
    try:
        with contents.open() as packed:
            unpacked = _joined(_opened(packed, packer), limit, name)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name}: the {packer} file is damaged or cut off ({error})") from error
    if not unpacked:
        raise ValueError(f"{name} is empty")
    return Contents(name, suffix, unpacked, (f"The file was packed by {packer}.",))


def _opened(packed: IO[bytes], packer: str) -> Iterator[bytes]:
    """Yield what a packed stream holds, piece by piece."""
    if packer == "xz":
        yield from _xz_pieces(packed)
        return
    with gzip.GzipFile(fileobj=packed) if packer == "gzip" else bz2.BZ2File(packed) as stream:
        yield from iter(lambda: stream.read(_PIECE_BYTES), b"")


def _xz_pieces(packed: IO[bytes]) -> Iterator[bytes]:
    """Unpack xz within `_XZ_MEMORY`; `lzma.open` takes whatever the file asks for."""
    rest = packed.read(_PIECE_BYTES)
    while rest:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not stream.eof:
            if stream.needs_input and not rest:
                rest = packed.read(_PIECE_BYTES)
                if not rest:
                    raise EOFError("it ends too early")
            yield stream.decompress(rest, _PIECE_BYTES)
            rest = b""
        rest = (stream.unused_data or packed.read(_PIECE_BYTES)).lstrip(b"\0")  # zeros may fill a file up


def _unpack_zip(contents: Contents, limit: int) -> Contents:
    name = contents.name
    try:
        with contents.open() as packed, zipfile.ZipFile(packed) as archive:
            everything = archive.namelist()
            if "[Content_Types].xml" in everything:
                return replace(contents, suffix=".xlsx")
            if everything and all(member.endswith(".npy") for member in everything):
                return replace(contents, suffix=".npz")
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
            with archive.open(member) as stream:
                unpacked = _joined(iter(lambda: stream.read(_PIECE_BYTES), b""), limit, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{name}: the zip file is damaged or cut off ({error})") from error
    if not unpacked:
        raise ValueError(f"{name}: the file in it, {_shown(member.filename)}, is empty")
    suffix = PurePosixPath(member.filename).suffix.lower()
    _refuse_other_programs(name, suffix)
    return Contents(name, suffix, unpacked, (f"The zip file holds {_shown(member.filename)}.",))


def _joined(pieces: Iterator[bytes], limit: int, name: str, verb: str = "unpacks to") -> bytes:
    """Join what was unpacked piece by piece; refuse it as soon as it exceeds the limit."""
    kept, total, n_lines = [], 0, 0
    # two for each row, since quoted text may have several; few bytes of a file that is no text look like the end of one
    most_lines = 2 * limits().table_rows
    for piece in pieces:
        total += len(piece)
        n_lines += piece.count(b"\n")
        if n_lines > most_lines:
            raise ValueError(f"{name} {verb} more than {counted(most_lines)} lines, which is the limit; take a part")
        if total > limit:
            raise _too_large(name, limit, verb)
        check_memory(2 * total, f"Unpacking {name}")  # the pieces, and the whole that they become
        kept.append(piece)
    return b"".join(kept)


def _too_large(name: str, limit: int, verb: str = "unpacks to") -> ValueError:
    what = "unpack it and take a part" if verb == "unpacks to" else "take a part"
    return ValueError(f"{name} {verb} more than {in_gib(limit)}, which is the limit; {what}")


def _refuse_other_programs(name: str, suffix: str) -> None:
    if suffix in _OTHER_PROGRAMS:
        raise ValueError(f"{name} is {_OTHER_PROGRAMS[suffix]}")


def _shown(name: str) -> str:
    """Name a file in a message; control characters show as escapes."""
    return name if name.isprintable() else repr(name)
