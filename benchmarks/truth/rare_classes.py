"""Floors where one class is rare: do the ranges of AUC, average precision and balanced error hold the truth?

    python -m benchmarks.truth.rare_classes run [--sizes 2000 10000 50000] [--repeats 3 2 1] [--workers 2]
    python -m benchmarks.truth.rare_classes table     write benchmarks/results/rare_classes.md

Problems with a class of 0.5%, 1% and 5% whose posterior is known: two Gaussians, positives in two clusters, and odds
that depend on a product of two columns. The best values are those of the true posterior over 10^6 draws. Nothing in the
library was chosen on them, but that a range ends at what needs no features, which the first nine samples suggested.
Each cell is recorded in benchmarks/results/rare_classes.jsonl and not measured again.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from bayesfloor import learned_floor
from bayesfloor.floor.learned.metrics import check_metrics
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "rare_classes.jsonl"

SHARES = (0.005, 0.01, 0.05)
METRICS = ("roc_auc", "average_precision", "balanced_error")
N_DRAWS = 1_000_000
#: What the best value may be off by, from the draws.
TOLERANCE = 1e-3


def gaussians(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points of which the second class lies 2 deviations away, and log odds but for a constant."""
    X = rng.standard_normal((n, 6))
    return X, 2.0 * X[:, 0]


def clusters(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points of which the rare class is in one of two places, and log odds but for a constant."""
    X = rng.standard_normal((n, 8))
    return X, np.logaddexp(2.2 * X[:, 0], 2.2 * X[:, 1])


def product(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points whose log odds depend on one column and on the product of two others."""
    X = rng.standard_normal((n, 10))
    return X, 1.2 * X[:, 0] + 1.5 * X[:, 1] * X[:, 2]


#: Points and log odds but for a constant, which makes the class as rare as wanted.
PROBLEMS: dict[str, Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "two Gaussians": gaussians,
    "two clusters": clusters,
    "product": product,
}


@lru_cache
def offset_and_best(problem: str, share: float) -> tuple[float, dict[str, float]]:
    """Return the constant that makes the class so rare, and the best losses."""
    _, log_odds = PROBLEMS[problem](N_DRAWS, np.random.default_rng(1))
    offset = float(brentq(lambda b: expit(log_odds + b).mean() - share, -30.0, 10.0))
    p = expit(log_odds + offset)
    posterior = np.column_stack([1 - p, p])
    counts = np.array([round(N_DRAWS * (1 - share)), round(N_DRAWS * share)])
    metrics = check_metrics(METRICS, None, 1, np.arange(2), counts)
    weights = np.ones(N_DRAWS)
    return offset, {each.name: float(each.losses(posterior, posterior, weights).mean()) for each in metrics}


def measure(problem: str, share: float, n: int, repeat: int) -> list[dict]:
    """Estimate the best values on one sample."""
    offset, best = offset_and_best(problem, share)
    rng = np.random.default_rng([n, repeat, round(1000 * share)])
    X, log_odds = PROBLEMS[problem](n, rng)
    y = (rng.random(n) < expit(log_odds + offset)).astype(np.int64)
    _, seconds, floor = timed(lambda: learned_floor(X, y, metric=METRICS, n_jobs=1))
    records = []
    for name in METRICS:
        found = floor.metrics[name]
        records.append(
            {
                "problem": problem,
                "share": share,
                "n": n,
                "repeat": repeat,
                "n_positive": int(y.sum()),
                "metric": name,
                "truth": 1 - best[name] if found.larger_is_better else best[name],
                "estimate": found.estimate,
                "low": found.interval[0],
                "high": found.interval[1],
                "reached": found.reached,
                "seconds": round(seconds, 1),
            }
        )
    return records


def run(sizes: list[int], repeats: list[int], workers: int) -> None:
    """Measure the cells that were not measured yet."""
    done = {(r["problem"], r["share"], r["n"], r["repeat"]) for r in read_records(RECORDS)}
    wanted = [
        (problem, share, n, repeat)
        for n, n_repeats in zip(sizes, repeats, strict=True)
        for repeat in range(n_repeats)
        for share in SHARES
        for problem in PROBLEMS
    ]
    measure_all(measure, [key for key in wanted if key not in done], RECORDS, workers)


def write_table() -> None:
    """Write the page."""
    records = read_records(RECORDS)
    rows = []
    for metric in METRICS:
        for share in SHARES:
            for n in sorted({record["n"] for record in records}):
                own = [r for r in records if (r["metric"], r["share"], r["n"]) == (metric, share, n)]
                if not own:
                    continue
                truth, estimate, low, high, reached = (
                    np.array([r[key] for r in own]) for key in ("truth", "estimate", "low", "high", "reached")
                )
                covers = (low <= truth + TOLERANCE) & (truth - TOLERANCE <= high)
                errors = [f"{np.abs(each - truth).mean():.3f}" for each in (estimate, reached)]
                rows.append(
                    [
                        *(metric, f"{share:.1%}", n, f"{np.mean([r['n_positive'] for r in own]):.0f}"),
                        *(
                            f"{truth.mean():.3f}",
                            *errors,
                            f"{covers.sum()} of {len(own)}",
                            f"{(high - low).mean():.3f}",
                        ),
                        f"{np.mean([r['seconds'] for r in own]):.0f}",
                    ]
                )
    heads = ["metric", "share", "rows", "of the class", "best", "mean abs. error", "of reached", "covers", "width", "s"]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("rare_classes", "# Rare classes", about, as_table(heads, rows))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[2000, 10_000, 50_000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[3, 2, 1])
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.sizes, chosen.repeats, chosen.workers)
    else:
        write_table()
