"""The paper's MNIST figure: which digits are hard to tell apart, and which a classifier confuses.

The floor of each of the 45 pairs of digits comes from the 60000 training images alone. Beside it stands what
classifiers confuse on the 10000 test images: of all images of two digits, the share that was taken for the other one.
Extra trees look at one pixel at a time; nearest neighbours on 50 principal components see distances, as the floor does.

    python -m benchmarks.real.mnist                       # a few minutes on two cores
    python -m benchmarks.real.mnist --rows 5000 --out pictures

prints all pairs and the rank correlations, and writes mnist.png where matplotlib is installed. The data is read from
$BAYESFLOOR_DATA, or from shared/data beside the repository. docs/pictures.md says what came of it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, spearmanr
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from bayesfloor import pairwise_bayes_error
from bayesfloor.display import PairwiseHeatmapDisplay
from bayesfloor.results import PairwiseBayesError
from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.tools.command_line import parser_of

#: Pairs to look up: three that should be hard, and two that should be easy.
NAMED = ((4, 9), (3, 5), (7, 9), (0, 1), (6, 7))

Floats = NDArray[np.float64]
Labels = NDArray[Any]


def classifiers() -> dict[str, Any]:
    """Return the classifiers, the one to draw first."""
    return {
        "extra trees": ExtraTreesClassifier(100, n_jobs=-1, random_state=0),
        "nearest neighbours": make_pipeline(PCA(50, random_state=0), KNeighborsClassifier(3)),
    }


def confused_share(y_true: Labels, y_pred: Labels) -> Floats:
    """Return, for every two classes, which share of the rows of both was taken for the other of the two."""
    counts = confusion_matrix(y_true, y_pred)
    rows = counts.sum(axis=1)
    share: Floats = (counts + counts.T) / (rows[:, np.newaxis] + rows)
    return share


def print_pairs(floors: PairwiseBayesError, confused: dict[str, Floats]) -> None:
    """Print all pairs, the highest floor first, and how well the order by floor is that by confusion."""
    pairs = np.triu_indices(len(floors.classes), 1)
    floor, interval = floors.estimate[pairs], floors.interval[pairs]
    print(f"\n  pair   floor        interval{''.join(f'{kind:>20}' for kind in confused)}   (percent of rows of both)")
    for k in np.argsort(-floor, kind="stable"):
        a, b = pairs[0][k], pairs[1][k]
        low, high = 100 * interval[k]
        shares = "".join(f"{100 * share[a, b]:20.2f}" for share in confused.values())
        print(f"{floors.classes[a]:>3}-{floors.classes[b]} {100 * floor[k]:7.2f} {low:7.2f} to {high:4.2f}{shares}")
    for kind, share in confused.items():
        print(f"rank correlation of floor and confusion by {kind}: {spearmanr(floor, share[pairs]).statistic:.3f}")
    if len(confused) > 1:
        first, second = list(confused.values())[:2]
        print(f"of the confusion by the two classifiers: {spearmanr(first[pairs], second[pairs]).statistic:.3f}")
    ranks = {"floor": floor} | {kind: share[pairs] for kind, share in confused.items()}
    print(f"\nrank among {len(floor)} pairs, 1 the hardest")
    for a, b in NAMED:
        k = np.flatnonzero((floors.classes[pairs[0]] == a) & (floors.classes[pairs[1]] == b))
        cells = ", ".join(f"{name} {rankdata(-values)[k][0]:g}" for name, values in ranks.items())
        print(f"{a}-{b}: {cells}")


def draw(floors: PairwiseBayesError, share: Floats, kind: str, path: Path) -> None:
    """Draw both heat maps, with the digits in the same order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    display = floors.plot(left)
    confused = PairwiseHeatmapDisplay(share, floors.classes, quantity=f"confused by {kind}")
    confused.plot(right, order=display.order_)
    figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> None:
    """Estimate the floors, test the classifiers, print the tables, write the picture."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, help="train on so many images only, and test on a fifth of that")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the picture")
    options = parser.parse_args(arguments)
    table = stored_arrays("extra/mnist")
    X, y, split = table["X"], table["y"], table["split"]
    train, test = np.flatnonzero(split == 0)[: options.rows], np.flatnonzero(split == 1)
    if options.rows is not None:
        test = test[: options.rows // 5]
    X_train, y_train = X[train].astype(np.float64), y[train]
    X_test, y_test = X[test].astype(np.float64), y[test]

    floors = pairwise_bayes_error(X_train, y_train, normalize=False)
    confused = {}
    for kind, classifier in classifiers().items():
        predicted = classifier.fit(X_train, y_train).predict(X_test)
        confused[kind] = confused_share(y_test, predicted)
        print(f"{kind}: {np.mean(predicted != y_test):.2%} of {len(y_test)} images wrong")
    print_pairs(floors, confused)
    options.out.mkdir(parents=True, exist_ok=True)
    kind, share = next(iter(confused.items()))
    try:
        draw(floors, share, kind, options.out / "mnist.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


if __name__ == "__main__":
    main()
