"""The paper's Chess figure: floors of all classes beside the errors of classifiers, and what two components keep.

White has king and rook, Black a king; the class is the number of moves to mate, from zero to sixteen, or a draw (UCI
krkopt, "kr-vs-k": 28056 positions, 34 dummies, 18 classes). Of 70% of the rows come the one-vs-rest floors, of
the rest the confusion rate C_k of each class, for GenSVM as in the paper and for a kernel SVM. Then the same on two
principal components, which the paper calls nearly as good.

    python -m benchmarks.real.chess                       # a few minutes on two cores
    python -m benchmarks.real.chess --rows 3000 --out pictures

prints tables and rank correlations, and writes chess.png where matplotlib is installed. The data is read from
$BAYESFLOOR_DATA, or from shared/data beside the repository. docs/pictures.md says what came of it.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor import one_vs_rest_bayes_error
from bayesfloor.display import ClassFloorsDisplay
from bayesfloor.floor.trees.henze_penrose import confusion_rate
from bayesfloor.results import OneVsRestBayesError
from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.study.joint.gensvm_cv import GenSVCCV
from benchmarks.tools.command_line import parser_of

#: Classes with fewer rows than this, which only few rows leave over, cannot be split and cross-validated.
SMALLEST_CLASS = 10

Floats = NDArray[np.float64]
Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one representation of the positions gives.

    Attributes
    ----------
    name : str
        The representation.
    floors, uncorrected : OneVsRestBayesError
        The floors of the training rows, with the bias correction and without.
    y_test : ndarray
        Labels of the test rows.
    predictions : dict of ndarray
        What each classifier takes them for.
    """

    name: str
    floors: OneVsRestBayesError
    uncorrected: OneVsRestBayesError
    y_test: Labels
    predictions: dict[str, Labels]

    @property
    def share(self) -> Floats:
        """Share of each class among the training rows: the highest that its floor can be."""
        counts = self.floors.class_counts
        return counts / counts.sum()

    @property
    def n_at_most(self) -> int:
        """Number of classes whose floor is the highest that it can be."""
        return int(np.isclose(self.floors.normalized, 1.0).sum())

    def error(self, classifier: str) -> float:
        """Return the share of test rows that a classifier gets wrong."""
        return float(np.mean(self.predictions[classifier] != self.y_test))

    def confusion(self, classifier: str) -> Floats:
        """Return the confusion rate of each class."""
        predicted = self.predictions[classifier]
        return np.array([confusion_rate(self.y_test, predicted, label) for label in self.floors.classes])


def classifiers() -> dict[str, Any]:
    """Return the paper's classifier, with a part of the paper's grid, and one that is not linear."""
    grid = {"p": [1.0, 2.0], "kappa": [0.5], "lmd": [2.0**-8, 2.0**-13, 2.0**-18]}
    return {"GenSVM": GenSVCCV(grid, cv=3), "kernel SVM": make_pipeline(StandardScaler(), SVC(C=10.0))}


def study(X: Floats, y: Labels) -> list[Outcome]:
    """Split the rows, estimate floors on one part and test classifiers on the other: all features, then two of PCA."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    components = PCA(2, random_state=0).fit(X_train)
    representations = {
        f"all {X.shape[1]} features": (X_train, X_test),
        "2 principal components": (components.transform(X_train), components.transform(X_test)),
    }
    return [
        Outcome(
            name=name,
            floors=one_vs_rest_bayes_error(train, y_train),
            uncorrected=one_vs_rest_bayes_error(train, y_train, bias_correction=False),
            y_test=y_test,
            predictions={kind: each.fit(train, y_train).predict(test) for kind, each in classifiers().items()},
        )
        for name, (train, test) in representations.items()
    ]


def print_tables(outcomes: Sequence[Outcome], names: Sequence[str]) -> None:
    """Print floors and confusion rates of all classes, and how they are related."""
    for outcome in outcomes:
        print(f"\n{outcome.name}, in percent of rows")
        print(f"{'class':>10} {'rows':>6} {'share':>7} {'floor':>7} {'interval':>15}", end="")
        print("".join(f"{'C_k ' + kind:>16}" for kind in outcome.predictions), f"{'uncorrected':>12}")
        confusion = [outcome.confusion(kind) for kind in outcome.predictions]
        floors = outcome.floors
        for k, label in enumerate(floors.classes):
            low, high = 100 * floors.interval[k]
            print(
                f"{names[label]:>10} {floors.class_counts[k]:6d} {100 * outcome.share[k]:7.2f} "
                f"{100 * floors.estimate[k]:7.2f} {low:6.2f} to {high:5.2f}"
                + "".join(f"{100 * rates[k]:16.2f}" for rates in confusion)
                + f" {100 * outcome.uncorrected.estimate[k]:12.2f}"
            )
        print(f"floors at their highest, the share: {outcome.n_at_most} of {len(floors.classes)} classes")
        for kind, rates in zip(outcome.predictions, confusion, strict=True):
            relative = spearmanr(floors.normalized, rates / outcome.share).statistic
            print(
                f"{kind}: error {outcome.error(kind):.3f}, C_k below the floor for {np.sum(rates < floors.estimate)} "
                f"classes; rank correlation of C_k with the floor {spearmanr(floors.estimate, rates).statistic:.3f}, "
                f"with the share {spearmanr(outcome.share, rates).statistic:.3f}, of both over the share {relative:.3f}"
            )


def draw(outcomes: Sequence[Outcome], names: Sequence[str], path: Path) -> None:
    """Draw floors beside confusion rates: both classifiers on all features, and GenSVM on two components."""
    from matplotlib.figure import Figure

    panels = [(outcomes[0], "GenSVM"), (outcomes[0], "kernel SVM"), (outcomes[1], "GenSVM")]
    classes = outcomes[0].floors.classes
    figure = Figure(figsize=(11, 1.2 + 0.25 * len(classes)), layout="constrained")
    row_of_axes = figure.subplots(1, len(panels), sharex=True, gridspec_kw={"wspace": 0.05})
    for (outcome, kind), ax in zip(panels, row_of_axes, strict=True):
        display = ClassFloorsDisplay(
            outcome.floors.estimate,
            [names[label] for label in classes],
            interval=outcome.floors.interval,
            confidence=outcome.floors.confidence,
            confusion=outcome.confusion(kind),
        )
        display.plot(ax, order="name")
        bars = {"marker": "|", "markersize": 13, "markeredgewidth": 1.2, "color": "black", "linestyle": "none"}
        ax.plot(outcome.share, range(len(classes)), zorder=1.5, label="share of the class, the highest floor", **bars)
        ax.set_title(f"{kind}, {outcome.name}", fontsize=10)
        ax.tick_params(labelleft=ax.get_subplotspec().is_first_col())
        handles, labels = ax.get_legend_handles_labels()
        ax.get_legend().remove()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, print the tables, write the picture."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, help="use only so many rows, for a quick look")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the picture")
    options = parser.parse_args(arguments)
    table = stored_arrays("paper/kr-vs-k")
    X, y, names = table["X"].astype(np.float64), table["y"], table["classes"].tolist()
    if options.rows is not None:
        chosen = np.random.default_rng(0).permutation(len(y))[: options.rows]
        kept = chosen[np.bincount(y[chosen], minlength=len(names))[y[chosen]] >= SMALLEST_CLASS]
        X, y = X[kept], y[kept]
    outcomes = study(X, y)
    print(f"chess: {len(y)} positions, 70% for the floors and to train on, 30% to test")
    print_tables(outcomes, names)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        draw(outcomes, names, options.out / "chess.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


if __name__ == "__main__":
    main()
