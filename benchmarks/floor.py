"""Speed of all floors together, beside dataeval's single number.

Ours: every pair of classes, every class against the rest and the whole problem, with intervals,
p-values and findings, from three exact edge-disjoint trees (`BayesErrorEstimator`). Theirs:
`dataeval.core.ber_mst`, two bounds for the whole problem from one tree of a 15-neighbour graph, which
need not be the minimum spanning tree. Both in one process, one after the other on each set, on all
cores.

    python -m venv .venv-floor
    .venv-floor/bin/pip install -e . -r benchmarks/requirements-floor.txt
    .venv-floor/bin/python benchmarks/floor.py [SET ...]

Reads the data sets from $BAYESFLOOR_DATA, or from shared/data beside the repository, and writes
benchmarks/results/floor.md.
"""

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from bayesfloor.floor.trees.estimator import BayesErrorEstimator

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "floor.md"

# name: (file, rows or None for all, whether to standardise)
SETS = {
    "pendigits": ("paper/pendigits.npz", None, True),
    "letter": ("paper/letter.npz", None, True),
    "satimage": ("paper/satimage.npz", None, True),
    "optdigits": ("paper/optdigits.npz", None, True),
    "kr-vs-k": ("paper/kr-vs-k.npz", None, True),
    "mnist 10k": ("extra/mnist.npz", 10_000, False),
    "covertype 50k": ("extra/covertype.npz", 50_000, True),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    file, n_rows, standardise = SETS[name]
    table = np.load(DATA / file, allow_pickle=False)
    X, y = table["X"][:n_rows].astype(np.float64), table["y"][:n_rows]
    return (StandardScaler().fit_transform(X) if standardise else X), y


def measure(function: Callable[[], Any], repeats: int = 5, enough_s: float = 30.0) -> tuple[float, Any]:
    """Median time of up to `repeats` calls, fewer when they add up to `enough_s`; and the last answer."""
    times: list[float] = []
    answer = None
    while len(times) < repeats and sum(times) < enough_s:
        start = time.perf_counter()
        answer = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def main() -> None:
    from dataeval.core import ber_mst

    small = np.random.default_rng(0).standard_normal((300, 5))
    for d in (5, 40):  # compile both ways to compute distances before the clock starts
        points = np.random.default_rng(0).standard_normal((300, d))
        BayesErrorEstimator().fit(points, np.arange(300) % 3)
    ber_mst(small, np.arange(300) % 3)

    header = "| set | rows | features | classes | ours, s | ber_mst, s | ratio | our bounds | its bounds |"
    lines = [header, "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for name in sys.argv[1:] or SETS:
        X, y = load(name)
        ours, fitted = measure(lambda X=X, y=y: BayesErrorEstimator().fit(X, y))
        theirs, peer = measure(lambda X=X, y=y: ber_mst(X, y))
        floor = fitted.bayes_error_
        lines.append(
            f"| {name} | {len(X)} | {X.shape[1]} | {floor.n_classes} | {ours:.2f} | {theirs:.2f} | "
            f"{theirs / ours:.1f} | {floor.lower:.4f} to {floor.upper:.4f} | "
            f"{peer['lower_bound']:.4f} to {peer['upper_bound']:.4f} |"
        )
        print(lines[-1], flush=True)
    if len(sys.argv) == 1:
        RESULTS.write_text(report(lines), encoding="utf-8")


def report(lines: list[str]) -> str:
    import dataeval

    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"""# All floors beside one number

`python benchmarks/floor.py` on {machine}, dataeval {dataeval.__version__}, {time.strftime("%Y-%m-%d")}. Median of up
to five calls. "Ours" is one `BayesErrorEstimator().fit(X, y)`: every pair, every class, the whole problem, three exact
trees, intervals and findings. "ber_mst" is one pair of bounds from one approximate tree; ratio is its time over ours.

{chr(10).join(lines)}
"""


if __name__ == "__main__":
    main()
