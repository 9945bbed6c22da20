"""Records of what was measured: one JSON object a line, appended as soon as it is there.

A run that was stopped goes on where it was, even if it was killed in the middle of a line.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

Record = dict[str, Any]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read_records(path: Path, complain: Callable[[str], None] = _say) -> list[Record]:
    """Return the records of a file, none if there is no file.

    Parameters
    ----------
    path : Path
        A file of one JSON object a line.
    complain : callable
        Is told of each line that is not a whole record. What it was about counts as not measured.
    """
    if not path.exists():
        return []
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line:
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if isinstance(record, dict):
                records.append(record)
            else:
                complain(f"line {number} of {path.name} is no record: it was cut off or overwritten")
    return records


def append_record(path: Path, record: Record) -> None:
    """Append a record by a single write, on a line of its own even where the last line was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        starts_anew = True
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            starts_anew = file.read(1) == b"\n"
        file.write((("" if starts_anew else "\n") + json.dumps(record) + "\n").encode())


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Replace all records of a file."""
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    part.replace(path)


def measure_all(measure: Callable[..., Any], keys: Iterable[tuple[Any, ...]], path: Path, workers: int) -> None:
    """Measure in processes of one thread each, and record what comes of each as soon as it is there.

    Parameters
    ----------
    measure : callable
        Takes a key, and returns a record, several of them, or what went wrong as text.
    keys : iterable of tuple
        What to measure.
    path : Path
        File of the records.
    workers : int
        Number of processes.
    """
    with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
        tasks = {pool.submit(measure, *key): key for key in keys}
        for number, task in enumerate(as_completed(tasks), 1):
            found = task.result()
            print(f"{number} of {len(tasks)}:", *tasks[task], found, flush=True)
            if not isinstance(found, str):
                for record in found if isinstance(found, list) else [found]:
                    append_record(path, record)
