"""Do weights from the floors help a linear classifier on imbalanced classes?

Five-fold balanced accuracy of LinearSVC on five sets, with no class weights, with "balanced" ones, and with those of
`bayes_class_weight`, which are computed from the training rows of each fold. The sets are those of the paper with the
largest ratio between their largest and smallest class, without the two wine sets' leak and leaving out fars for its
size.

    python -m benchmarks.real.class_weights                       # all five sets, some minutes
    python -m benchmarks.real.class_weights pageblocks abalone

Reads the sets from $BAYESFLOOR_DATA, or from shared/data beside the repository, and writes class_weights.csv and, where
matplotlib is installed, class_weights.png. docs/choose.md says what to make of them.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bayesfloor import bayes_class_weight
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import table_head, table_row

SETS = {
    "shuttle": "paper/shuttle",
    "pageblocks": "paper/pageblocks",
    "kr-vs-k": "paper/kr-vs-k",
    "wine_white": "extra/wine_white_noleak",
    "abalone": "paper/abalone",
}
WEIGHTINGS: dict[str, Any] = {
    "none": None,
    "balanced": "balanced",
    "by classes": {"basis": "classes"},
    "by classes, strength 3": {"basis": "classes", "strength": 3.0},
    "by pairs": {"basis": "pairs"},
}

Row = dict[str, Any]


def measure(name: str, X: NDArray[np.float64], y: NDArray[Any], n_folds: int = 5, seed: int = 0) -> list[Row]:
    """Return one row per weighting: mean scores over the folds, and how far they are above those of "balanced"."""
    scores: dict[str, list[tuple[float, float]]] = {weighting: [] for weighting in WEIGHTINGS}
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        seen, unseen = scaler.transform(X[train]), scaler.transform(X[test])
        for weighting, option in WEIGHTINGS.items():
            weights = bayes_class_weight(seen, y[train], **option) if isinstance(option, dict) else option
            classifier = LinearSVC(dual=False, tol=1e-3, class_weight=weights).fit(seen, y[train])
            predicted = classifier.predict(unseen)
            scores[weighting].append((balanced_accuracy_score(y[test], predicted), accuracy_score(y[test], predicted)))
    counts = np.unique(y, return_counts=True)[1]
    rows = []
    for weighting, by_fold in scores.items():
        balanced_accuracy, accuracy = np.array(by_fold).T
        gain = balanced_accuracy - np.array(scores["balanced"])[:, 0]
        rows.append(
            {
                "set": name,
                "rows": len(y),
                "classes": len(counts),
                "ratio": float(counts.max() / counts.min()),
                "weights": weighting,
                "balanced_accuracy": float(balanced_accuracy.mean()),
                "accuracy": float(accuracy.mean()),
                "gain": float(gain.mean()),
                "gain_error": float(gain.std(ddof=1) / np.sqrt(n_folds)),
            }
        )
    return rows


def plot(rows: list[Row], path: Path) -> None:
    """Draw one row per set, with a mark for each weighting."""
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure = Figure(figsize=(7, 1.0 + 0.65 * len(sets)), layout="constrained")
    axes = figure.subplots()
    colours = {"none": "#7f7f7f", "balanced": "black"} | dict.fromkeys(list(WEIGHTINGS)[2:], "#0072b2")
    marks = dict(zip(WEIGHTINGS, "sDo^v", strict=True))
    offsets = dict(zip(WEIGHTINGS, np.linspace(-0.24, 0.24, len(WEIGHTINGS)), strict=True))
    for weighting in WEIGHTINGS:
        own = [row for row in rows if row["weights"] == weighting]
        axes.plot(
            [row["balanced_accuracy"] for row in own],
            [sets.index(row["set"]) + offsets[weighting] for row in own],
            linestyle="none",
            marker=marks[weighting],
            markersize=5,
            color=colours[weighting],
            label=weighting,
        )
    axes.set_yticks(range(len(sets)), sets)
    axes.invert_yaxis()
    axes.set(xlabel="balanced accuracy of LinearSVC, five folds", xlim=(0, 1))
    for place in range(1, len(sets)):
        axes.axhline(place - 0.5, color="#d9d9d9", linewidth=0.8)
    axes.legend(title="class weights", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)


def write(rows: list[Row], folder: Path) -> None:
    """Write the table and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "class_weights.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    try:
        plot(rows, folder / "class_weights.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write table and picture."""
    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"any of {', '.join(SETS)}; all by default")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the two files")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.sets if name not in SETS]
    if unknown:
        parser.error(f"unknown set {unknown[0]!r}; choose from {', '.join(SETS)}")
    rows: list[Row] = []
    print(*table_head("set", "weights", "balanced accuracy", "above balanced", "accuracy"), sep="\n")
    for name in options.sets or SETS:
        seconds, _, own = timed(lambda name=name: measure(name, *stored_set(SETS[name])))
        for row in own:
            gain = f"{row['gain']:+.3f} ± {row['gain_error']:.3f}"
            cells = [name, row["weights"], f"{row['balanced_accuracy']:.3f}", gain, f"{row['accuracy']:.3f}"]
            print(table_row(cells), flush=True)
        print(f"{name}: {seconds:.0f} s", file=sys.stderr)
        rows += own
    write(rows, options.output)


if __name__ == "__main__":
    main()
