"""The JSON Schema of what each command prints with ``--json``, from the file beside this one."""

import json
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
    whole: dict[str, Any] = json.loads(files("bayesfloor.cli").joinpath("schemas.json").read_text(encoding="utf-8"))
    if command is None:
        return whole
    kinds = [_target(each) for each in whole["oneOf"]]
    if command not in kinds:
        raise UsageError(f"{command!r} prints no JSON; one of {', '.join(kinds)} does")
    needed, waiting = {}, [command]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = whole["$defs"][name]
            waiting += _referred(needed[name])
    head = {key: whole[key] for key in ("$schema", "title", "description")}
    head |= {"$id": f"{whole['$id']}:{command}", "$ref": f"#/$defs/{command}"}
    return head | {"$defs": {name: part for name, part in whole["$defs"].items() if name in needed}}


def schema_name(command: str) -> str | None:
    """Return the name and version of the layout of a command's output, as in "bayesfloor/floor/1".

    None for commands of other programs, which have no published layout.
    """
    definition = schema_of()["$defs"].get(command)
    return None if definition is None else str(definition["properties"]["schema"]["const"])


def _target(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _referred(part: Any) -> list[str]:
    """List the definitions that a part of a schema refers to."""
    if isinstance(part, list):
        return [name for each in part for name in _referred(each)]
    if not isinstance(part, dict):
        return []
    return [_target(part)] if "$ref" in part else _referred(list(part.values()))
