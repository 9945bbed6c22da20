"""Rows that belong together: floors for new groups that are known, and what is made of them.

    python -m benchmarks.truth.groups run [--half design|held-out] [--sizes 500 2000] [--repeats 10] [--workers 2]
    python -m benchmarks.truth.groups again [--workers 2]    measure true errors and findings of all records again
    python -m benchmarks.truth.groups false-alarms [--tables FOLDER ...]    look for groups where there are none
    python -m benchmarks.truth.groups table    write benchmarks/results/groups.md from what was recorded

Each problem draws whole groups of rows (patients, machines, copies of one observation), or rows in the order of time.
The floor is that for rows of groups that are not in the sample, or of the later half of the time: the mean of
1 - max P(y | x), P being the law of one such row, in closed form or by quadrature, over a million of them. Choices in
the library were made on the half "design"; "held-out" was looked at once they were made. Cells are recorded in
benchmarks/results/groups.jsonl as soon as they are measured; a cell that is there is not measured again.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from bayesfloor import bayes_error, learned_floor, read_table
from bayesfloor.floor.learned.cross_fitting import CrossFit, cross_fit
from bayesfloor.floor.learned.dependence import find_dependence
from bayesfloor.floor.learned.row_plan import plan_rows
from bayesfloor.floor.learned.splits import Split
from bayesfloor.floor.learned.stacking import StackFits, fit_stacks
from bayesfloor.floor.learned.targets import ClassTarget
from bayesfloor.learn.learner import Look
from bayesfloor.runtime.threads import WorkerPool, supervise
from bayesfloor.tables.arguments import check_problem
from benchmarks.problems.real_tables import SPECS
from benchmarks.problems.stored_sets import DATA, stored_set
from benchmarks.problems.truth_scenarios import SCENARIOS
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, write_page
from benchmarks.tools.records import append_record, measure_all, read_records, write_records

RECORDS = RESULTS / "groups.jsonl"
ALARMS = RESULTS / "groups_alarms.jsonl"
CONFIDENCE = 0.95
#: Rows of new groups on which the truth rests.
N_TRUTH = 1_000_000
#: Rows of new groups on which models are tested, whole groups.
N_FRESH = 6000

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Sample:
    """Rows with their labels, and their groups or their times."""

    X: Array
    y: Labels
    groups: Labels | None = None
    time: Array | None = None


@dataclass(frozen=True)
class Problem:
    """How to draw rows, in how many groups, and the law of a row of a new group.

    `draw(n, rng, is_new)` gives about n rows; `is_new` asks for those that the floor is about: new groups, or the later
    half of the time. `log_joint(X)`, or `(X, time)`, is log p(x, y) of one such row, up to what all classes share.
    """

    name: str
    half: str
    draw: Callable[[int, Rng, bool], Sample]
    log_joint: Callable[..., Array]


def geometric_sizes(n: int, mean: float, rng: Rng) -> Labels:
    """Draw sizes of groups, at least 2, until there are n rows."""
    sizes = 2 + rng.geometric(1 / (mean - 1), 2 * int(n / mean) + 10) - 1
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    return np.repeat(np.arange(len(sizes)), sizes)


def gaussians(means: Any, variance: Any, priors: Any = None) -> Callable[[Array], Array]:
    """Return log p(y) p(x | y) of Gaussian classes, each feature with its variance."""
    centres = np.asarray(means, float)
    sd = np.sqrt(np.broadcast_to(np.asarray(variance, float), centres.shape))
    weights = np.full(len(centres), 1 / len(centres)) if priors is None else np.asarray(priors)

    def log_joint(X: Array) -> Array:
        parts = [norm.logpdf(X, mean, each).sum(axis=1) for mean, each in zip(centres, sd, strict=True)]
        return np.column_stack(parts) + np.log(weights)

    return log_joint


def centres_of(n_classes: int, n_features: int, distance: float) -> Array:
    """Place classes on the axes, at a distance from each other."""
    return np.eye(n_classes, n_features) * distance / np.sqrt(2)


# --- groups of rows


def intercepts(means: Array, spread: float, size: float, labels: str = "free") -> Callable[[int, Rng, bool], Sample]:
    """Each group is moved by an offset of its own; its labels are free, all the same, or of its own frequency."""

    def draw(n: int, rng: Rng, is_new: bool) -> Sample:
        groups = geometric_sizes(n, size, rng)
        n_groups, (K, d) = groups[-1] + 1, means.shape
        y = rng.integers(0, K, len(groups))
        if labels == "constant":
            y = rng.integers(0, K, n_groups)[groups]
        elif labels == "own frequency":
            frequency = rng.dirichlet(np.full(K, 0.3), n_groups)[groups].cumsum(axis=1)
            y = (rng.random((len(groups), 1)) > frequency).sum(axis=1).clip(max=K - 1)
        offset = spread * rng.standard_normal((n_groups, d))
        return Sample(means[y] + offset[groups] + rng.standard_normal((len(groups), d)), y, groups)

    return draw


def copies(
    means: Array, noise: float, sizes: tuple[int, ...], flipped: float = 0.0
) -> Callable[[int, Rng, bool], Sample]:
    """Each group is one point of its class with a little noise, as often as its class says; some labels are flipped."""

    def draw(n: int, rng: Rng, is_new: bool) -> Sample:
        K, d = means.shape
        label = rng.integers(0, K, int(n / np.mean(sizes)))
        groups = np.repeat(np.arange(len(label)), np.asarray(sizes)[label])
        centre = means[label] + rng.standard_normal((len(label), d))
        y = np.where(rng.random(len(groups)) < flipped, (label[groups] + 1) % K, label[groups])
        return Sample(centre[groups] + noise * rng.standard_normal((len(groups), d)), y, groups)

    return draw


def flipped_labels(log_joint: Callable[[Array], Array], share: float) -> Callable[[Array], Array]:
    """Return the law where a share of the labels is that of the next class."""

    def flipped(X: Array) -> Array:
        own = log_joint(X)
        return np.logaddexp(np.log1p(-share) + own, np.log(share) + np.roll(own, 1, axis=1))

    return flipped


def machines(n_machines: int, spread: float, gain: float) -> tuple[Any, Any]:
    """A few machines measure many parts each: three classes seen with an offset and a gain of the machine."""
    means = centres_of(3, 5, 3.0)
    gains, weights = np.polynomial.hermite_e.hermegauss(41)

    def draw(n: int, rng: Rng, is_new: bool) -> Sample:
        count = 20 * n_machines if is_new else n_machines
        groups, y = rng.integers(0, count, n), rng.integers(0, 3, n)
        offset = spread * rng.standard_normal((count, 5))
        scale = np.exp(gain * rng.standard_normal(count))
        X = scale[groups, None] * (means[y] + rng.standard_normal((n, 5))) + offset[groups]
        return Sample(X, y, np.unique(groups, return_inverse=True)[1])

    def log_joint(X: Array) -> Array:
        total = []
        for z, weight in zip(gains, weights, strict=True):
            s = np.exp(gain * z)
            total.append(gaussians(s * means, s**2 + spread**2)(X) + np.log(weight))
        return logsumexp(total, axis=0)

    return draw, log_joint


def few_groups_per_class(n_each: int, spread: float) -> tuple[Any, Any]:
    """Each class is a handful of groups (makes of a product, recordings of a species), far from each other."""
    means = centres_of(4, 6, 3.0)

    def draw(n: int, rng: Rng, is_new: bool) -> Sample:
        label = np.repeat(np.arange(4), n_each * 50 if is_new else n_each)
        groups = rng.integers(0, len(label), n)
        offset = spread * rng.standard_normal((len(label), 6))
        y = label[groups]
        X = means[y] + offset[groups] + 0.7 * rng.standard_normal((n, 6))
        return Sample(X, y, np.unique(groups, return_inverse=True)[1])

    return draw, gaussians(means, 0.49 + spread**2)


# --- time


def moving(means: Array, speed: Array) -> tuple[Any, Any]:
    """Classes move at a steady speed, from time 0 to 1. The floor is that of the later half, at each moment."""

    def draw(n: int, rng: Rng, is_new: bool) -> Sample:
        t = np.sort(rng.uniform(0.5 * is_new, 1.0, n))
        y = rng.integers(0, len(means), n)
        X = means[y] + t[:, None] * speed[y] + rng.standard_normal((n, means.shape[1]))
        return Sample(X, y, time=t)

    def log_joint(X: Array, t: Array) -> Array:
        laws = zip(means, speed, strict=True)
        return np.column_stack([norm.logpdf(X - t[:, None] * v, mean).sum(axis=1) for mean, v in laws])

    return draw, log_joint


TWO = centres_of(2, 4, 2.0)
THREE = centres_of(3, 5, 3.0)

PROBLEMS = [
    Problem("intercepts, weak", "design", intercepts(TWO, 0.5, 8), gaussians(TWO, 1.25)),
    Problem("intercepts, strong", "design", intercepts(THREE, 2.0, 10), gaussians(THREE, 5.0)),
    Problem("copies with noise", "design", copies(THREE, 0.1, (6, 6, 6)), gaussians(THREE, 1.01)),
    Problem(
        "copies, larger groups in one class",
        "design",
        copies(TWO, 0.2, (3, 9)),
        gaussians(TWO, 1.04, [0.25, 0.75]),
    ),
    Problem("labels constant in groups", "design", intercepts(TWO, 1.0, 10, "constant"), gaussians(TWO, 2.0)),
    Problem("all classes move", "design", *moving(THREE, np.tile([-2.0, 2.0, 0.0, 0.0, 0.0], (3, 1)))),
    Problem(
        "repeated measures, noisy labels",
        "held-out",
        copies(THREE, 0.3, (5, 5, 5), 0.15),
        flipped_labels(gaussians(THREE, 1.09), 0.15),
    ),
    Problem("intercepts, groups of 40", "held-out", intercepts(TWO * 1.5, 1.2, 40), gaussians(TWO * 1.5, 2.44)),
    Problem("labels of own frequency", "held-out", intercepts(THREE, 1.5, 8, "own frequency"), gaussians(THREE, 3.25)),
    Problem("machines with offset and gain", "held-out", *machines(15, 1.5, 0.3)),
    Problem("few groups in each class", "held-out", *few_groups_per_class(5, 1.5)),
    Problem("one class moves", "held-out", *moving(TWO * 1.5, np.array([[0.0, 0, 0, 0], [0, -2.0, 2.0, 0]]))),
]
BY_NAME = {problem.name: problem for problem in PROBLEMS}


@cache
def truth_of(name: str) -> float:
    """Return the floor for new groups: the mean of 1 - max P(y | x) over rows of new groups."""
    problem, rng, lost, n = BY_NAME[name], np.random.default_rng(7), 0.0, 0
    while n < N_TRUTH:
        sample = problem.draw(100_000, rng, True)
        known = (sample.X,) if sample.time is None else (sample.X, sample.time)
        lost += float(np.sum(1.0 - np.exp(log_softmax(problem.log_joint(*known), axis=1).max(axis=1))))
        n += len(sample.X)
    return lost / n


# --- what is measured


def sample_of(name: str, n: int, repeat: int) -> tuple[Sample, Rng]:
    """Draw a sample, in random order unless it is one of time, and the generator to go on with."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), n, repeat])
    sample = BY_NAME[name].draw(n, rng, False)
    order = rng.permutation(len(sample.y)) if sample.time is None else np.arange(len(sample.y))
    groups = None if sample.groups is None else sample.groups[order]
    return Sample(sample.X[order], sample.y[order], groups, sample.time), rng


def measure(name: str, n: int, repeat: int) -> dict:
    """Measure one sample in every way."""
    problem = BY_NAME[name]
    sample, rng = sample_of(name, n, repeat)
    X, y, groups = sample.X, sample.y, sample.groups
    record: dict = {"problem": name, "half": problem.half, "n": n, "repeat": repeat, "truth": truth_of(name)}

    floor = learned_floor(X, y, groups=groups, time=sample.time, n_jobs=1)
    record["learned"] = cell(floor)
    record["reached"] = floor.reached
    record["true error"] = true_error(problem, sample, rng)
    plain = learned_floor(X, y, n_jobs=1)
    record["learned, groups not named"], record["reached, groups not named"] = cell(plain), plain.reached

    scale = X.std(axis=0)
    if groups is not None:
        trees = bayes_error(X / scale, y, groups=groups, n_jobs=1)
        record["trees"] = {**cell(trees), "bounds": [trees.lower_interval[0], trees.upper_interval[1]]}
    record["trees, groups not named"] = cell(bayes_error(X / scale, y, n_jobs=1))
    return record | findings_of(sample)


def measure_again(record: dict) -> dict:
    """Measure the true error and the findings of a sample again."""
    sample, rng = sample_of(record["problem"], record["n"], record["repeat"])
    error = true_error(BY_NAME[record["problem"]], sample, rng)
    return record | {"true error": error} | findings_of(sample)


def findings_of(sample: Sample) -> dict:
    possible = {} if sample.groups is None else {"id": sample.groups}
    found = find_dependence(sample.X, sample.y, possible, in_order=sample.time is not None, n_jobs=1)
    return {"findings": [each.code for each in found]}


def cell(floor: Any) -> dict:
    return {"estimate": float(floor.estimate), "interval": [float(end) for end in floor.interval]}


def true_error(problem: Problem, sample: Sample, rng: Rng) -> float:
    """Return the error of the very stacks that `reached` is about on rows that they know nothing of.

    These are predicted as the rows of a fold, or a period, are, and take no part in any fit.
    """
    known = check_problem(sample.X, sample.y, groups=sample.groups, time=sample.time)
    known, plan = plan_rows(known, cv=5, max_rows=None, is_default=False, seed=0, n_jobs=1)
    used, n, n_parts = known.take(plan.rows), len(plan.rows), int(plan.folds.max()) + 1
    fresh = problem.draw(N_FRESH, rng, True)
    if fresh.time is None:
        part = np.arange(len(fresh.y)) % n_parts
        earlier = tuple(np.delete(np.arange(n_parts), each) for each in range(n_parts))
    else:
        tested = np.unique(plan.folds[plan.counted])
        starts = [used.time[plan.folds == each].min() for each in tested]
        part = tested[np.maximum(np.searchsorted(starts, fresh.time, side="right") - 1, 0)]
        earlier = plan.earlier
    of_part = [n + np.flatnonzero(part == each) for each in range(n_parts)]

    def with_fresh(split: Split) -> Split:
        tests = ((np.concatenate([rows, of_part[plan.folds[rows[0]]]]), view) for rows, view in split.tests)
        return replace(split, tests=tuple(tests))

    both_plan = plan._replace(
        predicted=np.arange(n + len(fresh.y)),
        folds=np.concatenate([plan.folds, n_parts + part]),
        splits=[with_fresh(split) for split in plan.splits],
        earlier=(*earlier, *earlier),
    )
    both = replace(
        used,
        X=np.concatenate([used.X, fresh.X]),
        codes=np.concatenate([used.codes, fresh.y]),
        groups=None,
        time=None,
    )
    target = ClassTarget(both, both_plan)
    target.has_offsets = known.groups is None
    families = target.default_learners(Look(both.X, both.tabular, both.supervised, n), is_many=False)

    def everybody(fitted: CrossFit, size: int) -> NDArray[np.bool_]:
        return np.ones((fitted.n_folds, len(fitted.names)), bool)

    def learn(pool: WorkerPool) -> Array:
        fitted = cross_fit(both, both_plan, target, families, 0, pool, everybody)
        # new rows are combined as those of their part are, with weights that have not seen it
        fitted = replace(fitted, seen=[np.tile(each[:, :, :n_parts], 2) for each in fitted.seen or []])
        fitted = fitted.with_recent() if fresh.time is not None else fitted
        return fit_stacks(fitted, StackFits(target, 0, pool))[0].predicted[0, 0]

    return float((supervise(learn, 1, False)[n:].argmax(axis=1) != fresh.y).mean())


def run(half: str | None, sizes: list[int], repeats: int, workers: int) -> None:
    done = {(record["problem"], record["n"], record["repeat"]) for record in read_records(RECORDS)}
    wanted = [
        (problem.name, n, repeat)
        for repeat in range(repeats)
        for n in sizes
        for problem in PROBLEMS
        if half in (None, problem.half)
    ]
    measure_all(measure, [key for key in wanted if key not in done], RECORDS, workers)


def run_again(workers: int) -> None:
    with ProcessPoolExecutor(workers) as pool:
        write_records(RECORDS, list(pool.map(measure_again, read_records(RECORDS))))


# --- tables without groups

#: Rows of a simulated table, and of a stored one at the most.
N_SIMULATED, N_STORED = 500, 5000
#: Rows that share a value, on average, in columns of random values that are added to each table.
RANDOM_COLUMNS = {"random, 4 rows each": 4, "random, 15 rows each": 15, "random, 40 rows each": 40}


#: Columns of real tables that do say which rows belong together: a player, a storm, a season, a family of products.
REAL_GROUPS = {
    "baseball": "id",
    "cpu": "codename",
    "epa2021": "division",
    "mpg": "model",
    "nycflights": "tailnum",
    "planes": "model",
    "rpdr_contep": "season",
    "storms": "name",
}


def tables_without_groups(folders: list[Path]) -> Iterator[tuple[str, str, Array, Labels, Mapping[str, Labels], Any]]:
    """Give the kind, name, points, classes, possible groups and tabular view of tables, rows in random order."""
    for scenario in SCENARIOS:
        yield "simulated", scenario.name, *scenario.sample(N_SIMULATED, 11), {}, None
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        yield "scikit-learn", load.__name__.removeprefix("load_"), *load(return_X_y=True), {}, None
    for path in sorted((DATA / "paper").glob("*.npz")):
        yield "stored", path.stem, *stored_set(f"paper/{path.stem}"), {}, None
    targets = {name: spec["target"] for name, spec in SPECS["tables"].items()}
    for path in sorted(path for folder in folders for path in folder.glob("*.csv")):
        table = read_table(path, target=targets[path.stem])
        yield "real", path.stem, table.X, table.y, table.possible_groups, table.tabular


def count_alarms(folders: list[Path]) -> None:
    """Look for groups and an order in tables whose rows are in random order; record what is found."""
    ALARMS.unlink(missing_ok=True)
    for kind, name, X, y, possible, tabular in tables_without_groups(folders):
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        rows = rng.permutation(len(X))
        if kind == "stored":
            rows = rows[:N_STORED]
        points = np.ascontiguousarray(np.asarray(X)[rows], np.float64)
        codes = np.unique(np.asarray(y)[rows], return_inverse=True)[1]
        groups = {column: values[rows] for column, values in possible.items()}
        for column, size in RANDOM_COLUMNS.items():
            groups[column] = rng.integers(0, max(len(rows) // size, 1), len(rows))
        view = None if tabular is None else tabular.take(rows)
        found = find_dependence(points, codes, groups, in_order=True, tabular=view, n_jobs=1)
        record = {
            "kind": kind,
            "table": name,
            "possible groups": list(possible),
            "findings": [[each.code, each.sentence] for each in found],
        }
        print(record, flush=True)
        append_record(ALARMS, record)


# --- the table


def write_table(records: list[dict]) -> None:
    """Write what was recorded as Markdown."""
    heads = (
        *("problem", "n", "floor", "learned floor", "covered", "reached", "true error", "difference"),
        *("reached, not named", "trees", "within bounds", "trees, not named", "finding"),
    )
    parts = [HEAD]
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        rows = []
        for problem in PROBLEMS:
            for n in sorted({record["n"] for record in records}):
                those = [r for r in of_half if (r["problem"], r["n"]) == (problem.name, n)]
                if those:
                    rows.append(table_cells(problem.name, n, those))
        if rows:
            parts += [f'## The half "{half}"', as_table(heads, rows), summary_of(of_half)]
    parts += ["## Both halves", summary_of(records)]
    alarms = read_records(ALARMS)
    write_page("groups", *parts, *(alarm_parts(alarms) if alarms else ()))


def is_covered(record: dict, key: str = "learned") -> bool:
    low, high = record[key]["interval"]
    return bool(low <= record["truth"] <= high)


def table_cells(name: str, n: int, records: list[dict]) -> list[str]:
    """Return a row of the table."""

    def mean(value: Callable[[dict], float]) -> str:
        return f"{np.mean([value(record) for record in records]):.3f}"

    has_trees = "trees" in records[0]
    bounds = sum(r["trees"]["bounds"][0] <= r["truth"] <= r["trees"]["bounds"][1] for r in records) if has_trees else 0
    return [
        name,
        str(n),
        f"{records[0]['truth']:.3f}",
        mean(lambda r: r["learned"]["estimate"]),
        f"{sum(map(is_covered, records))} of {len(records)}",
        mean(lambda r: r["reached"]),
        mean(lambda r: r["true error"]),
        f"{np.mean([r['reached'] - r['true error'] for r in records]):+.3f}",
        mean(lambda r: r["reached, groups not named"]),
        mean(lambda r: r["trees"]["estimate"]) if has_trees else "",
        f"{bounds} of {len(records)}" if has_trees else "",
        mean(lambda r: r["trees, groups not named"]["estimate"]),
        f"{sum(bool(r['findings']) for r in records)} of {len(records)}",
    ]


def summary_of(records: list[dict]) -> str:
    covered = np.mean([is_covered(record) for record in records])
    plain = np.mean([is_covered(record, "learned, groups not named") for record in records])
    gap = np.array([record["reached"] - record["true error"] for record in records])
    error = np.std(gap, ddof=1) / np.sqrt(len(gap))
    named = {name: [r for r in records if r["problem"] == name] for name in {r["problem"] for r in records}}
    found = sum(np.mean([bool(r["findings"]) for r in those]) > 0.5 for those in named.values())
    return (
        f"The interval of the learned floor holds the floor in {covered:.1%} of {len(records)} samples ({plain:.1%} "
        f"where groups and time are not named). `reached` is {gap.mean():+.4f} (standard error {error:.4f}) off the "
        f"true error. The finding appears in most samples of {found} of {len(named)} problems."
    )


def alarm_parts(records: list[dict]) -> list[str]:
    """Count findings in tables without groups and in random order, and name each."""

    def is_real(record: dict) -> bool:
        column = REAL_GROUPS.get(record["table"])
        return column is not None and all(f"'{column}'" in sentence for _, sentence in record["findings"])

    found = [record for record in records if record["findings"]]
    real = [record for record in found if is_real(record)]
    without = len(records) - len(real)
    rows = []
    for kind in dict.fromkeys(record["kind"] for record in records):
        of_kind = [record for record in records if record["kind"] == kind and record not in real]
        rows.append([kind, len(of_kind), sum(bool(record["findings"]) for record in of_kind)])
    rows.append(["all", without, len(found) - len(real)])

    def listed(some: list[dict]) -> str:
        return "\n".join(f"- {r['table']}: {code}. {text}" for r in some for code, text in r["findings"])

    return [
        "## Tables without groups",
        ALARM_TEXT,
        as_table(["tables", "without groups", "findings"], rows),
        f"False alarms in {(len(found) - len(real)) / without:.1%} of {without} tables:",
        listed([record for record in found if record not in real]),
        "Groups that are real:",
        listed(real),
    ]


ALARM_TEXT = """`python -m benchmarks.truth.groups false-alarms --tables FOLDER/design FOLDER/heldout`, with the folders
that `python -m benchmarks.real.tables fetch` makes. Rows are in random order, and each table gets three columns of
random values, of 4, 15 and 40 rows each on average, beside those of its own that may be groups. A finding is a false
alarm unless its column does say which rows belong together, judged by hand. A place, or a kind of thing, is counted as
one that does not, though the error does rise where it is new.
"""

HEAD = """# Rows that belong together

Problems with groups of rows, or an order in time, whose floor for new groups (in time: at each moment of the later
half) is known. `python -m benchmarks.truth.groups run`, then `… table`. Means over samples.

- *learned floor*, *covered*: `learned_floor(groups=...)` or `(time=...)`, and how often its interval holds the floor.
- *reached*, *true error*, *difference*: what the stack reaches, and the error of the same stack on 6000 rows of new
  groups. *not named*: `reached` without groups or time.
- *trees*, *within bounds*: `bayes_error(groups=...)`, and how often the floor is between its bounds, with their
  intervals. *not named*: without groups.
- *finding*: how often `find_dependence` finds the groups or the drift where they are not named.
"""


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "again", "false-alarms", "table"])
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 2000])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--tables", nargs="+", type=Path, default=[], help="folders that benchmarks.real.tables fetch made"
    )
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.half, chosen.sizes, chosen.repeats, chosen.workers)
    elif chosen.what == "again":
        run_again(chosen.workers)
    elif chosen.what == "false-alarms":
        count_alarms(chosen.tables)
    else:
        write_table(read_records(RECORDS))
