"""Tables in binary formats: Parquet, Arrow and Feather by polars, and NumPy's NPZ.

Nothing that could run code is ever loaded: arrays of Python objects are refused.

How much a Parquet file unpacks to is told from the headers of its pages, before any of them is unpacked: a page of a
few kilobytes can hold gigabytes of text. The file's own summary may say otherwise, so that only the headers of the
pages themselves are believed: a reader allocates what they say. Headers are Thrift structs in the compact protocol,
read here into dictionaries from field numbers to values.
"""

import io
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    check_names,
    codes_among,
    in_natural_order,
    text_column,
)
from bayesfloor.tables.spellings import LARGEST_EXACT_INTEGER, MISSING_TEXTS
from bayesfloor.tables.unpacking import Contents, check_n_columns, check_n_rows, check_size, check_unpacked

#: Memory that polars takes to read a column of text, as a multiple of its unpacked bytes; measured.
COPIES_OF_TEXT = 4
#: Ticks of each unit of time in a second, those of nanoseconds after they have become microseconds.
_TICKS = {"ns": 1e6, "us": 1e6, "ms": 1e3}
#: Names under which the features and the labels of an NPZ file are looked for, the first found wins.
_X_NAMES = ("X", "x", "data")
_Y_NAMES = ("y", "target", "labels")

#: Physical type of text, and of binary values of any length.
_BYTE_ARRAY = 6
#: Deepest nesting of structs and lists; the format needs eight.
_DEEPEST = 32


def read_frame(contents: Contents, kind: str) -> RawTable:
    """Read a Parquet ("parquet"), Arrow or Feather ("arrow") or Arrow stream ("stream") file.

    Parameters
    ----------
    contents : Contents
        The file.
    kind : str
        Which of them it is.

    Returns
    -------
    RawTable
    """
    polars = _polars(contents.name)
    stream = io.BytesIO(contents.data)
    if kind == "parquet":
        _check_pages(contents)
    with told_as(f"{contents.name} cannot be read as {kind.capitalize()}: ", polars.exceptions.PolarsError, OSError):
        if kind == "stream":
            lazy = polars.read_ipc_stream(stream, n_rows=limits().table_rows + 1).lazy()
        else:
            lazy = polars.scan_parquet(stream) if kind == "parquet" else polars.scan_ipc(stream)
        # what the file says of itself, before its columns are unpacked
        schema = lazy.collect_schema()
        check_n_columns(len(schema), contents.name)
        n_rows = int(lazy.select(polars.len()).collect().item())
        check_size(n_rows, len(schema), contents.name, copies=2)
        # lists and structs cannot be used, and a few bytes can hold any number of values
        frame = lazy.select(name for name, dtype in schema.items() if not dtype.is_nested()).collect()
    if not schema or n_rows == 0:
        raise ValueError(f"{contents.name} holds {n_rows} rows and {len(schema)} columns")
    columns = [
        OtherColumn(name, str(dtype)) if dtype.is_nested() else column_of(frame[name]) for name, dtype in schema.items()
    ]
    label = {"parquet": "Parquet", "arrow": "Arrow", "stream": "Arrow stream"}[kind]
    lines = np.arange(1, n_rows + 1)
    return RawTable(contents.name, columns, n_rows, lines, None, [f"{label} file."], row_word="row")


def _polars(name: str) -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError(f"{name}: Parquet and Arrow files are read by polars: pip install polars") from error
    return polars


@contextmanager
def told_as(sentence: str, *errors: type[BaseException], end: str = "") -> Iterator[None]:
    """Turn errors of a reader, and a crash inside one written in Rust, into a sentence with their first line."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, errors) and type(error).__name__ != "PanicException":
            raise
        first = (str(error).splitlines() or [""])[0][:200]
        raise ValueError(f"{sentence}{first}{end}") from error


def _check_pages(contents: Contents) -> None:
    """Refuse a Parquet file whose pages unpack to too much."""
    with told_as(f"{contents.name} cannot be read as Parquet: ", ValueError):
        n_rows, n_columns, n_text_bytes, n_other_bytes = unpacked_sizes(contents.data)
    check_n_columns(n_columns, contents.name)
    check_n_rows(n_rows, contents.name)
    check_unpacked(n_text_bytes + n_other_bytes, contents.name)
    check_memory(COPIES_OF_TEXT * n_text_bytes + n_other_bytes, f"Reading {contents.name}")


def column_of(series: Any) -> Column:
    """Return a polars Series as a column.

    Parameters
    ----------
    series : polars.Series
        Of any type; null is what is missing.

    Returns
    -------
    Column
    """
    import polars

    name, kind = str(series.name), series.dtype
    if kind == polars.Boolean or kind.is_numeric() or kind == polars.Null:
        rounded = 0
        if kind.is_integer() and kind not in (polars.Int8, polars.Int16, polars.Int32):
            whole = series.drop_nulls()
            exact = whole.cast(polars.Float64).cast(kind, strict=False)
            rounded = int((whole != exact).fill_null(True).sum()) if len(whole) else 0
        values = series.cast(polars.Float64).fill_null(math.nan).to_numpy().astype(np.float64)
        return NumberColumn(name, values, rounded, is_truth=kind == polars.Boolean)
    if kind in (polars.String, polars.Categorical, polars.Enum):
        # null marks what is missing, so that no text does
        return text_column(name, *text_codes(series), frozenset())
    if kind.is_temporal():
        # what has a time zone is stored in UTC
        ticks = series.to_physical()
        if kind == polars.Date:
            return DateColumn(name, 86400.0 * ticks.cast(polars.Float64).to_numpy(), str(kind))
        # whole microseconds, as all readers have them: nanoseconds since 1970 are no float64
        unit = getattr(kind, "time_unit", "ns")
        ticks = ticks // 1000 if unit == "ns" else ticks
        return DateColumn(name, ticks.cast(polars.Float64).to_numpy() / _TICKS[unit], str(kind))
    return OtherColumn(name, str(kind))


def text_codes(series: Any) -> tuple[list[str], Ints]:
    """Return the different texts of a polars Series of text, and each row's position among them; -1 for null."""
    import polars

    texts = series.cast(polars.String)
    distinct = texts.unique().drop_nulls()
    codes = texts.cast(polars.Enum(distinct)).to_physical().cast(polars.Int64).fill_null(-1)
    return distinct.to_list(), codes.to_numpy()


def read_npz(contents: Contents) -> RawTable:
    """Read an NPZ file: arrays X and y, or one array whose last column is y.

    Parameters
    ----------
    contents : Contents
        The file. ``feature_names`` and ``classes`` (the label of each code in y) are used where they are there.

    Returns
    -------
    RawTable
        With y last, as its target.

    Raises
    ------
    ValueError
        For arrays of Python objects, which are pickles and could run code, arrays that are too large, and arrays that
        do not fit each other.
    """
    name = contents.name
    arrays = _load_arrays(contents)
    x_name = next((key for key in _X_NAMES if key in arrays), None)
    y_name = next((key for key in _Y_NAMES if key in arrays), None)
    if x_name is None and len(arrays) == 1:
        (x_name,) = arrays
    if x_name is None:
        raise ValueError(f"{name} has no array X; it has {', '.join(map(repr, arrays)) or 'none'}")
    X = arrays[x_name]
    if X.ndim != 2:
        raise ValueError(f"{name}: {x_name} has shape {X.shape}; rows and columns are needed")
    if X.dtype.kind not in "biufU":
        raise ValueError(f"{name}: {x_name} holds {X.dtype}, not numbers")
    if 0 in X.shape:
        raise ValueError(f"{name}: {x_name} has shape {X.shape}: it is empty")
    y = None if y_name is None else arrays[y_name]
    if y is not None and y.shape != (len(X),):
        raise ValueError(f"{name}: {x_name} has {len(X)} rows, but {y_name} has shape {y.shape}")
    target = y_name if y_name is not None else f"x{X.shape[1]}"
    names = _names_of_features(arrays, X.shape[1], name)
    notes = [f"NPZ file: {x_name} of shape {X.shape}, {y_name or 'no y'}."]
    columns = [_from_array(label, X[:, j]) for j, label in enumerate(names)]
    if y is not None:
        while target in names:
            target += "_"
        columns.append(_labels(target, y, arrays.get("classes"), name, notes))
    else:
        target = names[-1]
    unused = sorted(arrays.keys() - {x_name, y_name, "feature_names", "classes"})
    if unused:
        notes.append(f"Arrays not used: {', '.join(map(repr, unused))}.")
    return RawTable(name, columns, len(X), np.arange(1, len(X) + 1), target, notes, row_word="row")


def _load_arrays(contents: Contents) -> dict[str, NDArray[Any]]:
    """Load the arrays of an NPZ file whose headers show that they are plain and small enough."""
    name = contents.name
    try:
        with zipfile.ZipFile(io.BytesIO(contents.data)) as archive:
            total, with_objects = 0, []
            for member, shape, kind in _array_headers(archive):
                if len(shape) == 2:
                    check_n_columns(shape[1], name)
                if shape:
                    check_n_rows(shape[0], name)
                total += max(math.prod(shape) * kind.itemsize, member.file_size)
                if kind.hasobject:
                    with_objects.append(member.filename.removesuffix(".npy"))
            if with_objects:
                raise ValueError(
                    f"{name}: {', '.join(map(repr, with_objects))} of type object hold pickles, which can run code "
                    "when they are loaded; they are refused. Save numbers, or text as type str"
                )
            check_unpacked(total, name)
            check_memory(2 * total, name)
        with np.load(io.BytesIO(contents.data), allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{name} is no NPZ file, or it is damaged ({error})") from error
    except ValueError as error:
        if str(error).startswith(name):
            raise
        raise ValueError(f"{name} is no NPZ file, or it is damaged ({error})") from error


def _array_headers(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, tuple[int, ...], np.dtype[Any]]]:
    """Yield each member of an NPZ file, with the shape and the type of its array."""
    for member in archive.infolist():
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, kind = read(stream)
        yield member, shape, kind


def _names_of_features(arrays: dict[str, NDArray[Any]], n_columns: int, name: str) -> list[str]:
    stored = arrays.get("feature_names")
    if stored is None:
        return [f"x{j + 1}" for j in range(n_columns)]
    names = [str(text) for text in stored.ravel()]
    if len(names) != n_columns:
        raise ValueError(f"{name}: feature_names has {len(names)} names for {n_columns} columns")
    check_names(names, f"{name}, feature_names")
    return names


def _from_array(name: str, values: NDArray[Any], missing: frozenset[str] = MISSING_TEXTS) -> Column:
    if values.dtype.kind == "U":
        distinct, codes = np.unique(values, return_inverse=True)
        return text_column(name, distinct.tolist(), codes.astype(np.int64), missing)
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    rounded = 0
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        large = np.abs(numbers) >= LARGEST_EXACT_INTEGER
        rounded = sum(int(value) != int(number) for value, number in zip(values[large], numbers[large], strict=True))
    return NumberColumn(name, numbers, rounded, is_truth=values.dtype.kind == "b")


def _labels(target: str, y: NDArray[Any], classes: Any, name: str, notes: list[str]) -> Column:
    """Return y as a column; codes become the labels that `classes` gives them."""
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    if y.dtype.kind not in "biufU":
        raise ValueError(f"{name}: {target} holds {y.dtype}, not labels")
    if classes is None or y.dtype.kind not in "iu":
        return _from_array(target, y, frozenset({""}))
    texts = [str(text) for text in classes.ravel()]
    if y.min() < 0 or y.max() >= len(texts):
        raise ValueError(f"{name}: {target} goes from {y.min()} to {y.max()}, but classes has {len(texts)} labels")
    notes.append(f"The codes in {target} stand for the labels in classes.")
    order = in_natural_order(texts)
    if len(set(texts)) != len(texts):
        raise ValueError(f"{name}: classes names a label twice")
    return TextColumn(target, tuple(order), codes_among(texts, order)[y.astype(np.int64)])


class _Reader:
    """A Thrift struct in the compact protocol, and where it ends."""

    def __init__(self, data: bytes, place: int):
        self.data = data
        self.place = place

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("a header that is too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self.integer()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self.integer()
        if kind in (7, 8):  # a double, or bytes after their number
            length = 8 if kind == 7 else self.varint()
            self.place += length
            if self.place > len(self.data):
                raise ValueError("a header that is cut off")
            return self.data[self.place - length : self.place]
        if kind in (9, 10):  # a list or a set
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self.varint()
            if length > len(self.data):
                raise ValueError("a list that is longer than the file")
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind == 12:
            return self.struct(depth)
        raise ValueError(f"a header with a value of kind {kind}")


def unpacked_sizes(data: bytes) -> tuple[int, int, int, int]:
    """Count what the columns of a Parquet file unpack to; columns of lists and structs are left out.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    n_rows, n_columns : int
        Its rows, by its summary or by its pages, whichever are more, and its columns, those left out among them.
    n_text_bytes, n_other_bytes : int
        Unpacked bytes of columns of text, and of all others.

    Raises
    ------
    ValueError
        When its headers cannot be read.
    """
    try:
        length = int.from_bytes(data[-8:-4], "little")
        if data[-4:] != b"PAR1" or length + 12 > len(data):
            raise ValueError("no footer")
        footer = _Reader(data, len(data) - 8 - length).struct()
        n_columns = int(footer[2][0].get(5, 0))  # the root of the schema counts its children
        if n_columns < 0:
            raise ValueError("a negative number of columns")
        sizes = {True: 0, False: 0}
        n_values = Counter[bytes]()
        for group in footer.get(4, ()):
            for chunk in group[1]:
                about = chunk[3]
                if len(about[3]) == 1:
                    n_bytes, n_own = _sizes_of_pages(data, about)
                    sizes[about[1] == _BYTE_ARRAY] += n_bytes
                    n_values[about[3][0]] += n_own
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"headers that cannot be read ({type(error).__name__})") from error
    n_rows = max(int(footer.get(3, 0)), *n_values.values(), 0)
    return n_rows, n_columns, sizes[True], sizes[False]


def rows_of_groups(path: Path) -> list[int]:
    """Return how many rows each group of a Parquet file has, from the end of the file alone.

    Raises
    ------
    ValueError
        When that cannot be read.
    """
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(size - 8, 0))
        end = stream.read()
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or length + 12 > size:
            raise ValueError("no footer")
        stream.seek(size - 8 - length)
        data = stream.read(length)
    try:
        found = [int(group[3]) for group in _Reader(data, 0).struct().get(4, ())]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"headers that cannot be read ({type(error).__name__})") from error
    if min(found, default=0) < 0:
        raise ValueError("a group of a negative number of rows")
    return found


def _sizes_of_pages(data: bytes, about: dict[int, Any]) -> tuple[int, int]:
    """Add up the unpacked pages of one column in one group of rows: bytes, and values."""
    start = min(place for place in (about[9], about.get(11) or about[9]) if place)
    end, total, n_values = start + about[7], 0, 0
    reader = _Reader(data, start)
    while reader.place < end:
        page = reader.struct()
        total += page[2]
        n_values += (page.get(5) or page.get(8) or {1: 0})[1]  # a page of data, of either version
        if page[2] < 0 or page[3] < 0:
            raise ValueError("a page of a negative size")
        reader.place += page[3]
    return total, n_values
