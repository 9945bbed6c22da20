"""How near the truth? Estimates of the best R² on problems whose noise is known.

    python -m benchmarks.truth.regression_truth run [--half design|held-out] [--problems NAME ...]
        [--sizes 300 2000 8000] [--repeats 5 3 1] [--estimators NAME ...] [--workers 2] [--records FILE]
    python -m benchmarks.truth.regression_truth table     write benchmarks/results/regression_truth.md from the records
    python -m benchmarks.truth.regression_truth show      print the tables of --half, --sizes and --estimators

The problems are in problems/regression_problems.py, the other estimators in regression_peers.py. Every choice in the
library was made on the half "design"; the other, "held-out", was looked at once they were made. Each cell is recorded
in benchmarks/results/regression_truth.jsonl, or in FILE, as soon as it is measured; a cell that is there is not
measured again. Cells run in processes of one thread each.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesfloor
from benchmarks.problems.regression_problems import PROBLEMS, problem
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.regression_peers import PEERS, points_of
from benchmarks.truth.truth import ABOUT_SCORE, cell, figures

RECORDS = RESULTS / "regression_truth.jsonl"

FLOOR, REACHED, TRUE = "regression floor", "what was reached", "true regression function"
ESTIMATORS = (FLOOR, *PEERS, TRUE)
#: In the order of the tables; what was reached is recorded with the floor.
SHOWN = (*PEERS, REACHED, FLOOR, TRUE)


def measure(name: str, n: int, repeat: int, estimators: list[str]) -> dict:
    """Estimate the best R² of one sample in every way asked for."""
    chosen = problem(name)
    X, y, f, _ = chosen(n, np.random.default_rng([n, repeat]))
    record: dict = {
        "scenario": name,
        "family": chosen.family,
        "half": chosen.half,
        "n": n,
        "repeat": repeat,
        "truth": chosen.r2,
    }
    for estimator in estimators:
        if estimator == FLOOR:
            _, seconds, floor = timed(lambda: bayesfloor.regression_floor(X, y, n_jobs=1))
            of_r2 = floor.metrics["r2"]
            record[REACHED] = cell(of_r2.reached, *of_r2.reached_interval, seconds)
            record[FLOOR] = cell(of_r2.estimate, *of_r2.interval, seconds)
            record["findings"] = [finding.code for finding in floor.findings]
            record["reasons"] = [reason.kind for reason in floor.trust.reasons if reason.in_headline]
        else:
            estimate: Callable[..., Any] = true_function if estimator == TRUE else PEERS[estimator]
            given = f if estimator == TRUE else points_of(X)
            _, seconds, found = timed(lambda estimate=estimate, given=given: estimate(given, y))
            record[estimator] = cell(*found, seconds)
    return record


def true_function(f: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return R² of the true regression function on the sample, with its interval by the delta method."""
    squares, spread = (y - f) ** 2, (y - y.mean()) ** 2
    share = squares.mean() / spread.mean()
    error = (squares - share * spread).std() / spread.mean() / np.sqrt(len(y))
    return 1 - share, 1 - share - 1.96 * error, min(1 - share + 1.96 * error, 1.0)


def run(wanted: list[tuple[str, int, int]], estimators: list[str], records: Path, workers: int) -> None:
    """Measure the cells that were not measured yet; estimators that a record lacks are measured alone."""
    known = {key_of(record): record for record in samples_of(records)}
    missing = {key: [each for each in estimators if each not in known.get(key, {})] for key in wanted}
    missing = {key: lacking for key, lacking in missing.items() if lacking}
    measure_all(measure, [(*key, lacking) for key, lacking in missing.items()], records, workers)


def key_of(record: dict) -> tuple[str, int, int]:
    return record["scenario"], record["n"], record["repeat"]


def samples_of(path: Path) -> list[dict]:
    """Return one record for each sample, with what all its lines say."""
    records: dict[tuple[str, int, int], dict] = {}
    for record in read_records(path):
        records.setdefault(key_of(record), {}).update(record)
    return list(records.values())


# --- tables


def write_tables(records: list[dict]) -> None:
    """Write the page of both halves."""
    parts = [
        "# How near the truth: numbers",
        "Made by `python -m benchmarks.truth.regression_truth run` and `… table`. The best R² of each problem is "
        "known. Choices in the library were made on the design half. *Upper end too low*: the interval claims that no "
        "model can reach what one can. *Lower end too high*: it claims that a model can reach what none can. "
        f"{ABOUT_SCORE} *s* is CPU seconds.",
    ]
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        if of_half:
            n_problems = len({record["scenario"] for record in of_half})
            parts += [f"## The {half} half, {n_problems} problems", of_estimators(of_half)]
            parts += [f"By family, the {FLOOR}:", of_groups(of_half, FLOOR, "family")]
            parts += [f"By problem, the {FLOOR}:", of_groups(of_half, FLOOR, "scenario")]
    write_page("regression_truth", *parts)


def of_estimators(records: list[dict], estimators: tuple[str, ...] = SHOWN) -> str:
    """One row for each size and estimator, and for all sizes."""
    rows = []
    for n in (*sorted({record["n"] for record in records}), None):
        for name in estimators:
            chosen = [record for record in records if n in (None, record["n"]) and name in record]
            if chosen:
                errors, columns = _row(chosen, name)
                by_problem: dict[str, list[float]] = {}
                for record, error in zip(chosen, errors, strict=True):
                    by_problem.setdefault(record["scenario"], []).append(abs(error))
                worst = max(by_problem, key=lambda each: np.mean(by_problem[each]))
                seconds = np.median([record[name]["seconds"] for record in chosen])
                size, title = "all" if n is None else n, f"**{name}**" if name == FLOOR else name
                rows.append([size, title, *columns, f"{np.mean(by_problem[worst]):.3f} ({worst})", f"{seconds:.2f}"])
    return as_table(["n", "estimator", *FIGURES, "worst problem", "s"], rows)


def of_groups(records: list[dict], name: str, group: str) -> str:
    """One row for each family or problem and size."""
    rows = []
    for value in dict.fromkeys(record[group] for record in records):
        for n in sorted({record["n"] for record in records}):
            chosen = [r for r in records if (r["n"], r[group]) == (n, value) and name in r]
            if chosen:
                rows.append([value, f"{chosen[0]['truth']:.2f}", n, len(chosen), *_row(chosen, name)[1]])
    if group == "family":
        rows = [[row[0], *row[2:]] for row in rows]
        return as_table(["family", "n", "samples", *FIGURES], rows)
    return as_table(["problem", "best R²", "n", "samples", *FIGURES], rows)


FIGURES = ("mean abs. error", "bias", "covers", "upper end too low", "lower end too high", "width", "score")


def _row(records: list[dict], name: str) -> tuple[np.ndarray, list[str]]:
    errors, covered, above, *sizes = figures(records, name)
    too_low = ~covered & ~above
    shares = [f"{each.mean():.1%}" for each in (covered, too_low, above)]
    means = [f"{each.mean():.3f}" for each in sizes]
    return errors, [f"{np.abs(errors).mean():.4f}", f"{errors.mean():+.4f}", *shares, *means]


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table", "show"])
    parser.add_argument("--half", choices=HALVES, default="design")
    parser.add_argument("--problems", nargs="+", choices=[each.name for each in PROBLEMS])
    parser.add_argument("--sizes", nargs="+", type=int, default=[300, 2000, 8000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[5, 3, 1])
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    given = parser.parse_args()
    in_half = [
        each.name for each in PROBLEMS if each.half == given.half and each.name in (given.problems or [each.name])
    ]
    if given.what == "run":
        cells = [
            (name, n, repeat)
            for n, n_repeats in zip(given.sizes, given.repeats, strict=True)
            for repeat in range(n_repeats)
            for name in in_half
        ]
        run(cells, given.estimators, given.records, given.workers)
    elif given.what == "show":
        found = [r for r in samples_of(given.records) if r["scenario"] in in_half and r["n"] in given.sizes]
        print(of_estimators(found))
        for shown in (each for each in given.estimators if len(given.estimators) < len(ESTIMATORS)):
            print(of_groups(found, shown, "scenario"))
    else:
        write_tables(samples_of(given.records))
