"""How to cut a set of classes in two: one function per way, which returns a function that does it.

A graph has the classes as vertices and weights on its edges. Each split takes codes in ascending order and returns True
for those on one side.

**Minimum cut**, Stoer and Wagner (1997). Their algorithm needs O(K³) steps for each of the K − 1 cuts of a tree, and
min-cut trees are often as deep as they can be: one class is split off at a time. So each cut is found in the
cheapest way that gives it:

1. A lower bound on all cuts with at least two classes on each side, from each class's smallest weights. If some single
   class costs less, it is split off. Dense graphs seldom need more. O(K²).
2. Classes that share no weight at all are apart already: their components are shared out evenly, or trees of classes
   that are all easy would be as deep as they can be. O(K²).
3. Otherwise, classes are merged that no lower cut separates (`cut_kernels`). A handful of rounds of O(K²).
"""

from collections.abc import Callable

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.tree.cut_kernels import degrees_and_bound, minimum_cut

Split = Callable[[Ints], Bools]

#: Maximum relative difference of cuts that rounding may cause: sums of the same weights differ in the last digits.
ROUNDING = 1e-12


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
        if lowest > 0 and bound > lowest * (1 + ROUNDING):
            return np.arange(len(codes)) == degrees.argmin()
        graph = weights[np.ix_(codes, codes)]
        n_components, component = connected_components(graph > 0, directed=False)
        return group_evenly(component) if n_components > 1 else minimum_cut(graph)

    return split


def average_linkage(weights: Floats) -> Split:
    """Undo, from the last to the first, joins of the two sets with the highest mean weight between them."""
    sets = [np.array([code]) for code in range(len(weights))]
    halves = {}
    # weights as distances that are below 0: what is left of small ones in 1 - weight is rounding
    joins = linkage(-squareform(weights, checks=False), "average")[:, :2].astype(np.int64)
    for first, second in joins.tolist():
        joined = np.concatenate([sets[first], sets[second]])
        halves[int(joined.min()), len(joined)] = sets[first]
        sets.append(joined)
    return known_cuts(halves)


def known_cuts(halves: dict[tuple[int, int], Ints]) -> Split:
    """Cut as written down: one half of each set, by the set's smallest code and its size."""

    def split(codes: Ints) -> Bools:
        return np.isin(codes, halves[int(codes[0]), len(codes)])

    return split


def group_evenly(component: Ints) -> Bools:
    """Put whole components, given the number of each vertex's, into two sides as even as can be."""
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
