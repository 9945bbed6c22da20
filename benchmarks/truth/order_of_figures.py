"""Are what needs no features, what was reached, the floor and the ends of its range always in their order?

    python -m benchmarks.truth.order_of_figures run [--workers 2] [--samples 20] [--out FILE.jsonl]
    python -m benchmarks.truth.order_of_figures table    write benchmarks/results/order_of_figures.md

Floors of 38 kinds of small tables, 14 samples each, by every metric, with few and quick learners: classes and numbers;
nothing to learn, rare classes, noise of long tails; rows that belong together, an order in time, both, weights. What
must hold is written down here by itself, in `broken_rules`, and knows nothing of how figures are made.

It runs with numpy, scipy and numba alone. Tables are drawn from their kind and number, and their figures are recorded
in benchmarks/results/order_of_figures.jsonl as soon as they are there.
"""

import zlib
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bayesfloor import learned_floor, regression_floor
from bayesfloor.data.metrics import CLASS_METRICS, metric_info
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "order_of_figures.jsonl"
N_SAMPLES = 14
#: Rounding errors of figures.
ROUNDING = 1e-9

Array = NDArray[np.float64]
Rng = np.random.Generator

#: How the chance of a class, or a number, depends on the first column; and what is known beside the rows.
SIGNALS_OF_CLASSES = ("nothing", "some", "much", "rare", "three classes")
SIGNALS_OF_NUMBERS = ("nothing", "some", "much", "many zeros", "long tails")
BESIDE = ("rows alone", "batches", "time", "weights", "batches in time")


def kinds() -> list[str]:
    """Return the kinds of tables: each signal with two or three of what may stand beside."""
    found = []
    for task, signals in (("classes", SIGNALS_OF_CLASSES), ("numbers", SIGNALS_OF_NUMBERS)):
        pairs = [(signal, beside) for i, signal in enumerate(signals) for j, beside in enumerate(BESIDE)]
        kept = [pair for k, pair in enumerate(pairs) if task == "classes" or k % 2 == 0]
        found += [f"{task}, {signal}, {beside}" for signal, beside in kept]
    return found


def draw(kind: str, sample: int) -> tuple[Array, NDArray[Any], dict[str, Any]]:
    """Draw 60 to 240 rows; batches are of one label each in one half of the samples, and share it in part in others."""
    task, signal, beside = kind.split(", ")
    rng = np.random.default_rng([zlib.crc32(kind.encode()), sample])
    n = int(rng.integers(60, 241))
    X = rng.standard_normal((n, 3))
    batch = rng.integers(0, 12, n)
    of_batch = rng.standard_normal(12)[batch] if "batches" in beside else np.zeros(n)
    X[:, 1] += of_batch
    slope = {"nothing": 0.0, "much": 4.0}.get(signal, 1.0)
    drift = np.linspace(-1.0, 1.0, n) if "time" in beside else np.zeros(n)
    score = slope * X[:, 0] + (1 + sample % 2) * of_batch + drift
    y: NDArray[Any]
    if task == "numbers":
        noise = rng.standard_t(2, n) if signal == "long tails" else rng.standard_normal(n)
        y = np.maximum(score + noise - 0.8, 0.0) if signal == "many zeros" else score + noise
    elif signal == "three classes":
        y = np.digitize(score + rng.standard_normal(n), [-0.5, 0.8])
    else:
        share = 0.06 if signal == "rare" else rng.uniform(0.25, 0.6)
        noisy = score + rng.standard_normal(n)
        y = (noisy > np.quantile(noisy, 1.0 - share)).astype(np.int64)
    others: dict[str, Any] = {"batches": {"groups": batch}, "time": {"time": np.arange(n)}}.get(beside, {})
    if beside == "weights":
        others = {"sample_weight": rng.uniform(0.2, 3.0, n)}
    if beside == "batches in time":
        others = {"groups": batch, "time": np.arange(n)}
    return X, y, others


def measure(kind: str, sample: int) -> Record:
    """Return the figures of a table by every metric."""
    X, y, others = draw(kind, sample)
    how: dict[str, Any] = {"effort": "fast", "checks": False, "n_jobs": 1} | others
    record: Record = {"kind": kind, "sample": sample, "rows": len(y)}
    if kind.startswith("numbers"):
        floor: Any = regression_floor(X, y, learners=["linear", "neighbours"], **how)
    else:
        names = [name for name in CLASS_METRICS if name not in ("cost", "top_k_error")]
        n_classes = len(np.unique(y))
        costs = np.ones((n_classes, n_classes)) - np.eye(n_classes)
        costs[-1, :-1] = 5.0
        names += ["cost", *(["top_2_error"] if n_classes > 2 else [])]
        floor = learned_floor(X, y, metric=names, costs=costs, learners=["gaussian", "logistic"], **how)
        record["counts"] = np.bincount(y).tolist()
    figures = ("baseline", "reached", "reached_interval", "estimate", "interval", "perfect")
    record["metrics"] = {name: {each: getattr(of, each) for each in figures} for name, of in floor.metrics.items()}
    return record


def broken_rules(record: Record, name: str) -> list[str]:
    """Return the rules that the figures of a metric break."""
    figures = record["metrics"][name]
    sign = -1.0 if metric_info(name).larger_is_better else 1.0  # from values to what is lost
    baseline, reached, estimate, perfect = (sign * figures[of] for of in ("baseline", "reached", "estimate", "perfect"))
    low, high = sorted(sign * end for end in figures["interval"])
    reached_low, reached_high = sorted(sign * end for end in figures["reached_interval"])
    most = largest_loss(record, name)
    if reached_high < baseline:
        most = min(most, baseline)
    room = ROUNDING * max(abs(baseline), abs(reached), 1.0)
    rules = {
        "the floor is no worse than what was reached": estimate <= reached + room,
        "the floor is no worse than what needs no features": estimate <= baseline + room,
        "the floor is in its range": low - room <= estimate <= high + room,
        "the better end is no better than perfect": perfect - room <= low,
        "the better end is no worse than that of what was reached": low <= reached_low + room,
        "the worse end is no better than what was reached, or needs no features": high >= min(reached, baseline) - room,
        "the worse end is no worse than what needs no features": high <= most + room,
        "what was reached is in its range": reached_low - room <= reached <= reached_high + room,
    }
    return [rule for rule, holds in rules.items() if not holds]


def largest_loss(record: Record, name: str) -> float:
    """Return what the best rule without features loses at most, as far as these rows can tell.

    Of the ROC AUC, the balanced error and R² that is known. Of others it depends on the shares of the classes, which
    may be any where rows depend on each other: no two classes are harder than even ones. In time, the shares of the
    past may be worse still.
    """
    baseline = record["metrics"][name]["baseline"]
    if name == "r2":
        return 0.0
    if name == "roc_auc":
        return -0.5
    if "counts" not in record:
        return np.inf
    counts = np.array(record["counts"], float)
    n, n_classes = counts.sum(), len(counts)
    even = 1.0 - 1.0 / n_classes
    is_plain = record["kind"].endswith("rows alone")
    if name == "error":
        most = min(even, binomial_end(n - counts.max(), n, 0.975)) if is_plain else even
    elif name == "average_precision":
        most = -binomial_end(counts[-1] - 1.0, n, 0.005) if n_classes == 2 and is_plain else 0.0
    else:
        brier = even / 2.0 if n_classes == 2 else even
        known = {"balanced_error": even, "log_loss": np.log(n_classes), "brier": brier, "top_2_error": 1.0 / 3.0}
        most = known.get(name, 0.0 if metric_info(name).larger_is_better else np.inf)
    return max(most, -baseline if metric_info(name).larger_is_better else baseline)


def binomial_end(count: float, n: float, level: float) -> float:
    """Return an end of the exact interval of a proportion."""
    return float(betaincinv(count + 1.0, n - count, level))


# --- runs and pages


def keys() -> list[tuple[str, int]]:
    return [(kind, sample) for sample in range(N_SAMPLES) for kind in kinds()]


def run(n_samples: int, workers: int, path: Path) -> None:
    """Measure and record what is not recorded yet."""
    started = perf_counter()
    done = {(record["kind"], record["sample"]) for record in read_records(path)}
    left = [key for key in keys() if key not in done and key[1] < n_samples]
    measure_all(measure, left, path, workers)
    print(f"{perf_counter() - started:.0f} seconds of wall time")


def count_by(records: list[Record], of_record: Any) -> list[list[Any]]:
    """Return lines of a table: results, those that break a rule, and the rules that they break, the commonest first."""
    results: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    rules: dict[str, Counter[str]] = {}
    for record in records:
        for name in record["metrics"]:
            key = of_record(record, name)
            broken = broken_rules(record, name)
            results[key] += 1
            bad[key] += bool(broken)
            rules.setdefault(key, Counter()).update(broken)
    return [
        [key, results[key], bad[key], "; ".join(f"{rule} ({n})" for rule, n in rules[key].most_common())]
        for key in results
    ]


def write_table(records: list[Record]) -> None:
    """Write the page."""
    results = sum(len(record["metrics"]) for record in records)
    bad = sum(bool(broken_rules(record, name)) for record in records for name in record["metrics"])
    write_page(
        "order_of_figures",
        "# Figures in their order",
        "`python -m benchmarks.truth.order_of_figures run`, then `… table`.",
        f"{len(records)} small tables, {results} results: {bad} of them break a rule.",
        "## By metric",
        as_table(["metric", "results", "break a rule", "which"], count_by(records, lambda _, name: name)),
        "## By kind of table",
        as_table(["table", "results", "break a rule", "which"], count_by(records, lambda record, _: record["kind"])),
        notes_of("order_of_figures"),
        f"Measured on {this_machine()}.",
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RECORDS)
    asked = parser.parse_args()
    if asked.command == "run":
        run(asked.samples, asked.workers, asked.out)
    else:
        write_table(read_records(asked.out))


if __name__ == "__main__":
    main()
