"""The command line: `bayesfloor COMMAND FILE`.

::

    script, main ─► start ─► app ──► the commands: one function each, with its options, its help and what it does
                      │               │
                      │               ├─ reports      report
                      │               ├─ floors       floor, pairs, classes
                      │               ├─ gap          gap, by a model or its predictions in a file
                      │               ├─ votes        votes
                      │               ├─ drifts       drift, of two tables
                      │               ├─ compares     compare, of representations of the same rows
                      │               ├─ choices      tree, select, weights, datasets
                      │               ├─ models       fit, predict, by a `model_file`, which is a `model_archive`
                      │               ├─ explain      explain, schema, from `schemas`
                      │               └─ warmup       all kernels, compiled; and compilation beside other work
                      │
                      └─ exits: what went wrong, as one line and an exit code

What the commands share:

- `options`: options that several of them take; `metrics` checks what models are judged by
- `input`: a file or the name of a data set -> Table, with what was assumed on stderr; where to compute
- `planning`: what `floor`, `report` and `fit` are going to take, a record of `plans`, by the `cost_model`
- `output`: tables or one JSON object on stdout, files, progress
- `streams`: stdout and stderr, which may be closed or full

Results go to stdout and everything else to stderr, so that a pipe carries results only. Files appear whole or not at
all, and none is replaced unless ``--force`` says so. Text that comes from a file is shown with control characters
written out. Modules load what is heavy inside functions, so that help and usage errors come at once.
"""

import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

__all__ = ["main", "script"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `bayesfloor.cli.start.main`."""
    from bayesfloor.cli import start

    return start.main(arguments)


def script() -> NoReturn:
    """Run the command of this process and end it, with 130 and without a traceback whenever Ctrl-C comes.

    Nothing is imported before the handler is there. The first interrupt stops the work, which removes what is half
    written; the next one ends the process at once.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as nohup asks for
        signal.signal(signal.SIGINT, _interrupt)
    try:
        code = main()
    except KeyboardInterrupt:  # before anything was loaded that could report it
        print("bayesfloor: interrupted", file=sys.stderr)
        code = 130
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, _leave)
    # an interrupt inside exec, which is how dataclasses are made, has Python end a module by a signal, caught or not,
    # unless another exec ends well after it
    exec("")
    sys.exit(code)


def was_interrupted() -> bool:
    """Tell whether Ctrl-C came."""
    return signal.getsignal(signal.SIGINT) is _leave


def _interrupt(*_: Any) -> None:
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _leave(*_: Any) -> None:
    import os

    os._exit(130)
