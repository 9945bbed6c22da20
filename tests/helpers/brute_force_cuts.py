"""Every cut of a few vertices, tried one after the other: slow and obvious."""

from itertools import combinations

import numpy as np

TIE = 1e-10


def all_cuts(n):
    """Yield the left sides of all cuts of n vertices, as tuples that start with vertex 0."""
    for size in range(n - 1):
        for others in combinations(range(1, n), size):
            yield (0, *others)


def cut_value(weights, left):
    right = np.setdiff1d(np.arange(len(weights)), left)
    return float(weights[np.ix_(left, right)].sum())


def best_cuts(weights):
    """Return the lowest value and all cuts that have it."""
    values = {left: cut_value(weights, left) for left in all_cuts(len(weights))}
    lowest = min(values.values())
    return lowest, [left for left, value in values.items() if value <= lowest * (1 + TIE)]
