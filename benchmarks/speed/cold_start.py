"""How long the first start takes, and the second: in the present environment, with an empty cache for kernels.

    python -m benchmarks.speed.cold_start [--repeats 3] [--source FOLDER] [--no-bytecode]

Run it in an environment to which nothing but the library was installed, on a machine that does nothing else. CPU
seconds are those of all processes; they suffer less from other work. `--source` names the src folder of another
checkout, which runs in the same environment and by turns. `--no-bytecode` is an install that left none, where none can
be written.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import run_timed
from benchmarks.tools.pages import table_head, table_row

COMMANDS = {
    "report wine": ["report", "wine", "--out", "wine.html"],
    "floor wine --fast": ["floor", "wine", "--fast"],
    "report digits": ["report", "digits", "--out", "digits.html"],
    "help": ["--help"],
}


def timed(
    command: list[str], folder: str, cache: str, source: str | None, *, has_bytecode: bool
) -> tuple[float, float]:
    """Return the CPU seconds of a command and of the processes that it starts, and its wall-clock seconds."""
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not has_bytecode:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode")}
    if source is not None:
        environment["PYTHONPATH"] = source
    command = [sys.executable, "-m", "bayesfloor", *command]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    wall_s, cpu_s = run_timed(command, cwd=folder, env=environment, check=True, **silent)[:2]
    return cpu_s, wall_s


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--source", action="append", default=[], help="src folder of another checkout")
    parser.add_argument("--only", action="append", choices=COMMANDS)
    parser.add_argument("--no-bytecode", action="store_true")
    options = parser.parse_args()
    sources = [*options.source, None]
    print(*table_head("command", "source", "cold: CPU s", "s", "warm: CPU s", "s"), sep="\n")
    for name in options.only or COMMANDS:
        found: dict[str | None, list[tuple[float, ...]]] = {source: [] for source in sources}
        for _ in range(options.repeats):
            for source in sources:
                with tempfile.TemporaryDirectory() as folder:
                    cache = os.path.join(folder, "cache")
                    call = partial(timed, COMMANDS[name], folder, cache, source, has_bytecode=not options.no_bytecode)
                    cold, _, warm = [call() for _ in range(3)]  # bytecode and what else is kept is there the third time
                    found[source].append((*cold, *warm))
        for source, runs in found.items():
            medians = [f"{statistics.median(column):.2f}" for column in zip(*runs, strict=True)]
            row = [f"`bayesfloor {name}`", "present" if source is None else "other", *medians]
            print(table_row(row), flush=True)


if __name__ == "__main__":
    main()
