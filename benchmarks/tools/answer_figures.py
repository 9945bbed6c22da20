"""What a result says, as figures by name, and what has changed between two lists of these.

A figure's name is the way to it through public attributes, keys and places: ``floor.metrics[error].interval[0]``. An
array is one figure: its values where they are few, and else a checksum of its bytes beside its shape, mean and ends.
Kinds of numbers are no answer: all integers are compared as int64, and all others as float64.
"""

import dataclasses
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Any

import numpy as np

#: Values up to which an array is kept whole, and entries up to which a list is taken apart.
WHOLE, SHORT = 200, 8
#: Attributes that differ from run to run.
FLEETING = {"seconds", "created", "version"}
_SECONDS = re.compile(r"\b(?:about )?\d[\d.,]* ?(?:s|ms|seconds?|minutes?|hours?)\b")

Figures = dict[str, Any]


def figures_of(value: Any, name: str) -> Figures:
    """Return all that a value says, by name; what is no answer, such as a function, is left out."""
    return dict(_walk(value, name, ()))


def _walk(value: Any, name: str, within: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the figures of a value that was found within others."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        yield name, value
    elif isinstance(value, float):
        yield name, value if math.isfinite(value) else str(value)
    elif isinstance(value, str | bytes):
        yield name, _SECONDS.sub("… s", value) if isinstance(value, str) else _checksum(value)
    elif isinstance(value, Set):
        yield name, {"set": sorted(map(str, value))}
    elif any(value is each for each in within):  # a floor that holds is its own honest one
        yield name, "itself"
    elif not isinstance(value, type):
        yield from _walk_into(value, name, (*within, value))


def _walk_into(value: Any, name: str, within: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key not in FLEETING:
                yield from _walk(each, f"{name}[{key}]", within)
    elif hasattr(value, "_asdict"):
        yield from _walk_into(value._asdict(), name, within)
    elif isinstance(value, list | tuple):
        if len(value) > SHORT and all(each is None or isinstance(each, str | int | float) for each in value):
            yield name, _array(np.array([str(each) if isinstance(each, str) else each for each in value]))
            return
        yield f"{name}.length", len(value)
        for place, each in enumerate(value):
            yield from _walk(each, f"{name}[{place}]", within)
    elif hasattr(value, "toarray"):
        yield name, _array(value.toarray())
    elif hasattr(value, "columns") and hasattr(value, "shape"):
        columns = value.column_names if hasattr(value, "column_names") else value.columns
        for column in columns:
            yield f"{name}[{column}]", _array(np.asarray(value[column]))
    elif isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        yield name, _array(np.asarray(value))
    elif dataclasses.is_dataclass(value) or type(value).__module__.partition(".")[0] == "bayesfloor":
        for attribute in attributes_of(value):
            try:
                each = getattr(value, attribute)
            except (AttributeError, ImportError, ValueError) as error:
                each = f"raises {type(error).__name__}: {error}"
            yield from _walk(each, f"{name}.{attribute}", within)


def attributes_of(value: Any) -> list[str]:
    """Return the names of public attributes: of estimators, what fitting has left."""
    is_record = dataclasses.is_dataclass(value)
    kinds = [kind for kind in type(value).__mro__ if is_record or kind.__module__.partition(".")[0] == "bayesfloor"]
    found = [field.name for field in dataclasses.fields(value)] if is_record else [*getattr(value, "__dict__", ())]
    found += [n for kind in kinds for n, each in vars(kind).items() if isinstance(each, property | cached_property)]
    if hasattr(value, "get_params"):
        found = [name for name in found if name.endswith("_") and _is_answer(getattr(value, name, None))]
    return [name for name in dict.fromkeys(found) if not name.startswith("_") and name not in FLEETING]


def _is_answer(value: Any) -> bool:
    """Tell whether an attribute of an estimator is a value or a documented record, and not its inner works."""
    is_own = type(value).__module__.startswith("bayesfloor")
    return not is_own or hasattr(value, "to_dict")


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _array(array: np.ndarray) -> dict[str, Any]:
    """Describe an array: whole, or by its checksum and a few figures."""
    found: dict[str, Any] = {"shape": list(array.shape)}
    if array.dtype.kind not in "biuf":
        if array.size <= WHOLE:
            return found | {"values": [_SECONDS.sub("… s", str(each)) for each in array.ravel().tolist()]}
        return found | {"bytes": _checksum(repr([str(each) for each in array.ravel().tolist()]).encode())}
    array = np.ascontiguousarray(array, np.float64 if array.dtype.kind == "f" else np.int64)
    if array.size <= WHOLE:
        return found | {"values": [each if math.isfinite(each) else str(each) for each in array.ravel().tolist()]}
    known = array[np.isfinite(array)]
    ends = {"mean": float(known.mean()), "min": float(known.min()), "max": float(known.max())} if known.size else {}
    return found | {"bytes": _checksum(array.tobytes()), **ends}


def changes(before: Figures, after: Figures) -> Iterator[tuple[str, str]]:
    """Yield the name of each figure that is not the same, and how it has changed."""
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield name, f"{_written(before[name])} → gone"
        elif name not in before:
            yield name, f"not there → {_written(after[name])}"
        elif before[name] != after[name] or type(before[name]) is not type(after[name]):
            yield name, _change(before[name], after[name])


def _change(old: Any, new: Any) -> str:
    if not isinstance(old, dict) or not isinstance(new, dict) or old.keys() != new.keys():
        return f"{_written(old)} → {_written(new)}"
    if "set" in old:
        gone, more = set(old["set"]) - set(new["set"]), set(new["set"]) - set(old["set"])
        return "; ".join(f"{what}: {', '.join(sorted(each))}" for what, each in (("gone", gone), ("new", more)) if each)
    if old["shape"] != new["shape"]:
        return f"shape {old['shape']} → {new['shape']}"
    if "values" in old:
        places = [place for place, (a, b) in enumerate(zip(old["values"], new["values"], strict=True)) if a != b]
        index = tuple(map(int, np.unravel_index(places[0], old["shape"])))
        first = f"{list(index)}: {old['values'][places[0]]} → {new['values'][places[0]]}"
        return f"{len(places)} of {len(old['values'])} values, the first at {first}"
    told = [f"{name} {old[name]} → {new[name]}" for name in ("mean", "min", "max") if old.get(name) != new.get(name)]
    return f"bytes of {old['shape']}, {'; '.join(told) or 'mean and ends are the same'}"


def _written(figure: Any) -> str:
    if not isinstance(figure, dict):
        return repr(figure)
    if "set" in figure:
        return f"{len(figure['set'])} words"
    return f"an array of shape {figure['shape']}"
