"""What do many random problems tell of the next one? Fits of `bayesfloor.floor.learned.simulated`.

    python -m benchmarks.truth.random_problems run [--seed 1] [--problems 1300] [--workers 2] [--records FILE]
    python -m benchmarks.truth.random_problems run --seed 2 --problems 760 --many-columns    every fourth has 40 to 300
    python -m benchmarks.truth.random_problems fit      write src/bayesfloor/floor/learned/simulated.json
    python -m benchmarks.truth.random_problems table    write benchmarks/results/random_problems.md

Problems are drawn by problems/random_problems.py, with 200 to 3200 rows. What is recorded of each is the end of its
learning curve, the signs and the truth, all as shares of what is lost without features: of the error of the largest
class, or of the variance. `fit` fits three linear functions of the signs to the truth as a share of what was reached:
its mean by ridge regression, its quantiles of 2.5% and 97.5% by quantile regression. A problem counts for the size of
what was reached. The table says what the average of curve and functions gains on kinds of functions that were left out
of the fit. `run` takes 5 CPU seconds a problem. `truth.py`, `regression_truth.py` and `real_columns.py` have no part in
the fit.
"""

from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import QuantileRegressor, Ridge
from sklearn.model_selection import GroupKFold

from bayesfloor import learned_floor, regression_floor
from bayesfloor.floor.learned import simulated
from bayesfloor.floor.learned.rules import Lead
from benchmarks.problems.random_problems import COLUMNS, MANY_COLUMNS, draw_problem
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.truth import CONFIDENCE, interval_scores

RECORDS = RESULTS / "random_problems.jsonl"
COEFFICIENTS = Path(simulated.__file__).with_suffix(".json")
TASKS = ("classes", "numbers")
SIZES, SHARES = (200, 400, 800, 1600, 3200), (0.22, 0.3, 0.26, 0.15, 0.07)
#: Signs are clipped at these quantiles, so that no function runs away on a few of them.
CLIPPED = (0.01, 0.99)
RIDGE, ALPHA = 60.0, 0.001
TAIL = (1 - CONFIDENCE) / 2
QUANTILES = {"lower": TAIL, "upper": 1 - TAIL}


def measure(task: str, seed: int, place: int, n_columns: tuple[int, int]) -> dict:
    """Record the curve, the signs and the truth of one problem."""
    rng = np.random.default_rng([seed, place])
    problem = draw_problem(task, rng, n_columns)
    X, y = problem.sample(int(rng.choice(SIZES, p=SHARES)), rng)
    record = {"task": task, "seed": seed, "place": place, "problem": problem.about, "n": len(X)}
    if task == "classes" and np.bincount(y).max() > len(y) - 10:
        return record  # next to nothing but one class

    def keep(task, estimate, interval, signs, lead, confidence):
        low, high = min(interval[0], estimate), max(interval[1], estimate)
        truth = problem.truth / signs.baseline if task == "classes" else 1 - problem.truth
        record.update(
            truth=round(truth, 6),
            curve=[round(each / signs.baseline, 6) for each in (estimate, low, high)],
            reached=round(signs.reached / signs.baseline, 6),
            baseline=round(signs.baseline, 6),
            lead=[round(lead.surely, 5), round(lead.growth, 5)],
            signs=signs.values(lead.growth, high).round(5).tolist(),
        )
        return estimate, interval

    of_task = {"classes": "summary", "numbers": "regression.summary"}[task]
    with patch(f"bayesfloor.floor.learned.{of_task}.with_simulated", keep):
        (learned_floor if task == "classes" else regression_floor)(X, y, n_jobs=1)
    return record


def run(seed: int, n_problems: int, is_many: bool, workers: int, file: Path) -> None:
    """Measure the problems that were not measured yet: two of five are of numbers."""
    done = {(record["seed"], record["place"]) for record in read_records(file)}
    keys = [
        (
            "numbers" if place % 5 < 2 else "classes",
            seed,
            place,
            MANY_COLUMNS if is_many and place % 4 == 3 else COLUMNS,
        )
        for place in range(n_problems)
        if (seed, place) not in done
    ]
    measure_all(measure, keys, file, workers)


# --- fits


def fitted(records: list[dict]) -> dict[str, np.ndarray]:
    """Fit the three functions; return their coefficients, and between which values of the signs they hold."""
    signs, ratio, weight = arrays_of(records)
    low, high = np.quantile(signs, CLIPPED, axis=0)
    inside = signs.clip(low, high)
    centre, scale = inside.mean(axis=0), inside.std(axis=0) + 1e-9
    models = {"mean": Ridge(RIDGE)}
    models |= {name: QuantileRegressor(quantile=level, alpha=ALPHA) for name, level in QUANTILES.items()}
    found = {"low": low, "high": high}
    for name, model in models.items():
        model.fit((inside - centre) / scale, ratio, sample_weight=weight / weight.mean())
        slopes = model.coef_ / scale
        found[name] = np.array([model.intercept_ - slopes @ centre, *slopes])
    return found


def arrays_of(records: list[dict]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return signs, truths as shares of what was reached, and weights."""
    reached = np.maximum([record["reached"] for record in records], simulated.LEAST)
    ratio = np.clip([record["truth"] for record in records] / reached, 0.0, 1.5)
    return np.array([record["signs"] for record in records]), ratio, reached * [r["baseline"] for r in records]


def write_coefficients(records: list[dict], file: Path) -> None:
    """Write the coefficients of both tasks, one function a line."""
    of_tasks = []
    for task in TASKS:
        found = fitted([each for each in records if each["task"] == task])
        lines = [f'    "{name}": {[round(float(value), 5) for value in values]}' for name, values in found.items()]
        of_tasks.append(f'  "{task}": {{\n' + ",\n".join(lines) + "\n  }")
    file.write_text("{\n" + ",\n".join(of_tasks) + "\n}\n", encoding="utf-8")


# --- tables


def with_fit(record: dict, coefficients: dict[str, np.ndarray]) -> tuple[float, float, float]:
    """Return estimate and both ends, with the functions of a fit."""
    estimate, low, high = record["curve"]
    lead = Lead(0.0, 1.0, *record["lead"])
    if lead.surely < 1.0:
        return estimate, low, high
    signs = simulated.Signs(0, 0, np.empty(0), record["reached"], 1.0, 0.0, np.empty(0))
    found = simulated.Simulated.at(np.array(record["signs"]), coefficients)
    estimate, interval = found.averaged(record["task"], estimate, (low, high), signs, lead, CONFIDENCE)
    return estimate, *interval


def left_out(records: list[dict]) -> np.ndarray:
    """Return what fits say of the kinds of functions that they have not seen."""
    kinds = [record["problem"].split(", ")[1] for record in records]
    found = np.empty((len(records), 3))
    for rest, own in GroupKFold(10).split(records, groups=kinds):
        coefficients = fitted([records[place] for place in rest])
        found[own] = [with_fit(records[place], coefficients) for place in own]
    return found


def cells_of(truth: np.ndarray, scale: np.ndarray, found: np.ndarray) -> list[str]:
    """Return error of the estimate, coverage, width and score, in the unit of the figure."""
    estimate, low, high = found.T
    covered = (low <= truth + 1e-5) & (truth <= high + 1e-5)
    scores = interval_scores(truth * scale, low * scale, high * scale)
    means = np.abs(estimate - truth) @ scale, (high - low) @ scale
    error, width = (each / len(truth) for each in means)
    return [f"{error:.4f}", f"{covered.mean():.1%}", f"{width:.3f}", f"{scores.mean():.3f}"]


def write_table(records: list[dict]) -> None:
    """Write the page."""
    parts = []
    for task in TASKS:
        own = [record for record in records if record["task"] == task]
        truth, scale = np.array([r["truth"] for r in own]), np.array([r["baseline"] for r in own])
        curve, both = np.array([record["curve"] for record in own]), left_out(own)
        sizes = np.array([record["n"] for record in own])
        rows = []
        for n in (*np.unique(sizes), "all"):
            chosen = sizes == n if n != "all" else sizes > 0
            pairs = zip(*(cells_of(truth[chosen], scale[chosen], each[chosen]) for each in (curve, both)), strict=True)
            rows.append([n, chosen.sum(), *(" → ".join(pair) for pair in pairs)])
        title = f"## {task.capitalize()}: {len(own)} problems, the curve alone → the average"
        parts += [title, as_table(["n", "problems", "mean abs. error", "covers", "width", "score"], rows)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("random_problems", "# Random problems of known truth", about, notes_of("random_problems"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "fit", "table"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=1300)
    parser.add_argument("--many-columns", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    given = parser.parse_args()
    if given.what == "run":
        run(given.seed, given.problems, given.many_columns, given.workers, given.records)
    else:
        measured = [record for record in read_records(given.records) if "truth" in record]
        write_coefficients(measured, COEFFICIENTS) if given.what == "fit" else write_table(measured)
