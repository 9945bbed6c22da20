"""JSON Schema of records, from the types of their fields and properties.

It describes what `bayesfloor.runtime.results.Result.to_dict` gives, with the words of the docstrings.
"""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result, attributes_of

Schema = dict[str, Any]

#: Numbers may be NaN or infinite, which JSON writes as null.
_NUMBER: Schema = {"type": ["number", "null"]}
_PLAIN: dict[Any, Schema] = {
    float: _NUMBER,
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    Any: {"$ref": "#/$defs/label"},
    Finding: {"$ref": "#/$defs/finding"},
}
#: Definitions that those of records refer to.
SHARED: dict[str, Schema] = {
    "numbers": {
        "description": "Numbers, or lists of them: a vector, a matrix and so on.",
        "type": "array",
        "items": {"anyOf": [_NUMBER, {"$ref": "#/$defs/numbers"}]},
    },
    "brief_metrics": {
        "description": "The best value of each metric, by name.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "larger_is_better": {"type": "boolean"},
                "estimate": _NUMBER,
                "interval": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
            },
            "required": ["title", "larger_is_better", "estimate", "interval"],
            "additionalProperties": False,
        },
    },
}
#: A name, or several with commas between, and a type, in the section of a docstring; what is said is indented.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) :.*\n((?:    .+\n?)+)", flags=re.MULTILINE)


def printed_record(
    kind: type[Any],
    known: dict[str, Schema],
    beside: Mapping[str, Any] | None = None,
    optional: Mapping[str, Any] | None = None,
) -> Schema:
    """Return the schema of a record as a command prints it: its findings stand elsewhere.

    Parameters
    ----------
    kind : type
        A `Result`.
    known : dict
        Definitions by name. Those of all that the record holds are added.
    beside, optional : mapping of str to type or dict, optional
        What stands beside the fields, always or sometimes: a type, or a schema.

    Returns
    -------
    dict
    """
    hints = {name: hint for name, hint in _hints_of(kind).items() if name != "findings"}
    return _object(kind, hints | dict(beside or {}), dict(optional or {}), known)


def _defined(kind: type[Any], known: dict[str, Schema]) -> Schema:
    """Return a reference to the schema of a record that another holds."""
    name = kind.__name__
    if name not in known:
        known[name] = {}  # a record may hold records of its own kind
        known[name] = _object(kind, _hints_of(kind), {}, known)
    return {"$ref": f"#/$defs/{name}"}


def _object(kind: type[Any], hints: dict[str, Any], optional: dict[str, Any], known: dict[str, Schema]) -> Schema:
    words = _words_of(kind)
    properties = {
        name: hint if isinstance(hint, dict) else _with_words(_schema_of(hint, known), words.get(name, ""))
        for name, hint in (hints | optional).items()
    }
    return {
        "description": (getdoc(kind) or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": list(hints),
        "additionalProperties": False,
    }


def _hints_of(kind: Any) -> dict[str, Any]:
    """Return the types of all that the dict of a record holds; what a generic record leaves open is filled in."""
    record = get_origin(kind) or kind
    hints = get_type_hints(record)
    filled: dict[Any, Any] = {}
    for generic in [kind, *(each for base in record.__mro__ for each in getattr(base, "__orig_bases__", ()))]:
        filled |= zip(getattr(get_origin(generic), "__parameters__", ()), get_args(generic), strict=False)
    if is_dataclass(record):
        kinds = {name: getattr(record, name, None) for name in attributes_of(record)}
        hints = {
            name: get_type_hints(each.fget)["return"] if isinstance(each, property) else hints[name]
            for name, each in kinds.items()
        }
    has_words = issubclass(record, Result) and record.sentence is not Result.sentence
    found: dict[str, Any] = {"sentence": str} if has_words else {}
    return found | {name: _filled(hint, filled) for name, hint in hints.items()}


def _filled(hint: Any, filled: Mapping[Any, Any]) -> Any:
    """Fill in what a type leaves open."""
    if isinstance(hint, TypeVar):
        return filled[hint]
    is_open = getattr(hint, "__parameters__", ())
    return hint[tuple(filled[each] for each in is_open)] if is_open else hint


def _schema_of(hint: Any, known: dict[str, Schema]) -> Schema:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(each, known) for each in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is np.ndarray:
        return _schema_of_array(get_args(arguments[1])[0])
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_schema_of(each, known) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (tuple, list):
        return {"type": "array", "items": _schema_of(arguments[0], known)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], known)}
    if origin is not None:  # a generic record, which holds other types elsewhere
        return _object(origin, _hints_of(hint), {}, known)
    return _defined(hint, known)


def _schema_of_array(scalar: Any) -> Schema:
    if isinstance(scalar, type) and issubclass(scalar, np.bool_):
        return {"type": "array", "items": {"type": "boolean"}}
    if isinstance(scalar, type) and issubclass(scalar, np.number):
        return {"$ref": "#/$defs/numbers"}
    return {"type": "array", "items": {"$ref": "#/$defs/label"}}


def _words_of(kind: type[Any]) -> dict[str, str]:
    """Return what docstrings say of each attribute, in one line."""
    section = (getdoc(kind) or "").partition("Attributes\n----------\n")[2]
    words = {
        name: " ".join(text.split()) for names, text in _ENTRY.findall(section + "\n") for name in names.split(", ")
    }
    properties = {name: getattr(kind, name, None) for name in dir(kind)}
    return words | {
        name: (getdoc(each) or "").partition("\n")[0] for name, each in properties.items() if isinstance(each, property)
    }


def _with_words(schema: Schema, words: str) -> Schema:
    return {"description": words} | schema if words else schema
