"""The command line: `bayesfloor COMMAND FILE`.

::

    script, main ─► start ─► app ──► the commands: one function each, with its options, its help and what it does
                      │               │
                      │               ├─ reports      report
                      │               ├─ floors       floor, pairs
                      │               ├─ gap          gap, by a model or its predictions in a file
                      │               ├─ votes        votes
                      │               ├─ drifts       drift, of two tables
                      │               ├─ compares     compare, of representations of the same rows
                      │               ├─ models       fit, predict
                      │               ├─ explain      explain
                      │               ├─ datasets     datasets
                      │               └─ warmup       all kernels, compiled; and compilation beside other work
                      │
                      ├─ exits: what went wrong, as one line and an exit code
                      └─ interrupts: what Ctrl-C does

What the commands share:

- `options`: options that several of them take; `metrics` checks what models are judged by
- `input`: a file or the name of a data set -> Table, with what was assumed on stderr; where to compute
- `memory`: what `floor`, `report` and `fit` of a large table need, and refuse
- `output`: tables or one JSON object on stdout, files, progress
- `streams`: stdout and stderr, which may be closed or full

Results go to stdout and everything else to stderr, so that a pipe carries results only. Files appear whole or not at
all, and none is replaced unless ``--force`` says so. Text that comes from a file is shown with control characters
written out. Modules load what is heavy inside functions, so that help and usage errors come at once.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

from bayesfloor.cli.interrupts import catch_interrupts, code_of_interrupt, stop_catching

__all__ = ["main", "script"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `bayesfloor.cli.start.main`."""
    from bayesfloor.cli import start

    return start.main(arguments)


def script() -> NoReturn:
    """Run the command of this process and end it, with 130 or 143 and no traceback when Ctrl-C or SIGTERM comes.

    Nothing else is imported before interrupts are caught.
    """
    catch_interrupts()
    try:
        code = main()
    except KeyboardInterrupt:  # before anything was loaded that could report it
        print("bayesfloor: interrupted", file=sys.stderr)
        code = 130
    stop_catching()
    sys.exit(code_of_interrupt() if code == 130 else code)
