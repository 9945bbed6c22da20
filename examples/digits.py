"""Spanning forests of scikit-learn's digits, and how often their edges cross between classes.

Run with ``python examples/digits.py`` where bayesfloor is installed.
"""

from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits

from bayesfloor import ClassForests, class_forests

N_TREES = 3
N_HARDEST = 5


def main() -> None:
    """Build the forests once and print three small tables."""
    X, y = load_digits(return_X_y=True)
    start = perf_counter()
    forests = class_forests(X, y, n_trees=N_TREES)
    seconds = perf_counter() - start

    n_classes = len(forests.classes)
    print(f"digits: {X.shape[0]} points, {X.shape[1]} features, {n_classes} classes")
    print(
        f"{forests.n_trees} spanning trees of the whole set and of each of the "
        f"{n_classes * (n_classes - 1) // 2} pairs of classes, in {seconds:.2f} s"
    )
    print_whole(forests, y)
    print_pairs(forests)
    print_hardest(forests)


def print_whole(forests: ClassForests, y: np.ndarray) -> None:
    """Print each tree of the whole set: its size, its length, and its cross edges."""
    whole = forests.whole
    cross = whole.cross_counts(y).sum(axis=(1, 2)) / 2  # the matrix holds each pair of classes twice
    print("\nThe whole set")
    print("tree   edges     length    longest   cross edges")
    for t in range(whole.n_trees):
        weights = whole.weights[whole.tree == t]
        print(f"{t + 1:4d} {len(weights):7d} {weights.sum():10.1f} {weights.max():10.2f} {cross[t]:13.1f}")


def print_pairs(forests: ClassForests) -> None:
    """Print the mean number of cross edges per tree, for each pair of classes alone."""
    mean = forests.pair_cross_counts.mean(axis=0)
    print("\nCross edges per tree, each pair of classes by itself (1.0: only the edge that has to join them)")
    print("      " + "".join(f"{label!s:>7}" for label in forests.classes[:-1]))
    for k in range(1, len(forests.classes)):
        print(f"{forests.classes[k]!s:>6}" + "".join(f"{mean[k, m]:7.1f}" for m in range(k)))


def print_hardest(forests: ClassForests) -> None:
    """Print the pairs of classes whose points mix most."""
    mean = forests.pair_cross_counts.mean(axis=0)
    rows, columns = np.triu_indices(len(forests.classes), k=1)
    hardest = np.argsort(-mean[rows, columns], kind="stable")[:N_HARDEST]
    print("\nHardest to tell apart")
    print("   pair   points   cross edges   share")
    for k, m in zip(rows[hardest], columns[hardest], strict=True):
        points = forests.class_counts[k] + forests.class_counts[m]
        pair = f"{forests.classes[k]} - {forests.classes[m]}"
        print(f"{pair:>7} {points:8d} {mean[k, m]:13.1f} {mean[k, m] / points:7.1%}")


if __name__ == "__main__":
    main()
