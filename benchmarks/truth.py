"""How near the truth? Estimates of the floor on problems whose floor is known.

    python benchmarks/truth.py run [--half design|held-out] [--sizes 500 2000 8000] [--repeats 10 10 1]
    python benchmarks/truth.py cost      seconds that a learned floor takes, on all cores
    python benchmarks/truth.py table     write benchmarks/results/truth.md from what was recorded

The problems are in truth_scenarios.py, in two halves. Every choice in the library was made on the first, "design"; the
second, "held-out", was looked at once they were made. Each cell is recorded in benchmarks/results/truth.jsonl as soon
as it is measured; a cell that is there is not measured again. Cells run in two processes of one thread each.
"""

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from bayesfloor.data.folds import stratified_folds
from bayesfloor.floor import bayes_error
from bayesfloor.floor.learned.cross_fitting import cross_fit
from bayesfloor.floor.learned.estimate import choose_rows, learned_floor
from bayesfloor.floor.learned.learners import GROUPS
from bayesfloor.floor.learned.stack_errors import posterior_bounds, residual_test
from bayesfloor.floor.learned.stacking import fit_stacks
from bayesfloor.floor.learned.summary import proportion_interval, summarise
from bayesfloor.floor.trees.problem import check_problem
from bayesfloor.runtime.threads import Crew, supervise
from truth_scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "results" / "truth.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "truth.md"

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
CONFIDENCE = 0.95


def measure(name: str, n: int, repeat: int) -> dict:
    """Estimate the floor of one sample in every way; the learned floor by the steps of `learned_floor`."""
    scenario = BY_NAME[name]
    X, y = scenario.sample(n, 1000 * repeat + n)
    record: dict = {"scenario": name, "half": scenario.half, "n": n, "repeat": repeat, "truth": scenario.bayes_error}

    started = time.perf_counter()
    scale = X.std(axis=0)
    trees = bayes_error((X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), y, n_jobs=1)
    record["trees on x"] = cell(trees.estimate, trees.lower_interval[0], trees.upper_interval[1], started)

    own = float((scenario.posterior(X).argmax(axis=1) != y).mean())
    record["true Bayes classifier"] = cell(own, *proportion_interval(round(own * n), n, CONFIDENCE), started)

    started = time.perf_counter()
    problem = check_problem(X, y)
    rows = choose_rows(problem, 10_000, 0)
    points, codes, n_classes = problem.X[rows], problem.codes[rows], len(problem.classes)
    folds = stratified_folds(codes, 5, np.arange(len(codes)))

    def learn(crew: Crew):
        fitted = cross_fit(points, codes, n_classes, folds, GROUPS, 0, crew)
        return fitted, fit_stacks(fitted, codes, 0, crew)

    fitted, stacks = supervise(learn, 1, False)
    q = np.exp(stacks[0].log_q[0])
    low, high = posterior_bounds(q, codes, 1, 0)
    z = residual_test(points, codes, q, folds, 1, 0)
    summary = summarise(stacks, np.array(fitted.sizes), codes, n_classes, z, CONFIDENCE)
    record["learned floor"] = cell(summary.estimate, *summary.interval, started)
    record["trees on the learned posterior"] = cell((low + high) / 2, low, high, started)
    errors = (fitted.log_p[0][:, 0].argmax(axis=-1) != codes).mean(axis=1)
    best = float(errors.min())
    record["best cross-validated model"] = cell(best, *proportion_interval(round(best * n), n, CONFIDENCE), started)
    record |= {"reached": summary.reached, "reached_interval": summary.reached_interval, "residual_z": round(z, 2)}
    if kept := os.environ.get("TRUTH_KEEP"):  # predictions, for a closer look
        log_p = {f"log_p{size}": values.astype(np.float16) for size, values in enumerate(fitted.log_p)}
        path = Path(kept) / f"{name.replace('/', '_')}-{n}-{repeat}.npz"
        np.savez(path, codes=codes, folds=folds, sizes=fitted.sizes, names=fitted.names, truth=record["truth"], **log_p)
    return record


def cell(estimate: float, low: float, high: float, started: float) -> dict:
    return {
        "estimate": round(float(estimate), 5),
        "interval": [round(float(low), 5), round(float(high), 5)],
        "seconds": round(time.perf_counter() - started, 3),
    }


def run(half: str | None, sizes: list[int], repeats: list[int], workers: int) -> None:
    done = {(record["scenario"], record["n"], record["repeat"]) for record in read_records()}
    wanted = [
        (scenario.name, n, repeat)
        for n, n_repeats in zip(sizes, repeats, strict=True)
        for repeat in range(n_repeats)
        for scenario in SCENARIOS
        if half in (None, scenario.half)
    ]
    missing = [key for key in wanted if key not in done]
    with ProcessPoolExecutor(workers) as pool, RECORDS.open("a", encoding="utf-8") as file:
        for number, future in enumerate(as_completed([pool.submit(measure, *key) for key in missing]), 1):
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
        floor = learned_floor(means[y] + rng.standard_normal((n, n_features)), y)
        print(f"{n} x {n_features}, {n_classes} classes: {floor.seconds:.1f} s", flush=True)


def read_records() -> list[dict]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "cost", "table"])
    parser.add_argument("--half", choices=["design", "held-out"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 2000, 8000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[10, 10, 1])
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.half, chosen.sizes, chosen.repeats, chosen.workers)
    elif chosen.what == "cost":
        show_cost()
    else:
        from truth_table import write_table

        write_table(read_records(), RESULTS)
