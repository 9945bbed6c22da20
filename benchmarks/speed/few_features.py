"""Spanning trees of rows with two to four features: Borůvka's rounds, the sweep and quitefastmst in turns.

    python -m benchmarks.speed.few_features                  everything; writes benchmarks/results/few_features.md
    python -m benchmarks.speed.few_features --only surfaces  the rows whose name has "surfaces" in it, printed only

Every set is measured in a process of its own, two threads each. Ratios are medians over rounds in which all take
turns, of time by the clock and of CPU time; the latter says more where the machine is shared. All edges are compared
with those of the sweep.
"""

from __future__ import annotations

import argparse
import json
import platform
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks.tools.measuring import (
    Timed,
    in_own_process,
    median_ratios,
    median_times,
    peak_mib,
    set_threads,
    timed,
)

THREADS = 2
set_threads(THREADS)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402

from bayesfloor import spanning_forests  # noqa: E402
from bayesfloor.forest import plan  # noqa: E402
from benchmarks.problems.point_sets import SETS, mixture  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import as_table, notes_of, write_page  # noqa: E402
from benchmarks.tools.spanning_peers import ROUNDS, tree_times  # noqa: E402

THIS = "benchmarks.speed.few_features"
# The sets that the settings were chosen on.
DESIGN = [name for name in SETS if name.endswith((" x 2", " x 3"))]
# Sets that were first looked at when all was settled.
HELD_OUT = {
    "uniform 200 000 x 2": lambda: np.random.default_rng(1).random((200_000, 2)),
    "uniform 100 000 x 3": lambda: np.random.default_rng(2).random((100_000, 3)),
    "mixture [-3, 3] 100 000 x 4": lambda: mixture(100_000, 4, 3)[0],
    "Cauchy 100 000 x 2": lambda: np.random.default_rng(3).standard_cauchy((100_000, 2)),
    "lattice with gaps 90 000 x 2": lambda: np.argwhere(np.random.default_rng(4).random((400, 400)) < 0.5625) * 1.0,
}
GROWTH = (100_000, 1_000_000, 10_000_000)


def points_of(name: str) -> np.ndarray:
    """Return the rows of a set."""
    return np.ascontiguousarray(SETS[name]()[0] if name in SETS else HELD_OUT[name]())


def measure_set(name: str) -> dict[str, Any]:
    """Measure a set: one and three trees by rounds and by the sweep, and the peer's."""
    X = points_of(name)

    def ours(n_trees: int, axes: int = 4) -> Any:
        with plan.override(most_axes_of_rounds=axes):
            return spanning_forests(X, n_trees=n_trees, n_jobs=THREADS, device="cpu")

    record: dict[str, Any] = {
        "same": all(
            np.array_equal(getattr(ours(k), field), getattr(ours(k, 0), field))
            for k in (1, 3)
            for field in ("edges", "weights", "tree")
        )
    }
    runs = tree_times(X, THREADS, {"sweep": lambda: ours(1, 0), "sweep_three": lambda: ours(3, 0)})
    record |= {way: median_times(of_way) for way, of_way in runs.items()}
    ratios = {"faster": "peer", "than_sweep": "sweep", "trees": "three"}
    return record | {ratio: median_ratios(runs[way], runs["one"]) for ratio, way in ratios.items()}


def measure_growth(n: int) -> dict[str, Any]:
    """Measure the memory that one tree of a mixture takes beyond the input."""
    X = mixture(n, 2, 3)[0]
    spanning_forests(mixture(3000, 2, 3)[0], n_trees=1, n_jobs=THREADS, device="cpu")
    took: list[Timed] = []
    tree = partial(spanning_forests, X, n_trees=1, n_jobs=THREADS, device="cpu")
    beyond, _ = peak_mib(lambda: took.append(timed(tree)))
    return {"wall": took[0].seconds, "cpu": took[0].cpu_seconds, "bytes": beyond * 2**20 / n}


def report_sets(names: list[str]) -> str:
    """Measure sets and return their table."""
    rows = []
    for name in names:
        got = in_own_process(THIS, "set", name)
        seconds = ["{:.3f} / {:.3f}".format(*got[way]) for way in ("peer", "one", "sweep", "three", "sweep_three")]
        ratios = ["{:.2f} / {:.2f}".format(*got[ratio]) for ratio in ("faster", "than_sweep", "trees")]
        rows.append([name, *seconds, *ratios, "same" if got["same"] else "**differ**"])
        print(*rows[-1], sep=" | ", flush=True)
    heads = ["points", "quitefastmst, 1 tree", "rounds, 1 tree", "sweep, 1 tree", "rounds, 3 trees", "sweep, 3 trees"]
    return as_table([*heads, "times the peer's speed", "times the sweep's", "3 trees / 1", "edges"], rows)


def main() -> None:
    """Measure everything, or one part in this process."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="measure the sets whose name contains this, and print only")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        task, what = options.measure
        print(json.dumps(measure_set(what) if task == "set" else measure_growth(int(what))))
        return
    if options.only:
        report_sets([name for name in (*DESIGN, *HELD_OUT) if options.only in name])
        return
    design, held_out = report_sets(DESIGN), report_sets([*HELD_OUT])
    growth = []
    for n in GROWTH:
        got = in_own_process(THIS, "growth", n)
        growth.append([n, f"{got['wall']:.2f} s", f"{got['cpu']:.2f} s", f"{got['bytes']:.0f}"])
        print(*growth[-1], flush=True)
    write_page(
        "few_features",
        "# Spanning trees of rows with two to four features",
        f"Made by `python -m benchmarks.speed.few_features`. Two threads each, medians of {ROUNDS} rounds in which all "
        "take turns, every set in a process of its own. Pairs of figures are by the clock / in CPU time; the latter "
        "says more where other work shares the cores. Goals: 1.1 times the peer's speed, three trees in 1.5 times the "
        "time of one.",
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, numba {version('numba')}, "
        f"quitefastmst {version('quitefastmst')}.",
        "## Sets that the settings were chosen on",
        design,
        "## Sets that no setting was chosen on",
        held_out,
        "## Memory",
        "One tree of a mixture of ten Gaussians in 2 dimensions, one run each; memory at its peak, beyond the input.",
        as_table(["n", "by the clock", "CPU time", "bytes per row"], growth),
        notes_of("few_features"),
    )


if __name__ == "__main__":
    main()
