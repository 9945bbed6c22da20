"""What callers pass for each row beside X: labels as sorted distinct values and codes, and weights."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.points import MISSING_TYPES
from bayesfloor.runtime.arrays import Bools, Floats, Ints


def check_labels(y: Any, n_rows: int, *, min_classes: int = 2) -> tuple[NDArray[Any], Ints]:
    """Return the distinct labels, sorted, and each row's position among them.

    Parameters
    ----------
    y : array-like or series of shape (n_rows,)
        Labels of one kind: numbers without fractions, booleans, text, or other values that can be
        sorted. Text such as "NA" is a label like any other.
    n_rows : int
        The number of rows of X.
    min_classes : int, default=2
        Fewer distinct labels are an error.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The distinct labels, as they came, sorted.
    codes : ndarray of shape (n_rows,) and type int64
        ``classes[codes]`` gives y back.

    Raises
    ------
    ValueError
        For missing labels, labels of mixed types, continuous values, a wrong length or shape, and
        too few classes.
    """
    labels = target_array(y, n_rows)
    _check_kind(labels)

    values = labels.tolist()
    try:
        distinct = sorted(set(values))
    except TypeError as error:
        kind = type(values[0]).__name__
        raise ValueError(f"Labels of type {kind} cannot be sorted: {error}") from error
    if len(distinct) < min_classes:
        wanted = "two classes" if min_classes == 2 else f"{min_classes} classes"
        shown = ", ".join(map(repr, distinct)) or "y is empty"
        raise ValueError(f"needs {wanted}, got {len(distinct)}: {shown}")
    classes = np.empty(len(distinct), dtype=labels.dtype)
    classes[:] = distinct
    code_of = {label: code for code, label in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int64, count=n_rows)
    return classes, codes


def target_array(y: Any, n_rows: int, name: str = "y") -> NDArray[Any]:
    """Return a target, or predictions of it, as an array that has a value for each row."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    values = as_array(y)
    if values.ndim != 1:
        advice = f" Of one-hot rows, pass {name}.argmax(axis=1)." if values.ndim == 2 and values.shape[1] > 1 else ""
        raise ValueError(f"{name} should be a 1d array, got an array of shape {values.shape} instead.{advice}")
    if len(values) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(values)]}")
    return values


def as_array(y: Any) -> NDArray[Any]:
    """Return y as an array that still shows which types it held."""
    if isinstance(y, np.ma.MaskedArray) and np.ma.getmaskarray(y).any():
        return np.array(y.tolist(), object)
    if isinstance(y, list | tuple):
        types = set(map(type, y))
        # numpy would read [1, "a"] as text, [True, 2] as integers, and "a\0" as "a"
        as_they_are = len(types) > 1 or (types == {str} and any(label.endswith("\0") for label in y))
        return np.asarray(y, dtype=object if as_they_are else None)
    elif not isinstance(y, np.ndarray) and hasattr(y, "dtype"):
        import narwhals

        series = narwhals.from_native(y, series_only=True, pass_through=True)
        if isinstance(series, narwhals.Series):
            y = series.to_numpy()
    array = np.asarray(y)
    return array.astype(object) if array.dtype.kind == "T" else array


def _check_kind(labels: NDArray[Any]) -> None:
    """Refuse missing labels, labels of mixed types, and numbers that are no labels."""
    kind = labels.dtype.kind
    if kind not in "biufUSMmO":
        raise ValueError(f"Unknown label type: {labels.dtype}")
    n_missing = int(find_missing(labels).sum())
    if n_missing:
        raise ValueError(f"y has {n_missing} missing label{'s' if n_missing > 1 else ''}")
    if kind == "f":
        _check_discrete(labels)
    if kind == "O":
        types = sorted(set(map(type, labels)), key=lambda type_: type_.__name__)
        families = {_family(type_): type_.__name__.rstrip("_") for type_ in types}  # numpy's bool_ is bool
        if len(families) > 1:
            mixture = " and ".join(families.values())
            raise ValueError(f"Labels of mixed types in y: {mixture}. Make them all of one type.")
        _check_discrete(np.array([v for v in labels if isinstance(v, float | np.floating)]))


def _family(type_: type) -> str:
    """Group the types whose values can be told apart and sorted together."""
    if issubclass(type_, bool | np.bool_):
        return "truth"
    if issubclass(type_, str):
        return "text"
    return "number" if issubclass(type_, Real) else type_.__name__


def is_missing(label: Any) -> bool:
    """Tell NaN, None and the like."""
    if isinstance(label, float | np.floating):
        return bool(np.isnan(label))
    return type(label).__name__ in MISSING_TYPES


def find_missing(values: NDArray[Any]) -> Bools:
    """Tell which values are NaN, None and the like."""
    if values.dtype.kind in "fMm":
        return values != values
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values), bool, len(values))
    return np.zeros(len(values), bool)


def _check_discrete(labels: NDArray[Any]) -> None:
    if not np.isfinite(labels).all():
        raise ValueError("Input y contains infinity")
    fractional = labels[labels != np.floor(labels)]
    if len(fractional):
        raise ValueError(
            f"Unknown label type: continuous. y holds numbers with fractions, such as {fractional[0]:g}: this looks "
            "like regression, and classes are needed here; regression_floor takes numbers."
        )


def check_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return a weight for each row: ones where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError("sample_weight must be finite and not below zero")
    if not np.any(weight > 0):
        raise ValueError("sample_weight must be above zero for at least one row")
    return weight
