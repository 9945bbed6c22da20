"""Compiled minimum cut of a dense graph; `cuts` says how the pieces fit together."""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel(plain=True)
def degrees_and_bound(sorted_weights: Floats, order: Ints, member: Bools, codes: Ints) -> tuple[Floats, float]:
    """Return each member's degree, and a lower bound on cuts with two or more vertices on each side.

    Row a of `sorted_weights` ascends, and ``order[a]`` are its columns. A side of j vertices leaves
    each of them at least its n − j smallest weights to the other side.
    """
    n = codes.shape[0]
    degrees = np.empty(n)
    least = np.full(n + 1, np.inf)  # least[t]: of all vertices the lowest sum of t smallest weights
    second = np.full(n + 1, np.inf)  # and the second lowest
    for i in range(n):
        a = codes[i]
        total = 0.0
        taken = 0
        for t in range(order.shape[1]):
            b = order[a, t]
            if member[b] and b != a:
                total += sorted_weights[a, t]
                taken += 1
                if total < least[taken]:
                    second[taken] = least[taken]
                    least[taken] = total
                elif total < second[taken]:
                    second[taken] = total
        degrees[i] = total
    bound = np.inf
    for j in range(2, n // 2 + 1):
        bound = min(bound, least[n - j] + (j - 1) * second[n - j])
    return degrees, bound


@kernel(plain=True)
def minimum_cut(weights: Floats) -> Bools:
    """Return one side of the minimum cut of a graph (Stoer and Wagner 1997).

    Vertices are merged until one set is left. Each round looks at the cuts that split off one set, and takes the sets
    in maximum adjacency order: next the one with the highest weight to those before it. That weight is the value of the
    minimum cut between a set and the one just before it, among the sets so far; more sets can only raise it. So the
    two are merged where it is no lower than the lowest cut so far. The last set's weight is the cut that splits it off.
    """
    n = weights.shape[0]
    best = np.zeros(n, np.bool_)
    lowest = np.inf
    set_of, label = np.arange(n), np.zeros(n, np.int64)
    between, m = weights, n
    while m > 1:
        for a in range(m):
            cut = 0.0
            for b in range(m):
                cut += between[a, b]
            if cut < lowest:
                lowest = cut
                for v in range(n):
                    best[v] = set_of[v] == a
        reach = np.zeros(m)
        last, n_labels = 0, 1
        for step in range(1, m):
            reach[last] = -np.inf
            following = 0
            for b in range(m):
                reach[b] += between[last, b]
                if reach[b] > reach[following]:
                    following = b
            if reach[following] >= lowest or step == m - 1:
                label[following] = label[last]
            else:
                label[following] = n_labels
                n_labels += 1
            last = following
        merged = np.zeros((n_labels, n_labels))
        for a in range(m):
            for b in range(m):
                if label[a] != label[b]:
                    merged[label[a], label[b]] += between[a, b]
        for v in range(n):
            set_of[v] = label[set_of[v]]
        between, m = merged, n_labels
    return best
