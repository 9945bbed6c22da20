"""How to cut a set of classes in two: one function per cut, which returns a function that does it.

A graph has the classes as vertices and weights on its edges. Each split takes codes in ascending order
and returns True for those on one side. The side with the first code is called the left one. Where
several cuts are equally good, to one part in 10^12, the most balanced goes first, then the one with the
smaller left side, then the one whose left side has the smaller codes.

**Minimum cut**, Stoer and Wagner (1997). Their algorithm needs O(K³) steps for each of the K − 1 cuts of
a tree, and min-cut trees are often as deep as they can be: one class is split off at a time. So
each cut is found in a cheaper way that gives the same answer:

1. A lower bound on all cuts with at least two classes on each side, from each class's smallest weights.
   If some single class costs less, it is split off. Dense graphs seldom need more. O(K²).
2. Classes that share no weight at all are apart already: their components are shared out evenly. O(K²).
3. Otherwise, classes are merged that no minimum cut separates: a class that has more than half its
   weight with one other; and neighbours in the maximum adjacency order of Stoer and Wagner whose
   connectivity is above the lowest cut so far (Nagamochi and Ibaraki 1992). A handful of rounds of O(K²).
4. What neither can merge are cuts that tie. A maximum flow lists those between two of the supervertices
   (Picard and Queyranne 1980) before the two are merged.

Merging stops at ties, so every minimum cut is seen, whatever the order of the classes.
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg

from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.tree.cut_kernels import connected_components, degrees_and_bound, minimum_cut
from bayesfloor.tree.split_kernels import (
    best_normalized_prefix,
    best_of_all_cuts,
    exchange_between_halves,
    join_by_mean_weight,
)

Split = Callable[[Ints], Bools]

#: Maximum relative difference of cuts that tie: sums of the same weights differ by rounding.
TIE = 1e-12
#: Maximum number of classes for which every cut is tried: 2^15 cuts take milliseconds.
MOST_TO_TRY_ALL = 16


def min_cut(weights: Floats) -> Split:
    """Cut where the least weight is lost."""
    order = np.argsort(weights, axis=1, kind="stable")
    sorted_weights = np.take_along_axis(weights, order, axis=1)
    order = order.astype(np.int32)

    def split(codes: Ints) -> Bools:
        member = np.zeros(len(weights), dtype=np.bool_)
        member[codes] = True
        degrees, bound = degrees_and_bound(sorted_weights, order, member, codes)
        lowest = degrees.min()
        if lowest > 0 and bound > lowest * (1 + TIE):
            tied = np.flatnonzero(degrees <= lowest * (1 + TIE))
            # of single classes the first makes the smallest left side, and the last leaves the smallest codes there
            alone = 0 if tied[0] == 0 else tied[-1]
            return np.arange(len(codes)) == alone
        component, n_components = connected_components(weights, codes)
        if n_components > 1:
            return group_evenly(component)
        return minimum_cut(weights[np.ix_(codes, codes)], TIE)

    return split


def normalized_cut(weights: Floats) -> Split:
    """Cut where the weight lost is the smallest share of the weight on either side (Shi and Malik 2000).

    The value is cut / vol(left) + cut / vol(right), where vol adds up the degrees. Up to 16 classes the
    lowest is found by trying all; beyond, by sweeping along the second eigenvector of the normalized Laplacian.
    """

    def split(codes: Ints) -> Bools:
        component, n_components = connected_components(weights, codes)
        if n_components > 1:
            return group_evenly(component)
        graph = weights[np.ix_(codes, codes)]
        if len(codes) <= MOST_TO_TRY_ALL:
            return best_of_all_cuts(graph, True, TIE)
        return spectral_normalized_cut(graph)

    return split


def balanced_cut(weights: Floats) -> Split:
    """Cut into halves, or as near as an odd number allows, where little weight is lost.

    Up to 16 classes the lowest such cut is found by trying all; beyond, by exchanging classes between
    the halves of the second eigenvector of the Laplacian (Kernighan and Lin 1970).
    """

    def split(codes: Ints) -> Bools:
        graph = weights[np.ix_(codes, codes)]
        if len(codes) <= MOST_TO_TRY_ALL:
            return best_of_all_cuts(graph, False, TIE)
        if not graph.any():
            return np.arange(len(codes)) < len(codes) // 2
        return exchanged_halves(graph)

    return split


def random_cut(rng: np.random.Generator) -> Split:
    """Cut a shuffled list of the classes at a random place."""

    def split(codes: Ints) -> Bools:
        side = np.zeros(len(codes), dtype=np.bool_)
        side[rng.permutation(len(codes))[: rng.integers(1, len(codes))]] = True
        return side

    return split


def average_linkage(weights: Floats) -> Split:
    """Undo, from the last to the first, joins of the two sets with the highest mean weight between them."""
    sets = {code: np.array([code]) for code in range(len(weights))}
    halves = {}
    for first, second in join_by_mean_weight(weights, TIE).tolist():
        joined = np.concatenate([sets[first], sets.pop(second)])
        halves[first, len(joined)] = sets[first]
        sets[first] = joined
    return known_cuts(halves)


def known_cuts(halves: dict[tuple[int, int], Ints]) -> Split:
    """Cut as written down: one half of each set, by the set's smallest code and its size."""

    def split(codes: Ints) -> Bools:
        return np.isin(codes, halves[int(codes[0]), len(codes)])

    return split


def group_evenly(component: Ints) -> Bools:
    """Put whole components, numbered in the order of their first vertex, into two sides as even as can be."""
    sizes = np.bincount(component).tolist()
    n = len(component)
    # Bit s of sums[i] tells whether some of the components from i on have s vertices together.
    sums = [1]
    for size in reversed(sizes[1:]):
        sums.append(sums[-1] | sums[-1] << size)
    sums.append(0)  # so that sums[i] is about components i and later
    sums.reverse()
    possible = [size for size in range(sizes[0], n) if sums[1] >> (size - sizes[0]) & 1]
    missing = min(possible, key=lambda size: (abs(2 * size - n), size)) - sizes[0]
    goes_left = [True]
    for i in range(1, len(sizes)):
        taken = missing >= sizes[i] and bool(sums[i + 1] >> (missing - sizes[i]) & 1)
        goes_left.append(taken)
        missing -= sizes[i] * taken
    return np.array(goes_left)[component]


def spectral_normalized_cut(graph: Floats) -> Bools:
    """Return the lowest normalized cut along the second eigenvector of the normalized Laplacian."""
    order = spectral_order(graph, normalized=True)
    side = np.zeros(len(graph), dtype=np.bool_)
    side[order[: best_normalized_prefix(graph, order, TIE)]] = True
    return side


def exchanged_halves(graph: Floats) -> Bools:
    """Return a low cut into halves: those of the spectral order, with the best exchanges."""
    n = len(graph)
    order = spectral_order(graph, normalized=False)
    lowest, best = np.inf, np.ones(n, dtype=np.bool_)
    for size in sorted({n // 2, n - n // 2}):
        half = np.zeros(n, dtype=np.bool_)
        half[order[:size]] = True
        cut = exchange_between_halves(graph, half, TIE)
        if cut < lowest * (1 - TIE):
            lowest, best = cut, half
    return best


def spectral_order(graph: Floats, *, normalized: bool) -> Ints:
    """Order vertices along the eigenvector of the Laplacian with the second smallest eigenvalue.

    Where several eigenvectors share that eigenvalue, any mixture of them is one. The mixture that
    follows the order of the vertices is taken, and entries equal up to rounding keep that order.
    """
    n = len(graph)
    degree = graph.sum(axis=1)
    if normalized:
        root = np.sqrt(degree)
        matrix = graph / root[:, None] / root
        constant, shift = root / np.linalg.norm(root), 2.0
    else:
        root = np.ones(n)
        matrix = graph - np.diag(degree)
        constant, shift = root / np.sqrt(n), 2 * degree.max()
    # The eigenvector that is the same for every graph goes from the top to the bottom of the list.
    matrix -= shift * np.outer(constant, constant)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[n - 2, n - 1])
    if len(values) < 2 or values[1] - values[0] <= 1e-9 * shift:  # LAPACK may find fewer where many are equal
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
        shared = vectors[:, values >= values[-1] - 1e-9 * shift]
        ramp = np.arange(n) - (n - 1) / 2
        followed = shared @ (shared.T @ ramp)
        if np.linalg.norm(followed) > 1e-6 * np.linalg.norm(ramp):
            vectors = followed[:, None]
    place = vectors[:, -1] / root
    place = np.round(place / np.abs(place).max(), 9)
    if place[np.flatnonzero(place)[0]] > 0:
        place = -place
    return np.argsort(place, kind="stable")
