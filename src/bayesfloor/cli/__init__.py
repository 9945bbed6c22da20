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

from bayesfloor.cli.start import main

__all__ = ["main"]
