"""Compiled loops of the other cuts: all cuts of few classes, sweeps, exchanges and joins; see `cuts`."""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel
from bayesfloor.tree.cut_kernels import comes_first

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel
def sum_rows(weights: Floats) -> Floats:
    """Return each vertex's degree."""
    n = weights.shape[0]
    degree = np.zeros(n)
    for a in range(n):
        for b in range(n):
            degree[a] += weights[a, b]
    return degree


@kernel
def best_of_all_cuts(weights: Floats, normalized: bool, tie: float) -> Bools:
    """Try every cut and return the left side of the best; only for few vertices.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        The graph; connected if `normalized`.
    normalized : bool
        Look for the lowest normalized cut; else for the lowest cut into halves.
    tie : float
        Cuts whose values differ by less than this share are equal, and the one that comes first wins.

    Returns
    -------
    ndarray of shape (n,)
        True where a vertex goes left.
    """
    n = weights.shape[0]
    degree = sum_rows(weights)
    left = np.ones(n, np.bool_)
    best = np.ones(n, np.bool_)
    lowest = np.inf
    for bits in range(2 ** (n - 1) - 1):
        size = 1
        for v in range(1, n):
            left[v] = (bits >> (v - 1)) & 1
            size += left[v]
        if not normalized and abs(2 * size - n) > 1:
            continue
        cut, left_volume, right_volume = 0.0, 0.0, 0.0
        for a in range(n):
            if left[a]:
                left_volume += degree[a]
                for b in range(n):
                    if not left[b]:
                        cut += weights[a, b]
            else:
                right_volume += degree[a]
        value = cut / left_volume + cut / right_volume if normalized else cut
        if value * (1.0 + tie) < lowest or (value <= lowest * (1.0 + tie) and comes_first(left, best)):
            for v in range(n):
                best[v] = left[v]
        lowest = min(lowest, value)
    return best


@kernel
def best_normalized_prefix(weights: Floats, order: Ints, tie: float) -> int:
    """Return how many vertices, taken in order, make the lowest normalized cut; of equals the most balanced."""
    n = weights.shape[0]
    degree = sum_rows(weights)
    rest = np.zeros(n + 1)  # degrees of the vertices not taken yet; a difference could round to zero
    for taken in range(n - 1, -1, -1):
        rest[taken] = rest[taken + 1] + degree[order[taken]]
    before = np.zeros(n)  # weight between each vertex and those taken so far
    cut, volume = 0.0, 0.0
    lowest, best = np.inf, 0
    for taken in range(1, n):
        last = order[taken - 1]
        cut = max(0.0, cut + degree[last] - 2.0 * before[last])
        volume += degree[last]
        for v in range(n):
            before[v] += weights[last, v]
        value = cut / volume + cut / rest[taken]
        ties = value <= lowest * (1.0 + tie) and min(taken, n - taken) > min(best, n - best)
        if value * (1.0 + tie) < lowest or ties:
            best = taken
        lowest = min(lowest, value)
    return best


@kernel
def exchange_between_halves(weights: Floats, left: Bools, tie: float) -> float:
    """Lower a cut by exchanging vertices between its sides, which keep their sizes; return its value.

    Kernighan and Lin: exchange the best pair, hold both, and so on to the end, even where the cut
    rises on the way; then go back to where it was lowest. Repeat until that is where it started.
    """
    n = left.shape[0]
    size, negligible = 0, 0.0
    for a in range(n):
        size += left[a]
        for b in range(n):
            negligible += tie * weights[a, b]
    n_pairs = min(size, n - size)
    from_left = np.empty(n_pairs, np.int64)
    from_right = np.empty(n_pairs, np.int64)
    gain = np.empty(n)
    while True:
        cut = 0.0
        for a in range(n):
            gain[a] = 0.0
            for b in range(n):
                if left[a] == left[b]:
                    gain[a] -= weights[a, b]
                else:
                    gain[a] += weights[a, b]
                    cut += 0.5 * weights[a, b]
        held = np.zeros(n, np.bool_)
        total, highest, n_kept = 0.0, 0.0, 0
        for pair in range(n_pairs):
            best, first, second = -np.inf, 0, 0
            for a in range(n):
                if left[a] and not held[a]:
                    for b in range(n):
                        if not (left[b] or held[b]):
                            exchanged = gain[a] + gain[b] - 2.0 * weights[a, b]
                            if exchanged > best:
                                best, first, second = exchanged, a, b
            total += best
            from_left[pair], from_right[pair] = first, second
            held[first] = held[second] = True
            if total > highest + negligible:
                highest, n_kept = total, pair + 1
            for v in range(n):
                change = 2.0 * (weights[v, first] - weights[v, second])
                gain[v] += change if left[v] else -change
        if n_kept == 0:
            return cut
        for pair in range(n_kept):
            left[from_left[pair]] = False
            left[from_right[pair]] = True


@kernel
def join_by_mean_weight(weights: Floats, tie: float) -> Ints:
    """Join two sets at a time, those with the highest mean weight between them.

    Of equals the smaller sets go first, then those with the smaller codes.

    Returns
    -------
    ndarray of shape (n − 1, 2)
        The smallest codes of the two sets joined in each step, the smaller one first.
    """
    n = weights.shape[0]
    between = weights.copy()
    size = np.ones(n, np.int64)
    alive = np.arange(n)
    joins = np.empty((n - 1, 2), np.int64)
    for step in range(n - 1):
        m = n - step
        highest = 0.0
        for i in range(m):
            for j in range(i + 1, m):
                a, b = alive[i], alive[j]
                highest = max(highest, between[a, b] / (size[a] * size[b]))
        limit = highest * (1.0 - tie)
        smallest, first, second = 2 * n, 0, 0
        for i in range(m):
            for j in range(i + 1, m):
                a, b = alive[i], alive[j]
                if size[a] + size[b] < smallest and between[a, b] / (size[a] * size[b]) >= limit:
                    smallest, first, second = size[a] + size[b], i, j
        a, b = alive[first], alive[second]
        joins[step, 0], joins[step, 1] = a, b
        size[a] += size[b]
        for i in range(m):
            c = alive[i]
            between[a, c] += between[b, c]
            between[c, a] = between[a, c]
        for i in range(second, m - 1):
            alive[i] = alive[i + 1]
    return joins
