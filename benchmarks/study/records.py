"""One line for each cell: what was measured, how, where and with what, and a checksum over all of it."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.study.methods import Method
from benchmarks.study.plan import Cell, Protocol
from benchmarks.tools.records import append_record
from benchmarks.tools.records import read_records as read_lines

#: Version of the form of the records; one of another version is not read.
SCHEMA = 1

DONE, OVER_BUDGET = "done", "over budget"


class BadRecordError(ValueError):
    """A line that is not a whole record."""


@dataclass(frozen=True)
class Record:
    """What is known of one cell.

    Attributes
    ----------
    cell : Cell
        Which one.
    protocol : dict
        How it was measured: see `describe_protocol`.
    status : {"done", "over budget"}
        Whether there is a result.
    result : dict or None
        What `measure_cell` returned.
    budget_seconds : float or None
        How long it was allowed to take.
    profile : str
        The profile it was run with.
    context : dict
        Machine, versions and revision.
    """

    cell: Cell
    protocol: dict[str, Any]
    status: str
    result: dict[str, Any] | None
    budget_seconds: float | None
    profile: str
    context: dict[str, Any]

    @property
    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.status == DONE


def describe_protocol(method: Method, protocol: Protocol) -> dict[str, Any]:
    """Return all that must be equal for two records to stand in one table."""
    grid = {name: list(values) for name, values in method.grid.items()}
    return {**protocol.as_dict(), "grid": grid, "settings": dict(method.settings)}


def records_file(folder: Path) -> Path:
    """Return where a study's cells are recorded."""
    return folder / "records.jsonl"


def write_record(folder: Path, record: Record) -> None:
    """Append a record to those of a study; of several of one cell, the last counts."""
    cell = record.cell
    content = {
        "schema": SCHEMA,
        "cell": {"dataset": cell.dataset, "split": cell.split, "method": cell.method},
        "status": record.status,
        "result": record.result,
        "budget_seconds": record.budget_seconds,
        "profile": record.profile,
        "protocol": record.protocol,
        "context": record.context,
    }
    append_record(records_file(folder), {**content, "checksum": _checksum(content)})


def read_records(folder: Path) -> tuple[list[Record], list[str]]:
    """Read all records of a study.

    Parameters
    ----------
    folder : Path
        The study's folder.

    Returns
    -------
    records : list of Record
        The last whole one of each cell, in the order of the cells.
    complaints : list of str
        What is wrong with lines that are not whole, were changed, or are of another version; a cell that was measured
        again is not among them.
    """
    complaints: list[str] = []
    found: dict[Cell, Record] = {}
    broken: dict[str, str] = {}
    for content in read_lines(records_file(folder), complaints.append):
        name = str(content.get("cell"))
        try:
            record = _record_of(content)
        except BadRecordError as error:
            broken[name] = str(error)
        else:
            found[record.cell] = record
            broken.pop(name, None)
    return [found[cell] for cell in sorted(found)], [*complaints, *broken.values()]


def _record_of(content: dict[str, Any]) -> Record:
    """Return the record that a line holds, or raise BadRecordError."""
    cell = content.get("cell")
    if not isinstance(cell, dict) or "checksum" not in content:
        raise BadRecordError("a line without a cell or a checksum is not a record")
    name = "{method} on {dataset}, split {split}".format_map({"method": "?", "dataset": "?", "split": "?", **cell})
    if content.get("schema") != SCHEMA:
        raise BadRecordError(f"the record of {name} is of version {content.get('schema')!r}, not {SCHEMA}")
    if content.pop("checksum") != _checksum(content):
        raise BadRecordError(f"the record of {name} was changed: its checksum is another")
    try:
        return Record(
            Cell(**cell),
            content["protocol"],
            content["status"],
            content["result"],
            content["budget_seconds"],
            content["profile"],
            content["context"],
        )
    except (KeyError, TypeError) as error:
        raise BadRecordError(f"the record of {name} lacks something: {error}") from error


def differences(recorded: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Say in which entries a recorded protocol differs from the one that is wanted."""
    return ", ".join(
        f"{name} {_short(recorded.get(name))} and not {_short(value)}"
        for name, value in wanted.items()
        if recorded.get(name) != value
    )


def _short(value: Any) -> str:
    if isinstance(value, dict):
        sizes = [f"{len(each)} {name}" if isinstance(each, list) else f"{name} {each}" for name, each in value.items()]
        return "(" + ", ".join(sizes) + ")"
    return str(value)


def _checksum(content: dict[str, Any]) -> str:
    """Return a checksum that does not depend on the order of the entries or on white space."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
