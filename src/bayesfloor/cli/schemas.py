"""The JSON Schema of what each command prints with ``--json``.

Commands that print a record are described by the types of its fields and properties, as
`bayesfloor.runtime.results.Result.to_dict` gives them, with the words of the docstrings; all others, and what a report
writes, in the file beside this one.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib.resources import files
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from bayesfloor.cli.exits import UsageError
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


def schema_of(command: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a command's output, with all that it refers to.

    Parameters
    ----------
    command : str or None, default=None
        The command, or "summary" for what a report writes as JSON; None for one schema of all.

    Returns
    -------
    dict
    """
    whole = _written()
    kinds = _kinds(whole)
    if command is not None and command not in kinds:
        raise UsageError(f"{command!r} prints no JSON; one of {', '.join(kinds)} does")
    definitions = whole["$defs"] | _definitions()
    if command is None:
        return whole | {"$defs": definitions}
    needed, waiting = {}, [command]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = definitions[name]
            waiting += _referred(needed[name])
    head = {key: whole[key] for key in ("$schema", "title", "description")}
    head |= {"$id": f"{whole['$id']}:{command}", "$ref": f"#/$defs/{command}"}
    return head | {"$defs": {name: part for name, part in definitions.items() if name in needed}}


def schema_name(command: str) -> str | None:
    """Return the name and version of the layout of a command's output, as in "bayesfloor/floor/1".

    None for commands of other programs, which have no published layout.
    """
    return f"bayesfloor/{command}/1" if command in _kinds(_written()) else None


def _written() -> dict[str, Any]:
    """Read what is written by hand."""
    whole: dict[str, Any] = json.loads(files("bayesfloor.cli").joinpath("schemas.json").read_text(encoding="utf-8"))
    return whole


def _kinds(whole: dict[str, Any]) -> list[str]:
    return [_target(each) for each in whole["oneOf"]]


@cache
def _definitions() -> dict[str, Any]:
    """Describe the commands that print a record, and these records."""
    from bayesfloor import results
    from bayesfloor.cli.plans import PLANNED, Plan
    from bayesfloor.floor.trees.results import ClassFloor, ClassPair
    from bayesfloor.runtime.arrays import Range

    known: dict[str, Any] = dict(SHARED)
    # beside the fields of a record
    as_asked = {"estimate": _NUMBER, "interval": {"$ref": "#/$defs/numbers"}, "reached": _NUMBER}
    learned = {
        "method": {"const": "learned"},
        "as_asked": {
            "description": "With all columns and rows at random, where the figures are without leaks or apart.",
            "type": ["object", "null"],
            "properties": as_asked,
            "required": list(as_asked),
            "additionalProperties": False,
        },
    }
    trees = {"method": {"const": "spanning trees"}, "metric": str, "metrics": {"$ref": "#/$defs/brief_metrics"}}
    places = {
        f"by_{what}": {"type": "array", "items": {"$ref": f"#/$defs/gap_of_{what}"}}
        for what in ("class", "pair", "subgroup")
    }
    floors = [
        printed_record(results.LearnedFloor, known, learned, {"rows_for": results.RowsNeeded}),
        printed_record(results.RegressionFloor, known, learned, {"rows_for": results.RowsNeeded}),
        printed_record(results.BayesError, known, trees),
    ]
    outputs = {
        "floor": ("A floor: from models, or from spanning trees with --fast", {"anyOf": floors}),
        "gap": ("A model beside what was reached, and the floor", printed_record(results.FloorGap, known, places)),
        "pairs": (
            "Pairs of classes, the hardest first",
            printed_record(results.PairwiseBayesError, known, {"hardest": list[ClassPair]}),
        ),
        "classes": (
            "Classes, the hardest first",
            printed_record(results.OneVsRestBayesError, known, {"hardest": list[ClassFloor]}),
        ),
        "votes": ("The floor from several annotators", printed_record(results.VoteFloor, known)),
        "select": (
            "Columns that carry the information",
            printed_record(results.SelectionPath, known, {"selected": list[str], "estimate": float, "interval": Range}),
        ),
        "drift": ("Two tables, and what moved between them", printed_record(results.Drift, known)),
        "compare": (
            "Representations of the same rows, the best first",
            printed_record(results.FeatureComparison, known),
        ),
        "plan": ("What a command would do, with --dry-run", printed_record(Plan, known)),
    }
    layouts = {name: _printed(name, *described) for name, described in outputs.items()}
    layouts["plan"]["properties"]["command"] = {"enum": list(PLANNED)}
    return known | layouts


def _printed(command: str, title: str, result: dict[str, Any]) -> dict[str, Any]:
    """Describe all that a command prints."""
    properties = {
        "schema": {"const": schema_name(command)},
        "command": {"const": command},
        "version": {"description": "Version of bayesfloor.", "type": "string"},
        **({} if command in ("votes", "drift", "compare", "plan") else {"data": {"$ref": "#/$defs/data"}}),
        "result": result,
        "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
    }
    return {
        "description": f"{title} (bayesfloor {command}).",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _target(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _referred(part: Any) -> list[str]:
    """List the definitions that a part of a schema refers to."""
    if isinstance(part, list):
        return [name for each in part for name in _referred(each)]
    if not isinstance(part, dict):
        return []
    return [_target(part)] if "$ref" in part else _referred(list(part.values()))


# --- records


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
    record: Any = get_origin(kind) or kind
    hints = get_type_hints(record)
    filled: dict[Any, Any] = {}
    for generic in [kind, *(each for base in record.__mro__ for each in getattr(base, "__orig_bases__", ()))]:
        filled |= zip(getattr(get_origin(generic), "__parameters__", ()), get_args(generic), strict=False)
    has_properties = is_dataclass(record)
    if has_properties:
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
    import numpy as np

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
    import numpy as np

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
