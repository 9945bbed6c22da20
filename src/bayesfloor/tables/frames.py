"""Data frames -> columns, and where a function takes X and y: whether X is a frame that must be made ready first."""

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from bayesfloor.data.points import MISSING_TYPES
from bayesfloor.runtime.frames import as_narwhals, column_texts, data_frame, with_text_names, without_arrow
from bayesfloor.runtime.text import listed, unique_names
from bayesfloor.tables.binary_tables import text_codes
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, OtherColumn, RawTable, TextColumn, text_column
from bayesfloor.tables.spellings import LARGEST_EXACT_INTEGER, MISSING_TEXTS, is_rounded
from bayesfloor.tables.unpacking import check_n_columns


def is_eager_frame(data: Any) -> bool:
    """Tell whether something is a data frame whose values are at hand: pandas, polars, pyarrow and the like."""
    return as_narwhals(data) is not None


def raw_of_frame(data: Any, target: Any = None) -> RawTable:
    """Return the columns of a data frame.

    Parameters
    ----------
    data : data frame
        Of any library that narwhals knows.
    target : str, int or None
        The column of labels, by name or position, in which text such as ``NA`` is kept as it is.

    Returns
    -------
    RawTable
        Rows are counted from 0, as `iloc` does. Columns are named by text, as `column_texts` has it.

    Raises
    ------
    ValueError
        For a frame without rows or columns.
    """
    import narwhals

    data = without_arrow(data)
    check_n_columns(len(data.columns), "the data frame")
    names = column_texts(data)
    frame = narwhals.from_native(with_text_names(data), eager_only=True)
    if not len(frame) or not names:
        raise ValueError(f"the data frame has {len(frame)} rows and {len(names)} columns")
    notes = []
    if len(set(data.columns)) < len(names):
        copies = [text for name, text in zip(data.columns, names, strict=True) if str(name) != text]
        notes = [f"Columns that share a name with one before are called {listed(list(map(repr, copies)), 6)}."]
    if isinstance(target, int) and -len(names) <= target < len(names):
        target = names[target]
    empty = frozenset({""})
    columns: list[Column] = []
    for name in names:
        column = _column(frame[name], narwhals, empty if name == target else MISSING_TEXTS)
        columns += [column] if not isinstance(column, list) else _named_apart(column, names)
    check_n_columns(len(columns), "the data frame")
    return RawTable("data frame", columns, len(frame), np.arange(len(frame)), None, notes, row_word="row")


def raw_of_array(points: Any, name: str) -> RawTable:
    """Return the columns of a matrix of numbers, called x0, x1 and so on."""
    is_truth = points.dtype.kind == "b"
    columns: list[Column] = [
        NumberColumn(f"x{j}", np.ascontiguousarray(points[:, j], np.float64), is_truth=is_truth)
        for j in range(points.shape[1])
    ]
    return RawTable(name, columns, len(points), np.arange(len(points)), row_word="row")


def _column(series: Any, narwhals: Any, missing: frozenset[str]) -> Column | list[NumberColumn]:
    """Return what a column holds; of lists, a column for each place in them."""
    name, kind = str(series.name), series.dtype
    if kind == narwhals.Boolean:
        values = [math.nan if _is_gap(value) else float(value) for value in series.to_list()]
        return NumberColumn(name, np.array(values), is_truth=True)
    if kind.is_numeric():
        return _numbers(name, series, kind, narwhals)
    if kind.is_temporal():
        return _dates(name, series, kind, narwhals)
    coded = _coded(series) if kind in (narwhals.String, narwhals.Categorical, narwhals.Enum) else None
    return _objects(name, series.to_list(), str(kind), missing) if coded is None else text_column(name, *coded, missing)


def _numbers(name: str, series: Any, kind: Any, narwhals: Any) -> Column:
    whole = series.drop_nulls()
    rounded = 0
    if kind.is_integer() and len(whole):
        large = [value for value in (whole.min(), whole.max()) if abs(value) >= LARGEST_EXACT_INTEGER]
        if large:
            rounded = sum(int(value) != int(float(value)) for value in whole.to_list())
    values = np.full(len(series), np.nan)
    values[~series.is_null().to_numpy().astype(bool)] = whole.cast(narwhals.Float64).to_numpy()
    return NumberColumn(name, values, rounded)


def _dates(name: str, series: Any, kind: Any, narwhals: Any) -> Column:
    if kind == narwhals.Time:
        ticks = [
            math.nan if at is None else 1e6 * (3600 * at.hour + 60 * at.minute + at.second) + at.microsecond
            for at in series.to_list()
        ]
        return DateColumn(name, np.array(ticks) / 1e6, "times of day")
    if kind == narwhals.Duration:
        lengths = series.to_list()
        return NumberColumn(name, np.array([math.nan if each is None else each.total_seconds() for each in lengths]))
    if kind == narwhals.Date:
        series = series.cast(narwhals.Datetime("us"))
    known = series.drop_nulls()
    values = np.full(len(series), np.nan)
    values[~series.is_null().to_numpy()] = known.dt.timestamp("us").to_numpy() / 1e6
    return DateColumn(name, values, "dates" if kind == narwhals.Date else "moments")


def _coded(series: Any) -> tuple[list[str], Any] | None:
    """Return the different texts of a column, and each row's position among them; None where not all are text."""
    native = series.to_native()
    if type(native).__module__.startswith("polars"):
        return text_codes(native)
    if not hasattr(native, "factorize"):
        return None
    codes, distinct = native.factorize()  # -1 for what is missing
    found = list(distinct)
    return (found, codes.astype(np.int64)) if all(type(text) is str for text in found) else None


def _objects(name: str, values: list[Any], type_name: str, missing: frozenset[str]) -> Column | list[NumberColumn]:
    """Read a column of objects: text, numbers, truth values, dates, or lists of numbers of one length."""
    plain = [None if _is_gap(value) else value for value in values]
    if any(type(value).__name__ == "Period" for value in plain):  # of pandas
        plain = [getattr(value, "start_time", value) for value in plain]
    known = [value for value in plain if value is not None]
    if known and all(isinstance(value, bool | np.bool_) for value in known):
        return NumberColumn(name, np.array([math.nan if v is None else float(v) for v in plain]), is_truth=True)
    if known and all(isinstance(value, date) for value in known):
        moments = np.array([math.nan if value is None else _seconds(value) for value in plain])
        return DateColumn(name, moments, "moments" if any(isinstance(value, datetime) for value in known) else "dates")
    if known and all(isinstance(value, list | tuple | np.ndarray) for value in known):
        widths = set(map(_width, known))
        if len(widths) == 1 and (width := widths.pop()):
            rows = [np.full(width, np.nan) if value is None else value for value in plain]
            return [NumberColumn(f"{name}[{j}]", column) for j, column in enumerate(np.array(rows, np.float64).T)]
    if known and all(isinstance(value, int | float | np.number | Decimal) for value in known):
        rounded = sum(isinstance(value, int) and is_rounded(value) for value in known)
        return NumberColumn(name, np.array([math.nan if v is None else _as_float(v) for v in plain]), rounded)
    odd = {type(value).__name__ for value in known if not isinstance(value, str | int | float | np.generic)}
    if odd:
        return OtherColumn(name, f"{type_name} ({listed(sorted(odd))})")
    code_of: dict[str, int] = {}
    codes = [-1 if value is None else code_of.setdefault(str(value), len(code_of)) for value in plain]
    return text_column(name, list(code_of), np.array(codes, dtype=np.int64), missing)


def _width(values: Any) -> int:
    """Return how many numbers a list or an array holds, 0 where it holds anything else."""
    if isinstance(values, np.ndarray):
        return len(values) if values.ndim == 1 and values.dtype.kind in "biuf" else 0
    return len(values) if all(isinstance(value, int | float | np.number) for value in values) else 0


def _named_apart(columns: list[NumberColumn], names: list[str]) -> list[NumberColumn]:
    """Return columns that are called otherwise than some others."""
    apart = unique_names([*names, *(column.name for column in columns)])[len(names) :]
    return [replace(column, name=name) for column, name in zip(columns, apart, strict=True)]


def _seconds(day: date) -> float:
    """Return the seconds since 1970 of a day or a moment, which is one of UTC where it has no time zone."""
    moment = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of Python has any number of digits
        return math.inf if value > 0 else -math.inf


def _is_gap(value: Any) -> bool:
    return value is None or type(value).__name__ in MISSING_TYPES or (isinstance(value, float) and value != value)


def frame_of_raw(table: RawTable) -> Any:
    """Return columns as a data frame, of pandas where it is installed, else of polars."""
    columns: dict[str, Any] = {}
    for column in table.columns:
        if isinstance(column, TextColumn):
            columns[column.name] = np.array([*column.categories, None], dtype=object)[column.codes]
        elif isinstance(column, DateColumn):
            columns[column.name] = np.array(column.values * 1e6, dtype="datetime64[us]")
        elif isinstance(column, NumberColumn):
            columns[column.name] = column.values
    return data_frame(columns)
