"""Steps of a model as plain values, for a file that holds no code, and back.

What is read is not trusted. Functions are those that `of_rows` marks, and arguments plain values. NumPy looks where an
array ends; compiled code does not, so what it follows from array to array is checked here, before it runs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.later import INPUTS, Step, Steps, is_known
from bayesfloor.learn.marginals import MOST_INDICATORS

#: How arguments that are no plain values are written: results of earlier steps, and arrays, each of them once.
_STEP, _ARRAY = "step", "array"
#: Functions whose arguments hold more than plain values.
_NOT_PLAIN = ("families.predicted_by",)


def to_plain(steps: Steps) -> dict[str, Any]:
    """Return steps as text, numbers, arrays, and lists and dicts of them, which `from_plain` takes back.

    Raises
    ------
    ValueError
        Where a member is an estimator of the caller's.
    """
    if any(name in _NOT_PLAIN for name in steps.functions):
        raise ValueError("a stack with learners of your own cannot be written to a file without code; pickle it")
    arrays: list[NDArray[Any]] = []
    places: dict[int, int] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, Step):
            return {_STEP: value.number}
        if isinstance(value, np.ndarray) and value.ndim:
            if id(value) not in places:
                places[id(value)] = len(arrays)
                arrays.append(value)
            return {_ARRAY: places[id(value)]}
        if isinstance(value, np.ndarray | np.generic):
            return value.item()
        if isinstance(value, tuple | list):
            return [plain(each) for each in value]
        if isinstance(value, dict):
            return {"values": {name: plain(each) for name, each in value.items()}}
        return value

    arguments = [[plain(each) for each in of_step] for of_step in steps.arguments]
    return {
        "functions": list(steps.functions),
        "arguments": arguments,
        "arrays": [np.ascontiguousarray(each) for each in arrays],
        "outputs": dict(steps.outputs),
    }


def from_plain(stored: Any) -> Steps:
    """Take back what `to_plain` gave.

    Raises
    ------
    ValueError
        Where it is something else.
    """
    if not isinstance(stored, dict) or stored.keys() != {"functions", "arguments", "arrays", "outputs"}:
        raise ValueError("its steps are described by other values than they need")
    functions, arguments, arrays, outputs = (stored[name] for name in ("functions", "arguments", "arrays", "outputs"))
    if not all(isinstance(each, list) for each in (functions, arguments, arrays)) or len(functions) != len(arguments):
        raise ValueError("its steps are described by other values than they need")
    for name in functions:
        if not isinstance(name, str) or not is_known(name) or name in _NOT_PLAIN:
            raise ValueError(f"it has a step that is not known, {name!r}")
    if not all(isinstance(each, np.ndarray) and each.ndim for each in arrays):
        raise ValueError("its arrays are no arrays")
    read = []
    for number, (name, of_step) in enumerate(zip(functions, arguments, strict=True)):
        given = tuple(_read(each, number, arrays) for each in of_step) if isinstance(of_step, list) else ()
        if name in _CHECKS:
            _CHECKS[name](*given)
        read.append(given)
    if not isinstance(outputs, dict) or not all(_is_place(each, len(functions)) for each in outputs.values()):
        raise ValueError("its outputs are no steps")
    return Steps(tuple(functions), tuple(read), outputs)


def _is_place(value: Any, n_places: int) -> bool:
    return type(value) is int and 0 <= value < n_places


def _read(value: Any, number: int, arrays: list[NDArray[Any]]) -> Any:
    """Return an argument of a step, which may take results of earlier ones."""
    if isinstance(value, list):
        return tuple(_read(each, number, arrays) for each in value)
    if not isinstance(value, dict):
        return value
    if value.keys() == {_STEP} and _is_place(value[_STEP], number):
        return Step(value[_STEP])
    if value.keys() == {_ARRAY} and _is_place(value[_ARRAY], len(arrays)):
        return arrays[value[_ARRAY]]
    if value.keys() == {"values"} and isinstance(value["values"], dict):
        return {name: _read(each, number, arrays) for name, each in value["values"].items()}
    raise ValueError("a step is given something that is neither there nor a plain value")


def _check(condition: Any) -> None:
    if not condition:
        raise ValueError("a step holds values that no fit gives")


def _is_array(value: Any, kind: str, n_axes: int = 1) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == n_axes


def _check_nearest(X: Any, rows: Any, k: Any) -> None:
    _check(_is_array(X, "float32", 2) and len(X) and isinstance(rows, Step) and type(k) is int and k > 0)


def _check_fitted_nearby(
    test: Any, nearest: Any, known: Any, scale: Any, penalties: Any, codes: Any, values: Any, prior: Any
) -> None:
    _check(isinstance(test, Step) and isinstance(nearest, Step) and type(scale) is float)
    _check(_is_array(known, "float32", 2) and all(_is_array(each, "float32") for each in (penalties, values, prior)))
    _check(_is_array(codes, "int32") and len(known) == len(penalties) == len(codes) == len(values))
    _check((codes >= 0).all() and (codes < len(prior)).all())


def _check_trees(
    test: Any,
    feature: Any,
    threshold: Any,
    child: Any,
    first: Any,
    last: Any,
    order: Any,
    sizes: Any,
    codes: Any,
    targets: Any,
    weight: Any,
    is_counted: Any,
    n_targets: Any,
    n_features: Any,
    min_rows: Any,
    n_kinds: Any,
) -> None:
    """Every node leads on to nodes behind it, and every leaf to rows that are there, of targets that are there."""
    _check(isinstance(test, Step) and type(is_counted) is bool and n_kinds in (1, 2) and type(min_rows) is int)
    _check(
        all(_is_array(each, "int32") for each in (feature, child, first, last, codes)) and _is_array(order, "uint32")
    )
    _check(isinstance(threshold, np.ndarray) and threshold.dtype in ("float32", "uint16") and threshold.ndim == 1)
    _check(_is_array(sizes, "int64") and _is_array(targets, "float64") and _is_array(weight, "float64"))
    n = len(codes)
    _check(n and len(targets) == len(weight) == n and type(n_targets) is int and type(n_features) is int)
    _check(
        len(sizes) and (sizes > 0).all() and len({len(feature), len(threshold), len(child), len(first), len(last)}) == 1
    )
    _check(sizes.sum() == len(feature) and len(order) == n * len(sizes) and (order < n).all())
    _check((codes >= 0).all() and (codes < n_targets).all() and (feature >= -1).all() and (feature < n_features).all())
    _check((first >= 0).all() and (first < last).all() and (last <= n).all())
    node = np.concatenate([np.arange(size) for size in sizes])
    is_split, size = feature >= 0, np.repeat(sizes, sizes)
    _check((child[is_split] > node[is_split]).all() and (child[is_split] + 1 < size[is_split]).all())


def _check_bins(rows: Any, cuts: Any, is_category: Any) -> None:
    _check(isinstance(rows, Step) and _is_array(is_category, "bool") and isinstance(cuts, tuple))
    _check(len(cuts) == len(is_category) and all(_is_array(each, "float64") for each in cuts))


def _check_boosted(bins: Any, is_category: Any, start: Any, column: Any, left: Any, child: Any, value: Any) -> None:
    """Every node leads on to nodes behind it."""
    _check(isinstance(bins, Step) and _is_array(is_category, "bool") and _is_array(start, "float64"))
    kinds = zip((column, left, child, value), ("int64", "uint64", "int64", "float64"), strict=True)
    _check(all(_is_array(each, kind, 3) and each.shape == column.shape for each, kind in kinds))
    _check(column.shape[1] == len(start) and (column >= -1).all() and (column < len(is_category)).all())
    # a leaf has no children; what lies behind the last node was never written
    is_split = column >= 0
    node = np.broadcast_to(np.arange(column.shape[2]), column.shape)
    _check((child[is_split] > node[is_split]).all() and (child[is_split] + 1 < column.shape[2]).all())


def _check_indicators(places: Any, n_values: Any) -> None:
    _check(isinstance(places, Step) and type(n_values) is int and 0 <= n_values <= MOST_INDICATORS)


_CHECKS: dict[str, Callable[..., None]] = {
    "nearest.nearest_rows": _check_nearest,
    "nearest.fitted_nearby": _check_fitted_nearby,
    "decision_trees.means_of_trees": _check_trees,
    "boosting.bins_by": _check_bins,
    "boosting.scores_by": _check_boosted,
    "marginals.indicators": _check_indicators,
}
assert all(is_known(name) and name not in INPUTS for name in _CHECKS)
