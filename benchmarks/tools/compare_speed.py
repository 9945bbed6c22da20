"""Are two versions of the package equally fast? Both take turns in one sitting, each in a process of its own.

    python -m benchmarks.tools.compare_speed OLD/src NEW/src
    python -m benchmarks.tools.compare_speed OLD/src NEW/src --only letter --rounds 9
    python -m benchmarks.tools.compare_speed OLD/src NEW/src --tables FOLDER/*.csv      reports of tables instead

Each round runs a task in the one version, then in the other, on two threads. A row has the medians over the rounds and
the median of the ratios new / old, round by round, so that slow drifts of a shared machine cancel. Tables are those of
`benchmarks.real.tables`; problems/real_tables.json has their targets. Of a report, what the stack reached is shown too:
the errors of both versions, and the difference in standard errors.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems.point_sets import SETS
from benchmarks.problems.real_tables import SPECS
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import Version, serve, timed
from benchmarks.tools.pages import table_head, table_row

THREADS = 2
CLASS_SETS = ("pendigits 10 992 x 16", "letter 20 000 x 16", "first 10 000 MNIST digits x 784")


def tasks() -> dict[str, Callable[[], Callable[[], object]]]:
    """Return what is timed, by name; each entry loads its data and returns the work."""
    from sklearn.datasets import load_wine
    from sklearn.ensemble import HistGradientBoostingClassifier

    import bayesfloor as bf

    def forests(X: Any) -> Callable[[], object]:
        return lambda: bf.spanning_forests(X, n_jobs=THREADS)

    def classes(X: Any, y: Any) -> Callable[[], object]:
        return lambda: bf.class_forests(X, y, n_jobs=THREADS)

    def floor(X: Any, y: Any) -> Callable[[], object]:
        return lambda: bf.learned_floor(X, y, n_jobs=THREADS)

    def fit(make: Callable[[], Any], X: Any, y: Any) -> Callable[[], object]:
        return lambda: make().fit(X, y)

    named: dict[str, Callable[[], Callable[[], object]]] = {
        f"forests: {name}": lambda load=load: forests(load()[0]) for name, load in SETS.items()
    }
    for name in CLASS_SETS:
        named[f"classes: {name}"] = lambda load=SETS[name]: classes(*load())
    named["classes: satimage"] = lambda: classes(*stored_set("paper/satimage", standardize=True))
    named["learned_floor: segment"] = lambda: floor(*stored_set("paper/segment", standardize=True))
    sets = {
        "wine": lambda: load_wine(return_X_y=True),
        "2000 x 20 x 4": lambda: gaussian_classes(2000, 20, 4),
        "10 000 x 64 x 4": lambda: gaussian_classes(10_000, 64, 4),
        "nursery": partial(stored_set, "paper/nursery"),
        "fars, 10 000 rows": partial(stored_set, "paper/fars", 10_000),
    }
    for name, load in sets.items():
        named[f"learned_floor: {name}"] = lambda load=load: floor(*load())
        named[f"one fit of HistGradientBoosting: {name}"] = lambda load=load: fit(
            HistGradientBoostingClassifier, *load()
        )
    named["report: wine"] = lambda: lambda: bf.difficulty_report(*load_wine(return_X_y=True), n_jobs=THREADS).to_html()
    classifiers = {
        "SmartSVC": lambda: bf.SmartSVC(n_jobs=THREADS),
        "LinearSVCCV": lambda: bf.LinearSVCCV(n_jobs=THREADS),
        "OneVsOneSVC": lambda: bf.OneVsOneSVC(n_jobs=THREADS),
    }
    for name in ("segment", "satimage", "pendigits"):
        load = partial(stored_set, f"paper/{name}", standardize=True)
        for kind, make in classifiers.items():
            named[f"fit {kind}: {name}"] = lambda make=make, load=load: fit(make, *load())
    return named


def report_of(file: Path) -> Callable[[], list[float]]:
    """Return the work of a report on a table, which gives what was reached and its standard error."""
    import bayesfloor as bf

    def work() -> list[float]:
        report = bf.difficulty_report(file, SPECS["tables"][file.stem]["target"], n_jobs=THREADS)
        report.to_html()
        low, high = report.learned.reached_interval
        return [report.learned.reached, (high - low) / 4.0]

    return work


def gaussian_classes(n: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Return rows of classes that overlap."""
    rng = np.random.default_rng(0)
    means, y = 0.5 * rng.standard_normal((n_classes, n_features)), rng.integers(0, n_classes, n)
    return means[y] + rng.standard_normal((n, n_features)), y


class Asked:
    """What a version is asked for: the seconds of a task, by the clock and of the processor."""

    def __init__(self) -> None:
        self.name = ""
        self.work: Callable[[], Any] = lambda: None

    def __call__(self, name: str) -> list[float]:
        """Time a task, and return what came of a report; one that was not the last is loaded and run once before."""
        is_report = name.endswith(".csv")
        if name != self.name:
            self.name, self.work = name, report_of(Path(name)) if is_report else tasks()[name]()
            self.work()  # compiled, and in the cache
        seconds, of_processor, result = timed(self.work)
        return [seconds, of_processor, *(result if is_report else ())]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--tables", nargs="+", type=Path, default=[], help="CSV files to report on")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(Asked())
        return
    versions = [Version(source.resolve(), "benchmarks.tools.compare_speed", THREADS) for source in arguments.sources]
    reports = [str(file.resolve()) for file in arguments.tables]
    head = ["old s", "new s", "new / old, wall", "old CPU s", "new CPU s", "new / old, CPU"]
    head += ["old error", "new error", "rise, standard errors"] if reports else []
    print(*table_head("task", *head), sep="\n")
    for name in reports or [name for name in tasks() if arguments.only in name]:
        taken = np.array([[version.ask(name) for version in versions] for _ in range(arguments.rounds)])
        middle = np.median(taken, axis=0)
        ratio = np.median(taken[:, 1] / taken[:, 0], axis=0)
        figures = [
            text for kind in (0, 1) for text in (*(f"{each:.3f}" for each in middle[:, kind]), f"{ratio[kind]:.2f}")
        ]
        if reports:
            name, ((old, error), (new, _)) = f"report: {Path(name).stem}", middle[:, 2:]
            figures += [f"{old:.4f}", f"{new:.4f}", f"{(new - old) / error:+.2f}" if error > 0 else ""]
        print(table_row([name, *figures]), flush=True)
    for version in versions:
        version.close()


if __name__ == "__main__":
    main()
