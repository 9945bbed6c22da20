"""What is said of numbers, held against what is known of them: alarms, odd rows, absolute errors, intervals.

    python -m benchmarks.truth.numbers_alarms run [--part NAME ...] [--workers 1] [--out FILE.jsonl]
    python -m benchmarks.truth.numbers_alarms table    write benchmarks/results/numbers_alarms.md from the records

Tables of 300 to 500 rows with smooth functions of a few columns, and noise that is normal, of long tails (Student's t
of 3 degrees of freedom), skewed (exponential) or uneven (it grows with the function):

    clean      200 tables with nothing to complain of: how often BF052 and BF054 speak, and rows are called suspicious
    unfinished curves that have not ended: how often that is said
    shifted    2% of the targets lie 6 standard deviations of their noise off: how many of them are listed
    absolute   targets of few or rounded values, many zeros or a long tail: does the range of the mean absolute error
               hold the least one, which is known?
    intervals  new rows inside the prediction intervals of LandmarkRegressor

Floors are those of `effort="fast"`, without checks, of linear models and neighbours alone; those of shifted targets are
of all learners.
Tables are drawn from their kind and number, and recorded in benchmarks/results/numbers_alarms.jsonl as they are
measured. The rule of BF052 was chosen on 40 other tables of such kinds.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from scipy.stats import norm

from bayesfloor import LandmarkRegressor, regression_floor
from bayesfloor.results import RegressionFloor
from benchmarks.tools.command_line import run_or_table
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "numbers_alarms.jsonl"
#: Levels at which alarms on clean tables are held to be right: of BF052 and of rows that are listed, and of BF054.
LEVEL, LEVEL_OF_UNEVEN = 0.05, 0.001
#: Shares of new rows that intervals are asked for.
SHARES = (0.8, 0.9, 0.95)
#: What learns where not everything has to.
QUICK = ["linear", "neighbours"]
#: Draws of one task of a worker.
AT_ONCE = 5

Array = NDArray[np.float64]
Rng = np.random.Generator

NOISES = ("normal", "long tails", "skewed", "uneven")


def floor_of(X: Array, y: Array, **asked: Any) -> RegressionFloor:
    return regression_floor(X, y, effort="fast", checks=False, n_jobs=1, **asked)


def codes_of(floor: RegressionFloor) -> set[str]:
    return {finding.code for finding in floor.findings}


# --- plain tables


def plain_table(noise: str, draw: int, rng: Rng) -> tuple[Array, Array, Array]:
    """Return rows, targets, and the standard deviation of the noise of each: .3 or 1 times that of the function."""
    n, n_columns = (300, 400, 500)[draw % 3], int(rng.integers(3, 8))
    X = rng.standard_normal((n, n_columns)) if rng.random() < 0.5 else rng.uniform(-1.7, 1.7, (n, n_columns))
    a, b, c = X[:, :3].T
    functions = (
        a - b + 0.5 * c,
        np.sin(3.0 * a) + np.exp(b) / 2.0 + 0.3 * c,
        a**2 + a * b - c,
        2.0 * a * b + np.sin(2.0 * c),
        np.tanh(2.0 * a),
    )
    f = functions[draw % 5]
    f = (f - f.mean()) / f.std()
    sd = np.full(n, (0.3, 1.0)[draw // 5 % 2])
    if noise == "uneven":
        rank = np.argsort(np.argsort(f)) / n
        sd *= (0.3 + 1.5 * rank) / np.square(0.3 + 1.5 * rank).mean() ** 0.5
    return X, f + sd * noise_of(noise, n, rng), sd


def noise_of(noise: str, n: int, rng: Rng) -> Array:
    """Draw noise of mean 0 and variance 1."""
    if noise == "long tails":
        return rng.standard_t(3, n) / 3**0.5
    if noise == "skewed":
        return rng.standard_exponential(n) - 1.0
    return rng.standard_normal(n)


def clean(noise: str, draw: int, rng: Rng) -> Record:
    """Say what is said of a table of which there is nothing to say, but that uneven noise is uneven."""
    X, y, _ = plain_table(noise, draw, rng)
    floor = floor_of(X, y, learners=QUICK)
    return {"codes": sorted(codes_of(floor)), "suspicious": len(floor.suspicious)}


def shifted(noise: str, draw: int, rng: Rng) -> Record:
    """Look for targets that were shifted."""
    X, y, sd = plain_table(noise, draw, rng)
    rows = rng.choice(len(y), len(y) // 50, replace=False)
    y[rows] += 6.0 * sd[rows] * rng.choice([-1.0, 1.0], len(rows))
    listed = floor_of(X, y).suspicious.row
    n_found = int(np.isin(rows, listed).sum())
    return {"shifted": len(rows), "found": n_found, "listed": len(listed)}


# --- curves that have not ended


def unfinished(kind: str, n: int, draw: int, rng: Rng) -> Record:
    """Learn a straight line, and beside it a function that linear models and neighbours learn slowly."""
    if kind == "rough":
        X, of_weights = rng.uniform(size=(n, 4)), np.random.default_rng(4).standard_normal((3, 40))
        slow, easy = np.sin(6.0 * X[:, :3] @ of_weights + np.arange(40)).sum(axis=1), X[:, 3] * 12**0.5
    elif kind == "network":
        X, of_weights = rng.standard_normal((n, 15)), np.random.default_rng(3).standard_normal((15, 30))
        slow, easy = np.sin(2.0 * X @ of_weights / 15**0.5).sum(axis=1), X[:, 0]
    else:
        X = rng.standard_normal((n, 8))
        slow = np.sum([np.sin(2.0 * X[:, i]) * np.sin(2.0 * X[:, i + 1]) for i in (1, 3, 5)], axis=0)
        easy = X[:, 0]
    share = 0.2 if kind == "rough" else 0.5
    y = (1.0 - share) ** 0.5 * easy + share**0.5 * slow / slow.std() + 0.2 * rng.standard_normal(n)
    floor = floor_of(X, y, learners=QUICK)
    return {"codes": sorted(codes_of(floor)), "r2": floor.curve.value.tolist()}


# --- absolute errors

#: How far from its median a target is on average, given the columns.
TARGETS = ("0 or 1", "zero-inflated", "five values", "rounded", "skewed")


def target_of(kind: str, X: Array, rng: Rng) -> tuple[Array, Array]:
    """Draw targets, and return the mean absolute distance of each from its median, which is known."""
    f = X[:, 0] - 0.5 * X[:, 1]
    if kind == "0 or 1":
        share = expit(1.5 * f)
        return (rng.random(len(f)) < share).astype(float), np.minimum(share, 1.0 - share)
    if kind == "five values":
        share = expit(1.5 * f)
        return rng.binomial(4, share).astype(float), distance_from_median(rng.binomial(4, share, (401, len(f))))
    if kind == "rounded":
        values = np.arange(-12.0, 13.0)[:, np.newaxis]
        chances = norm.cdf(values + 0.5 - f) - norm.cdf(values - 0.5 - f)
        medians = np.round(f)
        return np.round(f + rng.standard_normal(len(f))), (chances * np.abs(values - medians)).sum(axis=0)
    noise = np.exp(0.8 * ndtri((np.arange(401) + 0.5) / 401))[:, np.newaxis]
    drawn = np.exp(0.8 * rng.standard_normal(len(f)))
    if kind == "skewed":
        return f + drawn, np.full(len(f), np.abs(noise - 1.0).mean())
    # a share of zeros that hangs on the columns, and else a number of long tails
    share = expit(2.0 * f)
    is_zero = np.arange(401)[:, np.newaxis] < 401 * share
    of_all = np.where(is_zero, 0.0, rng.permuted(np.broadcast_to(noise, (401, len(f))), axis=0))
    return np.where(rng.random(len(f)) < share, 0.0, drawn), distance_from_median(of_all)


def distance_from_median(values: Array) -> Array:
    return np.asarray(np.abs(values - np.median(values, axis=0)).mean(axis=0))


def absolute(kind: str, draw: int, rng: Rng) -> Record:
    """Hold the range of the mean absolute error against the least one."""
    X = rng.standard_normal((400, 3))
    y, _ = target_of(kind, X, rng)
    _, distances = target_of(kind, rng.standard_normal((4000, 3)), rng)
    floor = floor_of(X, y, metric="mae", learners=QUICK)
    figures = [floor.estimate, *floor.interval, floor.reached]
    return {"truth": float(distances.mean()), "figures": figures}


# --- prediction intervals


def intervals(noise: str, n: int, draw: int, rng: Rng) -> Record:
    """Count new rows inside intervals of a landmark model."""
    X = rng.uniform(size=(n + 4000, 3))
    sd = 0.2 + 2.0 * X[:, 0] if noise == "uneven" else np.ones(len(X))
    y = 4.0 * X[:, 0] + np.sin(5.0 * X[:, 1]) + sd * noise_of(noise, len(X), rng)
    model = LandmarkRegressor(n_jobs=1).fit(X[:n], y[:n])
    inside = []
    for share in SHARES:
        low, high = model.predict_interval(X[n:], confidence=share).T
        inside.append(float(np.mean((low <= y[n:]) & (y[n:] <= high))))
    return {"inside": inside}


# --- runs and the page

#: What is drawn, and how often of each kind.
DRAWN: dict[str, tuple[Any, dict[tuple[Any, ...], int]]] = {
    "intervals": (intervals, {(noise, n): {300: 100, 2000: 40}[n] for n in (300, 2000) for noise in NOISES}),
    "absolute": (absolute, {(kind,): 20 for kind in TARGETS}),
    "unfinished": (unfinished, {(kind, n): 20 for kind in ("rough", "network", "waves") for n in (500, 1500)}),
    "shifted": (shifted, {(noise,): 10 for noise in NOISES}),
    "clean": (clean, {(noise,): 50 for noise in NOISES}),
}


def measure(part: str, kind: tuple[Any, ...], first: int) -> list[Record]:
    """Draw some tables of one kind."""
    draw, numbers = DRAWN[part]
    records = []
    for number in range(first, min(first + AT_ONCE, numbers[kind])):
        rng = np.random.default_rng([zlib.crc32(f"{part} {kind}".encode()), number])
        records.append({"part": part, "kind": list(kind), "draw": number} | draw(*kind, number, rng))
    return records


def run(parts: list[str], workers: int, out: Path) -> None:
    """Measure what is not recorded yet."""
    done = {(record["part"], *record["kind"], record["draw"]) for record in read_records(out)}
    keys = [
        (part, kind, first)
        for part in parts
        for kind, number in DRAWN[part][1].items()
        for first in range(0, number, AT_ONCE)
        if (part, *kind, first) not in done
    ]
    measure_all(measure, keys, out, workers)


def with_error(values: Any) -> str:
    """Return a mean with its Monte-Carlo error."""
    values = np.asarray(values, dtype=float)
    return f"{values.mean():.3f} ± {values.std() / len(values) ** 0.5:.3f}"


def figures_of(part: str, records: list[Record]) -> list[Any]:
    """Return the cells of a kind, or of several together."""
    if part == "clean":
        alarms = [[code in each["codes"] for each in records] for code in ("BF052", "BF054")]
        return [*map(with_error, alarms), with_error([each["suspicious"] > 0 for each in records])]
    if part == "unfinished":
        codes = [set(each["codes"]) for each in records]
        return [with_error(["BF052" in each for each in codes]), with_error([bool(each & OPEN) for each in codes])]
    if part == "shifted":
        n_shifted, n_found, n_listed = (sum(each[key] for each in records) for key in ("shifted", "found", "listed"))
        recalls = [each["found"] / each["shifted"] for each in records]
        return [n_shifted, with_error(recalls), f"{n_listed - n_found} of {n_listed}"]
    if part == "absolute":
        truth, estimate, low, high, reached = np.array([[each["truth"], *each["figures"]] for each in records]).T
        ratios = [f"{np.mean(values / truth):.3f}" for values in (estimate, reached)]
        return [f"{truth.mean():.3f}", *ratios, with_error((low <= truth) & (truth <= high))]
    return list(map(with_error, zip(*(each["inside"] for each in records), strict=True)))


#: Findings that say that a curve has not ended.
OPEN = {"BF051", "BF052"}

#: Headings of the parts, what is said of each, and the columns of its table.
PAGE = {
    "clean": (
        "Clean tables",
        f"How often BF052 (no end in sight), BF054 (uneven noise) and suspicious rows are told. The levels are {LEVEL} "
        f"for BF052 and for a table on which a row is listed, and {LEVEL_OF_UNEVEN} for BF054, which is right on "
        "uneven noise.",
        ["noise", "tables", "BF052", "BF054", "a row is listed"],
    ),
    "unfinished": (
        "Curves that have not ended",
        "A straight line and a function that linear models and neighbours learn slowly: rough in three columns, a "
        "network of fifteen, products of waves of two columns each. BF051 says the same of curves that have only "
        "begun.",
        ["function", "rows", "tables", "BF052", "BF051 or BF052"],
    ),
    "shifted": (
        "Targets that were shifted",
        "2% of the targets lie 6 standard deviations of their own noise off. The goal is to list 0.70 of them.",
        ["noise", "tables", "shifted", "listed of those", "listed beside them"],
    ),
    "absolute": (
        "The least mean absolute error",
        "Means of the truth, and of the estimate and of what was reached as multiples of it, and how often the 95% "
        "range holds it; the goal is 0.90. Linear models and neighbours, 400 rows.",
        ["target", "tables", "truth", "estimate", "reached", "held"],
    ),
    "intervals": (
        "Prediction intervals of LandmarkRegressor",
        "Share of 4000 new rows inside intervals for 80%, 90% and 95%, over draws of all rows.",
        ["noise", "rows", "tables", *(f"{share:.0%}" for share in SHARES)],
    ),
}


def rows_of(part: str, records: list[Record]) -> list[list[Any]]:
    """Return the rows of the table of one part, the last one of all clean or shifted tables together."""
    own = [record for record in records if record["part"] == part]
    rows = []
    for kind in DRAWN[part][1]:
        of_kind = [record for record in own if record["kind"] == list(kind)]
        if of_kind:
            rows.append([*kind, len(of_kind), *figures_of(part, of_kind)])
    if part in ("clean", "shifted") and rows:
        rows.append(["all", len(own), *figures_of(part, own)])
    return rows


def write_table(records: list[Record]) -> None:
    """Write the page."""
    parts = [
        "# What is said of numbers",
        "`python -m benchmarks.truth.numbers_alarms run`, then `… table`. Figures after ± are Monte-Carlo errors, with "
        "a table, or its rows, as the unit.",
    ]
    for part, (heading, about, columns) in PAGE.items():
        parts += [f"## {heading}", about, as_table(columns, rows_of(part, records))]
    write_page("numbers_alarms", *parts, notes_of("numbers_alarms"))


if __name__ == "__main__":
    run_or_table(__doc__, list(DRAWN), run, write_table, RECORDS, workers=1)
