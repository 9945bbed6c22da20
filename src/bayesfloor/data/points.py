"""X as callers pass it -> a finite (n, d) array of float64.

The common case (a finite float64 array) costs one sum over the data. Details (which columns, how
many rows) are looked up only once something is wrong. Messages use scikit-learn's words without
importing it, because that import alone takes longer than many a computation here.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.frames import as_narwhals
from bayesfloor.runtime.limits import check_memory, check_n_jobs, in_gib
from bayesfloor.runtime.text import listed

#: Bytes of the largest sparse X, as a dense array, that is converted; larger ones are refused.
SPARSE_LIMIT = 2 * 2**30

#: Names of the types that stand for a missing value: None, pandas.NA and pandas.NaT.
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})

#: Arrays with more numbers than this are checked by several threads.
_MANY_NUMBERS = 1 << 24
#: Integers up to this are exact in float64.
_LARGEST_EXACT_INTEGER = 2**53


def check_points(X: Any, *, min_rows: int = 2, squares: bool = False) -> Floats:
    """Return X as a finite float64 array of shape (n, d), C-contiguous and read-only.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        Numbers or booleans of any width, memory order and byte order. An array that already is
        float64 and C-contiguous is not copied.
    min_rows : int, default=2
        Fewer rows are an error.
    squares : bool, default=False
        Whether values are an error whose squares cannot be added up over all rows, for methods that do so.

    Returns
    -------
    ndarray of shape (n, d)
        A read-only array. It may share memory with X, which is never written to.

    Raises
    ------
    ValueError
        For NaN, infinity, values too large for float64 or their squares, columns that are not numbers, complex
        numbers, any shape that is not (n, d), and a sparse X beyond `SPARSE_LIMIT`.
    TypeError
        For columns of objects that are neither numbers nor text.

    Warns
    -----
    UserWarning
        When there are integers beyond 2**53, not all of which float64 can hold.
    """
    points, warned = read_points(X, min_rows, squares)
    if warned is not None:
        warn_caller(warned, UserWarning)
    return points


def read_points(X: Any, min_rows: int, squares: bool = False) -> tuple[Floats, str | None]:
    """Return what `check_points` returns, and its warning as text: a thread must not touch the warning filters."""
    frame = _as_frame(X)
    if frame is not None:
        _check_shape(frame.shape, min_rows)
        names: Sequence[Any] = frame.columns
        columns = (column.to_numpy() for column in frame.iter_columns())
        array, large = _join_columns(columns, frame.shape, names)
    else:
        array = _as_array(X)
        if array.ndim < 2:
            raise _not_two_dimensional(array)
        _check_shape(array.shape, min_rows)
        names = range(array.shape[1])
        if array.dtype.kind not in "biuf":
            array, large = _join_columns(array.T, array.shape, names)
        else:
            large = [j for j in names if _has_large_integers(array[:, j])] if _has_large_integers(array) else []
    with np.errstate(over="ignore"):  # what overflows becomes inf, and is refused as such
        points = np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    _check_finite(points, names, _largest(len(points), squares))
    points = points.view()
    points.flags.writeable = False
    if not large:
        return points, None
    return points, f"integers beyond 2**53 may be rounded in float64: {_columns_at(large, names)}"


def host_array(X: Any) -> Any:
    """Return X where NumPy can read it."""
    if type(X).__module__.split(".")[0] != "torch" or not hasattr(X, "detach"):
        return X
    tensor = X.detach()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()  # NumPy knows no bfloat16
    return tensor.cpu().numpy()


def check_sparse_points(X: Any, *, min_rows: int = 2, squares: bool = False) -> Any:
    """Return a sparse X as a finite float64 matrix in CSR format; `check_points` describes what is refused."""
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    _check_shape(X.shape, min_rows)
    points = X.tocsr().astype(np.float64)
    rows = np.repeat(np.arange(points.shape[0]), np.diff(points.indptr))
    _check_values(points.data, rows, points.indices, range(points.shape[1]), _largest(points.shape[0], squares))
    return points


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None when it is no data frame."""
    if isinstance(X, np.ndarray) or not hasattr(type(X), "columns"):
        return None
    if hasattr(type(X), "collect"):
        raise TypeError("X is a lazy frame; call its .collect() first.")
    return as_narwhals(X)


def _as_array(X: Any) -> NDArray[Any]:
    """Return X, which is no data frame, as an array of the type that it holds."""
    sparse = sys.modules.get("scipy.sparse")  # where it is not loaded, X cannot be sparse
    if sparse is not None and sparse.issparse(X):
        return dense_points(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        kind = np.float64 if X.dtype.kind in "biuf" else object
        return np.where(np.ma.getmaskarray(X), np.nan, X.data.astype(kind))
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # in [[1, "a"]] only the second column is text
    return array


def dense_points(X: Any) -> NDArray[Any]:
    """Return a sparse X as a dense array, where there is room for it."""
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    n_bytes = 8 * math.prod(X.shape)
    if n_bytes > SPARSE_LIMIT:
        raise ValueError(
            f"Sparse X of shape {X.shape} takes {in_gib(n_bytes)} as a dense array; "
            f"the limit is {in_gib(SPARSE_LIMIT)}. Reduce its dimension first, "
            "for example with TruncatedSVD."
        )
    check_memory(n_bytes, f"Sparse X of shape {X.shape} as a dense array")
    return X.astype(np.float64).toarray(order="C")


def _not_two_dimensional(array: NDArray[Any]) -> ValueError:
    kind = "scalar" if array.ndim == 0 else "1D"
    return ValueError(
        f"Expected 2D array, got {kind} array instead:\narray={array}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
    )


def _check_shape(shape: tuple[int, ...], min_rows: int) -> None:
    if len(shape) > 2:
        raise ValueError(
            f"Found array with dim {len(shape)}, while dim <= 2 is required. Flatten each sample: "
            f"X.reshape({shape[0]}, -1)"
        )
    for size, minimum, what in zip(shape, (min_rows, 1), ("sample", "feature"), strict=True):
        if size < minimum:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={shape}) while a minimum of {minimum} is required."
            )


def _join_columns(
    columns: Iterable[NDArray[Any]], shape: tuple[int, ...], names: Sequence[Any]
) -> tuple[Floats, list[int]]:
    """Join columns of any type into floats and list those with large integers; refuse what are no numbers."""
    joined = np.empty(shape, dtype=np.float64)
    not_real: list[int] = []
    not_numbers: list[int] = []
    large: list[int] = []
    refused: set[type] = set()
    for j, column in enumerate(columns):
        types = set(map(type, column)) if column.dtype.kind == "O" else {column.dtype.type}
        strange = {kind for kind in types if not _is_real(kind)}
        if strange:
            are_complex = all(issubclass(kind, complex | np.complexfloating) for kind in strange)
            (not_real if are_complex else not_numbers).append(j)
            refused |= strange
            continue
        if column.dtype.kind == "O":
            joined[:, j] = [_to_float(value) for value in column]
        else:
            with np.errstate(over="ignore"):
                joined[:, j] = column
        if _has_large_integers(column):
            large.append(j)
    if not_real:
        raise ValueError(f"Complex data not supported: {_columns_at(not_real, names)}")
    if not_numbers and not any(issubclass(kind, str | bytes | list | np.ndarray | np.generic) for kind in refused):
        kind = min(kind.__name__ for kind in refused)
        raise TypeError(
            f"float() argument must be a string or a real number, not {kind!r}: {_columns_at(not_numbers, names)}"
        )
    if not_numbers:
        raise ValueError(
            f"could not convert to float: {_columns_at(not_numbers, names)} "
            "(text, dates or objects). Encode as numbers first (OneHotEncoder)."
        )
    return joined, large


def _is_real(kind: type) -> bool:
    """Tell whether values of a type are real numbers, booleans, or missing."""
    if issubclass(kind, np.timedelta64):  # numpy counts it among the integers
        return False
    if issubclass(kind, np.generic | np.ndarray):
        return issubclass(kind, np.bool_ | np.integer | np.floating)
    return hasattr(kind, "__float__") or kind.__name__ in MISSING_TYPES


def _to_float(value: Any) -> float:
    if type(value).__name__ in MISSING_TYPES:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _has_large_integers(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        return any(isinstance(v, int) and abs(v) > _LARGEST_EXACT_INTEGER for v in values)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return False
    return bool(values.max() > _LARGEST_EXACT_INTEGER or values.min() < -_LARGEST_EXACT_INTEGER)


def _largest(n_rows: int, squares: bool) -> float:
    """Return the largest absolute value allowed: any, or one whose squares and products sum up over all rows."""
    return float(np.sqrt(np.finfo(np.float64).max / n_rows)) / 4.0 if squares else math.inf


def _check_finite(points: Floats, names: Sequence[Any], largest: float) -> None:
    total = _sum_of(points)
    if np.isfinite(total) and (largest == math.inf or max(points.max(), -points.min()) <= largest):
        return
    rows, columns = np.ogrid[: points.shape[0], : points.shape[1]]
    shape = points.shape
    _check_values(points, np.broadcast_to(rows, shape), np.broadcast_to(columns, shape), names, largest)


def _sum_of(points: Floats) -> float:
    """Return about the sum of all numbers; of many, several threads add up a part each."""
    parts = [points]
    if points.size >= _MANY_NUMBERS:
        parts = np.array_split(points, min(check_n_jobs(None), 8))

    def add_up(part: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(part.sum())

    if len(parts) == 1:
        return add_up(points)
    with ThreadPoolExecutor(len(parts)) as pool:
        return sum(pool.map(add_up, parts))


def _check_values(
    values: Floats, rows: NDArray[Any], columns: NDArray[Any], names: Sequence[Any], largest: float
) -> None:
    """Refuse values of the given rows and columns, naming the columns."""
    for find, what in (
        (np.isnan, "NaN"),
        (np.isinf, "infinity or a value too large for dtype('float64')"),
        (lambda array: np.abs(array) > largest, f"values beyond {largest:.2g}, whose squares overflow,"),
    ):
        is_bad = find(values)
        if is_bad.any():
            n_bad = len(np.unique(rows[is_bad]))
            where = _columns_at(np.unique(columns[is_bad]).tolist(), names)
            raise ValueError(f"Input X contains {what} in {'1 row' if n_bad == 1 else f'{n_bad} rows'}, {where}")


def _columns_at(positions: list[int], names: Sequence[Any]) -> str:
    """Name columns in a message; repr turns control characters in a name into escapes."""
    return f"{'column' if len(positions) == 1 else 'columns'} {listed([repr(names[j]) for j in positions], 10)}"
