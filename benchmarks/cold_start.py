"""How long the first start takes, and the second: in the present environment, with an empty cache for kernels.

    python benchmarks/cold_start.py [--repeats 3] [--source FOLDER]

Run it in an environment to which nothing but the library was installed, on a machine that does nothing else. `--source`
names the src folder of another checkout, which runs in the same environment and by turns.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

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
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bayesfloor", *command],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--source", action="append", default=[], help="src folder of another checkout")
    parser.add_argument("--only", action="append", choices=COMMANDS)
    options = parser.parse_args()
    sources = [*options.source, None]
    print("| command | source | cold, s | CPU s | warm, s | CPU s |")
    print("|---|---|---|---|---|---|")
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
            medians = " | ".join(f"{statistics.median(column):.1f}" for column in zip(*runs, strict=True))
            print(f"| `bayesfloor {name}` | {'present' if source is None else 'other'} | {medians} |", flush=True)


if __name__ == "__main__":
    main()
