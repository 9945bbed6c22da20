"""`bayesfloor report` on tables as users have them: what comes out, and how long it takes.

    python -m benchmarks.real.report

Each table is taken as it is, without any option. Tables are read from $BAYESFLOOR_DATA/tables, or from
shared/data/tables beside the repository. Writes benchmarks/results/report.md.
"""

import re
import sys
import tempfile
from pathlib import Path

from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.measuring import run_timed
from benchmarks.tools.pages import table_head, table_row, this_machine, write_page

TABLES = (
    *("abalone.csv", "fars.csv.gz", "flare.csv", "kr-vs-k.csv", "nursery.csv"),
    *("winequality-red.csv", "winequality-white.csv", "yeast.csv"),
)


def answer_in(printed: str) -> str:
    """Return what a report says of trust, and its answer."""
    answer = re.split(" Do next: ", " ".join(printed.split()))[0]
    found = re.search(r"(Trust: |Nothing suspicious was found\.).*", answer)
    if found is None:
        raise ValueError(f"nothing is said of trust: {answer}")
    return found.group()


def report(table: Path) -> list[str]:
    """Return the exit code, seconds, seconds of CPU, and the answer or the message, as cells of a table."""
    command = [sys.executable, "-m", "bayesfloor", "report", str(table), "--threads", "2"]
    with tempfile.TemporaryDirectory() as folder:
        seconds, cpu, done = run_timed(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0 and not list(Path(folder).glob("*-report.html")):
            raise RuntimeError(f"{table.name}: no page was written")
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1].replace(f"{table.parent}/", "")
    else:
        said = answer_in(done.stdout)
    return [str(done.returncode), f"{seconds:.1f}", f"{cpu:.1f}", said.replace("|", "\\|").replace("*", "\\*")]


def main() -> None:
    lines = table_head("table", "exit", "seconds", "CPU seconds", "what it said")
    for name in TABLES:
        lines.append(table_row([name, *report(DATA / "tables" / name)]))
        print(lines[-1], flush=True)
    write_page(
        "report",
        "# `bayesfloor report` on tables as users have them",
        f"Made by `python -m benchmarks.real.report` on {this_machine()}: two threads, models included, from starting "
        "the command to the page on disk. Each table is taken as it is, without any option.",
        "\n".join(lines),
    )


if __name__ == "__main__":
    main()
