"""Kernels: what forests say about labels, with labels averaged over identical points.

Where several rows have the same values it is chance which of them an edge ends in, so an edge counts with its
expectation over all ways to hand out the labels among the rows of a site. That is the same as to spread it evenly over
the pairs of rows that it could join::

    e edges inside a site of m rows         weight 2e / (m (m−1)) on each of its m(m−1)/2 pairs
    e edges between sites of m and m' rows  weight e / (m m')     on each of the m·m' pairs

Counts and sums over edges below are those of this weighted graph. It is kept contracted to sites. Squares are written
as products, which round alike when the interpreter runs these functions; its powers may not.
"""

import numpy as np

from bayesfloor.forest.order.hash_kernels import order_of_hashes
from bayesfloor.runtime.hash_kernels import compiled_mix64 as mix64
from bayesfloor.runtime.hash_kernels import mix64 as mix64_of_array
from bayesfloor.runtime.kernels import kernel


@kernel(plain=True)
def count_classes_at_sites(sites, codes, n_sites, n_classes):
    """List the classes present at each site, ascending, with their counts, in compressed rows.

    The entries of site s are start[s] .. start[s + 1] of the two other arrays. Returns (start, label, count).
    """
    n = len(sites)
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


@kernel(plain=True)
def site_sizes(start, count):
    """Return the number of rows at each site."""
    size = np.zeros(len(start) - 1, np.int64)
    for s in range(len(size)):
        for entry in range(start[s], start[s + 1]):
            size[s] += count[entry]
    return size


@kernel(plain=True)
def count_cross_edges(first, second, tree, start, label, count, counts):
    """Add every edge's expected share of each pair of classes to counts (n_trees, K, K), in both triangles.

    Edges join site first[e] to site second[e]; start, label and count are the classes at sites.
    """
    size = site_sizes(start, count)
    for e in range(len(tree)):
        a, b, t = first[e], second[e], tree[e]
        m = size[a]
        for p in range(start[a], start[a + 1]):
            if a == b:
                for q in range(p + 1, start[a + 1]):
                    share = 2.0 * count[p] * count[q] / (m * (m - 1.0))
                    counts[t, label[p], label[q]] += share
                    counts[t, label[q], label[p]] += share
                continue
            for q in range(start[b], start[b + 1]):
                if label[p] != label[q]:
                    share = count[p] * count[q] / (m * size[b])
                    counts[t, label[p], label[q]] += share
                    counts[t, label[q], label[p]] += share


@kernel(plain=True)
def site_graph(first, second, n_sites):
    """Contract edges to sites: the neighbours of each site, in compressed rows, and the edges inside it.

    The neighbours of site s are start[s] .. start[s + 1] of `neighbor`, each once; `edges` says how many edges lead
    there. Returns (start, neighbor, edges, inside).
    """
    inside = np.zeros(n_sites, np.int64)
    start = np.zeros(n_sites + 1, np.int64)
    for e in range(len(first)):
        a, b = first[e], second[e]
        if a == b:
            inside[a] += 1
        else:
            start[a + 1] += 1
            start[b + 1] += 1
    for s in range(n_sites):
        start[s + 1] += start[s]
    place = start[:-1].copy()
    neighbor = np.empty(start[n_sites], np.int32)
    for e in range(len(first)):
        a, b = first[e], second[e]
        if a != b:
            neighbor[place[a]] = b
            neighbor[place[b]] = a
            place[a] += 1
            place[b] += 1
    edges = np.ones(len(neighbor), np.int32)
    slot_of = np.full(n_sites, -1, np.int64)
    written = 0
    for s in range(n_sites):
        row = written
        for p in range(start[s], start[s + 1]):
            b = neighbor[p]
            if slot_of[b] >= row:
                edges[slot_of[b]] += 1
            else:
                slot_of[b] = written
                neighbor[written], edges[written] = b, 1
                written += 1
        start[s] = row
    start[n_sites] = written
    return start, neighbor, edges, inside


@kernel(plain=True)
def sum_edges(first, second, start, label, count, n_classes, by_class):
    """Sum over the edges between sites all that their variance under sampling and under permutation needs.

    With the weight w_e of each pair of rows, the degree d_v = Σ w_e and the cross degree c_v = Σ w_e 1[cross] of each
    row v, returns (Σ w_e, Σ w_e², Σ d_v²) and rows (Σ w_e 1[cross], Σ w_e² 1[cross], Σ c_v², Σ c_v d_v): where
    `by_class`, one for each class against all others, and last the one for edges between any two classes.
    """
    n_sites = len(start) - 1
    size = site_sizes(start, count)
    edge_start, neighbor, edges, inside = site_graph(first, second, n_sites)
    graph = np.zeros(3)
    whole = n_classes if by_class else 0
    sums = np.zeros((whole + 1, 4))
    leads_to = np.zeros(n_classes)  # edges from the site at hand to each class at other sites
    at_site = np.zeros(n_classes)  # rows of each class at the site at hand
    met_at = np.full(n_classes, -1, np.int64)
    met = np.empty(n_classes, np.int64)
    for s in range(n_sites):
        m = size[s]
        within = 2.0 * inside[s] / (m * (m - 1)) if m > 1 else 0.0  # weight of a pair of rows here
        n_met = 0
        for entry in range(start[s], start[s + 1]):
            k = label[entry]
            met_at[k], met[n_met], leads_to[k], at_site[k] = s, k, 0.0, count[entry]
            n_met += 1
        outward = 0
        for p in range(edge_start[s], edge_start[s + 1]):
            b, n_edges = neighbor[p], edges[p]
            outward += n_edges
            for entry in range(start[b], start[b + 1]):
                k = label[entry]
                if met_at[k] != s:
                    met_at[k], met[n_met], leads_to[k], at_site[k] = s, k, 0.0, 0.0
                    n_met += 1
                leads_to[k] += n_edges * count[entry] / size[b]
            if b < s:
                continue
            weight = n_edges / (m * size[b])
            square = weight * weight
            graph[1] += square * (m * size[b])
            n_same = 0.0
            for entry in range(start[b], start[b + 1]):
                k = label[entry]
                n_same += at_site[k] * count[entry]
                if by_class:
                    sums[k, 1] += square * count[entry] * (m - 2.0 * at_site[k])
            sums[whole, 1] += square * (m * size[b] - n_same)
            if by_class:
                for entry in range(start[s], start[s + 1]):
                    sums[label[entry], 1] += square * count[entry] * size[b]

        degree = within * (m - 1) + outward / m
        graph[0] += 0.5 * m * degree
        graph[1] += 0.5 * (within * within) * m * (m - 1)
        graph[2] += m * (degree * degree)
        for entry in range(start[s], start[s + 1]):
            k, own = label[entry], count[entry]
            cross = within * (m - own) + (outward - leads_to[k]) / m
            sums[whole, 0] += 0.5 * own * cross
            sums[whole, 1] += 0.5 * (within * within) * own * (m - own)
            sums[whole, 2] += own * (cross * cross)
            sums[whole, 3] += own * cross * degree
            if not by_class:
                continue
            sums[k, 0] += own * cross
            sums[k, 1] += (within * within) * own * (m - own)
            for at in range(n_met):
                other = met[at]
                crossing = cross if other == k else within * at_site[other] + leads_to[other] / m
                sums[other, 2] += own * (crossing * crossing)
                sums[other, 3] += own * crossing * degree
    return graph, sums


@kernel(plain=True)
def connect_classes(start, label, n_classes):
    """Label the classes by component: classes that share a site are in one, and so are those they share one with."""
    component = np.arange(n_classes)
    for s in range(len(start) - 1):
        for entry in range(start[s] + 1, start[s + 1]):
            one, other = component[label[start[s]]], component[label[entry]]
            if one != other:
                for k in range(n_classes):
                    if component[k] == other:
                        component[k] = one
    return component


def _count_distinct(keys):
    mask = (1 << max(2 * len(keys) - 1, 0).bit_length()) - 1
    slots, counts = np.empty(mask + 1, np.int64), np.zeros(mask + 1, np.int32)
    first_slots = (mix64_of_array(keys.astype(np.uint64)) & np.uint64(mask)).tolist()
    for key, slot in zip(keys.tolist(), first_slots, strict=True):
        while counts[slot] > 0 and slots[slot] != key:
            slot = (slot + 1) & mask
        slots[slot] = key
        counts[slot] += 1
    return slots, counts


@kernel(plain=_count_distinct)
def count_distinct(keys):
    """Count equal keys in a table by hash; return its slots, (key, count), with a count of zero in empty ones."""
    mask = 1
    while mask < 2 * len(keys):
        mask *= 2
    mask -= 1
    slots, counts = np.empty(mask + 1, np.int64), np.zeros(mask + 1, np.int32)
    for p in range(len(keys)):
        slot = np.int64(mix64(np.uint64(keys[p]))) & mask
        while counts[slot] > 0 and slots[slot] != keys[p]:
            slot = (slot + 1) & mask
        slots[slot] = keys[p]
        counts[slot] += 1
    return slots, counts


@kernel(plain=True)
def number_by_rank(sites, n_sites, ranks):
    """Number sites anew, by the ranks of their points."""
    number = np.full(n_sites, -1, np.int64)
    n = 0
    for i in order_of_hashes(ranks.astype(np.uint64)):
        if number[sites[i]] < 0:
            number[sites[i]] = n
            n += 1
    for i in range(len(sites)):
        sites[i] = number[sites[i]]


@kernel(plain=True)
def measure_distinct(u, v, tree, n_points, n_first, tree_edges, tree_cross, sums):
    """Do what `measure_pair` does where no two points coincide: all weights are one, and all sums exact."""
    degree, crossing = np.zeros(n_points, np.int64), np.zeros(n_points, np.int64)
    n_cross = 0
    for e in range(len(u)):
        a, b, t = u[e], v[e], tree[e]
        cross = 1 if (a < n_first) != (b < n_first) else 0
        tree_edges[t] += 1
        tree_cross[t] += cross
        n_cross += cross
        degree[a] += 1
        degree[b] += 1
        crossing[a] += cross
        crossing[b] += cross
    sums[0] += len(u)
    sums[1] += len(u)
    sums[3] += n_cross
    sums[4] += n_cross
    squares, cross_squares, products = 0, 0, 0
    for i in range(n_points):
        squares += degree[i] * degree[i]
        cross_squares += crossing[i] * crossing[i]
        products += crossing[i] * degree[i]
    sums[2] += squares
    sums[5] += cross_squares
    sums[6] += products


@kernel(plain=True)
def measure_pair(u, v, tree, sites, n_sites, n_first, ranks, swapped, tree_edges, tree_cross, sums):
    """Count the edges of the forests of two classes, by tree, and those between the classes; sum over all of them.

    Points below n_first are of the first class, or of the second where the classes are swapped. `sums` gets what
    `sum_edges` returns, for two classes.
    """
    if n_sites == len(sites):
        measure_distinct(u, v, tree, n_sites, n_first, tree_edges, tree_cross, sums)
        return
    # Weights have fractions then. Summed by rank they round alike, whatever the tiles that points are numbered by.
    number_by_rank(sites, n_sites, ranks)
    size, n_second = np.zeros(n_sites, np.int64), np.zeros(n_sites, np.int64)
    for i in range(len(sites)):
        size[sites[i]] += 1
        n_second[sites[i]] += (i >= n_first) != swapped
    share, mixed = np.empty(n_sites), np.zeros(n_sites)  # of the second class; of the pairs of rows here that cross
    for s in range(n_sites):
        m, x = size[s], n_second[s]
        share[s] = x / m
        if 0 < x < m:
            mixed[s] = 2.0 * x * (m - x) / (m * (m - 1.0))
    inside, outward = np.zeros(n_sites, np.int64), np.zeros(n_sites, np.int64)
    to_second = np.zeros(n_sites)  # edges from the site to rows of the second class at other sites
    beside = np.empty(len(u), np.int64)  # edges, as pairs of sites, that others may run beside
    n_beside = 0
    for e in range(len(u)):
        a, b, t = sites[u[e]], sites[v[e]], tree[e]
        tree_edges[t] += 1
        if a == b:
            inside[a] += 1
            tree_cross[t] += mixed[a]
            continue
        outward[a] += 1
        outward[b] += 1
        to_second[a] += share[b]
        to_second[b] += share[a]
        cross = share[a] * (1.0 - share[b]) + (1.0 - share[a]) * share[b]
        tree_cross[t] += cross
        if size[a] == 1 and size[b] == 1:
            sums[1] += 1.0
            sums[4] += cross
        else:
            beside[n_beside] = min(a, b) * n_sites + max(a, b)
            n_beside += 1
    pairs, counts = count_distinct(beside[:n_beside])
    for p in range(len(pairs)):
        if counts[p] > 0:
            a, b = pairs[p] // n_sites, pairs[p] % n_sites
            n_pairs = size[a] * size[b]
            weight = counts[p] / n_pairs
            square = weight * weight
            sums[1] += square * n_pairs
            sums[4] += square * (n_second[a] * (size[b] - n_second[b]) + (size[a] - n_second[a]) * n_second[b])
    for s in range(n_sites):
        m, x = size[s], n_second[s]
        within = 2.0 * inside[s] / (m * (m - 1)) if m > 1 else 0.0  # weight of a pair of rows here
        degree = within * (m - 1) + outward[s] / m
        sums[0] += 0.5 * m * degree
        sums[1] += 0.5 * (within * within) * m * (m - 1)
        sums[2] += m * (degree * degree)
        sums[4] += (within * within) * x * (m - x)
        of_first = within * x + to_second[s] / m
        of_second = within * (m - x) + (outward[s] - to_second[s]) / m
        sums[3] += 0.5 * ((m - x) * of_first + x * of_second)
        sums[5] += (m - x) * (of_first * of_first) + x * (of_second * of_second)
        sums[6] += ((m - x) * of_first + x * of_second) * degree


@kernel(plain=True)
def record_pair(u, v, d2, tree, copy_start, other_start, twin, ranks, swapped, tree_edges, tree_cross, sums):
    """Measure the forests of a pair of classes and return the edges between (u, v, d2), numbered within each class.

    Copies are numbered through; those of point i of the first class are copy_start[i] .. copy_start[i + 1], and
    likewise for the other. `ranks` are those of copies, and `swapped` tells whether the other class comes first in the
    order of classes. twin[j] is the point of the first class that point j of the other coincides with, or -1.
    """
    n_sites, n_first = len(copy_start) - 1, copy_start[-1]
    sites = np.empty(n_first + other_start[-1], np.int64)
    for i in range(n_sites):
        sites[copy_start[i] : copy_start[i + 1]] = i
    for j in range(len(other_start) - 1):
        at = twin[j]
        if at < 0:
            at = n_sites
            n_sites += 1
        sites[n_first + other_start[j] : n_first + other_start[j + 1]] = at
    measure_pair(u, v, tree, sites, n_sites, n_first, ranks, swapped, tree_edges, tree_cross, sums)
    n_cross = 0
    for e in range(len(u)):
        n_cross += (u[e] < n_first) != (v[e] < n_first)
    cross_u, cross_v = np.empty(n_cross, np.int32), np.empty(n_cross, np.int32)
    cross_d2 = np.empty(n_cross, np.float64)
    at = 0
    for e in range(len(u)):
        if (u[e] < n_first) != (v[e] < n_first):
            cross_u[at], cross_v[at], cross_d2[at] = min(u[e], v[e]), max(u[e], v[e]) - n_first, d2[e]
            at += 1
    return cross_u, cross_v, cross_d2
