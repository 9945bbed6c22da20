"""Boosting over parts with and without a bound of its steps, and with more trees, on tables of many rows.

    python -m benchmarks.speed.boosting_pace run [--tables covertype-like covertype made]
    python -m benchmarks.speed.boosting_pace table     write benchmarks/results/boosting_pace.md

Rows are put on disk as `learned_floor` puts them, boosting is trained on all parts of them, and judged by its error and
log-loss on the tested rows, about 10 000, which nothing was trained on. The bound and the number of trees were chosen
on other draws of ``covertype-like`` and other rows of ``covertype``; ``made`` was not looked at.
"""

import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from bayesfloor.floor.learned.large_tables import problem_on_disk
from bayesfloor.learn import boosting_by_parts
from bayesfloor.learn.boosting import scores_by, shares_of
from bayesfloor.learn.parts import PartPool
from bayesfloor.runtime.threads import supervise
from benchmarks.problems.large_table import TARGET
from benchmarks.speed.large_tables import folder_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record, append_record, read_records

RECORDS = RESULTS / "boosting_pace.jsonl"
TABLES = {"covertype-like": 3_000_000, "covertype": 550_000, "made": 1_000_000}
#: Settings of the library that each way sets otherwise.
WAYS: dict[str, dict[str, Any]] = {
    "no bound": {"MOST_STEP": np.inf, "MOST_TREES": boosting_by_parts.FEWEST_TREES},
    "a bound": {"MOST_TREES": boosting_by_parts.FEWEST_TREES},
    "a bound and more trees": {"MOST_TREES": boosting_by_parts.MOST_TREES},
}
N_THREADS = 2
INTRODUCTION = """\
# Steps and trees of boosting over parts

`python -m benchmarks.speed.boosting_pace`, whose docstring says what is measured and how; {machine}. Records are in
boosting_pace.jsonl. A standard error is that of the share of about 10 000 rows."""


def measure(table: str) -> Iterator[Record]:
    """Boost the rows of a table in each way."""
    folder, _ = folder_of(table, TABLES[table])
    problem = problem_on_disk(str(folder), TARGET, task="classification", seed=0, n_jobs=N_THREADS).problem
    if problem is None or problem.stored is None:
        raise SystemExit(f"{folder} was not put on disk")
    stored, tested = problem.stored, problem.stored.tested
    target = boosting_by_parts.boosted_target(problem.class_counts / problem.class_counts.sum(), len(problem.classes))
    bins, numbers = np.ascontiguousarray(tested.bins.T), range(len(stored.parts))
    for way, settings in WAYS.items():
        with mock.patch.multiple(boosting_by_parts, **settings):
            started, used = time.perf_counter(), time.process_time()
            trees = supervise(
                lambda pool: boosting_by_parts.boost_parts(
                    PartPool(stored.parts, pool), numbers, target, stored.is_category, 0
                ),
                N_THREADS,
                False,
            )
            taken = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - used}
        shares = shares_of(scores_by(bins, stored.is_category, target.start, trees))
        of_label = shares[np.arange(len(tested)), tested.y]
        error = float((shares.argmax(axis=1) != tested.y).mean())
        judged = {
            "error": error,
            "standard_error": (error * (1.0 - error) / len(tested)) ** 0.5,
            "log_loss": float(-np.log(np.maximum(of_label, np.finfo(np.float64).tiny)).mean()),
        }
        about = {"table": table, "n_rows": stored.n_rows, "n_classes": len(problem.classes), "way": way}
        yield about | {"n_rounds": len(trees.column)} | judged | taken


def write_table(records: list[Record]) -> None:
    """Write the page."""
    rows = [
        [each["table"], f"{each['n_rows']:,}".replace(",", " "), each["n_classes"], each["way"], each["n_rounds"]]
        + [f"{each['error']:.4f} ± {each['standard_error']:.4f}", f"{each['log_loss']:.4f}"]
        + [f"{each[name]:.0f}" for name in ("seconds", "cpu_seconds")]
        for table in TABLES
        for each in records
        if each["table"] == table
    ]
    heads = ["table", "rows", "classes", "steps", "rounds", "error", "log-loss", "seconds", "CPU s"]
    write_page(
        "boosting_pace", INTRODUCTION.format(machine=this_machine()), notes_of("boosting_pace"), as_table(heads, rows)
    )


def main() -> None:
    """Measure, or write the page."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    if options.what == "table":
        write_table(read_records(RECORDS))
        return
    recorded = {record["table"] for record in read_records(RECORDS)}
    for table in options.tables:
        for record in measure(table) if table not in recorded else []:
            append_record(RECORDS, record)
            print(record, flush=True)


if __name__ == "__main__":
    main()
