"""Speed of the spanning-forest engine, beside peers, as ratios from one run.

    make bench                                   everything; writes benchmarks/results/forests.md and a plot
    python -m benchmarks.speed.forests --only letter   the rows whose name has "letter" in it, printed only

Every set is measured in a process of its own, so that its peak memory can be read off. Within it, ours and the peer's
take turns; figures are medians of three runs after a warm-up, on two threads each.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version

from benchmarks.tools.measuring import in_own_process, median_seconds, memory_mib, reset_peak, set_threads

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from bayesfloor import class_forests, spanning_forests  # noqa: E402
from benchmarks.problems.point_sets import SETS, mixture, targets  # noqa: E402
from benchmarks.problems.stored_sets import stored_set  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import RESULTS, as_table, notes_of, table_head, table_row, write_page  # noqa: E402

THIS = "benchmarks.speed.forests"
CLASS_SETS = ("pendigits 10 992 x 16", "letter 20 000 x 16", "first 10 000 MNIST digits x 784")
GROWTH = {
    2: (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    8: (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    64: (1_000, 3_000, 10_000, 30_000, 50_000),
}
# Points beyond which the half pass would take minutes, and fast_hdbscan as well.
MANY_POINTS = 200_000


def half_pass(X: np.ndarray) -> float:
    """Time float32 matrix products over all pairs of rows, each pair once: the practical limit in high dimension."""
    rows = X.astype(np.float32)
    size = 2048
    out = np.empty((size, size), np.float32)
    started = time.perf_counter()
    for i in range(0, len(rows), size):
        for j in range(i, len(rows), size):
            a, b = rows[i : i + size], rows[j : j + size]
            np.dot(a, b.T, out=out[: len(a), : len(b)] if len(a) == len(b) == size else None)
    return time.perf_counter() - started


def warm_up() -> None:
    """Load or compile all kernels."""
    X, y = mixture(1500, 40, 3)
    spanning_forests(X, n_jobs=THREADS)
    class_forests(X, y, n_jobs=THREADS)
    spanning_forests(X[:, :3], n_jobs=THREADS)


def measure_set(name: str) -> dict[str, float]:
    """Measure one set: ours for one and three trees, the peer's tree, memory, the half pass."""
    import quitefastmst

    quitefastmst.omp_set_num_threads(THREADS)
    X, _ = SETS[name]()
    warm_up()
    quitefastmst.mst_euclid(X[:1000])
    before = memory_mib("VmRSS")
    reset_peak()
    spanning_forests(X, n_trees=3, n_jobs=THREADS)
    record = {"peak_mib": memory_mib("VmHWM") - before}
    ours_1, ours_3, peer = [], [], []
    for _ in range(3):
        ours_1.append(median_seconds(lambda: spanning_forests(X, n_trees=1, n_jobs=THREADS), 1))
        ours_3.append(median_seconds(lambda: spanning_forests(X, n_trees=3, n_jobs=THREADS), 1))
        peer.append(median_seconds(lambda: quitefastmst.mst_euclid(X), 1))
    record |= {"ours_1": np.median(ours_1), "ours_3": np.median(ours_3), "peer": np.median(peer)}
    if len(X) <= MANY_POINTS:
        record["half_pass"] = half_pass(X)
    if X.shape[1] <= 16 and len(X) <= MANY_POINTS:
        record["fast_hdbscan"] = fast_hdbscan_tree(X)
    return {key: float(value) for key, value in record.items()}


def fast_hdbscan_tree(X: np.ndarray) -> float:
    """Time fast_hdbscan's dual-tree Boruvka, one tree; made for few dimensions."""
    from fast_hdbscan.boruvka import parallel_boruvka
    from fast_hdbscan.numba_kdtree import build_kdtree

    def build(points: np.ndarray) -> None:
        tree = build_kdtree(np.ascontiguousarray(points))
        parallel_boruvka(tree, THREADS, min_samples=1, sample_weights=np.zeros(1, np.float32), reproducible=False)

    build(X[:2000])
    return median_seconds(lambda: build(X))


def measure_classes(name: str) -> dict[str, float]:
    """Measure all pairs of classes and the whole set against the whole set alone."""
    X, y = SETS[name]()
    warm_up()
    whole, classes = [], []
    for _ in range(5):
        whole.append(median_seconds(lambda: spanning_forests(X, n_jobs=THREADS), 1))
        classes.append(median_seconds(lambda: class_forests(X, y, n_jobs=THREADS), 1))
    return {"whole": float(np.median(whole)), "classes": float(np.median(classes))}


def measure_growth(d: int, n: int) -> dict[str, float]:
    """Measure one point of the growth curves."""
    X, _ = mixture(n, d, 3)
    warm_up()
    before = memory_mib("VmRSS")
    reset_peak()
    runs = 3 if n <= 30_000 else 1
    three = median_seconds(lambda: spanning_forests(X, n_jobs=THREADS), runs)
    peak = memory_mib("VmHWM")
    return {
        "ours_1": median_seconds(lambda: spanning_forests(X, n_trees=1, n_jobs=THREADS), runs),
        "ours_3": three,
        "peak_mib": peak - before,
        "process_mib": peak,
    }


def measure_mnist() -> dict[str, float]:
    """Measure the 60 000 training digits: all pairs of classes and the whole set, three trees."""
    X, y = stored_set("extra/mnist", 60_000)
    warm_up()
    before = memory_mib("VmRSS")
    reset_peak()
    classes = median_seconds(lambda: class_forests(X, y, n_jobs=THREADS), 1)
    peak = memory_mib("VmHWM") - before
    return {"classes": classes, "peak_mib": peak, "half_pass": half_pass(X)}


def met(value: float, goal: float, at_least: bool) -> str:
    """Mark a ratio that misses its goal."""
    reached = value >= goal if at_least else value <= goal
    return f"{value:.2f}" if reached else f"**{value:.2f}** (goal {goal:g})"


def report_sets(only: str) -> str:
    """Measure the sets and return their table."""
    lines = table_head(
        *("points", "quitefastmst, 1 tree", "ours, 1 tree", "times faster", "ours, 3 trees", "3 trees / 1"),
        *("peak memory", "half pass", "fast_hdbscan, 1 tree"),
    )
    print("\n".join(lines), flush=True)
    for name in SETS:
        if only not in name:
            continue
        got = in_own_process(THIS, "set", name)
        faster, trees = targets(name)
        half, other = (f"{got[key]:.3f} s" if key in got else "" for key in ("half_pass", "fast_hdbscan"))
        row = [name, f"{got['peer']:.3f} s", f"{got['ours_1']:.3f} s", met(got["peer"] / got["ours_1"], faster, True)]
        row += [f"{got['ours_3']:.3f} s", met(got["ours_3"] / got["ours_1"], trees, False)]
        lines.append(table_row([*row, f"{got['peak_mib']:.0f} MiB", half, other]))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def report_classes() -> str:
    """Measure all pairs and return their table."""
    rows = []
    for name in CLASS_SETS:
        got = in_own_process(THIS, "classes", name)
        ratio = met(got["classes"] / got["whole"], 1.6, False)
        rows.append([name, f"{got['whole']:.3f} s", f"{got['classes']:.3f} s", ratio])
        print(*rows[-1], flush=True)
    return as_table(["points", "whole set, 3 trees", "all pairs and the whole set, 3 trees", "ratio"], rows)


def report_growth() -> str:
    """Measure growth with n, plot it, and return its table."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    rows = []
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    for (d, sizes), marker in zip(GROWTH.items(), "os^", strict=True):
        three = []
        for n in sizes:
            got = in_own_process(THIS, "growth", d, n)
            three.append(got["ours_3"])
            times = [f"{got['ours_1']:.3f} s", f"{got['ours_3']:.3f} s", f"{got['ours_3'] / n * 1e6:.1f}"]
            rows.append([d, n, *times, f"{got['peak_mib']:.0f} MiB", f"{got['process_mib']:.0f} MiB"])
            print(*rows[-1], flush=True)
        axes.loglog(sizes, three, marker=marker, label=f"d = {d}")
    axes.set(xlabel="points", ylabel="seconds", title="Three exact spanning trees of a Gaussian mixture, 2 threads")
    axes.grid(True, which="major", alpha=0.4)
    axes.legend()
    figure.savefig(RESULTS / "forests_growth.png", dpi=130)
    heads = ["d", "n", "1 tree", "3 trees", "microseconds per point, 3 trees"]
    return as_table([*heads, "peak memory beyond the input", "process"], rows)


def main() -> None:
    """Measure everything, or one part in this process."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="measure the sets whose name contains this, and print only")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        task, *rest = options.measure
        tasks: dict[str, Callable[[], dict[str, float]]] = {
            "set": lambda: measure_set(rest[0]),
            "classes": lambda: measure_classes(rest[0]),
            "growth": lambda: measure_growth(int(rest[0]), int(rest[1])),
            "mnist": measure_mnist,
        }
        print(json.dumps(tasks[task]()))
        return
    sets = report_sets(options.only)
    if options.only:
        return
    classes = report_classes()
    mnist = in_own_process(THIS, "mnist")
    write_page(
        "forests",
        "# Speed of the spanning-forest engine",
        "Made by `make bench` (`python -m benchmarks.speed.forests`). Medians of three runs after a warm-up, two "
        "threads each, every set in a process of its own; where the machine is shared, ratios say more than seconds. "
        "Figures that miss their goal are in bold.",
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, numba {version('numba')}, "
        f"quitefastmst {version('quitefastmst')}, fast_hdbscan {version('fast_hdbscan')}.",
        "## One and three trees, beside one tree of quitefastmst",
        "Half pass: float32 matrix products over all pairs of rows, each pair once, and nothing else. Peak memory: "
        "beyond the input, three trees.",
        sets,
        "## All pairs of classes and the whole set, against the whole set alone",
        classes,
        "## The 60 000 MNIST training digits",
        f"All 45 pairs and the whole set, three trees: {mnist['classes']:.1f} s, {mnist['peak_mib']:.0f} MiB beyond "
        f"the input. One half pass of float32 products: {mnist['half_pass']:.1f} s. Ratio "
        f"{mnist['classes'] / mnist['half_pass']:.2f} (goal: at most 3).",
        "## How time grows with the number of points",
        "Mixture of ten Gaussians, centres in [-3, 3]^d.",
        report_growth(),
        "![seconds against points](forests_growth.png)",
        notes_of("forests"),
    )


if __name__ == "__main__":
    main()
