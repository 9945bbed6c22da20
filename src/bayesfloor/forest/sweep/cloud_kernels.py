"""Kernels: a k-d tree of rows with few axes, which Borůvka's rounds search (`boruvka`).

Rows are moved into the order of the tree's leaves. Nodes are numbered as in a heap, like those of `kdtree_kernels`; a
box is a row: the low and the high side of the first axis, then those of the next.

Axes are written out, because a loop over a few of them takes twice as long. `third` and `fourth` are None where there
are no such axes, and numba leaves out what is conditional on them when it compiles.

All is float64, axis by axis, as `squared_distance` adds up. Rounding is monotonic, so a gap to a box is never more than
the distance to a row inside, to the last bit, and no slack is needed.
"""

import numpy as np

from bayesfloor.runtime.kernels import kernel

# Rows from which the pivot of a split is drawn, at the most, and one of how many rows is.
SAMPLE, DRAWN = 63, 12
# Minimum number of rows for a split that may miss the middle by a 32nd of them, which saves passes over them: leaves
# then differ in size, and hold a third of the usual number of rows at the least.
LOOSELY_SPLIT = 64


@kernel
def swap_rows(rows, items, i, j):
    """Exchange two rows."""
    for f in range(rows.shape[1]):
        rows[i, f], rows[j, f] = rows[j, f], rows[i, f]
    items[i], items[j] = items[j], items[i]


@kernel
def pivot_of(rows, lo, hi, target, axis, sample):
    """Return about the value along an axis of the row that would be at the target place were rows lo..hi sorted."""
    n = hi - lo
    n_drawn = min(3 + n // DRAWN, SAMPLE, n)
    for p in range(n_drawn):
        value = rows[lo + p * n // n_drawn, axis]
        q = p
        while q > 0 and sample[q - 1] > value:
            sample[q] = sample[q - 1]
            q -= 1
        sample[q] = value
    return sample[(target - lo) * n_drawn // n]


@kernel
def cut_rows(rows, items, lo, hi, axis, sample):
    """Move rows lo..hi so that those before a place, which is returned, are not greater along an axis than the rest."""
    middle, left, right = (lo + hi) // 2, lo, hi - 1
    tolerance = (hi - lo) // 32 if hi - lo >= LOOSELY_SPLIT else 0
    while left < right:
        pivot = pivot_of(rows, left, right + 1, middle, axis, sample)
        i, j = left, right
        while i <= j:
            while rows[i, axis] < pivot:
                i += 1
            while rows[j, axis] > pivot:
                j -= 1
            if i <= j:
                swap_rows(rows, items, i, j)
                i += 1
                j -= 1
        if abs(i - middle) <= tolerance:
            return i
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return middle


@kernel
def split_rows(rows, items, starts, first, last, depth):
    """Move rows into leaves first..last, by splits near the median across the widest extent of a few of them.

    Splits at most depth times over, and fills in where leaves start; starts[first] and starts[last] are known.
    """
    sample = np.empty(SAMPLE)
    stack = [(first, last, depth)]
    while len(stack) > 0:
        first, last, depth = stack.pop()
        if last - first < 2 or depth == 0:
            continue
        lo, hi = starts[first], starts[last]
        axis, widest = 0, -1.0
        for f in range(rows.shape[1]):
            low = high = rows[lo, f]
            for p in range(lo, hi, max(1, (hi - lo) // 64)):
                low, high = min(low, rows[p, f]), max(high, rows[p, f])
            if high - low > widest:
                axis, widest = f, high - low
        middle = (first + last) // 2
        starts[middle] = cut_rows(rows, items, lo, hi, axis, sample)
        stack.append((first, middle, depth - 1))
        stack.append((middle, last, depth - 1))


@kernel
def box_leaves(first, last, rows, starts, boxes):
    """Fill in the boxes of leaves first..last."""
    n_leaves = len(starts) - 1
    for leaf in range(first, last):
        node = n_leaves + leaf
        for f in range(rows.shape[1]):
            low = high = rows[starts[leaf], f]
            for p in range(starts[leaf] + 1, starts[leaf + 1]):
                low, high = min(low, rows[p, f]), max(high, rows[p, f])
            boxes[node, 2 * f], boxes[node, 2 * f + 1] = low, high


@kernel
def box_nodes(boxes):
    """Fill in the boxes of the nodes above the leaves."""
    for node in range(len(boxes) // 2 - 1, 0, -1):
        for f in range(0, boxes.shape[1], 2):
            boxes[node, f] = min(boxes[2 * node, f], boxes[2 * node + 1, f])
            boxes[node, f + 1] = max(boxes[2 * node, f + 1], boxes[2 * node + 1, f + 1])


@kernel
def label_leaves(first, last, starts, labels, node_labels):
    """Fill in the component that all rows of a leaf are in, -1 where they are in several, for leaves first..last."""
    n_leaves = len(starts) - 1
    for leaf in range(first, last):
        label = labels[starts[leaf]]
        for i in range(starts[leaf] + 1, starts[leaf + 1]):
            if labels[i] != label:
                label = -1
                break
        node_labels[n_leaves + leaf] = label


@kernel
def label_nodes(node_labels):
    """Do the same for the nodes above the leaves."""
    for node in range(len(node_labels) // 2 - 1, 0, -1):
        left = node_labels[2 * node]
        node_labels[node] = left if left == node_labels[2 * node + 1] else -1


@kernel
def gap_to_box(rows, i, boxes, node, third, fourth):
    """Return the squared distance from a row to a node's box."""
    gap = max(max(boxes[node, 0] - rows[i, 0], rows[i, 0] - boxes[node, 1]), 0.0)
    total = gap * gap
    gap = max(max(boxes[node, 2] - rows[i, 1], rows[i, 1] - boxes[node, 3]), 0.0)
    total += gap * gap
    if third is not None:
        gap = max(max(boxes[node, 4] - rows[i, 2], rows[i, 2] - boxes[node, 5]), 0.0)
        total += gap * gap
    if fourth is not None:
        gap = max(max(boxes[node, 6] - rows[i, 3], rows[i, 3] - boxes[node, 7]), 0.0)
        total += gap * gap
    return total


@kernel
def gap_of_boxes(boxes, node, other, third, fourth):
    """Return the squared distance between the boxes of two nodes."""
    gap = max(max(boxes[node, 0] - boxes[other, 1], boxes[other, 0] - boxes[node, 1]), 0.0)
    total = gap * gap
    gap = max(max(boxes[node, 2] - boxes[other, 3], boxes[other, 2] - boxes[node, 3]), 0.0)
    total += gap * gap
    if third is not None:
        gap = max(max(boxes[node, 4] - boxes[other, 5], boxes[other, 4] - boxes[node, 5]), 0.0)
        total += gap * gap
    if fourth is not None:
        gap = max(max(boxes[node, 6] - boxes[other, 7], boxes[other, 6] - boxes[node, 7]), 0.0)
        total += gap * gap
    return total


@kernel
def measure_leaf(rows, i, begin, end, third, fourth, measured):
    """Fill in the squared distances from a row to rows begin..end."""
    for j in range(begin, end):
        x, y = rows[j, 0] - rows[i, 0], rows[j, 1] - rows[i, 1]
        d2 = x * x + y * y
        if third is not None:
            x = rows[j, 2] - rows[i, 2]
            d2 += x * x
        if fourth is not None:
            y = rows[j, 3] - rows[i, 3]
            d2 += y * y
        measured[j - begin] = d2
