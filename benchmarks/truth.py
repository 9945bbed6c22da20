"""How near the truth? Estimates of the floor on problems whose floor is known.

    python benchmarks/truth.py run [--problems smooth new] [--half design|held-out] [--sizes 500 2000 8000]
                                   [--repeats 5 3 1] [--workers 2] [--keep FOLDER]
    python benchmarks/truth.py cost      seconds that a learned floor takes, on all cores; CPU seconds for six metrics
    python benchmarks/truth.py table     write benchmarks/results/truth.md from what was recorded

The problems are in truth_scenarios.py ("smooth") and truth_families.py ("new"), each in two halves. Every choice in
the library was made on the first, "design"; the second, "held-out", was looked at once they were made. Each cell is
recorded in benchmarks/results/truth.jsonl as soon as it is measured; a cell that is there is not measured again. Cells
run in processes of one thread each. With `--keep`, the predictions of the stacks are written to a folder, from which
truth_metrics.py computes the other metrics.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bayesfloor import bayes_error, learned_floor
from bayesfloor.floor.learned import estimate
from bayesfloor.floor.learned.certainty import proportion_interval
from truth_families import FAMILIES
from truth_scenarios import SCENARIOS
from truth_table import write_table

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "results" / "truth.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "truth.md"

PROBLEMS = {"smooth": SCENARIOS, "new": FAMILIES}
BY_NAME = {scenario.name: scenario for scenarios in PROBLEMS.values() for scenario in scenarios}
CONFIDENCE = 0.95
SIX = ("error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision")


def measure(name: str, n: int, repeat: int, keep: Path | None = None) -> dict:
    """Estimate the floor of one sample in every way."""
    scenario = BY_NAME[name]
    X, y = scenario.sample(n, 1000 * repeat + n)
    record: dict = {
        "scenario": name,
        "problems": next(kind for kind, scenarios in PROBLEMS.items() if scenario in scenarios),
        "family": scenario.family,
        "half": scenario.half,
        "n": n,
        "repeat": repeat,
        "truth": scenario.bayes_error,
    }
    started = time.process_time()
    scale = X.std(axis=0)
    trees = bayes_error((X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), y, n_jobs=1)
    record["trees on x"] = cell(trees.estimate, trees.lower_interval[0], trees.upper_interval[1], started)

    own = float((scenario.posterior(X).argmax(axis=1) != y).mean())
    record["true Bayes classifier"] = cell(own, *proportion_interval(round(own * n), n, CONFIDENCE), started)

    started = time.process_time()
    with mock.patch.object(estimate, "summarise", caught := mock.Mock(wraps=estimate.summarise)):
        floor = learned_floor(X, y, n_jobs=1)
    if keep is not None:
        keep_stacks(keep / f"{name}-{n}-{repeat}.npz", *caught.call_args.args, **caught.call_args.kwargs)
    low, high = floor.tree_bounds
    record["learned floor"] = cell(floor.estimate, *floor.interval, started)
    record["trees on the learned posterior"] = cell((low + high) / 2, low, high, started)
    record["what was reached"] = cell(floor.reached, *floor.reached_interval, started)
    record["residual_z"] = round(floor.residual_z, 2)
    record["findings"] = [finding.code for finding in floor.findings]
    return record


def keep_stacks(path: Path, stacks: list[Any], sizes: Any, rows: Any, _: Any, **more: Any) -> None:
    """Write what `summarise` is given to a file."""
    predictions = {f"log_q{place}": stack.log_q.astype(np.float32) for place, stack in enumerate(stacks)}
    clusters = {} if more["clusters"] is None else {"clusters": more["clusters"]}
    np.savez(path, **predictions, **clusters, sizes=sizes, codes=rows.codes, residual_z=more["residual_z"])


def cell(estimate: float, low: float, high: float, started: float) -> dict:
    return {
        "estimate": round(float(estimate), 5),
        "interval": [round(float(low), 5), round(float(high), 5)],
        "seconds": round(time.process_time() - started, 3),
    }


def run(
    problems: list[str], half: str | None, sizes: list[int], repeats: list[int], workers: int, keep: Path | None
) -> None:
    """Measure the cells that were not measured yet."""
    done = {(record["scenario"], record["n"], record["repeat"]) for record in read_records()}
    wanted = [
        (scenario.name, n, repeat)
        for n, n_repeats in zip(sizes, repeats, strict=True)
        for repeat in range(n_repeats)
        for kind in problems
        for scenario in PROBLEMS[kind]
        if half in (None, scenario.half)
    ]
    missing = [key for key in wanted if key not in done]
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool, RECORDS.open("a", encoding="utf-8") as file:
        for number, future in enumerate(as_completed([pool.submit(measure, *key, keep) for key in missing]), 1):
            record = future.result()
            print(number, len(missing), record["scenario"], record["n"], record["learned floor"], flush=True)
            file.write(json.dumps(record) + "\n")
            file.flush()


def show_cost() -> None:
    """Print the seconds of `learned_floor` on Gaussian classes of a few sizes."""
    for n, n_features, n_classes in ((2000, 20, 4), (10_000, 64, 4), (10_000, 64, 10)):
        rng = np.random.default_rng(0)
        means = 0.5 * rng.standard_normal((n_classes, n_features))
        y = rng.integers(0, n_classes, n)
        X = means[y] + rng.standard_normal((n, n_features))
        started = time.process_time()
        floor = learned_floor(X, y)
        of_one = time.process_time() - started
        learned_floor(X, y, metric=SIX)
        of_six = time.process_time() - started - of_one
        print(
            f"{n} x {n_features}, {n_classes} classes: {floor.seconds:.1f} s, {of_one:.1f} CPU seconds; "
            f"{of_six:.1f} for six metrics",
            flush=True,
        )


def read_records() -> list[dict]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "cost", "table"])
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--half", choices=["design", "held-out"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 2000, 8000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[5, 3, 1])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.problems, chosen.half, chosen.sizes, chosen.repeats, chosen.workers, chosen.keep)
    elif chosen.what == "cost":
        show_cost()
    else:
        write_table(read_records(), RESULTS)
