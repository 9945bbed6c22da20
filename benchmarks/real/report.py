"""`bayesfloor report` on tables as users have them: what comes out, and how long it takes.

    python -m benchmarks.real.report

Each table is tried as it is, and again with options that someone who knows it would set. Tables are read from
$BAYESFLOOR_DATA/tables, or from shared/data/tables beside the repository. Writes benchmarks/results/report.md.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.measuring import run_timed
from benchmarks.tools.pages import table_head, table_row, this_machine, write_page

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


def report(table: Path, options: list[str]) -> list[str]:
    """Return the exit code, seconds, seconds of CPU, and the answer or the message, as cells of a table."""
    command = [sys.executable, "-m", "bayesfloor", "report", str(table), *options, "--threads", "2"]
    with tempfile.TemporaryDirectory() as folder:
        seconds, cpu, done = run_timed(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0 and not list(Path(folder).glob("*-report.html")):
            raise RuntimeError(f"{table.name}: no page was written")
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1].replace(f"{table.parent}/", "")
    else:
        text = " ".join(done.stdout.split())
        start = text.index("The floor is") if "The floor is" in text else text.index("Spanning trees alone")
        said = text[start : text.index(" Trust: ")]
    return [str(done.returncode), f"{seconds:.1f}", f"{cpu:.1f}", said.replace("|", "\\|").replace("*", "\\*")]


def main() -> None:
    lines = table_head("table", "options", "exit", "seconds", "CPU seconds", "what it said")
    for name, options in OPTIONS.items():
        table = DATA / "tables" / name
        first = table.read_text().split(",")[0].strip('"') if "{first}" in options else ""
        for given in dict.fromkeys(("", options.format(first=first))):
            lines.append(table_row([name, f"`{given}`" if given else "", *report(table, given.split())]))
            print(lines[-1], flush=True)
    write_page(
        "report",
        "# `bayesfloor report` on tables as users have them",
        f"Made by `python -m benchmarks.real.report` on {this_machine()}: two threads, models included, from starting "
        "the command to the page on disk. Each table is tried as it is, and again with options that someone who knows "
        "it would set.",
        "\n".join(lines),
    )


if __name__ == "__main__":
    main()
