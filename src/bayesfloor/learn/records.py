"""Records of what was learned: they can be written to a file that holds no code, and read from one that nobody trusts.

A record is a frozen dataclass of the decorator `record`. Its annotations say what its fields hold, and what is read is
held against them: arrays of a kind, numbers, text, and tuples, dicts and other records of them. NumPy looks where an
array ends. Compiled code does not, so what it follows from array to array is looked at by `Record.check`, before it
runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np

from bayesfloor.data.numbers import LARGEST
from bayesfloor.runtime.text import shortened

#: Largest coefficient: with features of up to 2000, no score of a million of them exceeds the range of float32.
LARGEST_COEFFICIENT = 1e15
#: Largest mean and deviation of a target of numbers: somewhat above the largest number that a fit takes.
LARGEST_TARGET = 10 * LARGEST
#: What a record is written as: its name, and its fields.
_NAME, _FIELDS = "record", "fields"

#: Records that a file may hold, by name.
_RECORDS: dict[str, type["Record"]] = {}

#: Letters of a record in a line.
MOST_LETTERS = 160

R = TypeVar("R", bound="Record")
T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def record(kind: type[T]) -> type[T]:
    """Make a frozen dataclass of a subclass of `Record`."""
    return dataclass(frozen=True, eq=False, repr=False)(kind)


class Record:
    """What a file can hold; subclasses are made by `record`."""

    def __init_subclass__(cls) -> None:
        assert cls.__name__ not in _RECORDS, cls.__name__
        _RECORDS[cls.__name__] = cls

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        parts = [part for value in values.values() if isinstance(value, tuple) for part in value]
        own = (f"{name}={_in_short(value)}" for name, value in values.items())
        lines = [
            f"{type(self).__name__}({', '.join(own)})",
            *(repr(part) for part in parts if isinstance(part, Record)),
        ]
        return "\n".join(shortened(line, MOST_LETTERS) for each in lines for line in each.split("\n"))

    def check(self) -> None:
        """Raise ValueError where arrays do not go together in a way that compiled code would not notice."""


def _in_short(value: Any) -> str:
    """Describe a field: an array by its kind and shape, records by their names."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, Record):
        return type(value).__name__
    return f"{len(value)} parts" if isinstance(value, tuple) else repr(value)


def require(condition: Any) -> None:
    """Raise ValueError for a record that no fit gives."""
    if not condition:
        raise ValueError("a member holds values that no fit gives")


def require_within(values: Any, least: Any, largest: Any) -> None:
    """Raise ValueError unless all values lie between two numbers."""
    require(np.all((values >= least) & (values <= largest)))


def to_plain(value: Any) -> Any:
    """Return a record as text, numbers, arrays, and lists and dicts of them, which `from_plain` takes back.

    Raises
    ------
    ValueError
        Where it holds anything else, such as an estimator of the caller's.
    """
    if isinstance(value, Record):
        plain = {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]
        return {_NAME: type(value).__name__, _FIELDS: plain}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value)
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError("a stack with learners of your own cannot be written to a file without code; pickle it")


def from_plain(stored: Any, kind: type[R]) -> R:
    """Take back a record of a kind, or of a subclass of it.

    Raises
    ------
    ValueError
        Where it is something else.
    """
    if not isinstance(stored, dict) or stored.keys() != {_NAME, _FIELDS} or not isinstance(stored[_FIELDS], dict):
        raise ValueError("a member is described by other values than it needs")
    found = _RECORDS.get(stored[_NAME]) if isinstance(stored[_NAME], str) else None
    if found is None or not issubclass(found, kind):
        raise ValueError(f"it has a member that is not known, {stored[_NAME]!r}")
    kinds = _kinds_of(found)
    if stored[_FIELDS].keys() != kinds.keys():
        raise ValueError(f"the fields of {stored[_NAME]!r} are others")
    made = found(**{name: read_field(stored[_FIELDS][name], of_field) for name, of_field in kinds.items()})
    made.check()
    return made


def _kinds_of(record: Any) -> Mapping[str, Any]:
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(record)}


def read_field(value: Any, kind: Any) -> Any:
    """Return what `to_plain` gave for a value that an annotation describes."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is UnionType:
        if value is None and NoneType in inside:
            return None
        (kind,) = (each for each in inside if each is not NoneType)
        return read_field(value, kind)
    if isinstance(kind, type) and issubclass(kind, Record):
        return from_plain(value, kind)
    if origin is tuple and isinstance(value, list):
        kinds = inside[:1] * len(value) if inside[-1] is Ellipsis else inside
        return tuple(read_field(each, of_item) for each, of_item in zip(value, kinds, strict=True))
    if origin is dict and isinstance(value, dict):
        return {name: read_field(each, inside[1]) for name, each in value.items()}
    if origin is np.ndarray and isinstance(value, np.ndarray) and value.ndim:
        (dtype,) = get_args(inside[1])
        require(dtype is Any or value.dtype == np.dtype(dtype))
        return value
    require(kind in (bool, int, float, str) and type(value) is kind)
    return value
