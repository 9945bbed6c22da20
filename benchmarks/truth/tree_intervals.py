"""Floors from spanning trees: do intervals hold their mean, p-values their level, and does BF008 speak where it should?

    python -m benchmarks.truth.tree_intervals run [--part coverage|tests|bias] [--workers 2] [--out FILE.jsonl]
    python -m benchmarks.truth.tree_intervals table    write benchmarks/results/tree_intervals.md from what was recorded

Coverage: 24 cells of two and three Gaussian classes a distance of 1 apart, the commonest with a share of .5 to .98, in
2 to 20 columns, 200 to 5000 rows, 200 samples each. An interval is right where it holds the mean of its own estimate
over the 200 samples. Tests: 12 kinds of rows whose labels have nothing to do with them, 1000 samples each, six of few
distinct values. Bias: two classes whose Bayes error is known; how often the lower bound lies above it, and how often
BF008 says so. The rule of BF008 was chosen on the half "design"; "held-out" was looked at once it was made.

It runs with numpy, scipy and numba alone. Samples are drawn from their cell and number, and cells are recorded in
benchmarks/results/tree_intervals.jsonl as soon as they are measured.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from bayesfloor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "tree_intervals.jsonl"
N_COVERAGE, N_TESTS, N_BIAS = 200, 1000, 100

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Rng = np.random.Generator


def rng_of(name: str, sample: int) -> Rng:
    return np.random.default_rng([zlib.crc32(name.encode()), sample])


# --- coverage


@dataclass(frozen=True)
class Cell:
    """Share of the commonest class, columns, rows and classes."""

    prior: float
    n_columns: int
    n_rows: int
    n_classes: int

    @property
    def name(self) -> str:
        """What records and the page call it."""
        return f"{self.n_classes} classes, prior {self.prior:g}, {self.n_columns} columns, {self.n_rows} rows"

    def draw(self, sample: int) -> tuple[Array, Labels]:
        """Draw rows with two of each class at the least; class means are 0, 1 and 2 in the first column."""
        rng = rng_of(self.name, sample)
        others = np.array([1.0]) if self.n_classes == 2 else np.array([2.0, 1.0]) / 3.0
        counts = np.zeros(1)
        while counts.min() < 2:
            y = rng.choice(self.n_classes, self.n_rows, p=np.append(self.prior, (1.0 - self.prior) * others))
            counts = np.bincount(y, minlength=self.n_classes)
        X = rng.standard_normal((self.n_rows, self.n_columns))
        X[:, 0] += y
        return X, y


#: 24 of the 96 ways to choose a prior, columns, rows and classes: each two of them come together.
CELLS = {
    cell.name: cell
    for i, prior in enumerate((0.5, 0.7, 0.9, 0.98))
    for j, n_rows in enumerate((200, 1000, 5000))
    for k, n_columns in enumerate(((2, 10), (5, 20))[(i + j) % 2])
    for cell in [Cell(prior, n_columns, n_rows, 2 + (j + k) % 2)]
}


def measure_coverage(name: str) -> Record:
    """Return how often intervals hold the mean of their estimates, and their least width, by function."""
    cell = CELLS[name]
    pairs = np.triu_indices(cell.n_classes, 1)
    found: dict[str, list[Array]] = {"cross edges": [], "whole": [], "pairs": [], "one-vs-rest": []}
    for sample in range(N_COVERAGE):
        X, y = cell.draw(sample)
        whole, of_pairs, rest = (
            f(X, y, n_jobs=1) for f in (bayes_error, pairwise_bayes_error, one_vs_rest_bayes_error)
        )
        found["cross edges"].append(np.array([[whole.cross_edges.mean, *whole.cross_edges.interval]]))
        found["whole"].append(np.array([[whole.estimate, *whole.interval]]))
        found["pairs"].append(np.column_stack([of_pairs.estimate[pairs], of_pairs.interval[pairs]]))
        found["one-vs-rest"].append(np.column_stack([rest.estimate, rest.interval]))
    record: Record = {"part": "coverage", "name": name, "samples": N_COVERAGE}
    for of, values in found.items():
        estimates, low, high = np.moveaxis(np.array(values), 2, 0)  # each of shape (samples, problems)
        mean = estimates.mean(axis=0)
        held = ((low <= mean) & (mean <= high)).mean(axis=0)
        record[of] = {"covered": held.tolist(), "narrowest": float((high - low).min()), "mean": mean.round(5).tolist()}
    return record


# --- p-values


def of_values(n_values: int, n_columns: int = 1) -> Callable[[int, Rng], Array]:
    return lambda n, rng: rng.integers(0, n_values, (n, n_columns)).astype(float)


def of_normals(n_columns: int) -> Callable[[int, Rng], Array]:
    return lambda n, rng: rng.standard_normal((n, n_columns))


def half_zero(n: int, rng: Rng) -> Array:
    return np.where(rng.random((n, 1)) < 0.5, 0.0, rng.standard_normal((n, 1)))


#: How to draw rows, how many, and shares of the classes that have nothing to do with them.
NULLS: dict[str, tuple[Callable[[int, Rng], Array], int, tuple[float, ...]]] = {
    "one binary column": (of_values(2), 200, (0.5, 0.5)),
    "one binary column, many rows": (of_values(2), 5000, (0.7, 0.3)),
    "five values": (of_values(5), 400, (0.8, 0.2)),
    "four binary columns": (of_values(2, 4), 300, (0.5, 0.5)),
    "two columns of five values, four classes": (of_values(5, 2), 500, (0.4, 0.3, 0.2, 0.1)),
    "seventy values": (of_values(70), 1000, (0.6, 0.4)),
    "half of the rows 0": (half_zero, 400, (0.5, 0.5)),
    "one normal column": (of_normals(1), 200, (0.5, 0.5)),
    "two normal columns, three classes": (of_normals(2), 300, (0.5, 0.3, 0.2)),
    "five normal columns": (of_normals(5), 1000, (0.7, 0.3)),
    "ten normal columns": (of_normals(10), 500, (0.5, 0.5)),
    "a thousand values": (of_values(1000), 2000, (0.8, 0.2)),
}


def measure_tests(name: str) -> Record:
    """Return the p-values of samples without a difference."""
    draw, n, priors = NULLS[name]
    p_values = []
    for sample in range(N_TESTS):
        rng = rng_of(name, sample)
        X, y = draw(n, rng), rng.choice(len(priors), n, p=priors)
        p_values.append(round(bayes_error(X, y, n_jobs=1).p_value, 5))
    return {"part": "tests", "name": name, "p_values": p_values}


# --- bias


def gaussian(n: int, d: int, error: float, rng: Rng) -> tuple[Array, Labels]:
    """Draw two Gaussian classes that differ in the first column."""
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] -= 2.0 * ndtri(error) * y
    return X, y


def cube(n: int, d: int, error: float, rng: Rng) -> tuple[Array, Labels]:
    """Draw points of a cube whose chance of the second class rises along the first column."""
    X = rng.uniform(-1.0, 1.0, (n, d))
    return X, labels_by(X[:, 0], SLOPES[error][0], rng)


def long_tails(n: int, d: int, error: float, rng: Rng) -> tuple[Array, Labels]:
    """Draw points with long tails whose chance of the second class rises along the first column."""
    X = rng.standard_t(4, (n, d))
    return X, labels_by(X[:, 0], SLOPES[error][1], rng)


def product_of_two(n: int, d: int, error: float, rng: Rng) -> tuple[Array, Labels]:
    """Draw normal points whose chance of the second class rises with the product of the first two columns."""
    X = rng.standard_normal((n, d))
    return X, labels_by(X[:, 0] * X[:, 1], SLOPES[error][2], rng)


def labels_by(score: Array, slope: float, rng: Rng) -> Labels:
    return (rng.random(len(score)) < expit(slope * score)).astype(np.int64)


#: Slopes at which the smaller of the two chances is, on average, the error, where the score is uniform in (-1, 1), has
#: Student's law with 4 degrees of freedom, and is the product of two normal numbers; by quadrature.
SLOPES = {
    0.05: (13.862925, 10.244003, 35.634569),
    0.1: (6.921614, 4.906452, 13.601524),
    0.25: (2.437511, 1.461851, 2.847392),
}
FAMILIES = {
    "gaussian": ("design", gaussian),
    "cube": ("design", cube),
    "long tails": ("held-out", long_tails),
    "product of two": ("held-out", product_of_two),
}
BIAS_COLUMNS, BIAS_ROWS, BIAS_ERRORS = (2, 3, 4, 5, 6, 8, 10, 20), (100, 200, 500, 1000, 3000), tuple(SLOPES)


def measure_bias(family: str, n: int, d: int) -> list[Record]:
    """Return, by Bayes error, how often the lower bound is above it, how often BF008 speaks, and the mean estimate."""
    records = []
    for error in BIAS_ERRORS:
        found = []
        for sample in range(N_BIAS):
            X, y = FAMILIES[family][1](n, d, error, rng_of(f"{family} {n} {d} {error}", sample))
            floor = bayes_error(X, y, n_jobs=1)
            found.append((floor.lower > error, any(each.code == "BF008" for each in floor.findings), floor.estimate))
        above, spoken, estimate = np.mean(found, axis=0).tolist()
        key: Record = {"part": "bias", "name": family, "rows": n, "columns": d, "error": error}
        records.append(key | {"above": above, "spoken": spoken, "estimate": round(estimate, 5)})
    return records


# --- runs and pages


def measure(part: str, *key: Any) -> Record | list[Record]:
    return {"coverage": measure_coverage, "tests": measure_tests, "bias": measure_bias}[part](*key)


def keys_of(part: str) -> list[tuple[Any, ...]]:
    """Return what there is to measure, the longest first."""
    if part == "coverage":
        cells = sorted(CELLS.values(), key=lambda cell: -cell.n_rows * (5 + cell.n_columns))
        return [("coverage", cell.name) for cell in cells]
    if part == "tests":
        return [("tests", name) for name in NULLS]
    return [("bias", *key) for key in product(FAMILIES, BIAS_ROWS[::-1], BIAS_COLUMNS[::-1])]


def _key_of(record: Record) -> tuple[Any, ...]:
    shape = (record["rows"], record["columns"]) if record["part"] == "bias" else ()
    return (record["part"], record["name"], *shape)


def run(parts: list[str], workers: int, path: Path) -> None:
    """Measure and record what is not recorded yet."""
    started = perf_counter()
    done = {_key_of(record) for record in read_records(path)}
    measure_all(measure, [key for part in parts for key in keys_of(part) if key not in done], path, workers)
    print(f"{perf_counter() - started:.0f} seconds of wall time")


def coverage_rows(records: list[Record]) -> list[list[Any]]:
    """Return lines of the table: coverage of the mean, the lowest of all pairs or classes, and the least width."""
    rows = []
    for name in CELLS:
        for record in (each for each in records if each["name"] == name):
            covered = [f"{min(record[of]['covered']):.3f}" for of in ("cross edges", "whole", "pairs", "one-vs-rest")]
            narrowest = min(record[of]["narrowest"] for of in ("whole", "pairs", "one-vs-rest"))
            rows.append([name, *covered, f"{narrowest:.4f}"])
    return rows


def test_rows(records: list[Record]) -> list[list[Any]]:
    """Return lines of the table: how often p-values are small, and their distance from uniform ones."""
    rows = []
    for name in NULLS:
        for record in (each for each in records if each["name"] == name):
            p_values = np.sort(record["p_values"])
            shares = [float(np.mean(p_values <= level)) for level in (0.05, 0.001)]
            above = np.arange(1, len(p_values) + 1) / len(p_values) - p_values
            rows.append([name, NULLS[name][1], *(f"{share:.3f}" for share in shares), f"{above.max():.3f}"])
    return rows


def bias_rows(records: list[Record]) -> list[list[Any]]:
    """Return lines of the table: where BF008 mostly speaks and where not, how often lower bounds are too high."""
    rows = []
    for family, (half, _) in FAMILIES.items():
        of_family = [record for record in records if record["name"] == family]
        for n in BIAS_ROWS:
            cells: list[Any] = [family, half, n]
            for speaks in (False, True):
                above = [each["above"] for each in of_family if each["rows"] == n and (each["spoken"] > 0.5) == speaks]
                cells += [len(above), f"{np.mean(above):.2f}" if above else "", f"{max(above):.2f}" if above else ""]
            rows.append(cells)
    return rows


def write_table(records: list[Record]) -> None:
    """Write the page."""
    by_part = {part: [each for each in records if each["part"] == part] for part in ("coverage", "tests", "bias")}
    error = (0.95 * 0.05 / N_COVERAGE) ** 0.5
    write_page(
        "tree_intervals",
        "# Intervals, p-values and bias of floors from spanning trees",
        "`python -m benchmarks.truth.tree_intervals run`, then `… table`.",
        "## Do intervals hold the mean of their own estimate?",
        f"Share of {N_COVERAGE} samples (Monte-Carlo error {error:.3f} at .95); of pairs and of classes against the "
        "rest the lowest of all. Narrowest: the shortest of all 95% intervals.",
        as_table(
            ["cell", "cross edges", "`bayes_error`", "pairs", "one-vs-rest", "narrowest"],
            coverage_rows(by_part["coverage"]),
        ),
        "## Are p-values as small as they say?",
        f"Labels that have nothing to do with the rows, {N_TESTS} samples (Monte-Carlo error .007 at .05, .001 at "
        ".001). Last column: how far the share of p-values up to any level is above that level, at the most.",
        as_table(["rows", "n", "P ≤ .05", "P ≤ .001", "most above uniform"], test_rows(by_part["tests"])),
        "## Is the lower bound above the Bayes error, and does BF008 say so?",
        f"Cells of {N_BIAS} samples by whether BF008 speaks in more than half of them: how many cells, and the share "
        "of samples whose lower bound lies above the Bayes error, as a mean over cells and in the worst of them.",
        as_table(
            ["kind", "half", "rows", "silent cells", "mean", "worst", "cells that are told", "mean", "worst"],
            bias_rows(by_part["bias"]),
        ),
        notes_of("tree_intervals"),
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--part", choices=("coverage", "tests", "bias"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RECORDS)
    asked = parser.parse_args()
    if asked.command == "run":
        parts = ["bias", "coverage", "tests"] if asked.part is None else [asked.part]
        run(parts, asked.workers, asked.out)
    else:
        write_table(read_records(asked.out))


if __name__ == "__main__":
    main()
