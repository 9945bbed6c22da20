"""One file for each cell: what was measured, how, where and with what, and a checksum over all of it."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesfloor.runtime.files import write_whole
from study.methods import Method
from study.plan import Cell, Protocol

#: Version of the form of the records; one of another version is not read.
SCHEMA = 1

DONE, OVER_BUDGET = "done", "over budget"


class BadRecordError(ValueError):
    """A file that is not a whole record."""


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


def record_file(folder: Path, cell: Cell, slug: str) -> Path:
    """Return where a cell is recorded."""
    return folder / "records" / f"{cell.dataset}.{slug}.{cell.split}.json"


def write_record(file: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
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
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1, allow_nan=False)
    write_whole(file, (text + "\n").encode())


def read_record(file: Path) -> Record:
    """Read a record.

    Parameters
    ----------
    file : Path
        Where it is.

    Returns
    -------
    Record

    Raises
    ------
    BadRecordError
        If the file is cut off, was changed, or is of another version.
    """
    if not file.is_file():
        raise BadRecordError(f"{file.name} is not a plain file")
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadRecordError(f"{file.name} is no JSON: it was cut off or overwritten") from error
    if not isinstance(content, dict) or "checksum" not in content:
        raise BadRecordError(f"{file.name} is not a record")
    if content.get("schema") != SCHEMA:
        raise BadRecordError(f"{file.name} is of version {content.get('schema')!r}, not {SCHEMA}")
    if content.pop("checksum") != _checksum(content):
        raise BadRecordError(f"{file.name} was changed: its checksum is another")
    try:
        return Record(
            Cell(**content["cell"]),
            content["protocol"],
            content["status"],
            content["result"],
            content["budget_seconds"],
            content["profile"],
            content["context"],
        )
    except (KeyError, TypeError) as error:
        raise BadRecordError(f"{file.name} lacks something: {error}") from error


def read_records(folder: Path) -> tuple[list[Record], list[str]]:
    """Read all records of a study.

    Parameters
    ----------
    folder : Path
        The study's folder.

    Returns
    -------
    records : list of Record
        Those that are whole, in the order of their file names.
    complaints : list of str
        What is wrong with the others.
    """
    records, complaints = [], []
    for file in sorted((folder / "records").glob("*.json")):
        try:
            records.append(read_record(file))
        except BadRecordError as error:
            complaints.append(str(error))
    return records, complaints


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
