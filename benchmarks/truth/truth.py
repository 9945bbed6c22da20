"""How near the truth? Estimates of the floor on problems whose floor is known.

    python -m benchmarks.truth.truth run [--problems smooth new] [--half design|held-out] [--sizes 500 2000 8000]
                                         [--repeats 5 3 1] [--workers 2] [--records FILE]
    python -m benchmarks.truth.truth cost      seconds that a learned floor takes, on all cores, and for six metrics
    python -m benchmarks.truth.truth table     write benchmarks/results/truth.md from what was recorded

The problems are in problems/truth_scenarios.py ("smooth") and problems/truth_families.py ("new"), each in two halves.
Thresholds were chosen on the first, "design"; the second, "held-out", was run after each change. How often, and what
changed between, stands in benchmarks/results/truth_notes.md, which is part of the page.

Samples of one problem are alike, so that problems are the unit of all figures: a problem counts by the mean over its
samples, and what stands behind ± is the standard error of the mean over problems.

Each cell is recorded in benchmarks/results/truth.jsonl, or in FILE, as soon as it is measured; a cell that is there is
not measured again. Cells run in processes of one thread each. What is said of other metrics is recorded too, for
truth_metrics.py.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from bayesfloor import bayes_error, learned_floor
from benchmarks.problems.truth_families import FAMILIES
from benchmarks.problems.truth_scenarios import SCENARIOS
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "truth.jsonl"
PROBLEMS = {"smooth": SCENARIOS, "new": FAMILIES}
KINDS = {"smooth": "Smooth problems", "new": "New kinds of problems"}
BY_NAME = {scenario.name: scenario for scenarios in PROBLEMS.values() for scenario in scenarios}
CONFIDENCE = 0.95
ABOUT_SCORE = "*Score* is the interval score: the width, and 40 times how far the truth lies outside."
ABOUT_UNIT = (
    "Problems are the unit: a problem counts by the mean over its samples, as covered by the share of them that are. "
    "What stands behind ± is the standard error of the mean over problems. Where all are covered it is 0, which says "
    "that none of so many was missed and not that none can be."
)
#: The error first. From three classes on, the error of two guesses is asked for as well.
METRICS = ("error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision", "f1", "cost")
ESTIMATORS = (*("trees on x", "what was reached", "learned floor", "true Bayes classifier"),)


def metrics_of(n_classes: int) -> tuple[list[str], np.ndarray]:
    """Return the metrics of a problem, and costs: random whole numbers from 1 to 9 for each mistake."""
    costs = np.random.default_rng(n_classes).integers(1, 10, (n_classes, n_classes)).astype(float)
    np.fill_diagonal(costs, 0.0)
    return [*METRICS, *(["top_2_error"] if n_classes > 2 else [])], costs


def measure(name: str, n: int, repeat: int) -> dict:
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
    scale = X.std(axis=0)
    points = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    _, seconds, trees = timed(lambda: bayes_error(points, y, n_jobs=1))
    record["trees on x"] = cell(trees.estimate, trees.lower_interval[0], trees.upper_interval[1], seconds)

    own = float((scenario.posterior(X).argmax(axis=1) != y).mean())
    interval = binomtest(round(own * n), n).proportion_ci(CONFIDENCE)
    record["true Bayes classifier"] = cell(own, *interval, seconds)

    names, costs = metrics_of(len(np.unique(y)))
    _, seconds, floor = timed(lambda: learned_floor(X, y, metric=names, costs=costs, n_jobs=1))
    record["learned floor"] = cell(floor.estimate, *floor.interval, seconds)
    record["what was reached"] = cell(floor.reached, *floor.reached_interval, seconds)
    record["residual_z"] = round(floor.residual_z, 2)
    record["findings"] = [finding.code for finding in floor.findings]
    record["reasons"] = [reason.kind for reason in floor.trust.reasons if reason.in_headline]
    record["metrics"] = {each: as_loss(floor.metrics[each]) for each in names}
    return record


def cell(estimate: float, low: float, high: float, seconds: float) -> dict:
    return {
        "estimate": round(float(estimate), 5),
        "interval": [round(float(low), 5), round(float(high), 5)],
        "seconds": round(seconds, 3),
    }


def as_loss(found: Any) -> list[float]:
    """Return estimate, both ends of the interval and what was reached of a metric, all as losses."""
    values = [found.estimate, *found.interval, found.reached]
    if found.larger_is_better:
        estimate, low, high, reached = (1.0 - value for value in values)
        values = [estimate, high, low, reached]
    return [round(float(value), 5) for value in values]


def run(problems: list[str], half: str | None, sizes: list[int], repeats: list[int], workers: int, file: Path) -> None:
    """Measure the cells that were not measured yet."""
    done = {(record["scenario"], record["n"], record["repeat"]) for record in read_records(file)}
    wanted = [
        (scenario.name, n, repeat)
        for n, n_repeats in zip(sizes, repeats, strict=True)
        for repeat in range(n_repeats)
        for kind in problems
        for scenario in PROBLEMS[kind]
        if half in (None, scenario.half)
    ]
    measure_all(measure, [key for key in wanted if key not in done], file, workers)


def show_cost() -> None:
    """Print the seconds of `learned_floor` on Gaussian classes of a few sizes."""
    for n, n_features, n_classes in ((2000, 20, 4), (10_000, 64, 4), (10_000, 64, 10)):
        rng = np.random.default_rng(0)
        means = 0.5 * rng.standard_normal((n_classes, n_features))
        y = rng.integers(0, n_classes, n)
        X = means[y] + rng.standard_normal((n, n_features))
        one = timed(lambda X=X, y=y: learned_floor(X, y))
        six = timed(lambda X=X, y=y: learned_floor(X, y, metric=METRICS[:6]))
        print(
            f"{n} x {n_features}, {n_classes} classes: {one.seconds:.1f} s, {one.cpu_seconds:.1f} CPU seconds; "
            f"{six.cpu_seconds:.1f} for six metrics",
            flush=True,
        )


# --- tables


def write_tables(records: list[dict]) -> None:
    """Write the page."""
    parts = [
        "# How near the truth",
        "Made by `python -m benchmarks.truth.truth run` and `… table`. Each of the problems has a known floor. "
        f"Thresholds were chosen on the design halves. {ABOUT_UNIT} {ABOUT_SCORE} *s* is CPU seconds.",
        "## The range of the learned floor",
        of_halves(records),
        notes_of("truth"),
    ]
    of_each = []
    for kind, title in KINDS.items():
        for half in HALVES:
            chosen = [record for record in records if (record["problems"], record["half"]) == (kind, half)]
            if chosen:
                n_problems = len({record["scenario"] for record in chosen})
                parts += [f"## {title}: the {half} half, {n_problems} problems", of_estimators(chosen)]
                if kind == "new":
                    parts += ["By family, the learned floor:", of_families(chosen)]
                of_each += [f"## The learned floor on each problem. {title}: {half}", of_problems(chosen)]
    write_page("truth", *parts, *of_each)


def of_halves(records: list[dict]) -> str:
    """One row for each half and size, all kinds of problems together: what the range of the learned floor holds."""
    rows = []
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        for n in (*sorted({record["n"] for record in of_half}), None):
            chosen = [record for record in of_half if n in (None, record["n"])]
            means = over_problems(chosen, "learned floor")
            rows.append(
                [
                    half,
                    "all" if n is None else n,
                    means.n_problems,
                    len(chosen),
                    means.said("covered", percent=True),
                    f"{means.n_always} of {means.n_problems}",
                    means.said("above", percent=True),
                    means.said("errors"),
                    means.said("widths", decimals=3),
                ]
            )
    header = ["half", "rows", "problems", "samples", "covers", "covered in every sample", "lower end above the truth"]
    return as_table([*header, "mean abs. error", "width"], rows)


def of_families(records: list[dict]) -> str:
    """One row for each family and size, and one for all families together."""
    rows = []
    sizes = sorted({record["n"] for record in records})
    for family in (*dict.fromkeys(record["family"] for record in records), "all"):
        for n in sizes:
            chosen = [r for r in records if r["n"] == n and family in ("all", r["family"])]
            means = over_problems(chosen, "learned floor")
            rows.append(
                [
                    family,
                    n,
                    means.n_problems,
                    len(chosen),
                    f"{means.mean['errors']:.4f}",
                    f"{means.mean['covered']:.0%}",
                    f"{means.mean['above']:.0%}",
                    f"{means.mean['widths']:.3f}",
                    f"{means.mean['scores']:.3f}",
                ]
            )
    header = ["family", "n", "problems", "samples", "mean abs. error", "covers", "lower end above", "width", "score"]
    return as_table(header, rows)


def of_estimators(records: list[dict]) -> str:
    """One row for each estimator and size."""
    rows = []
    for n in (*sorted({record["n"] for record in records}), None):
        of_size = [record for record in records if n in (None, record["n"])]
        for name in ESTIMATORS:
            means = over_problems(of_size, name)
            worst = max(means.of_each, key=lambda problem: means.of_each[problem]["errors"])
            seconds = np.median([record[name]["seconds"] for record in of_size])
            rows.append(
                [
                    "all" if n is None else n,
                    f"**{name}**" if name == "learned floor" else name,
                    means.said("errors"),
                    f"{means.of_each[worst]['errors']:.3f} ({worst})",
                    f"{means.mean['bias']:+.4f}",
                    means.said("covered", percent=True),
                    f"{means.mean['above']:.1%}",
                    f"{means.mean['widths']:.3f}",
                    f"{means.mean['scores']:.3f}",
                    "–" if name == "true Bayes classifier" else f"{seconds:.1f}",
                ]
            )
    header = ["n", "estimator", "mean abs. error", "worst problem", "bias", "covers", "lower end above", "width"]
    return as_table([*header, "score", "s"], rows)


def of_problems(records: list[dict]) -> str:
    """One row for each problem, with the learned floor's figures at each size."""
    sizes = sorted({record["n"] for record in records})
    rows = []
    for problem in dict.fromkeys(record["scenario"] for record in records):
        of_problem = [record for record in records if record["scenario"] == problem]
        _, covered, above, *_ = figures(of_problem, "learned floor")
        row = [problem, f"{of_problem[0]['truth']:.4f}"]
        for n in sizes:
            of_size = [record for record in of_problem if record["n"] == n]
            errors = figures(of_size, "learned floor")[0] if of_size else np.array([])
            row.append(f"{np.abs(errors).mean():.4f} ({errors.mean():+.4f})" if of_size else "–")
        rows.append([*row, f"{covered.sum():.0f} of {len(covered)}", f"{above.sum():.0f}"])
    header = ["problem", "floor", *(f"n = {n}: mean abs. error (bias)" for n in sizes), "covered", "lower end above"]
    return as_table(header, rows)


class ProblemMeans(NamedTuple):
    """Means over problems, each of which counts by the mean over its samples.

    Attributes
    ----------
    of_each : dict of str to dict
        The means of each problem, by its name: absolute `errors`, `bias`, `covered`, `above`, `widths` and `scores`.
    mean, error : dict of str to float
        The mean of these over problems, and its standard error; NaN for a single problem.
    """

    of_each: dict[str, dict[str, float]]
    mean: dict[str, float]
    error: dict[str, float]

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.of_each)

    @property
    def n_always(self) -> int:
        """Problems that are covered in every sample."""
        return sum(each["covered"] == 1.0 for each in self.of_each.values())

    def said(self, name: str, *, percent: bool = False, decimals: int = 4) -> str:
        """Write a mean with its standard error."""
        shown = ".1%" if percent else f".{decimals}f"
        return f"{self.mean[name]:{shown}} ± {self.error[name]:{shown}}"


def over_problems(records: Iterable[dict], name: str) -> ProblemMeans:
    """Return the figures of an estimator with problems, and not samples, as the unit."""
    of_problem = defaultdict(list)
    for record in records:
        of_problem[record["scenario"]].append(record)
    of_each = {}
    for problem, samples in of_problem.items():
        errors, *others = figures(samples, name)
        means = {"errors": np.abs(errors).mean(), "bias": errors.mean()}
        means |= {key: values.mean() for key, values in zip(Figures._fields[1:], others, strict=True)}
        of_each[problem] = {key: float(value) for key, value in means.items()}
    columns = {key: np.array([each[key] for each in of_each.values()]) for key in next(iter(of_each.values()))}
    n = len(of_each)
    error = {key: float(values.std(ddof=1) / n**0.5) if n > 1 else np.nan for key, values in columns.items()}
    return ProblemMeans(of_each, {key: float(values.mean()) for key, values in columns.items()}, error)


class Figures(NamedTuple):
    """What is said of each record: its error, whether the range covers the truth or lies above it, width and score."""

    errors: np.ndarray
    covered: np.ndarray
    above: np.ndarray
    widths: np.ndarray
    scores: np.ndarray


def figures(records: Iterable[dict], name: str, within: float = 1e-5) -> Figures:
    """Return the figures of an estimator; a range that misses the truth by no more than `within` covers it.

    By default that is rounding: a truth of 0 or one that is written with five decimals is met by the same decimals.
    """
    records = list(records)
    truth = np.array([record["truth"] for record in records])
    estimate = np.array([record[name]["estimate"] for record in records])
    low, high = np.array([record[name]["interval"] for record in records]).T
    is_above = low > truth + within
    covered = ~is_above & (truth <= high + within)
    return Figures(estimate - truth, covered, is_above, high - low, interval_scores(truth, low, high))


def interval_scores(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the interval score of each range, the smaller the better.

    It is the width, plus 2 / α times the distance of the truth from the range, where α is 1 minus the confidence: 40
    times at 95%. In expectation the quantiles of the truth have the least, so that neither a range that is wide
    without need nor one that is narrow by luck scores well (Gneiting and Raftery, 2007).
    """
    return high - low + 2 / (1 - CONFIDENCE) * np.maximum(0, np.maximum(low - truth, truth - high))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "cost", "table"])
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 2000, 8000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[5, 3, 1])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.problems, chosen.half, chosen.sizes, chosen.repeats, chosen.workers, chosen.records)
    elif chosen.what == "cost":
        show_cost()
    else:
        write_tables(read_records(chosen.records))


if __name__ == "__main__":
    main()
