"""Speed of the spanning-forest engine, beside peers, as ratios from one run.

    make bench                                   what is not recorded yet; writes results/forests.md and a plot
    python -m benchmarks.speed.forests --only letter   what has "letter" in its name, printed only

Every set is measured in a process of its own, so that its peak memory can be read off, and recorded in
results/forests.jsonl. Within it, ours and the peer's take turns; figures are medians of some rounds after a warm-up, on
two threads each, by the clock and in CPU time.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from benchmarks.tools.measuring import (
    in_own_process,
    in_turns,
    median_ratios,
    median_seconds,
    median_times,
    peak_mib,
    set_threads,
)

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from bayesfloor import class_forests, spanning_forests  # noqa: E402
from benchmarks.problems.point_sets import SETS, mixture, targets  # noqa: E402
from benchmarks.problems.stored_sets import stored_set  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page  # noqa: E402
from benchmarks.tools.records import append_record, read_records  # noqa: E402
from benchmarks.tools.spanning_peers import fast_hdbscan_seconds, half_pass_seconds, tree_times  # noqa: E402

THIS = "benchmarks.speed.forests"
RECORDS = RESULTS / "forests.jsonl"
# "auto" would load torch to look for a device.
HOW: dict[str, Any] = {"n_jobs": THREADS, "device": "cpu"}
CLASS_SETS = ("pendigits 10 992 x 16", "letter 20 000 x 16", "first 10 000 MNIST digits x 784")
# What all pairs and the whole set may take beside the whole set alone, and rounds in which both take turns.
PAIRS_GOAL, PAIRS_ROUNDS = 1.5, 9
GROWTH = {
    2: (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    8: (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    64: (1_000, 3_000, 10_000, 30_000, 50_000),
}
# Points beyond which the half pass would take minutes, and fast_hdbscan as well.
MANY_POINTS = 200_000

Record = dict[str, Any]


def warm_up() -> None:
    """Load or compile all kernels."""
    X, y = mixture(1500, 40, 3)
    for points in (X, X[:, :16], X[:, :3]):
        spanning_forests(points, **HOW)
        class_forests(points, y, **HOW)


def measure_set(name: str) -> Record:
    """Measure one set: ours for one and three trees, the peer's tree, memory, the half pass."""
    X, _ = SETS[name]()
    warm_up()
    record: Record = {"peak_mib": peak_mib(lambda: spanning_forests(X, n_trees=3, **HOW))[0]}
    runs = tree_times(X, THREADS)
    record |= {way: median_times(of_way) for way, of_way in runs.items()}
    record["faster"], record["trees"] = (median_ratios(runs[a], runs["one"]) for a in ("peer", "three"))
    if len(X) <= MANY_POINTS:
        record["half_pass"] = half_pass_seconds(X)
    if X.shape[1] <= 16 and len(X) <= MANY_POINTS:
        record["fast_hdbscan"] = fast_hdbscan_seconds(X, THREADS)
    return record


def measure_classes(name: str) -> Record:
    """Measure all pairs of classes and the whole set against the whole set alone."""
    X, y = SETS[name]()
    warm_up()
    ways: dict[str, Callable[[], Any]] = {
        "whole": lambda: spanning_forests(X, **HOW),
        "classes": lambda: class_forests(X, y, **HOW),
    }
    in_turns(ways, 1)
    runs = in_turns(ways, PAIRS_ROUNDS)
    record: Record = {way: median_times(of_way) for way, of_way in runs.items()}
    return record | {"ratio": median_ratios(runs["classes"], runs["whole"])}


def measure_growth(d: int, n: int) -> Record:
    """Measure one point of the growth curves."""
    X, _ = mixture(n, d, 3)
    warm_up()
    runs = 3 if n <= 30_000 else 1
    seconds: list[float] = []

    def three_trees() -> None:
        seconds.append(median_seconds(lambda: spanning_forests(X, **HOW), runs))

    beyond, process = peak_mib(three_trees)
    one = median_seconds(lambda: spanning_forests(X, n_trees=1, **HOW), runs)
    return {"ours_1": one, "ours_3": seconds[0], "peak_mib": beyond, "process_mib": process}


def measure_mnist() -> Record:
    """Measure the 60 000 training digits: all pairs of classes and the whole set, three trees."""
    X, y = stored_set("extra/mnist", 60_000)
    warm_up()
    seconds: list[float] = []
    beyond, _ = peak_mib(lambda: seconds.append(median_seconds(lambda: class_forests(X, y, **HOW), 1)))
    return {"classes": seconds[0], "peak_mib": beyond, "half_pass": half_pass_seconds(X)}


MEASURES: dict[str, Callable[..., Record]] = {
    "set": measure_set,
    "classes": measure_classes,
    "growth": lambda d, n: measure_growth(int(d), int(n)),
    "mnist": lambda: measure_mnist(),
}


def all_tasks() -> list[tuple[str, ...]]:
    """Return what is measured: the name of a measure, and its arguments."""
    growth = [("growth", str(d), str(n)) for d, sizes in GROWTH.items() for n in sizes]
    return [*(("set", name) for name in SETS), *(("classes", name) for name in CLASS_SETS), ("mnist",), *growth]


def met(value: float, goal: float, at_least: bool) -> str:
    """Mark a ratio that misses its goal."""
    reached = value >= goal if at_least else value <= goal
    return f"{value:.2f}" if reached else f"**{value:.2f}** (goal {goal:g})"


def set_table(records: dict[tuple[str, ...], Record]) -> str:
    """Return the table of the sets."""
    rows = []
    for name in SETS:
        got, (faster, trees) = records["set", name], targets(name)
        half, other = (f"{got[key]:.3f} s" if key in got else "" for key in ("half_pass", "fast_hdbscan"))
        row = [name, *(f"{got[way][0]:.3f} s" for way in ("peer", "one")), met(got["faster"][0], faster, True)]
        row += [f"{got['three'][0]:.3f} s", met(got["trees"][0], trees, False), f"{got['trees'][1]:.2f}"]
        rows.append([*row, f"{got['peak_mib']:.0f} MiB", half, other])
    heads = ["points", "quitefastmst, 1 tree", "ours, 1 tree", "times faster", "ours, 3 trees", "3 trees / 1"]
    return as_table([*heads, "in CPU time", "peak memory", "half pass", "fast_hdbscan, 1 tree"], rows)


def class_table(records: dict[tuple[str, ...], Record]) -> str:
    """Return the table of all pairs of classes."""
    rows = []
    for name in CLASS_SETS:
        got = records["classes", name]
        seconds = [f"{wall:.3f} s ({cpu:.3f} s)" for wall, cpu in (got["whole"], got["classes"])]
        rows.append([name, *seconds, met(got["ratio"][0], PAIRS_GOAL, False), f"{got['ratio'][1]:.2f}"])
    heads = ["points", "whole set, 3 trees (CPU)", "all pairs and the whole set, 3 trees (CPU)"]
    return as_table([*heads, "ratio by the clock", "in CPU time"], rows)


def growth_table(records: dict[tuple[str, ...], Record]) -> str:
    """Plot how time grows with n, and return its table."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    rows = []
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    for (d, sizes), marker in zip(GROWTH.items(), "os^", strict=True):
        of_sizes = [records["growth", str(d), str(n)] for n in sizes]
        for n, got in zip(sizes, of_sizes, strict=True):
            times = [f"{got['ours_1']:.3f} s", f"{got['ours_3']:.3f} s", f"{got['ours_3'] / n * 1e6:.1f}"]
            rows.append([d, n, *times, f"{got['peak_mib']:.0f} MiB", f"{got['process_mib']:.0f} MiB"])
        axes.loglog(sizes, [got["ours_3"] for got in of_sizes], marker=marker, label=f"d = {d}")
    axes.set(xlabel="points", ylabel="seconds", title="Three exact spanning trees of a Gaussian mixture, 2 threads")
    axes.grid(True, which="major", alpha=0.4)
    axes.legend()
    figure.savefig(RESULTS / "forests_growth.png", dpi=130)
    heads = ["d", "n", "1 tree", "3 trees", "microseconds per point, 3 trees"]
    return as_table([*heads, "peak memory beyond the input", "process"], rows)


def main() -> None:
    """Measure what is not recorded and write the page, or measure one part in this process."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="measure what has this in its name, and print only")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        task, *rest = options.measure
        print(json.dumps(MEASURES[task](*rest)))
        return
    if options.only:
        for task in all_tasks():
            if options.only in " ".join(task):
                print(*task, in_own_process(THIS, *task), flush=True)
        return
    known = {tuple(record["task"]) for record in read_records(RECORDS)}
    for task in all_tasks():
        if task not in known:
            append_record(RECORDS, {"task": task, **in_own_process(THIS, *task)})
            print(*task, flush=True)
    records = {tuple(record["task"]): record for record in read_records(RECORDS)}
    mnist = records["mnist",]
    write_page(
        "forests",
        "# Speed of the spanning-forest engine",
        "Made by `make bench` (`python -m benchmarks.speed.forests`). Medians of three rounds after a warm-up, in "
        f"which ours and the peer's take turns ({PAIRS_ROUNDS} rounds for pairs of classes), two threads each, every "
        "set in a process of its own. Where other work shares the cores, ratios say more than seconds, and CPU time "
        "more than the clock. Figures that miss their goal are in bold.",
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, numba {version('numba')}, "
        f"quitefastmst {version('quitefastmst')}, fast_hdbscan {version('fast_hdbscan')}.",
        "## One and three trees, beside one tree of quitefastmst",
        "Half pass: float32 matrix products over all pairs of rows, each pair once, and nothing else. Peak memory: "
        "beyond the input, three trees.",
        set_table(records),
        "## All pairs of classes and the whole set, against the whole set alone",
        class_table(records),
        "## The 60 000 MNIST training digits",
        f"All 45 pairs and the whole set, three trees: {mnist['classes']:.1f} s, {mnist['peak_mib']:.0f} MiB beyond "
        f"the input. One half pass of float32 products: {mnist['half_pass']:.1f} s. Ratio "
        f"{mnist['classes'] / mnist['half_pass']:.2f} (goal: at most 3).",
        "## How time grows with the number of points",
        "Mixture of ten Gaussians, centres in [-3, 3]^d.",
        growth_table(records),
        "![seconds against points](forests_growth.png)",
        notes_of("forests"),
    )


if __name__ == "__main__":
    main()
