"""The process in which cells are measured, one after the other: ``python -m benchmarks.study.cell_process``.

It reads one JSON object per line from stdin and answers on stdout, ``{"event": "started"}`` when the clock starts and
then a result or an error. It ends with its stdin, however the process at the other end came to its end, so none is
left behind.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from queue import SimpleQueue
from typing import IO, Any

from benchmarks.study.machine import describe_machine, describe_versions
from benchmarks.study.methods import find_method
from benchmarks.study.paper_sets import load_paper_set
from benchmarks.study.plan import Protocol
from benchmarks.study.protocol import measure_cell


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more; an end of the requests ends the process at once."""

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    for request in _lines_until_the_end(requests):
        try:
            result = _measure(json.loads(request), lambda: answer({"event": "started"}))
        except Exception as error:
            answer({"event": "failed", "kind": type(error).__name__, "text": str(error)})
        else:
            context = {"machine": describe_machine(), "versions": describe_versions()}
            answer({"event": "done", "result": result, "context": context})


def _measure(request: dict[str, Any], on_start: Any) -> dict[str, Any]:
    protocol = Protocol(**request["protocol"])
    method = find_method(request["method"], protocol)
    X, y = _load(request["dataset"], request["data_dir"])
    return measure_cell(X, y, request["split"], method, protocol, on_start=on_start)


@lru_cache(maxsize=1)
def _load(dataset: str, data_dir: str | None) -> tuple[Any, Any]:
    table = load_paper_set(dataset, data_dir=data_dir)
    return table.X, table.y


def _lines_until_the_end(stream: IO[str]) -> Iterator[str]:
    """Yield lines; when the stream ends, end the process even if it is at work."""
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in stream:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


if __name__ == "__main__":
    # whatever else is printed must not be taken for an answer
    own_stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, own_stdout)
