"""The command line: `bayesfloor COMMAND FILE`.

::

    main ──► app ──────────► the commands, their options and their help       (cyclopts; nothing heavy is loaded yet)
              │
              ├─ input ────► a file or the name of a data set -> Table, and what was assumed on stderr
              │
              ├─ floors ───► floor, pairs, classes
              ├─ choices ──► tree, select, transforms, weights
              ├─ models ───► fit, predict, by a `model_file`
              │
              └─ output ───► tables or one JSON object on stdout; notes, findings and progress on stderr
    main ◄── exits: what went wrong, as one line and an exit code

Results go to stdout and everything else to stderr, so that a pipe carries results only. Files appear whole or not at
all, and none is replaced unless ``--force`` says so. Text that comes from a file is shown with control characters
written out.
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
    sys.exit(code)


def _interrupt(*_: Any) -> None:
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _leave(*_: Any) -> None:
    import os

    os._exit(130)
