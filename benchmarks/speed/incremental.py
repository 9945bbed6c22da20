"""Rows that arrive in batches: what forests after every batch cost, beside one run on all rows at the end.

    python -m benchmarks.speed.incremental               100 batches of 1000 rows; writes results/incremental.md
    python -m benchmarks.speed.incremental --rows 20000  fewer batches, printed only
    python -m benchmarks.speed.incremental --only mix    the sets whose name has "mix" in it, printed only

Each set is measured in a process of its own, on two threads, after a warm-up. In each repeat the batches and the full
run take turns; a ratio is the median over repeats. Beside seconds by the clock stand seconds of processor time, which
other work on the machine does not stretch. The forests after the last batch must equal those of the full run, edge by
edge and bit by bit, or there is no row.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from typing import Any

from benchmarks.tools.measuring import in_own_process, set_threads, timed

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from bayesfloor import BayesErrorEstimator, spanning_forests  # noqa: E402
from benchmarks.problems.point_sets import mixture  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import RESULTS, as_table, write_page  # noqa: E402

ROWS, BATCH, GOAL = 100_000, 1_000, 2.5
FLOOR_ROWS, CLASSES = 20_000, (2, 10)
SETS: dict[str, Callable[[int], np.ndarray]] = {
    "mixture [-3, 3] x 16": lambda n: mixture(n, 16, 3)[0],
    "mixture [-10, 10] x 16": lambda n: mixture(n, 16, 10)[0],
    "uniform x 16": lambda n: np.random.default_rng(1).random((n, 16)),
    "mixture [-3, 3] x 2": lambda n: mixture(n, 2, 3)[0],
    "mixture [-3, 3] x 64, 20 batches": lambda n: mixture(n // 5, 64, 3)[0],
}


def in_batches(X: np.ndarray, batch: int) -> Any:
    """Return the forests after the last batch; those after every batch were there."""
    forests = spanning_forests(X[:batch], n_jobs=THREADS)
    for start in range(batch, len(X), batch):
        forests = forests.extend(X[start : start + batch], n_jobs=THREADS)
    return forests


def measure(name: str, n: int, batch: int, repeats: int) -> dict[str, Any]:
    """Measure one set."""
    X = SETS[name](n)
    in_batches(X[: 4 * batch], batch)  # loads or compiles all kernels
    runs = []
    for _ in range(repeats):
        wall, cpu, grown = timed(lambda: in_batches(X, batch))
        full_wall, full_cpu, full = timed(lambda: spanning_forests(X, n_jobs=THREADS))
        if not (np.array_equal(grown.edges, full.edges) and np.array_equal(grown.weights, full.weights)):
            raise SystemExit(f"{name}: the forests differ")
        runs.append((wall, cpu, full_wall, full_cpu))
    wall, cpu, full_wall, full_cpu = np.median(runs, axis=0)
    ratios = np.median([(run[0] / run[2], run[1] / run[3]) for run in runs], axis=0)
    more = full.extend(X[:1], n_jobs=THREADS)
    rows = []
    for start in range(1, 11):
        _, cpu_of_row, more = timed(lambda forests=more, at=start: forests.extend(X[at : at + 1], n_jobs=THREADS))
        rows.append(cpu_of_row)
    return {
        "name": name,
        "rows": len(X),
        "batches": len(X) // batch,
        "repeats": repeats,
        "wall": wall,
        "cpu": cpu,
        "full_wall": full_wall,
        "full_cpu": full_cpu,
        "wall_ratio": ratios[0],
        "cpu_ratio": ratios[1],
        "one_row_ms": 1000 * float(np.median(rows)),
    }


def measure_floors(n_classes: int, n: int, batch: int) -> dict[str, Any]:
    """Measure the floors after every batch: by partial_fit, by fit on all rows each time, and by one fit at the end."""
    X, labels = mixture(n, 16, 3)
    y = labels % n_classes
    ends = range(batch, n + 1, batch)

    def by_parts(last: int) -> BayesErrorEstimator:
        floors = BayesErrorEstimator(n_jobs=THREADS)
        for end in range(batch, last + 1, batch):
            floors.partial_fit(X[end - batch : end], y[end - batch : end])
        return floors

    def fit(end: int) -> BayesErrorEstimator:
        return BayesErrorEstimator(n_jobs=THREADS).fit(X[:end], y[:end])

    by_parts(4 * batch)
    _, cpu, parts = timed(lambda: by_parts(n))
    _, once_cpu, once = timed(lambda: fit(n))
    again_cpu = timed(lambda: [fit(end) for end in ends]).cpu_seconds
    if parts.bayes_error_.estimate != once.bayes_error_.estimate:
        raise SystemExit(f"{n_classes} classes: the floors differ")
    return {"classes": n_classes, "rows": n, "batches": len(ends), "cpu": cpu, "once": once_cpu, "again": again_cpu}


def floor_table(records: list[dict[str, Any]]) -> str:
    """Write what floors cost as a table."""
    heads = ["classes", "rows", "batches", "partial_fit, CPU s", "one fit at the end, CPU s", "ratio"]
    rows = [
        [
            *(r["classes"], f"{r['rows']:,}", r["batches"], f"{r['cpu']:.1f}", f"{r['once']:.1f}"),
            *(f"{r['cpu'] / r['once']:.1f}", f"{r['again']:.1f}", f"{r['cpu'] / r['again']:.2f}"),
        ]
        for r in records
    ]
    return as_table([*heads, "a fit after every batch, CPU s", "ratio"], rows)


def table(records: list[dict[str, Any]]) -> str:
    """Write records as a table."""
    heads = ["set", "rows", "batches", "in batches, s (CPU s)", "all at once, s (CPU s)", "ratio by clock"]
    rows = [
        [
            *(r["name"], f"{r['rows']:,}", r["batches"], f"{r['wall']:.1f} ({r['cpu']:.1f})"),
            *(f"{r['full_wall']:.1f} ({r['full_cpu']:.1f})", f"{r['wall_ratio']:.2f}", f"{r['cpu_ratio']:.2f}"),
            f"{r['one_row_ms']:.0f}",
        ]
        for r in records
    ]
    return as_table([*heads, "ratio of CPU", "one more row, CPU ms"], rows)


def main() -> None:
    """Measure all sets, each in a process of its own."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--floors", action="store_true", help="measure partial_fit only, and put it on the page")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.floors:
        measured = floor_table([measure_floors(n, FLOOR_ROWS, BATCH) for n in CLASSES])
        print(measured)
        forests = (RESULTS / "incremental.md").read_text(encoding="utf-8").split("\n## Floors")[0]
        write_page("incremental", forests, FLOOR_PAGE, measured)
        return
    if options.measure:
        name, *numbers = options.measure
        print(json.dumps(measure(name, *map(int, numbers))))
        return
    records = []
    for name in (name for name in SETS if options.only in name):
        sizes = (options.rows, options.batch, options.repeats)
        records.append(in_own_process("benchmarks.speed.incremental", name, *sizes))
    text = table(records)
    print(text)
    if options.rows == ROWS and options.batch == BATCH and not options.only:
        write_page("incremental", page(text, options.repeats))


FLOOR_PAGE = """## Floors

`BayesErrorEstimator.partial_fit` after every batch of a mixture in 16 dimensions, beside one `fit` on all rows at the
end, and beside a `fit` on all rows so far after every batch. The floors were equal, bit by bit. With K classes every
batch passes over the forests of all K(K−1)/2 pairs, whose edges are counted anew: more work than the new distances.
Repeat with `python -m benchmarks.speed.incremental --floors`.
"""


def page(text: str, repeats: int) -> str:
    """Return the page of results."""
    return (
        "# Data that keeps arriving\n\n"
        f"`Forests.extend` in batches of {BATCH:,} rows, with the forests there after every batch, beside one run of "
        f"`spanning_forests` on all rows.\nThree trees, {THREADS} threads, "
        f"{'one run' if repeats == 1 else f'medians of {repeats} runs'}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores shared with other work: trust the ratio of CPU time more than the clock.\n"
        f"The results were equal, edge by edge and bit by bit. Goal: at most {GOAL} in 16 dimensions.\n\n{text}\n\n"
        "A batch costs its distances to the rows that are there, and a few passes over the forests, which are\n"
        "written anew after every batch. In two dimensions a run on all rows is little more than such a pass. There,\n"
        "new rows search for their edges one by one and trees exchange a few links, and larger batches still pay. The\n"
        "rows that are added one at a time are repeated ones, which take the longer way.\n\n"
        "Repeat with `python -m benchmarks.speed.incremental`.\n"
    )


if __name__ == "__main__":
    main()
