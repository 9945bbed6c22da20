"""The JSON Schema of what each command prints with ``--json``.

Commands that print a record are described by its fields; all others, and what a report writes, in the file beside this
one.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from bayesfloor.cli.exits import UsageError


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
    from bayesfloor.choose.selection_path import SelectionPath
    from bayesfloor.choose.transform_results import TransformComparison
    from bayesfloor.cli.record_schemas import SHARED, printed_record
    from bayesfloor.floor.learned.gap_result import FloorGap
    from bayesfloor.floor.learned.regression.result import RegressionFloor
    from bayesfloor.floor.learned.result import LearnedFloor
    from bayesfloor.floor.learned.rows_needed import RowsNeeded
    from bayesfloor.floor.trees.noise_variance import NoiseFromTrees
    from bayesfloor.floor.trees.results import (
        BayesError,
        ClassFloor,
        ClassPair,
        OneVsRestBayesError,
        PairwiseBayesError,
    )
    from bayesfloor.floor.votes.result import VoteFloor
    from bayesfloor.runtime.arrays import Range

    known: dict[str, Any] = dict(SHARED)
    # beside the fields of a record
    learned = {"method": {"const": "learned"}}
    trees = {"method": {"const": "spanning trees"}, "metric": str, "metrics": {"$ref": "#/$defs/brief_metrics"}}
    noise = {"noise_variance": float, "noise_variance_interval": Range}
    places = {
        f"by_{what}": {"type": "array", "items": {"$ref": f"#/$defs/gap_of_{what}"}}
        for what in ("class", "pair", "subgroup")
    }
    floors = [
        printed_record(LearnedFloor, known, learned, {"rows_for": RowsNeeded}),
        printed_record(RegressionFloor, known, learned, {"rows_for": RowsNeeded}),
        printed_record(BayesError, known, trees),
        printed_record(NoiseFromTrees, known, trees | noise),
    ]
    results = {
        "floor": ("A floor: from models, or from spanning trees with --fast", {"anyOf": floors}),
        "gap": ("A model beside what was reached, and the floor", printed_record(FloorGap, known, places)),
        "pairs": (
            "Pairs of classes, the hardest first",
            printed_record(PairwiseBayesError, known, {"hardest": list[ClassPair]}),
        ),
        "classes": (
            "Classes, the hardest first",
            printed_record(OneVsRestBayesError, known, {"hardest": list[ClassFloor]}),
        ),
        "votes": ("The floor from several annotators", printed_record(VoteFloor, known)),
        "select": (
            "Columns that carry the information",
            printed_record(SelectionPath, known, {"selected": list[str], "estimate": float, "interval": Range}),
        ),
        "transforms": ("Transforms by the floor that each leaves", printed_record(TransformComparison, known)),
    }
    return known | {name: _printed(name, *described) for name, described in results.items()}


def _printed(command: str, title: str, result: dict[str, Any]) -> dict[str, Any]:
    """Describe all that a command prints."""
    properties = {
        "schema": {"const": schema_name(command)},
        "command": {"const": command},
        "version": {"description": "Version of bayesfloor.", "type": "string"},
        **({} if command == "votes" else {"data": {"$ref": "#/$defs/data"}}),
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
