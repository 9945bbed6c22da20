"""HDBSCAN's hierarchy from an exact tree, beside hdbscan and fast_hdbscan: time, and how many merge heights differ.

    python -m benchmarks.speed.hierarchies                     everything; writes benchmarks/results/hierarchies.md
    python -m benchmarks.speed.hierarchies --only "10 000"     the sets whose name has "10 000" in it, printed only

All compute the minimum spanning tree of mutual reachability distances, with the core distance to the 10th nearest other
row, and what hangs on it: hdbscan goes on to its clusters, which takes a second or two at 50 000 rows. Each runs in a
process of its own, on two threads, after a warm-up on 2000 rows, and is stopped when it has used up its CPU time.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks.tools.measuring import in_own_process, set_threads, timed

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from benchmarks.problems.point_sets import mixture  # noqa: E402
from benchmarks.problems.stored_sets import stored_set  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import as_table, table_head, table_row, write_page  # noqa: E402

#: Which nearest other row the core distance leads to.
K = 10
#: Seconds of CPU time after which a process is stopped.
LIMIT_S = 480


def embeddings(n: int, d: int = 300) -> np.ndarray:
    """Draw points as embeddings lie: 40 clusters of unequal size, each in 20 directions of its own, with noise."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 41)
    cluster = rng.choice(40, n, p=share / share.sum())
    centers = 3.0 * rng.standard_normal((40, d)) / np.sqrt(d)
    directions = rng.standard_normal((40, 20, d)) / np.sqrt(d)
    factors = rng.standard_normal((n, 20)) / np.sqrt(np.arange(1, 21))
    X = np.empty((n, d))
    for c in range(40):
        X[cluster == c] = factors[cluster == c] @ directions[c] + centers[c]
    return X + 0.02 * rng.standard_normal((n, d))


SETS: dict[str, Callable[[], np.ndarray]] = {
    "embeddings 5 000 x 300": lambda: embeddings(5_000),
    "embeddings 10 000 x 300": lambda: embeddings(10_000),
    "embeddings 20 000 x 300": lambda: embeddings(20_000),
    "letter 20 000 x 16": lambda: stored_set("paper/letter", standardize=True)[0],
    "mixture [-3, 3] 100 000 x 2": lambda: mixture(100_000, 2, 3)[0],
    "embeddings 50 000 x 300": lambda: embeddings(50_000),
}


def ours(X: np.ndarray) -> np.ndarray:
    """Return the merge heights of this library."""
    from bayesfloor import spanning_forests

    return spanning_forests(X, n_trees=1, core_distances=K, n_jobs=THREADS).to_linkage()[:, 2]


def by_hdbscan(X: np.ndarray) -> np.ndarray:
    """Return the merge heights of hdbscan, whose tree is exact when it is asked for; other processes hide CPU time."""
    from hdbscan import HDBSCAN

    model = HDBSCAN(min_samples=K, approx_min_span_tree=False, core_dist_n_jobs=1).fit(X)
    return np.sort(model.single_linkage_tree_.to_numpy()[:, 2])


def by_fast_hdbscan(X: np.ndarray) -> np.ndarray:
    """Return the merge heights of fast_hdbscan's trees of boxes; from 31 columns on, it would search approximately."""
    from fast_hdbscan.boruvka import parallel_boruvka
    from fast_hdbscan.numba_kdtree import build_kdtree

    no_weights = np.empty(1, np.float32)
    tree = build_kdtree(np.ascontiguousarray(X))
    edges = parallel_boruvka(tree, THREADS, min_samples=K, sample_weights=no_weights, reproducible=False)[0]
    return np.sort(np.asarray(edges)[:, 2].astype(float))


def by_all_distances(X: np.ndarray) -> np.ndarray:
    """Return the merge heights from all distances in float64, by SciPy: what is right, up to rounding."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist, squareform

    distances = squareform(pdist(X))
    core = np.partition(distances, K, axis=1)[:, K]
    np.maximum(distances, np.maximum.outer(core, core), out=distances)
    return linkage(squareform(distances, checks=False), "single")[:, 2]


METHODS = {"ours": ours, "hdbscan": by_hdbscan, "fast_hdbscan": by_fast_hdbscan, "all distances": by_all_distances}


def measure(name: str, method: str, file: str) -> dict[str, float]:
    """Measure one method on one set, in this process."""
    X = SETS[name]()
    METHODS[method](X[:2000])
    seconds, cpu_seconds, heights = timed(lambda: METHODS[method](X))
    np.save(file, heights)
    return {"seconds": seconds, "cpu_seconds": cpu_seconds}


def report_set(name: str, folder: Path, limit: int) -> list[str]:
    """Measure all methods on a set and return their lines of the table."""
    lines = []
    ours_took: dict[str, float] = {}
    reference = np.empty(0)
    for method in METHODS:
        if method == "all distances" and len(reference) >= 12_000:
            continue  # its memory grows with the square of the number of rows
        file = folder / "heights.npy"
        took = in_own_process("benchmarks.speed.hierarchies", name, method, file, cpu_limit=limit)
        if took is None:
            ratio = limit / ours_took["cpu_seconds"]
            lines.append(table_row([name, method, "stopped", f"over {limit} s", f"over {ratio:.1f}", "", ""]))
            print(lines[-1], flush=True)
            continue
        heights = np.load(file)
        if method == "ours":
            ours_took, reference = took, heights
        off = np.abs(heights - reference) / np.maximum(reference, 1e-300)
        row = [name, method, f"{took['seconds']:.2f} s", f"{took['cpu_seconds']:.2f} s"]
        row += [f"{took['cpu_seconds'] / ours_took['cpu_seconds']:.1f}", f"{heights.sum():.6f}"]
        lines.append(table_row([*row, f"{np.count_nonzero(off > 1e-12)} / {np.count_nonzero(off > 1e-6)}"]))
        print(lines[-1], flush=True)
    return lines


def compare_labels() -> str:
    """Let hdbscan make clusters of our hierarchy, and compare them with its own; clusters may be numbered otherwise."""
    from hdbscan import HDBSCAN
    from hdbscan.hdbscan_ import _tree_to_labels
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    from bayesfloor import spanning_forests

    rows = []
    sets = {
        "embeddings 3 000 x 300": embeddings(3_000),
        "first 5 000 letters x 16": stored_set("paper/letter", 5_000, standardize=True)[0],
        "mixture [-10, 10] 10 000 x 2": mixture(10_000, 2, 10)[0],
    }
    for name, X in sets.items():
        expected = HDBSCAN(min_samples=K, min_cluster_size=15, approx_min_span_tree=False).fit(X).labels_
        merges = spanning_forests(X, n_trees=1, core_distances=K).to_linkage()
        labels = _tree_to_labels(X, merges, 15)[0]
        common = contingency_matrix(expected, labels)
        same = common[linear_sum_assignment(-common)].sum()
        rows.append([name, expected.max() + 1, f"{same} of {len(X)}"])
        print(*rows[-1], flush=True)
    return as_table(["points", "clusters of hdbscan", "rows in the same cluster by our hierarchy"], rows)


def main() -> None:
    """Measure everything, or one part in this process."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="measure the sets whose name contains this, and print only")
    parser.add_argument("--limit", type=int, default=LIMIT_S, help="seconds of CPU time for each, at most")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    heads = ("points", "by", "time", "CPU time", "CPU time / ours", "sum of heights", "heights off by 1e-12 / by 1e-6")
    lines = table_head(*heads)
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in SETS:
            if options.only in name:
                lines += report_set(name, Path(folder), options.limit)
    if options.only:
        return
    write_page(
        "hierarchies",
        "# HDBSCAN's hierarchy from an exact tree",
        "Made by `make bench-hierarchies`. One run each after a warm-up, two threads (hdbscan: one), every method in a "
        "process of its own. Where the machine is shared, CPU times and their ratios say more than seconds. A process "
        f"is stopped after {options.limit} s of CPU time. Core distances are those to the nearest other row number "
        f"{K}. The last column counts merge heights that differ from ours by more than a share of 1e-12, which is more "
        "than rounding of float64, and of 1e-6, which is more than that of float32.",
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, numba {version('numba')}, "
        f"hdbscan {version('hdbscan')}, fast_hdbscan {version('fast_hdbscan')}, scipy {version('scipy')}.",
        "\n".join(lines),
        "## Labels",
        "hdbscan makes clusters of our hierarchy, with min_cluster_size=15, and of its own. Where heights tie, the "
        "order of merges decides about single rows.",
        compare_labels(),
    )


if __name__ == "__main__":
    main()
