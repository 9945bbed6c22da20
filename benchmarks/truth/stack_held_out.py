"""Is `held_out_` of a stack what its model does on fresh rows? Random problems of known truth.

    python -m benchmarks.truth.stack_held_out run [--seed 11] [--problems 200] [--workers 2] [--records FILE]
    python -m benchmarks.truth.stack_held_out table     write benchmarks/results/stack_held_out.md

Problems are drawn by problems/random_problems.py, with 200 to 3200 rows; two of five are of numbers. A stack with
default learners is fitted to each, and its model predicts 20 000 fresh rows. What it loses there is a mean over the
posterior of each row, or over the noise about its mean, so that it is known almost exactly. *Covers* is the share of
fits whose `held_out_` has that figure in its range. *Off* is what `held_out_` says less that figure, in the mean; log-
loss, RMSE and MAE are compared as logarithms. *Off, by posteriors* is the same with the posteriors of the held-out rows
in place of their labels, which takes the chance of the labels away; *four fifths* what it would be without the step
along the learning curve. Settings were chosen on the seed of the design; the other was looked at once.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bayesfloor import StackedClassifier, StackedRegressor
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.stack_model import StackModel, fit_stack_model
from benchmarks.problems.random_problems import RandomProblem, draw_problem
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.random_problems import SHARES, SIZES

RECORDS = RESULTS / "stack_held_out.jsonl"
#: Seeds that settings were chosen by, and that were looked at once.
SEEDS = {11: "design", 12: "held out"}
N_FRESH = 20_000
#: Draws of the noise of each fresh row, for the mean absolute error.
N_NOISE = 20


def fresh_figures(problem: RandomProblem, model: Any, rng: np.random.Generator) -> dict[str, float]:
    """Return what a model loses on fresh rows, as a mean over what may be observed in each."""
    X = problem.draw(N_FRESH, rng)
    means, deviation = problem.known(X)
    if isinstance(model, StackedClassifier):
        q = model.predict_proba(X)
        shares = means[:, model.classes_]
        named = np.take_along_axis(shares, q.argmax(axis=1)[:, np.newaxis], axis=1)
        absent = float(1.0 - shares.sum(axis=1).mean())  # of classes that no row was of
        tiny = np.finfo(np.float64).eps
        log_loss = -(shares * np.log(np.maximum(q, tiny))).sum(axis=1).mean() - absent * np.log(tiny)
        return {"error": float(1.0 - named.mean()), "log_loss": float(log_loss)}
    predicted, mean = model.predict(X), means[:, 0]
    squared = float(((predicted - mean) ** 2 + deviation**2).mean())
    noise = rng.standard_t(problem.tails, (N_NOISE, len(X))) / (problem.tails / (problem.tails - 2)) ** 0.5
    off = [float(np.abs(predicted - mean - deviation * each).mean()) for each in noise]
    return {
        "r2": 1.0 - squared / float(mean.var() + (deviation**2).mean()),
        "rmse": squared**0.5,
        "mae": float(np.mean(off)),
    }


def known_figures(problem: RandomProblem, X: np.ndarray, learned: Learned) -> dict[str, float]:
    """Return what the stack lost on held-out rows, as a mean over what might have been observed in them."""
    rows = learned.plan.given[learned.plan.tested]
    means, deviation = problem.known(X[rows])
    predicted = learned.stacks[0].predicted[:, 0]
    if learned.used.task == "classification":
        shares = means[:, learned.used.classes]
        named = [np.take_along_axis(shares, each.argmax(axis=1)[:, np.newaxis], axis=1).mean() for each in predicted]
        return {"error": float(1.0 - np.mean(named)), "log_loss": float(-(shares * predicted).sum(axis=2).mean())}
    mean = means[:, 0]
    squared = float(((learned.centre + learned.scale * predicted - mean) ** 2 + deviation**2).mean())
    return {"r2": 1.0 - squared / float(mean.var() + (deviation**2).mean()), "rmse": squared**0.5}


def measure(task: str, seed: int, place: int) -> dict[str, Any]:
    """Record what a fit says of itself, and what its model does on fresh rows."""
    rng = np.random.default_rng([seed, place])
    problem = draw_problem(task, rng)
    X, y = problem.sample(int(rng.choice(SIZES, p=SHARES)), rng)
    record: dict[str, Any] = {"task": task, "seed": seed, "place": place, "problem": problem.about, "n": len(X)}
    if task == "classes" and np.bincount(y).max() > len(y) - 10:
        return record  # next to nothing but one class
    kept: list[Learned] = []

    def keep(learned: Learned, **asked: Any) -> StackModel:
        kept.append(learned)
        return fit_stack_model(learned, **asked)

    with patch("bayesfloor.classify.stacked.fit_stack_model", keep):
        model = (StackedClassifier if task == "classes" else StackedRegressor)(n_jobs=1).fit(X, y)
    assert model.held_out_ is not None
    stated = {name: (each.value, *each.interval) for name, each in model.held_out_.metrics.items()}
    record["stated"] = {name: [round(value, 6) for value in values] for name, values in stated.items()}
    record["measured"] = {name: round(value, 6) for name, value in model.held_out_.measured.items()}
    record["known"] = {name: round(value, 6) for name, value in known_figures(problem, X, kept[0]).items()}
    record["fresh"] = {name: round(value, 6) for name, value in fresh_figures(problem, model, rng).items()}
    return record


def run(seed: int, n_problems: int, workers: int, file: Path) -> None:
    """Measure the problems that were not measured yet: two of five are of numbers."""
    done = {(record["seed"], record["place"]) for record in read_records(file)}
    keys = [("numbers" if place % 5 < 2 else "classes", seed, place) for place in range(n_problems)]
    measure_all(measure, [key for key in keys if key[1:] not in done], file, workers)


# --- the page

FIGURES = {"classes": ("error", "log_loss"), "numbers": ("r2", "rmse", "mae")}
#: Figures that are compared as they are.
PLAIN = ("error", "r2")


def cells_of(records: list[dict[str, Any]], figure: str) -> list[str]:
    """Return the figures of one half."""
    stated = np.array([record["stated"][figure] for record in records])
    fresh = np.array([record["fresh"][figure] for record in records])
    covered = (stated[:, 1] <= fresh) & (fresh <= stated[:, 2])
    cells = [str(len(records)), f"{covered.mean():.1%}", f"{np.median(stated[:, 2] - stated[:, 1]):.3f}"]
    cells.append(_mean(_less(stated[:, 0], fresh, figure)))
    known = [record for record in records if figure in record.get("known", ())]
    if not known:
        return [*cells, "–", "–"]
    value, measured, as_known, fresh = (
        np.array([get(record) for record in known])
        for get in (
            lambda record: record["stated"][figure][0],
            lambda record: record["measured"][figure],
            lambda record: record["known"][figure],
            lambda record: record["fresh"][figure],
        )
    )
    step = _less(value, measured, figure)
    before = _less(as_known, fresh, figure)
    return [*cells, _mean(before + step), _mean(before)]


def _less(stated: np.ndarray, fresh: np.ndarray, figure: str) -> np.ndarray:
    """Return differences, or those of logarithms."""
    return stated - fresh if figure in PLAIN else np.log(np.maximum(stated, 1e-6) / np.maximum(fresh, 1e-6))


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / len(values) ** 0.5:.4f}"


def write_table(records: list[dict[str, Any]]) -> None:
    """Write the page."""
    header = ["figure", "fits", "covers", "median width", "off", "off, by posteriors", "four fifths, by posteriors"]
    parts = []
    for seed, half in SEEDS.items():
        rows = [
            [figure, *cells_of(own, figure)]
            for task, figures in FIGURES.items()
            if (own := [each for each in records if each["seed"] == seed and each["task"] == task])
            for figure in figures
        ]
        parts += [f"## {half.capitalize()}", as_table(header, rows)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page(
        "stack_held_out", "# `held_out_` of a stack beside fresh rows", about, notes_of("stack_held_out"), *parts
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    given = parser.parse_args()
    if given.what == "run":
        run(given.seed, given.problems, given.workers, given.records)
    else:
        write_table([record for record in read_records(given.records) if "fresh" in record])
