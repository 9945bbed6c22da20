"""Kernels: the searches of Borůvka's rounds in the tree of `cloud_kernels`, by all rows of a leaf together.

`near_rows` finds the nearest rows of each row. `search_strangers` finds the first edge that leaves a component.
"""

import numpy as np

from bayesfloor.forest.order.kruskal_kernels import comes_first
from bayesfloor.forest.sweep.cloud_kernels import gap_of_boxes, gap_to_box, measure_leaf
from bayesfloor.runtime.kernels import kernel

# Nodes that may wait on the way down a tree of up to 2^31 rows.
STACK = 64


@kernel
def largest_leaf(starts):
    """Return the number of rows in the largest leaf."""
    largest = 0
    for leaf in range(len(starts) - 1):
        largest = max(largest, starts[leaf + 1] - starts[leaf])
    return largest


@kernel
def near_rows(first, last, third, fourth, rows, boxes, starts, hashes, ranks, key, near, bound):
    """Find the rows that are nearest to each row of leaves first..last, in the strict order of their edges.

    `near` (n, how many) has -1 where there are too few. Every row that is not in the list of row i is at a squared
    distance of bound[i] or more.
    """
    n_leaves, wanted, largest = len(starts) - 1, near.shape[1], largest_leaf(starts)
    distances, found = np.empty(largest * wanted), np.empty(largest * wanted, np.int32)
    stack, measured = np.empty(STACK, np.int64), np.empty(largest)
    for leaf in range(first, last):
        start, own = starts[leaf], n_leaves + leaf
        size = starts[leaf + 1] - start
        for p in range(size * wanted):
            distances[p], found[p] = np.inf, -1
        node, farthest = own, np.inf
        stack[0], depth = own, 1
        while True:
            while depth > 0:
                depth -= 1
                at = stack[depth]
                if gap_of_boxes(boxes, own, at, third, fourth) >= farthest:
                    continue
                if at < n_leaves:
                    stack[depth], stack[depth + 1] = 2 * at, 2 * at + 1
                    depth += 2
                    continue
                begin, end = starts[at - n_leaves], starts[at - n_leaves + 1]
                farthest = 0.0
                for r in range(size):
                    i, top = start + r, (r + 1) * wanted - 1
                    limit = distances[top]
                    if gap_to_box(rows, i, boxes, at, third, fourth) < limit:
                        measure_leaf(rows, i, begin, end, third, fourth, measured)
                        for j in range(begin, end):
                            d2 = measured[j - begin]
                            if d2 < limit and i != j:
                                p = top
                                while p > top - wanted + 1 and (
                                    d2 < distances[p - 1]
                                    or (
                                        d2 == distances[p - 1]
                                        and comes_first(i, j, i, found[p - 1], hashes, ranks, key)
                                    )
                                ):
                                    distances[p], found[p] = distances[p - 1], found[p - 1]
                                    p -= 1
                                distances[p], found[p] = d2, j
                                limit = distances[top]
                    farthest = max(farthest, limit)
            if node == 1:
                break
            stack[0], depth = node ^ 1, 1  # what is beside the node, on the way up to the root
            node >>= 1
        for r in range(size):
            for p in range(wanted):
                near[start + r, p] = found[r * wanted + p]
            bound[start + r] = distances[(r + 1) * wanted - 1]


@kernel
def is_taken(i, j, taken_starts, taken_ends):
    """Tell whether an earlier tree has the edge between two rows."""
    if len(taken_ends) == 0:
        return False
    if taken_starts[i + 1] - taken_starts[i] > taken_starts[j + 1] - taken_starts[j]:
        i, j = j, i
    found = False
    for p in range(taken_starts[i], taken_starts[i + 1]):
        found |= taken_ends[p] == j
    return found


@kernel
def has_strangers(node, label, limit, third, fourth, boxes, node_labels, stack):
    """Tell whether a node, all of whose rows are in one component, is as near as the limit to a leaf of others."""
    n_leaves = len(boxes) // 2
    up = node
    while up > 1:
        stack[0], depth = up ^ 1, 1
        while depth > 0:
            depth -= 1
            at = stack[depth]
            if node_labels[at] == label or gap_of_boxes(boxes, node, at, third, fourth) > limit:
                continue
            if at >= n_leaves:
                return True
            stack[depth], stack[depth + 1] = 2 * at, 2 * at + 1
            depth += 2
        up >>= 1
    return False


@kernel
def search_from_leaf(
    own,
    searching,
    third,
    fourth,
    rows,
    boxes,
    starts,
    hashes,
    ranks,
    key,
    labels,
    node_labels,
    taken_starts,
    taken_ends,
    best_u,
    best_v,
    best_d2,
    stack,
    measured,
):
    """Find the first edges from the searching rows of a leaf, node `own`, that leave their components.

    An edge replaces the best one of its component so far where it comes before that.
    """
    n_leaves = len(starts) - 1
    only, farthest = labels[searching[0]], 0.0  # the one component that searches, if it is one
    for i in searching:
        farthest = max(farthest, best_d2[labels[i]])
        if labels[i] != only:
            only = np.int32(-2)
    node = own
    stack[0], depth = node, 1
    while True:
        while depth > 0:
            depth -= 1
            at = stack[depth]
            its_label = node_labels[at]
            if its_label == only or gap_of_boxes(boxes, own, at, third, fourth) > farthest:
                continue
            if at < n_leaves:
                stack[depth], stack[depth + 1] = 2 * at, 2 * at + 1
                depth += 2
                continue
            begin, end = starts[at - n_leaves], starts[at - n_leaves + 1]
            farthest = 0.0
            for r in range(len(searching)):
                i = searching[r]
                label = labels[i]
                limit = best_d2[label]
                if label != its_label and gap_to_box(rows, i, boxes, at, third, fourth) <= limit:
                    measure_leaf(rows, i, begin, end, third, fourth, measured)
                    for j in range(begin, end):
                        d2 = measured[j - begin]
                        if d2 <= limit and labels[j] != label:
                            is_first = d2 < limit or comes_first(i, j, best_u[label], best_v[label], hashes, ranks, key)
                            if is_first and not is_taken(i, j, taken_starts, taken_ends):
                                best_u[label], best_v[label], best_d2[label] = i, j, d2
                                limit = d2
                farthest = max(farthest, limit)
        if node == 1:
            return
        stack[0], depth = node ^ 1, 1
        node >>= 1


@kernel
def search_strangers(first, step, n_parts, third, fourth, cloud, key, labels, node_labels, taken, is_open, bound, best):
    """Find the first edge that leaves each open component, from the rows of every step-th of some parts of the tree.

    A node of one component that has no stranger as near as that component's best edge is left out as a whole. So is a
    row that knows from `bound` that all strangers are farther. A row that searched knows that none is nearer than the
    best edge of its component.
    """
    rows, boxes, starts, hashes, ranks = cloud
    best_u, best_v, best_d2, _ = best
    taken_starts, taken_ends = taken
    n_leaves, largest = len(starts) - 1, largest_leaf(starts)
    stack, nodes = np.empty(STACK, np.int64), np.empty(STACK, np.int64)
    searching, measured = np.empty(largest, np.int64), np.empty(largest)
    for part in range(first, n_parts, step):
        nodes[0], depth = n_parts + part, 1
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            label = node_labels[node]
            if label >= 0 and (
                not is_open[label]
                or not has_strangers(node, label, best_d2[label], third, fourth, boxes, node_labels, stack)
            ):
                continue
            if node < n_leaves:
                nodes[depth], nodes[depth + 1] = 2 * node + 1, 2 * node
                depth += 2
                continue
            leaf, n_searching = node - n_leaves, 0
            for i in range(starts[leaf], starts[leaf + 1]):
                if is_open[labels[i]] and bound[i] <= best_d2[labels[i]]:
                    searching[n_searching] = i
                    n_searching += 1
            if n_searching == 0:
                continue
            search_from_leaf(
                node,
                searching[:n_searching],
                third,
                fourth,
                rows,
                boxes,
                starts,
                hashes,
                ranks,
                key,
                labels,
                node_labels,
                taken_starts,
                taken_ends,
                best_u,
                best_v,
                best_d2,
                stack,
                measured,
            )
            for r in range(n_searching):
                i = searching[r]
                bound[i] = max(bound[i], best_d2[labels[i]])
