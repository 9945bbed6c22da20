"""`bayesfloor report` on tables as users have them: what comes out, and how long it takes.

    python benchmarks/reports.py

Each table is tried as it is, and again with the options that the message asks for. Tables are read from
$BAYESFLOOR_DATA/tables, or from shared/data/tables beside the repository. Writes benchmarks/results/report.md.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data")) / "tables"
RESULTS = ROOT / "benchmarks" / "results" / "report.md"

OPTIONS = {
    "abalone.csv": "--target Rings --encode onehot",
    "fars.csv.gz": "--encode onehot",
    "flare.csv": "--encode onehot",
    "kr-vs-k.csv": "--encode onehot",
    "nursery.csv": "--encode onehot",
    "winequality-red.csv": "",
    "winequality-white.csv": "",
    "yeast.csv": "--drop {first}",
}


def report(table: Path, options: list[str]) -> tuple[int, float, float, str]:
    """Return the exit code, seconds, seconds of CPU, and the answer or the message."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "bayesfloor", "report", str(table), *options, "--threads", "2"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode == 0 and not list(Path(folder).glob("*-report.html")):
            raise RuntimeError(f"{table.name}: no page was written")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return done.returncode, seconds, cpu, done.stderr.strip().splitlines()[-1].replace(f"{table.parent}/", "")
    text = " ".join(done.stdout.split())
    start = text.index("The floor is") if "The floor is" in text else text.index("Spanning trees alone")
    return 0, seconds, cpu, text[start : text.index(" Proven" if " Proven" in text else " Nothing here is proven")]


def main() -> None:
    lines = [
        "# `bayesfloor report` on tables as users have them",
        "",
        "Made by `python benchmarks/reports.py`: two threads, models included, from starting the command to the page "
        "on disk. Each table is tried as it is; where that ends in a message, again with what the message asks for.",
        "",
        "| table | options | exit | seconds | CPU seconds | what it said |",
        "|---|---|---:|---:|---:|---|",
    ]
    for name, options in OPTIONS.items():
        table = DATA / name
        first = table.read_text().split(",")[0].strip('"') if "{first}" in options else ""
        for given in ("", options.format(first=first)):
            code, seconds, cpu, said = report(table, given.split())
            said = said.replace("|", "\\|").replace("*", "\\*")
            lines.append(f"| {name} | {f'`{given}`' if given else ''} | {code} | {seconds:.1f} | {cpu:.1f} | {said} |")
            print(lines[-1], flush=True)
            if not options:
                break
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
