"""Records of what was measured: one JSON object a line, appended as soon as it is there.

A run that was stopped goes on where it was, even if it was killed in the middle of a line.
"""

import json
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
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
    """Measure in processes of one thread each, and record what comes of each key as soon as it is there.

    Where one fails, the others are measured all the same. Then the script ends, names those that failed, and its exit
    status is 1.

    Parameters
    ----------
    measure : callable
        Takes a key, and returns a record or several of them.
    keys : iterable of tuple
        What to measure.
    path : Path
        File of the records.
    workers : int
        Number of processes.
    """
    waiting = deque(keys)
    n_keys, failures = len(waiting), []
    for number, (key, found) in enumerate(_outcomes(measure, waiting, workers), 1):
        print(f"{number} of {n_keys}:", *key, found, flush=True)
        if isinstance(found, Failure):
            failures.append(" ".join(map(str, key)) + f": {found.reason}")
        else:
            for record in found if isinstance(found, list) else [found]:
                append_record(path, record)
    if failures:
        raise SystemExit("\n".join([f"{len(failures)} of {n_keys} failed:", *failures]))


@dataclass(frozen=True)
class Failure:
    """Why a key was not measured, as text: not every exception can be sent between processes."""

    reason: str
    traceback: str = ""

    def __str__(self) -> str:
        return f"failed: {self.traceback or self.reason}"


def _tried(measure: Callable[..., Any], key: tuple[Any, ...]) -> Any:
    try:
        return measure(*key)
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


def _outcomes(
    measure: Callable[..., Any], waiting: deque[tuple[Any, ...]], workers: int
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each key and what came of it, in the order in which they end.

    A process that dies takes its pool along. Only as many keys as there are processes are handed over at a time, so
    that few can be the cause; each of those is measured again in a pool of its own, and the others go on in a new one.
    """
    while waiting:
        running: dict[Future[Any], tuple[Any, ...]] = {}
        with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < workers:
                        task = pool.submit(_tried, measure, waiting[0])
                        running[task] = waiting.popleft()
                    for task in wait(running, return_when=FIRST_COMPLETED).done:
                        found = task.result()
                        yield running.pop(task), found
            except BrokenProcessPool:
                pass
        if workers == 1:
            yield from ((key, Failure("its process died")) for key in running.values())
        else:
            for key in running.values():
                yield from _outcomes(measure, deque([key]), 1)
