"""What callers of displays pass -> arrays that can be drawn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.text import shown

#: Floors that a selection is about, and what to call them on an axis.
MEASURES = {
    "whole": "floor",
    "noise": "noise, share of variance",
}


def check_labels_of(n: int, classes: Any) -> NDArray[Any]:
    """Return n different labels; 0 to n − 1 where none are given."""
    labels = np.arange(n) if classes is None else np.asarray(classes)
    if labels.shape != (n,):
        raise ValueError(f"{n} values need {n} labels in classes, got an array of shape {labels.shape}")
    seen = set()
    for label in labels.tolist():
        if label in seen:
            raise ValueError(f"classes holds {shown(label)} more than once")
        seen.add(label)
    return labels


def check_values(values: Any, what: str, shape: tuple[int, ...]) -> Floats:
    """Return an array of finite numbers, of a given shape."""
    array = _numbers(values, what)
    if array.shape != shape:
        raise ValueError(f"{what} should have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} should be finite, got {np.count_nonzero(~np.isfinite(array))} NaN or infinite values")
    return array


def _numbers(values: Any, what: str) -> Floats:
    """Return a new array of numbers."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} should be numbers, got an array of type {array.dtype}")
    return array.astype(np.float64)


def check_pairs(values: Any, classes: Any) -> tuple[Floats, NDArray[Any]]:
    """Return a symmetric matrix with a zero diagonal, and the label of each row."""
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"Pairs of classes need a square matrix, got an array of shape {shape}")
    if shape[0] < 2:
        raise ValueError(f"A pair needs two classes, got {shape[0]}")
    labels = check_labels_of(shape[0], classes)
    what = "The matrix of pairs"
    matrix = _numbers(values, what)
    np.fill_diagonal(matrix, 0.0)  # not used, and often NaN
    matrix = check_values(matrix, what, shape)
    apart = np.argwhere(~np.isclose(matrix, matrix.T, rtol=1e-9, atol=0.0))
    if len(apart):
        a, b = apart[0]
        raise ValueError(
            f"{what} should be symmetric: {shown(labels[a])} and {shown(labels[b])} "
            f"have {matrix[a, b]:g} and {matrix[b, a]:g}"
        )
    if (matrix < 0).any():
        a, b = np.argwhere(matrix < 0)[0]
        raise ValueError(f"A floor is never negative: {shown(labels[a])} and {shown(labels[b])} have {matrix[a, b]:g}")
    return matrix, labels


def check_order(order: Any, classes: NDArray[Any], **known: Callable[[], Ints]) -> Ints:
    """Return the codes of all classes in the order that is asked for.

    Parameters
    ----------
    order : str or sequence of labels
        "name" for the order of the classes, another word that is known, or each label once.
    classes : ndarray of shape (K,)
        The labels.
    **known : callable
        For each further word, what gives the codes.

    Returns
    -------
    ndarray of shape (K,)
    """
    if isinstance(order, str) and order in known:
        return known[order]()
    if isinstance(order, str) and order == "name":
        return np.arange(len(classes))
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes = [code_of.get(label, -1) for label in np.ravel(order).tolist()]
    if sorted(codes) != list(range(len(classes))):
        words = ", ".join(map(repr, (*known, "name")))
        raise ParameterError("order", f"one of {words}, or a sequence with each class once", order)
    return np.array(codes, dtype=np.int64)


def check_interval(interval: Any, shape: tuple[int, ...]) -> Floats | None:
    """Return intervals of values of some shape, each with its lower end first; None where there are none."""
    if interval is None:
        return None
    ends = check_values(interval, "interval", (*shape, 2))
    if (ends[..., 0] > ends[..., 1]).any():
        raise ValueError("interval should have the lower end of each interval first")
    return ends


def columns_of(
    table: Any, value: str, low: str, high: str, needed: Sequence[str], others: Sequence[str]
) -> tuple[Floats, Floats | None, dict[str, NDArray[Any]]]:
    """Return values, their intervals if there, and other columns of a data frame or mapping, all of one length."""
    missing = [name for name in (value, *needed) if name not in table]
    if missing:
        raise ValueError(f"There is no column {missing[0]!r}")
    columns = {name: np.asarray(table[name]) for name in (value, low, high, *needed, *others) if name in table}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Columns should be of one length, got {lengths}")
    n = lengths[value]
    if not n:
        raise ValueError("There are no rows to draw")
    ends = np.column_stack([columns[low], columns[high]]) if low in columns and high in columns else None
    return check_values(columns[value], value, (n,)), check_interval(ends, (n,)), columns


def interval_columns(interval: Floats | None) -> dict[str, Floats]:
    """Return the two columns that intervals are in a table; none where there are none."""
    return {} if interval is None else {"interval_low": interval[..., 0], "interval_high": interval[..., 1]}
