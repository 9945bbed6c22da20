"""Rows that arrive in batches: what forests after every batch cost, beside one run on all rows at the end.

    python -m benchmarks.speed.incremental               what is not recorded yet; writes results/incremental.md
    python -m benchmarks.speed.incremental --rows 20000  fewer rows, printed only
    python -m benchmarks.speed.incremental --only mix    what has "mix" in its name, printed only

Batches have 1000 rows. Each set is measured in a process of its own, on two threads, after a warm-up, and recorded in
results/incremental.jsonl. In each repeat the batches and the full run take turns; a ratio is the median over repeats.
Beside seconds by the clock stand seconds of processor time, which other work on the machine does not stretch. The
forests after the last batch must equal those of the full run, edge by edge and bit by bit, and so must floors, or there
is no row.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.tools.measuring import in_own_process, in_turns, median_ratios, median_times, set_threads, timed

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from bayesfloor import BayesErrorEstimator, spanning_forests  # noqa: E402
from benchmarks.problems.point_sets import mixture  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page  # noqa: E402
from benchmarks.tools.records import append_record, read_records  # noqa: E402

THIS = "benchmarks.speed.incremental"
RECORDS = RESULTS / "incremental.jsonl"
ROWS, BATCH, REPEATS = 100_000, 1_000, 3
FLOOR_ROWS, CLASSES = 20_000, (2, 10)
# What all batches may cost beside one run on all rows: forests by the number of features, and floors of ten classes.
GOALS, FLOOR_GOAL = {2: 4.0, 16: 2.5}, 2.5
SETS: dict[str, Callable[[int], np.ndarray]] = {
    "mixture [-3, 3] x 16": lambda n: mixture(n, 16, 3)[0],
    "mixture [-10, 10] x 16": lambda n: mixture(n, 16, 10)[0],
    "uniform x 16": lambda n: np.random.default_rng(1).random((n, 16)),
    "mixture [-3, 3] x 2": lambda n: mixture(n, 2, 3)[0],
    "mixture [-3, 3] x 64, 20 batches": lambda n: mixture(n // 5, 64, 3)[0],
}


Record = dict[str, Any]


def in_batches(X: np.ndarray, batch: int) -> Any:
    """Return the forests after the last batch; those after every batch were there."""
    forests = spanning_forests(X[:batch], n_jobs=THREADS)
    for start in range(batch, len(X), batch):
        forests = forests.extend(X[start : start + batch], n_jobs=THREADS)
    return forests


def measure_forests(name: str, n: int, batch: int, repeats: int) -> Record:
    """Measure one set."""
    X = SETS[name](n)
    results: Record = {}
    ways: dict[str, Callable[[], Any]] = {
        "parts": lambda: results.update(parts=in_batches(X, batch)),
        "once": lambda: results.update(once=spanning_forests(X, n_jobs=THREADS)),
    }
    in_batches(X[: 4 * batch], batch)  # loads or compiles all kernels
    runs = in_turns(ways, repeats)
    grown, full = results["parts"], results["once"]
    if not (np.array_equal(grown.edges, full.edges) and np.array_equal(grown.weights, full.weights)):
        raise SystemExit(f"{name}: the forests differ")
    more = full.extend(X[:1], n_jobs=THREADS)
    rows = []
    for start in range(1, 11):
        _, cpu_of_row, more = timed(lambda forests=more, at=start: forests.extend(X[at : at + 1], n_jobs=THREADS))
        rows.append(cpu_of_row)
    record: Record = {way: median_times(of_way) for way, of_way in runs.items()}
    record |= {"name": name, "rows": len(X), "features": X.shape[1], "batches": len(X) // batch, "repeats": repeats}
    return record | {
        "ratio": median_ratios(runs["parts"], runs["once"]),
        "one_row_ms": 1000 * float(np.median(rows)),
    }


def measure_floors(n_classes: int, n: int, batch: int, repeats: int) -> Record:
    """Measure the floors after every batch: by partial_fit, by fit on all rows each time, and by one fit at the end."""
    X, labels = mixture(n, 16, 3)
    y = labels % n_classes
    ends = range(batch, n + 1, batch)
    results: Record = {}

    def by_parts(last: int) -> BayesErrorEstimator:
        floors = BayesErrorEstimator(n_jobs=THREADS)
        for end in range(batch, last + 1, batch):
            floors.partial_fit(X[end - batch : end], y[end - batch : end])
        return floors

    def fit(end: int) -> BayesErrorEstimator:
        return BayesErrorEstimator(n_jobs=THREADS).fit(X[:end], y[:end])

    by_parts(min(4 * batch, n))
    fit(min(4 * batch, n))
    ways: dict[str, Callable[[], Any]] = {
        "parts": lambda: results.update(parts=by_parts(n)),
        "once": lambda: results.update(once=fit(n)),
    }
    runs = in_turns(ways, repeats)
    if results["parts"].bayes_error_.estimate != results["once"].bayes_error_.estimate:
        raise SystemExit(f"{n_classes} classes: the floors differ")
    record: Record = {way: median_times(of_way) for way, of_way in runs.items()}
    record |= {"classes": n_classes, "rows": n, "batches": len(ends), "repeats": repeats}
    again = timed(lambda: [fit(end) for end in ends])[:2]
    return record | {"ratio": median_ratios(runs["parts"], runs["once"]), "again": again}


def with_goal(ratio: float, goal: float | None) -> str:
    """Mark a ratio that misses its goal."""
    return f"{ratio:.2f}" if goal is None or ratio <= goal else f"**{ratio:.2f}** (goal {goal:g})"


def both(seconds: Sequence[float]) -> str:
    """Write seconds by the clock, and of the processor."""
    return f"{seconds[0]:.1f} ({seconds[1]:.1f})"


def forest_table(records: list[Record]) -> str:
    """Write what forests cost as a table."""
    heads = ["set", "rows", "batches", "in batches, s (CPU s)", "all at once, s (CPU s)", "ratio by clock"]
    rows = [
        [
            *(r["name"], f"{r['rows']:,}", r["batches"], both(r["parts"]), both(r["once"]), f"{r['ratio'][0]:.2f}"),
            *(with_goal(r["ratio"][1], GOALS.get(r["features"])), f"{r['one_row_ms']:.0f}"),
        ]
        for r in records
    ]
    return as_table([*heads, "ratio of CPU", "one more row, CPU ms"], rows)


def floor_table(records: list[Record]) -> str:
    """Write what floors cost as a table."""
    heads = ["classes", "rows", "batches", "partial_fit, s (CPU s)", "one fit at the end, s (CPU s)", "ratio by clock"]
    rows = [
        [
            *(r["classes"], f"{r['rows']:,}", r["batches"], both(r["parts"]), both(r["once"]), f"{r['ratio'][0]:.2f}"),
            *(with_goal(r["ratio"][1], FLOOR_GOAL), both(r["again"]), f"{r['parts'][1] / r['again'][1]:.2f}"),
        ]
        for r in records
    ]
    return as_table([*heads, "ratio of CPU", "a fit after every batch, s (CPU s)", "ratio of CPU"], rows)


def main() -> None:
    """Measure what is not recorded and write the page, or measure one part in this process."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", default="")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, name, *numbers = options.measure
        n, batch, repeats = map(int, numbers)
        is_floor = kind == "floors"
        measured = (
            measure_floors(int(name), n, batch, repeats) if is_floor else measure_forests(name, n, batch, repeats)
        )
        print(json.dumps(measured))
        return
    tasks = [*(("forests", name, options.rows) for name in SETS)]
    tasks += [("floors", str(n), FLOOR_ROWS * options.rows // ROWS) for n in CLASSES]
    if options.only or options.rows != ROWS:
        for kind, name, n in tasks:
            if options.only in f"{kind} {name}":
                print(kind, name, in_own_process(THIS, kind, name, n, BATCH, REPEATS), flush=True)
        return
    known = {tuple(record["task"]) for record in read_records(RECORDS)}
    for kind, name, n in tasks:
        if (kind, name) not in known:
            measured = in_own_process(THIS, kind, name, n, BATCH, REPEATS)
            append_record(RECORDS, {"task": (kind, name), **measured})
            print(kind, name, flush=True)
    records = {tuple(record["task"]): record for record in read_records(RECORDS)}
    write_page("incremental", *page(records))


def page(records: dict[tuple[str, ...], Record]) -> list[str]:
    """Return the page of results."""
    return [
        "# Data that keeps arriving",
        f"`Forests.extend` in batches of {BATCH:,} rows, with the forests there after every batch, beside one run of "
        f"`spanning_forests` on all rows. Three trees, {THREADS} threads, medians of {REPEATS} rounds in which both "
        f"take turns, Python {platform.python_version()}, {os.cpu_count()} cores shared with other work: trust the "
        "ratio of CPU time more than the clock. The results were equal, edge by edge and bit by bit. Ratios that miss "
        "their goal are in bold. Repeat with `python -m benchmarks.speed.incremental`.",
        forest_table([records["forests", name] for name in SETS]),
        "A batch costs its distances to the rows that are there, and a few passes over the forests, which are written "
        "anew after every batch. In two dimensions a run on all rows is little more than such a pass. There, new rows "
        "search for their edges one by one and trees exchange a few links, and larger batches still pay. The rows that "
        "are added one at a time are repeated ones, which take the longer way.",
        "## Floors",
        "`BayesErrorEstimator.partial_fit` after every batch of a mixture in 16 dimensions, beside one `fit` on all "
        "rows at the end, and beside a `fit` on all rows so far after every batch. The floors were equal, bit by bit. "
        "With K classes every batch passes over the forests of all K(K−1)/2 pairs, whose edges are counted anew: more "
        "work than the new distances.",
        floor_table([records["floors", str(n)] for n in CLASSES]),
        notes_of("incremental"),
    ]


if __name__ == "__main__":
    main()
