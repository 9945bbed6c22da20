"""Compiled loops over the sites and edges of an averaged graph; see `averaged_graph`."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def count_classes_at_sites(
    sites: Ints, codes: Ints, n_sites: int, n_classes: int
) -> tuple[Ints, Ints, Ints]:
    """List the classes present at each site, ascending, with their counts, in compressed rows.

    The entries of site s are ``start[s]:start[s + 1]`` of the two other arrays.
    """
    n = sites.shape[0]
    # Two stable counting sorts, by class and then by site, leave each site's classes ascending.
    place = np.zeros(n_classes + 1, np.int64)
    for i in range(n):
        place[codes[i] + 1] += 1
    for k in range(n_classes):
        place[k + 1] += place[k]
    by_class = np.empty(n, np.int64)
    for i in range(n):
        by_class[place[codes[i]]] = i
        place[codes[i]] += 1
    first = np.zeros(n_sites + 1, np.int64)
    for i in range(n):
        first[sites[i] + 1] += 1
    for s in range(n_sites):
        first[s + 1] += first[s]
    place = first[:-1].copy()
    sorted_codes = np.empty(n, np.int64)
    for position in range(n):
        i = by_class[position]
        sorted_codes[place[sites[i]]] = codes[i]
        place[sites[i]] += 1

    start = np.zeros(n_sites + 1, np.int64)
    label = np.empty(n, np.int64)
    count = np.empty(n, np.int64)
    n_entries = 0
    for s in range(n_sites):
        for position in range(first[s], first[s + 1]):
            if position > first[s] and sorted_codes[position] == sorted_codes[position - 1]:
                count[n_entries - 1] += 1
            else:
                label[n_entries] = sorted_codes[position]
                count[n_entries] = 1
                n_entries += 1
        start[s + 1] = n_entries
    return start, label[:n_entries], count[:n_entries]


@njit(nogil=True, cache=True)
def sum_local_covariances(
    start: Ints,
    label: Ints,
    count: Ints,
    inner: Floats,
    first: Ints,
    second: Ints,
    multiplicity: Floats,
    mean: float,
) -> tuple[float, float]:
    """Return Σ_v S_v² and Σ_e r_e² of an averaged graph, r_e = w_e (1[cross] − mean).

    Rows of one class at one site are interchangeable, so S is computed once for each such group.
    """
    n_sites = start.shape[0] - 1
    size = np.zeros(n_sites, np.int64)
    for s in range(n_sites):
        for entry in range(start[s], start[s + 1]):
            size[s] += count[entry]
    degree = np.zeros(n_sites, np.float64)  # edges from the site to other sites
    same = np.zeros(label.shape[0], np.float64)  # of these, expected to stay in the entry's class
    squares = 0.0
    for pair in range(first.shape[0]):
        a, b, edges = first[pair], second[pair], multiplicity[pair]
        degree[a] += edges
        degree[b] += edges
        n_same = 0
        i, j = start[a], start[b]
        while i < start[a + 1] and j < start[b + 1]:
            if label[i] < label[j]:
                i += 1
            elif label[i] > label[j]:
                j += 1
            else:
                same[i] += edges * count[j] / size[b]
                same[j] += edges * count[i] / size[a]
                n_same += count[i] * count[j]
                i += 1
                j += 1
        weight = edges / (size[a] * size[b])
        n_pairs = size[a] * size[b]
        squares += weight**2 * (n_pairs * (1.0 - mean) ** 2 - n_same * (1.0 - 2.0 * mean))

    total = 0.0
    for s in range(n_sites):
        m = size[s]
        weight = 2.0 * inner[s] / (m * (m - 1)) if m > 1 else 0.0
        n_same = 0
        for entry in range(start[s], start[s + 1]):
            own = count[entry]
            n_same += own * (own - 1) // 2
            deviation = weight * ((m - own) - (m - 1) * mean)
            deviation += (degree[s] * (1.0 - mean) - same[entry]) / m
            total += own * deviation**2
        n_pairs = m * (m - 1) // 2
        squares += weight**2 * (n_pairs * (1.0 - mean) ** 2 - n_same * (1.0 - 2.0 * mean))
    return total, squares


@njit(nogil=True, cache=True)
def two_nearest(n_points: int, edges: Ints, lengths: Floats) -> tuple[Floats, Floats]:
    """Return the shortest and second shortest edge at each point, infinity where there is none."""
    nearest = np.full(n_points, np.inf)
    second = np.full(n_points, np.inf)
    for e in range(edges.shape[0]):
        for end in range(2):
            point = edges[e, end]
            if lengths[e] < nearest[point]:
                second[point] = nearest[point]
                nearest[point] = lengths[e]
            elif lengths[e] < second[point]:
                second[point] = lengths[e]
    return nearest, second


@njit(nogil=True, cache=True)
def feature_gives_label(values: Floats, codes: Ints, most: int) -> bool:
    """Tell whether each distinct value occurs in one class only, with at most `most` values.

    Gives up at the first value seen in two classes, or at one value too many, which on most
    features is after a few rows.
    """
    capacity = 1
    while capacity < 4 * (most + 1):
        capacity *= 2
    key = np.empty(capacity, np.float64)
    code_of = np.full(capacity, -1, np.int64)
    n_distinct = 0
    for i in range(values.shape[0]):
        value = values[i]
        slot = hash(value) & (capacity - 1)
        while code_of[slot] >= 0 and key[slot] != value:
            slot = (slot + 1) & (capacity - 1)
        if code_of[slot] < 0:
            n_distinct += 1
            if n_distinct > most:
                return False
            key[slot] = value
            code_of[slot] = codes[i]
        elif code_of[slot] != codes[i]:
            return False
    return n_distinct > 1
