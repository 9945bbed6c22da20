"""The floor of real data sets beside what good classifiers reach.

For each of the paper's sixteen sets (the two wine sets also without their leak, and without copies): the whole-problem
floor with its bounds and interval, from all rows, standardised; and the error of three classifiers on a stratified 30%
of the rows, trained on the rest. On the largest sets the kernel machine is trained on fewer rows; the table says so.

    python -m benchmarks.real.floor_real [SET ...]

Reads the data sets from $BAYESFLOOR_DATA, or from shared/data beside the repository, and writes
benchmarks/results/floor_real.md. Takes about half an hour on two cores, most of it for fars. docs/floor.md says what to
make of the table.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor.floor import BayesError, bayes_error
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import table_head, table_row, write_page

SETS = [
    *(f"paper/{name}" for name in ("abalone", "fars", "flare", "kr-vs-k", "letter", "nursery", "optdigits")),
    *(f"paper/{name}" for name in ("pageblocks", "pendigits", "satimage", "segment", "shuttle", "texture")),
    *("paper/wine_red", "extra/wine_red_noleak", "extra/wine_red_noleak distinct"),
    *("paper/wine_white", "extra/wine_white_noleak", "extra/wine_white_noleak distinct", "paper/yeast"),
]

#: Training rows beyond which a kernel machine takes hours, and how many it gets instead.
LARGEST_FOR_SVC, ROWS_FOR_SVC = 30_000, 10_000

CLASSIFIERS: dict[str, Any] = {
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "extra trees": ExtraTreesClassifier(200, random_state=0),
    "RBF SVM": make_pipeline(StandardScaler(), SVC(C=10.0)),
}


@dataclass(frozen=True, eq=False)
class Measured:
    """One line of the table."""

    name: str
    n_features: int
    floor: BayesError
    first_tree: BayesError
    errors: dict[str, float]
    n_test: int
    svc_rows: int | None  # None for all training rows

    @property
    def best(self) -> str:
        """The classifier with the lowest error."""
        return min(self.errors, key=lambda kind: self.errors[kind])

    @property
    def verdict(self) -> str:
        """Whether the estimate, or even the lower bound, is above what a classifier reached."""
        reached = self.errors[self.best]
        if self.floor.lower > reached:
            return "**lower bound above**"
        return "**floor above**" if self.floor.estimate > reached else ""

    @property
    def is_beyond_luck(self) -> bool:
        """Whether the estimate is more than two standard errors above the lowest test error."""
        reached = self.errors[self.best]
        return self.floor.estimate > reached + 2.0 * np.sqrt(reached * (1.0 - reached) / self.n_test)

    def line(self) -> str:
        """Return the line in Markdown."""
        floor = self.floor
        cells = [f"{error:.3f}" for error in self.errors.values()]
        if self.svc_rows is not None:
            cells[-1] += f" ({self.svc_rows} rows)"
        interval, bounds = (f"{low:.3f} to {high:.3f}" for low, high in (floor.interval, (floor.lower, floor.upper)))
        row = [self.name, floor.n_samples, self.n_features, floor.n_classes, f"{floor.estimate:.3f}", interval, bounds]
        codes = " ".join(finding.code for finding in floor.findings)
        return table_row([*row, f"{self.first_tree.estimate:.3f}", *cells, self.verdict, codes])


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a set; "... distinct" keeps one of each group of rows with equal features and label."""
    file, _, distinct = name.partition(" ")
    X, y = stored_set(file)
    if distinct:
        kept = np.sort(np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1])
        X, y = X[kept], y[kept]
    return X, y


def measure(name: str) -> Measured:
    """Estimate the floor of a set and train all classifiers on it."""
    X, y = load(name)
    scaled = StandardScaler().fit_transform(X)
    floor = bayes_error(scaled, y)
    first_tree = bayes_error(scaled, y, n_trees=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    svc_rows = ROWS_FOR_SVC if len(X_train) > LARGEST_FOR_SVC else None
    errors = {}
    for kind, classifier in CLASSIFIERS.items():
        own_X, own_y = X_train, y_train
        if kind == "RBF SVM" and svc_rows is not None:
            own_X, _, own_y, _ = train_test_split(
                X_train, y_train, train_size=svc_rows, stratify=y_train, random_state=0
            )
        seconds, _, fitted = timed(lambda make=classifier, X=own_X, y=own_y: make.fit(X, y))
        errors[kind] = 1 - fitted.score(X_test, y_test)
        print(f"  {name} {kind}: {errors[kind]:.4f} in {seconds:.0f} s", file=sys.stderr, flush=True)
    return Measured(name.split("/")[1], X.shape[1], floor, first_tree, errors, len(X_test), svc_rows)


def summary(table: list[Measured]) -> str:
    """Say plainly where the estimate is above what a classifier reached."""
    above = [each for each in table if each.verdict]
    beyond = [each for each in above if each.floor.lower > each.errors[each.best]]
    doubtful = [each for each in above if not each.is_beyond_luck]
    below = [each for each in table if not each.verdict]

    def names(some: list[Measured]) -> str:
        return ", ".join(each.name for each in some) or "none"

    return (
        f"**On {len(above)} of these {len(table)} rows the estimate is above the lowest of the three errors, and on "
        f"{len(beyond)} of them the lower bound is above it too** ({names(beyond)}). There the estimate is not the "
        "floor, it is too high: only luck in the split takes a classifier below the Bayes error. Luck would do on "
        f"{names(doubtful)}, where the difference is less than two standard errors of the test error; on the other "
        f"{len(above) - len(doubtful)} it would not. The estimate is below the lowest error on {names(below)}. "
        "Neighbours at a distance differ more often than neighbours at none, rules over categories change where "
        "distance sees least, and a leak is one feature of many to a distance: [docs/floor.md](../../docs/floor.md) "
        "has what was measured about these reasons, set by set."
    )


def main() -> None:
    """Measure the sets named, or all of them and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    sets = parser.parse_args().sets
    lines = table_head(
        *("set", "rows", "features", "classes", "floor", "95% interval", "bounds", "floor, 1 tree"),
        *(*CLASSIFIERS, "against the best", "findings"),
    )
    print("\n".join(lines))
    table = []
    for name in sets or SETS:
        table.append(measure(name))
        lines.append(table[-1].line())
        print(lines[-1], flush=True)
    print(summary(table))
    if not sets:
        write_page(
            "floor_real",
            "# Floors beside classifiers",
            "`python -m benchmarks.real.floor_real`. Floor, interval and bounds of the whole problem, all rows, "
            "standardised; three trees, forced edges dropped. Error of three classifiers on a stratified 30% of the "
            "rows, one split. Where the RBF SVM was trained on fewer rows than the others, their number is given.",
            "\n".join(lines),
            summary(table),
        )


if __name__ == "__main__":
    main()
