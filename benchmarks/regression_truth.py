"""How near the truth? Estimates of the best R² on problems whose noise is known.

    python benchmarks/regression_truth.py run [--half design|held-out] [--problems NAME ...] [--sizes 300 2000 8000]
                                              [--repeats 5 3 1] [--estimators NAME ...] [--workers 2] [--keep FOLDER]
    python benchmarks/regression_truth.py table     write benchmarks/results/regression_truth.md from the records
    python benchmarks/regression_truth.py show      print the tables of --half, --sizes and --estimators

The problems are in regression_problems.py, the other estimators in regression_peers.py. Every choice in the library was
made on the half "design"; the other, "held-out", was looked at once they were made. Each cell is recorded in
benchmarks/results/regression_truth.jsonl as soon as it is measured (`--records` names another file); a cell that is
there is not measured again. Cells run in processes of one thread each. With `--keep`, out-of-fold predictions are
written to a folder, with y and the true regression function.
"""

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import bayesfloor
from regression_peers import PEERS, points_of
from regression_problems import PROBLEMS, problem
from truth_table import HALVES, as_table, figures

RESULTS = Path(__file__).resolve().parent / "results"
RECORDS = RESULTS / "regression_truth.jsonl"

FLOOR, REACHED, TREES, TRUE = "regression floor", "what was reached", "noise from trees", "true regression function"
ESTIMATORS = (FLOOR, TREES, *PEERS, TRUE)
#: In the order of the tables; what was reached is recorded with the floor.
SHOWN = (TREES, *PEERS, REACHED, FLOOR, TRUE)


def measure(name: str, n: int, repeat: int, estimators: list[str], keep: Path | None = None) -> dict:
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
        started = time.process_time()
        if estimator == FLOOR:
            floor = bayesfloor.regression_floor(X, y, n_jobs=1)
            of_r2 = floor.metrics["r2"]
            record[REACHED] = cell(of_r2.reached, *of_r2.reached_interval, started)
            record[FLOOR] = cell(of_r2.estimate, *of_r2.interval, started)
            record["findings"] = [finding.code for finding in floor.findings]
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                np.savez(keep / f"{name}-{n}-{repeat}.npz", y=y, f=f, predicted=floor.predicted)
        elif estimator == TREES:
            trees = bayesfloor.noise_variance_from_trees(X, y, n_jobs=1)
            record[TREES] = cell(trees.r2, *trees.r2_interval, started)
        else:
            estimate: Callable[..., Any] = true_function if estimator == TRUE else PEERS[estimator]
            record[estimator] = cell(*estimate(f if estimator == TRUE else points_of(X), y), started)
    return record


def true_function(f: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return R² of the true regression function on the sample, with its interval by the delta method."""
    squares, spread = (y - f) ** 2, (y - y.mean()) ** 2
    share = squares.mean() / spread.mean()
    error = (squares - share * spread).std() / spread.mean() / np.sqrt(len(y))
    return 1 - share, 1 - share - 1.96 * error, min(1 - share + 1.96 * error, 1.0)


def cell(estimate: float, low: float, high: float, started: float) -> dict:
    return {
        "estimate": round(float(estimate), 5),
        "interval": [round(float(low), 5), round(float(high), 5)],
        "seconds": round(time.process_time() - started, 3),
    }


def run(
    wanted: list[tuple[str, int, int]], estimators: list[str], records: Path, workers: int, keep: Path | None
) -> None:
    """Measure the cells that were not measured yet; estimators that a record lacks are measured alone."""
    known = {key_of(record): record for record in read_records(records)}
    missing = {key: [each for each in estimators if each not in known.get(key, {})] for key in wanted}
    missing = {key: lacking for key, lacking in missing.items() if lacking}
    records.parent.mkdir(parents=True, exist_ok=True)
    with (
        ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool,
        records.open("a", encoding="utf-8") as file,
    ):
        tasks = [pool.submit(measure, *key, lacking, keep) for key, lacking in missing.items()]
        for count, future in enumerate(as_completed(tasks), 1):
            record = future.result()
            print(count, len(tasks), record["scenario"], record["n"], flush=True)
            file.write(json.dumps(record) + "\n")
            file.flush()


def key_of(record: dict) -> tuple[str, int, int]:
    return record["scenario"], record["n"], record["repeat"]


def read_records(path: Path) -> list[dict]:
    """Return one record for each sample, with what all its lines say."""
    records: dict[tuple[str, int, int], dict] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        record = json.loads(line)
        records.setdefault(key_of(record), {}).update(record)
    return list(records.values())


# --- tables


def write_tables(records: list[dict], path: Path) -> None:
    """Write the page of both halves."""
    parts = [
        "# How near the truth: numbers",
        "Made by `python benchmarks/regression_truth.py run` and `… table`. The best R² of each problem is known. "
        "Choices in the library were made on the design half. *Upper end too low*: the interval claims that no model "
        "can reach what one can. *Lower end too high*: it claims that a model can reach what none can. *s* is CPU "
        "seconds.",
    ]
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        if of_half:
            n_problems = len({record["scenario"] for record in of_half})
            parts += [f"## The {half} half, {n_problems} problems", of_estimators(of_half)]
            shown = FLOOR if any(FLOOR in record for record in of_half) else TREES
            parts += [f"By family, the {shown}:", of_groups(of_half, shown, "family")]
            parts += [f"By problem, the {shown}:", of_groups(of_half, shown, "scenario")]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


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


FIGURES = ("mean abs. error", "bias", "covers", "upper end too low", "lower end too high", "width")


def _row(records: list[dict], name: str) -> tuple[np.ndarray, list[str]]:
    errors, covered, above, widths = figures(records, name)
    too_low = ~covered & ~above
    shares = [f"{each.mean():.1%}" for each in (covered, too_low, above)]
    return errors, [f"{np.abs(errors).mean():.4f}", f"{errors.mean():+.4f}", *shares, f"{widths.mean():.3f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table", "show"])
    parser.add_argument("--half", choices=HALVES, default="design")
    parser.add_argument("--problems", nargs="+", choices=[each.name for each in PROBLEMS])
    parser.add_argument("--sizes", nargs="+", type=int, default=[300, 2000, 8000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[5, 3, 1])
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path)
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
        run(cells, given.estimators, given.records, given.workers, given.keep)
    elif given.what == "show":
        found = [r for r in read_records(given.records) if r["scenario"] in in_half and r["n"] in given.sizes]
        print(of_estimators(found))
        for shown in (each for each in given.estimators if len(given.estimators) < len(ESTIMATORS)):
            print(of_groups(found, shown, "scenario"))
    else:
        write_tables(read_records(given.records), RESULTS / "regression_truth.md")
