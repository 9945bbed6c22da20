"""In an order of time: does the stack of numbers reach what refitting by hand reaches?

    python -m benchmarks.truth.series run [--workers 2]
    python -m benchmarks.truth.series table    write benchmarks/results/series.md from the records

Twenty series of 400 rows: random walks, AR(1), a season of 12 rows with noise, and a trend with noise. Features are the
last five values, the target is the next. `regression_floor` with time= tests the last five of ten periods of equal
length. By hand, on the same periods: ridge regression with its penalty by leave-one-out, and `StackedRegressor`, which
knows no time, each fitted anew on all rows before the period. Figures are roots of mean squared errors; the ratio is
what was reached to the better of the two. Each series is recorded in benchmarks/results/series.jsonl.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesfloor as bf
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "series.jsonl"
KINDS = ("random walk", "AR(1)", "season", "trend")
N_ROWS, N_LAGS, N_SERIES = 400, 5, 5
#: Largest ratio that is taken for level.
GOAL = 1.1

Array = NDArray[np.float64]


def series(kind: str, number: int) -> Array:
    """Draw a series."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), number])
    steps, times = rng.normal(size=N_ROWS + N_LAGS), np.arange(N_ROWS + N_LAGS)
    if kind == "random walk":
        return np.cumsum(steps)
    if kind == "AR(1)":
        values = steps.copy()
        for place in range(1, len(values)):
            values[place] += (0.5, 0.7, 0.8, 0.9, 0.95)[number] * values[place - 1]
        return values
    if kind == "season":
        return 2 * np.sin(2 * np.pi * times / 12) + (0.3 + 0.2 * number) * steps
    return (0.01 + 0.01 * number) * times + steps


def with_lags(values: Array) -> tuple[Array, Array]:
    """Return the last values before each one, and each one."""
    lags = [values[N_LAGS - 1 - lag : -1 - lag] for lag in range(N_LAGS)]
    return np.column_stack(lags), values[N_LAGS:]


def by_hand(model: Any, X: Array, y: Array) -> float:
    """Return the error of a model that is fitted anew before each of the last five of ten periods."""
    period = np.arange(len(y)) * 10 // len(y)
    errors = [
        y[period == now] - model.fit(X[period < now], y[period < now]).predict(X[period == now]) for now in range(5, 10)
    ]
    return float(np.square(np.concatenate(errors)).mean() ** 0.5)


def measure(kind: str, number: int) -> Record:
    """Judge one series."""
    X, y = with_lags(series(kind, number))
    _, seconds, floor = timed(
        lambda: bf.regression_floor(X, y, time=np.arange(len(y)), metric="rmse", n_jobs=1, checks=False)
    )
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 30)))
    return {
        "kind": kind,
        "number": number,
        "reached": float(floor.reached),
        "estimate": float(floor.estimate),
        "ridge": by_hand(ridge, X, y),
        "stack": by_hand(bf.StackedRegressor("fast", n_jobs=1, checks=False), X, y),
        "seconds": round(seconds, 1),
    }


def write_table() -> None:
    """Write the page."""
    records = sorted(read_records(RECORDS), key=lambda each: (KINDS.index(each["kind"]), each["number"]))
    rows, ratios = [], []
    for each in records:
        ratios.append(each["reached"] / min(each["ridge"], each["stack"]))
        figures = (each["reached"], each["ridge"], each["stack"], each["estimate"], ratios[-1])
        rows.append((f"{each['kind']} {each['number']}", *(f"{figure:.3f}" for figure in figures)))
    within = sum(ratio <= GOAL for ratio in ratios)
    summary = f"{within} of {len(ratios)} within {GOAL}; the largest ratio is {max(ratios):.3f}."
    heads = ("series", "reached", "ridge by hand", "stack by hand", "floor", "ratio")
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("series", "# Numbers in an order of time", about, summary, as_table(heads, rows))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RECORDS)
    chosen = parser.parse_args()
    if chosen.what == "run":
        done = {(each["kind"], each["number"]) for each in read_records(chosen.out)}
        asked = [(kind, number) for kind in KINDS for number in range(N_SERIES) if (kind, number) not in done]
        measure_all(measure, asked, chosen.out, chosen.workers)
    else:
        write_table()
