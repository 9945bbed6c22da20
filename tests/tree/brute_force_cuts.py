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


def normalized_value(weights, left):
    """The normalized cut; a side without any weight is cut off for nothing."""
    cut = cut_value(weights, left)
    degree = weights.sum(axis=1)
    volumes = degree[list(left)].sum(), np.delete(degree, left).sum()
    return sum(cut / volume for volume in volumes if volume > 0)


def best_cuts(weights, value=cut_value, allowed=lambda left: True):
    """Return the lowest value and all cuts that have it."""
    values = {left: value(weights, left) for left in all_cuts(len(weights)) if allowed(left)}
    lowest = min(values.values())
    return lowest, [left for left, value in values.items() if value <= lowest * (1 + TIE)]


def first_of(cuts, n):
    """Most balanced, then smaller on the left, then smaller vertices on the left."""
    return min(cuts, key=lambda left: (-min(len(left), n - len(left)), len(left), left))
