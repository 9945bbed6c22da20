"""Subgroups whose floors are known: coverage of each subgroup's interval, and the level of the tests that they differ.

    python -m benchmarks.truth.subgroups run [--half design|held-out] [--repeats 30]
    python -m benchmarks.truth.subgroups table    write benchmarks/results/subgroups.md from what was recorded

Each problem draws rows with known P(y | x, subgroup). The floor of a subgroup is the mean of 1 - max P over its share
of 400 000 rows. Choices in the library were made on the half "design"; "held-out" was looked at once they were made.
Cells are recorded in benchmarks/results/subgroups.jsonl. Three groups of learners keep a fit to a second.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayesfloor import learned_floor
from bayesfloor.floor.learned.subgroups import errors_differ
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, write_page
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "subgroups.jsonl"
LEARNERS = ("gaussian", "logistic", "trees")
CONFIDENCE = 0.95
#: Rows on which the true floors rest.
N_TRUTH = 400_000

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Rows:
    """Points, P(y | x, subgroup), the subgroup of each row and, where rows belong together, their groups."""

    X: Array
    posterior: Array
    by: Any
    groups: Labels | None = None


@dataclass(frozen=True)
class Problem:
    """How to draw rows; `n_rows` of a sample; whether subgroups have the same error, and the same floor."""

    half: str
    draw: Callable[[int, Rng], Rows]
    n_rows: int = 1200
    same_error: bool = False
    same_floor: bool = False


def of_two(chance: Array, flips: Any = 0.0) -> Array:
    """Return P of two classes, from that of the second, with labels flipped at a rate."""
    chance = flips + (1.0 - 2.0 * np.asarray(flips)) * chance
    return np.column_stack([1.0 - chance, chance])


def with_dummies(X: Array, codes: Labels) -> Array:
    """Add a column of 0 and 1 for each subgroup but the first."""
    return np.column_stack([X, np.eye(int(codes.max()) + 1)[codes][:, 1:]])


def drawn(shares: Any, n: int, rng: Rng) -> Labels:
    return rng.choice(len(shares), n, p=np.asarray(shares) / np.sum(shares))


def equal(n: int, rng: Rng) -> Rows:
    X, by = rng.standard_normal((n, 4)), drawn((0.5, 0.3, 0.2), n, rng)
    return Rows(with_dummies(X, by), of_two(expit(X @ [2.0, -2.0, 1.0, 0.0])), by)


def noise(n: int, rng: Rng) -> Rows:
    X, by = rng.standard_normal((n, 4)), drawn((0.5, 0.3, 0.2), n, rng)
    return Rows(with_dummies(X, by), of_two(expit(X @ [3.0, -2.0, 1.0, 0.0]), np.array([0.0, 0.1, 0.25])[by]), by)


def small(n: int, rng: Rng) -> Rows:
    by = drawn((0.5, 0.25, 0.15, 0.07, 0.03), n, rng)
    centres = 2.5 * np.eye(3, 4)
    X = rng.standard_normal((n, 4)) + centres[rng.integers(0, 3, n)]
    clean = softmax(X @ centres.T, axis=1)
    flips = np.array([0.0, 0.05, 0.1, 0.2, 0.3])[by][:, None]
    return Rows(with_dummies(X, by), (1.0 - 1.5 * flips) * clean + 0.5 * flips, by)


def own_rule(n: int, rng: Rng) -> Rows:
    X, by = rng.standard_normal((n, 4)), drawn((0.45, 0.35, 0.2), n, rng)
    signs = np.where(by == 2, -1.0, 1.0)
    return Rows(with_dummies(X, by), of_two(expit(signs * (X @ [3.0, -2.0, 0.0, 0.0])), 0.05), by)


def own_rule_of_few(n: int, rng: Rng) -> Rows:
    """Draw a small subgroup with a rule of its own, of which there are too few rows to learn it."""
    X, by = rng.standard_normal((n, 4)), drawn((0.5, 0.42, 0.08), n, rng)
    score = np.where(by == 2, X @ [0.0, 0.0, -3.0, 2.0], X @ [3.0, -2.0, 0.0, 0.0])
    return Rows(with_dummies(X, by), of_two(expit(score), 0.05), by)


def outside(n: int, rng: Rng) -> Rows:
    X, by = rng.standard_normal((n, 5)), drawn((0.6, 0.4), n, rng)
    return Rows(X, of_two(expit(X @ [3.0, -2.0, 1.0, 0.0, 0.0]), np.array([0.02, 0.3])[by]), by)


def quartiles(n: int, rng: Rng) -> Rows:
    X = rng.standard_normal((n, 5))
    return Rows(X, of_two(expit(X @ [0.0, 3.0, -2.0, 1.0, 0.0]), 0.35 * expit(2.0 * X[:, 0])), X[:, 0])


def patients(n: int, rng: Rng, flips: Any = (0.0, 0.1, 0.25), spread: float = 1.0) -> Rows:
    """Draw rows of patients, each moved by an offset of its own, and living in one region."""
    size = 6
    groups = np.repeat(np.arange(n // size + 1), size)[:n]
    n_groups = int(groups[-1]) + 1
    by = drawn((0.4, 0.35, 0.25), n_groups, rng)[groups]
    X = rng.standard_normal((n, 4)) + spread * rng.standard_normal((n_groups, 4))[groups]
    return Rows(with_dummies(X, by), of_two(expit(X @ [2.0, -1.5, 1.0, 0.0]), np.array(flips)[by]), by, groups)


def equal_patients(n: int, rng: Rng) -> Rows:
    return patients(n, rng, (0.05, 0.05, 0.05), 2.0)


def rare(n: int, rng: Rng) -> Rows:
    X, by = rng.standard_normal((n, 4)), drawn((0.6, 0.25, 0.15), n, rng)
    flips = np.array([0.0, 0.03, 0.1])[by]
    return Rows(with_dummies(X, by), of_two(expit(3.0 * X[:, 0] + 2.0 * X[:, 1] - 5.0), flips), by)


def steps(n: int, rng: Rng) -> Rows:
    """Draw a checkerboard that is moved in one subgroup: the same floor, but more to learn."""
    X, by = rng.uniform(-1.0, 1.0, (n, 3)), drawn((0.4, 0.4, 0.2), n, rng)
    moved = X[:, :2] + 0.5 * (by == 2)[:, None]
    inside = (np.sign(moved[:, 0]) * np.sign(moved[:, 1])) > 0
    return Rows(with_dummies(X, by), of_two(inside.astype(float), 0.1), by)


def many_small(n: int, rng: Rng) -> Rows:
    by = drawn(1.0 / np.arange(1, 16), n, rng)
    X = rng.standard_normal((n, 3))
    flips = np.where(np.arange(15) % 2, 0.2, 0.05)[by]
    names = np.array([f"g{code:02d}" for code in range(15)])[by]  # as text: numbers would be cut at quartiles
    return Rows(np.column_stack([X, by]), of_two(expit(X @ [4.0, -3.0, 0.0]), flips), names)


def equal_small(n: int, rng: Rng) -> Rows:
    by = drawn(1.0 / np.arange(1, 11), n, rng)
    X = rng.standard_normal((n, 3))
    return Rows(np.column_stack([X, by]), of_two(expit(X @ [6.0, -5.0, 0.0]), 0.02), by)


PROBLEMS = {
    "equal": Problem("design", equal, same_error=True, same_floor=True),
    "noise": Problem("design", noise),
    "small": Problem("design", small),
    "own rule": Problem("design", own_rule, same_floor=True),
    "own rule of few": Problem("design", own_rule_of_few, same_floor=True),
    "outside": Problem("design", outside, 800),
    "equal patients": Problem("design", equal_patients, 900, same_error=True, same_floor=True),
    "quartiles": Problem("held-out", quartiles),
    "patients": Problem("held-out", patients, 900),
    "rare": Problem("held-out", rare, 1500),
    "steps": Problem("held-out", steps, same_floor=True),
    "many small": Problem("held-out", many_small),
    "equal small": Problem("held-out", equal_small, 800, same_error=True, same_floor=True),
}


@cache
def drawn_for_truth(name: str) -> tuple[Array, Any]:
    """Return the lowest error at each of many rows, and their subgroups."""
    many = PROBLEMS[name].draw(N_TRUTH, np.random.default_rng([1, zlib.crc32(name.encode())]))
    return 1.0 - many.posterior.max(axis=1), many.by


def true_floors(name: str, rows: Rows) -> list[float]:
    """Return the floor of each subgroup that a sample has; a number is cut where the sample's quartiles are."""
    lowest, values = drawn_for_truth(name)
    by, of_sample = values, np.unique(rows.by)
    if rows.by.dtype.kind == "f":
        cuts = np.quantile(rows.by, (0.25, 0.5, 0.75), method="inverted_cdf")
        by, of_sample = np.searchsorted(cuts, values), np.arange(4)
    return [float(lowest[by == code].mean()) for code in of_sample]


def measure(name: str, repeat: int) -> dict[str, Any]:
    """Draw a sample, and set what is said of its subgroups beside the truth."""
    problem = PROBLEMS[name]
    rng = np.random.default_rng([repeat + 1000, zlib.crc32(name.encode())])
    rows = problem.draw(problem.n_rows, rng)
    y = (rng.random((len(rows.X), 1)) > rows.posterior.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = learned_floor(rows.X, y, by=rows.by, groups=rows.groups, learners=LEARNERS, n_jobs=1).subgroups
    truth = true_floors(name, rows)
    assert found is not None
    assert len(found.names) == len(truth)
    return {
        "problem": name,
        "repeat": repeat,
        "names": found.names,
        "truth": truth,
        "estimate": found.estimate.tolist(),
        "interval": found.interval.tolist(),
        "n_rows": found.n_rows.tolist(),
        "reached_p_value": found.reached_p_value,
        "floor_p_value": found.floor_p_value,
    }


def run(half: str | None, repeats: int) -> None:
    """Measure and record what is not recorded yet."""
    done = {(record["problem"], record["repeat"]) for record in read_records(RECORDS)}
    for name, problem in PROBLEMS.items():
        for repeat in range(repeats if half in (None, problem.half) else 0):
            if (name, repeat) not in done:
                append_record(RECORDS, measure(name, repeat))


def level_of_test(
    n_groups: int, n_rows: int, rate: float, size: int, spread: float, mixed: float, n_draws: int = 1000
) -> float:
    """Return how often the test of errors rejects, at 5%, where all subgroups err at one rate.

    Rows come in clusters of a size, whose rates of error vary around the one for all. A share of the rows is in
    another subgroup than the rest of its cluster.
    """
    rng = np.random.default_rng([n_groups, n_rows, size, round(100 * mixed)])
    shares = 1.0 / np.arange(1, n_groups + 1)
    rejected = 0
    for seed in range(n_draws):
        clusters = np.repeat(np.arange(n_rows // size), size)
        codes = drawn(shares, n_rows // size, rng)[clusters]
        codes = np.where(rng.random(len(codes)) < mixed, drawn(shares, len(codes), rng), codes)
        rates = rng.beta(rate / spread, (1.0 - rate) / spread, n_rows // size) if spread else np.full(n_rows, rate)
        errors = (rng.random(len(codes)) < rates[clusters]).astype(float)
        rejected += errors_differ(errors, codes, np.ones(len(codes)), clusters if size > 1 else None, seed) < 0.05
    return rejected / n_draws


#: Subgroups, rows, error, rows that belong together, how much these clusters differ in their error, and the share of
#: rows that are in another subgroup than the rest of their cluster.
CASES_OF_LEVEL = (
    (2, 100, 0.1, 1, 0.0, 0.0),
    (5, 300, 0.03, 1, 0.0, 0.0),
    (20, 1000, 0.1, 1, 0.0, 0.0),
    (2, 200, 0.2, 5, 0.3, 0.0),
    (4, 600, 0.1, 6, 0.5, 0.0),
    (10, 900, 0.15, 3, 0.2, 0.0),
    (4, 600, 0.1, 6, 0.5, 0.1),
    (4, 600, 0.1, 6, 0.5, 1.0),
    (3, 500, 0.1, 25, 0.1, 1.0),
)


def half_table(records: list[dict[str, Any]], half: str) -> tuple[str, list[bool]]:
    """Return the table of one half, and whether each interval covers."""
    rows, covered = [], []
    for name, problem in PROBLEMS.items():
        of_problem = [record for record in records if record["problem"] == name]
        if problem.half != half or not of_problem:
            continue
        for code in range(max(len(record["names"]) for record in of_problem)):
            cells = [
                (r["truth"][code], r["estimate"][code], *r["interval"][code], r["n_rows"][code])
                for r in of_problem
                if code < len(r["names"]) and not np.isnan(r["estimate"][code])
            ]
            if not cells:
                continue
            truth, estimate, low, high, n = np.array(cells).T
            inside = (low <= truth) & (truth <= high)
            covered += inside.tolist()
            label = of_problem[0]["names"][code] if name != "quartiles" else f"quartile {code + 1}"
            shares = [f"{100 * each.mean():.0f}%" for each in (inside, low > truth, high < truth, low == 0)]
            means = [f"{each.mean():.3f}" for each in (truth, estimate, np.abs(estimate - truth))]
            width = f"{(high - low).mean():.3f}"
            rows.append([name, label, f"{n.mean():.0f}", *means, *shares[:3], width, shares[3]])
    heads = ["problem", "subgroup", "rows", "floor", "mean estimate", "mean abs. error", "covered", "too high"]
    return as_table([*heads, "too low", "mean width", "open"], rows), covered


def differences_table(records: list[dict[str, Any]]) -> str:
    """Return how often subgroups are said to differ."""
    rows = []
    for name, problem in PROBLEMS.items():
        of_problem = [record for record in records if record["problem"] == name]
        if of_problem:
            shares = [100 * np.mean([r[f"{what}_p_value"] < 0.05 for r in of_problem]) for what in ("reached", "floor")]
            truly = ["no" if same else "yes" for same in (problem.same_error, problem.same_floor)]
            row = [name, problem.half, len(of_problem), f"{shares[0]:.0f}%", truly[0], f"{shares[1]:.0f}%", truly[1]]
            rows.append(row)
    return as_table(["problem", "half", "samples", "errors differ", "truly", "floors differ", "truly"], rows)


def table() -> None:
    """Write the page of results."""
    records = read_records(RECORDS)
    parts = [
        "# Subgroups",
        "Made by `python -m benchmarks.truth.subgroups table`, after `run`: subgroups with planted noise, whose floors "
        f"are known. {LEARNERS} are the learners, {100 * CONFIDENCE:g}% the level. *Open*: the interval begins at 0, "
        "because the stack is not surely better than chance there, or still learns fast.",
        "Held-out problems were looked at twice. The first time showed a fault of this script in *many small*, which "
        "was measured anew, and the level of the test of errors where rows belong together, up to 11.5%: that test was "
        "then replaced, and *patients* and *equal patients* measured anew. Estimates and intervals stay as they were. "
        "The other problems' p-values in these records were computed with Pearson's distance, before the change.",
    ]
    for half in HALVES:
        of_half, covered = half_table(records, half)
        share = f"All {len(covered)} intervals of this half: {100 * np.mean(covered or [0]):.1f}% cover."
        parts += [f"## {half.capitalize()}", of_half, share]
    heads = ["subgroups", "rows", "error", "rows that belong together", "their spread", "in another subgroup"]
    write_page(
        "subgroups",
        *parts,
        "## Tests",
        "Share of samples in which subgroups are said to differ, at 5%.",
        differences_table(records),
        "The test of errors alone, at 5%: 1000 samples of errors at one rate for all subgroups, no models.",
        as_table([*heads, "rejected"], [[*case, f"{100 * level_of_test(*case):.1f}%"] for case in CASES_OF_LEVEL]),
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    if given.command == "run":
        run(given.half, given.repeats)
    else:
        table()


if __name__ == "__main__":
    main()
