"""How long the first start takes, and the second: in the present environment, with an empty cache for kernels.

    python -m benchmarks.speed.cold_start [--repeats 3] [--source FOLDER]

Run it in an environment to which nothing but the library was installed, on a machine that does nothing else. `--source`
names the src folder of another checkout, which runs in the same environment and by turns.
"""

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import run_timed
from benchmarks.tools.pages import table_head, table_row

COMMANDS = {
    "report wine": ["report", "wine", "--out", "wine.html"],
    "floor wine --fast": ["floor", "wine", "--fast"],
    "report digits": ["report", "digits", "--out", "digits.html"],
}


def timed(command: list[str], folder: str, cache: str, source: str | None) -> tuple[float, float]:
    """Return the wall-clock and the CPU seconds of a command, and of the processes that it starts."""
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    if source is not None:
        environment["PYTHONPATH"] = source
    command = [sys.executable, "-m", "bayesfloor", *command]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return run_timed(command, cwd=folder, env=environment, check=True, **silent)[:2]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--source", action="append", default=[], help="src folder of another checkout")
    parser.add_argument("--only", action="append", choices=COMMANDS)
    options = parser.parse_args()
    sources = [*options.source, None]
    print(*table_head("command", "source", "cold, s", "CPU s", "warm, s", "CPU s"), sep="\n")
    for name in options.only or COMMANDS:
        found: dict[str | None, list[tuple[float, ...]]] = {source: [] for source in sources}
        for _ in range(options.repeats):
            for source in sources:
                with tempfile.TemporaryDirectory() as folder:
                    cache = os.path.join(folder, "cache")
                    cold = timed(COMMANDS[name], folder, cache, source)
                    timed(COMMANDS[name], folder, cache, source)  # bytecode and what else is kept
                    warm = timed(COMMANDS[name], folder, cache, source)
                    found[source].append((*cold, *warm))
        for source, runs in found.items():
            medians = [f"{statistics.median(column):.1f}" for column in zip(*runs, strict=True)]
            row = [f"`bayesfloor {name}`", "present" if source is None else "other", *medians]
            print(table_row(row), flush=True)


if __name__ == "__main__":
    main()
