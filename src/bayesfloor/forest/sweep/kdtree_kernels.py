"""Kernels: a balanced k-d tree whose leaves are the tiles.

Nodes are numbered as in a heap: 1 is the root, 2v and 2v+1 are the children of v, and leaf t of a tree of the given
height is node 2**height + t.
"""

import numpy as np

from bayesfloor.forest.sweep.vectors import VECTOR
from bayesfloor.runtime.kernels import kernel


@kernel(plain=True)
def leaf_starts(n_points, height):
    """Return where each leaf of a balanced tree starts, and the end of the last."""
    bounds = np.empty((1 << height) + 1, np.int64)
    bounds[0] = 0
    bounds[1 << height] = n_points
    step = 1 << height
    while step > 1:
        for left in range(0, 1 << height, step):
            bounds[left + step // 2] = (bounds[left] + bounds[left + step]) // 2
        step //= 2
    return bounds


@kernel(plain=True)
def select(items, keys, coords, lo, hi, middle, axis):
    """Rearrange items lo..hi so that those before the middle are not greater along the axis than those after."""
    right = hi - 1
    left = lo
    for p in range(lo, hi):
        keys[p] = coords[items[p], axis]
    while left < right:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                items[i], items[j] = items[j], items[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel(plain=True)
def split_points(coords, items, keys, starts, first_leaf, last_leaf, depth):
    """Sort items into the leaves first..last by median splits across the widest extent of a few of them.

    Splits at most depth times over; keys is a buffer for as many numbers as there are items.
    """
    n_axes = coords.shape[1]
    low = np.empty(n_axes)
    high = np.empty(n_axes)
    stack = [(first_leaf, last_leaf, depth)]
    while len(stack) > 0:
        leaf_lo, leaf_hi, depth = stack.pop()
        if leaf_hi - leaf_lo < 2 or depth == 0:
            continue
        lo, hi = starts[leaf_lo], starts[leaf_hi]
        low[:] = np.inf
        high[:] = -np.inf
        for p in range(lo, hi, max(1, (hi - lo) // 256)):
            row = items[p]
            for f in range(n_axes):
                value = coords[row, f]
                low[f] = min(low[f], value)
                high[f] = max(high[f], value)
        axis = 0
        for f in range(1, n_axes):
            if high[f] - low[f] > high[axis] - low[axis]:
                axis = f
        leaf_mid = (leaf_lo + leaf_hi) // 2
        select(items, keys, coords, lo, hi, starts[leaf_mid], axis)
        stack.append((leaf_lo, leaf_mid, depth - 1))
        stack.append((leaf_mid, leaf_hi, depth - 1))


@kernel
def split_tiles(coords, items, keys, starts, first, last):
    """Sort the items of leaves first..last into vectors of VECTOR, by the same kind of splits."""
    for leaf in range(first, last):
        n_vectors = -(-(starts[leaf + 1] - starts[leaf]) // VECTOR)
        vectors = starts[leaf] + VECTOR * np.arange(n_vectors + 1)
        vectors[n_vectors] = starts[leaf + 1]
        split_points(coords, items, keys, vectors, 0, n_vectors, n_vectors)


def _leaf_boxes(coords, items, starts, box_low, box_high):
    inside = coords[items[starts[0] : starts[-1]]]
    box_low[:] = np.minimum.reduceat(inside, starts[:-1] - starts[0])
    box_high[:] = np.maximum.reduceat(inside, starts[:-1] - starts[0])


@kernel(plain=_leaf_boxes)
def leaf_boxes(coords, items, starts, box_low, box_high):
    """Fill in the bounding boxes of some leaves."""
    n_axes = coords.shape[1]
    for leaf in range(len(starts) - 1):
        for f in range(n_axes):
            box_low[leaf, f] = np.inf
            box_high[leaf, f] = -np.inf
        for p in range(starts[leaf], starts[leaf + 1]):
            row = items[p]
            for f in range(n_axes):
                value = coords[row, f]
                box_low[leaf, f] = min(box_low[leaf, f], value)
                box_high[leaf, f] = max(box_high[leaf, f], value)


@kernel(plain=True)
def node_boxes(box_low, box_high):
    """Fill in the bounding boxes of the nodes above the leaves."""
    for node in range(len(box_low) // 2 - 1, 0, -1):
        for f in range(box_low.shape[1]):
            box_low[node, f] = min(box_low[2 * node, f], box_low[2 * node + 1, f])
            box_high[node, f] = max(box_high[2 * node, f], box_high[2 * node + 1, f])


@kernel(inline="always")
def box_distance(low_a, high_a, i, low_b, high_b, j):
    """Return the squared distance between box i of one set and box j of another."""
    total = 0.0
    for f in range(low_a.shape[1]):
        gap = max(low_b[j, f] - high_a[i, f], low_a[i, f] - high_b[j, f])
        if gap > 0.0:
            total += gap * gap
    return total


@kernel(inline="always")
def box_span(low_a, high_a, i, low_b, high_b, j):
    """Return the squared diagonal of the box around box i of one set and box j of another."""
    total = 0.0
    for f in range(low_a.shape[1]):
        wide = max(high_a[i, f], high_b[j, f]) - min(low_a[i, f], low_b[j, f])
        total += wide * wide
    return total


@kernel(inline="always")
def point_to_box(rows, i, low, high, node):
    """Return the squared distance from a row to a node's box."""
    total = 0.0
    for f in range(rows.shape[1]):
        gap = max(low[node, f] - rows[i, f], rows[i, f] - high[node, f])
        if gap > 0.0:
            total += gap * gap
    return total


@kernel
def insert_nearest(item, distance, found, distances, n_found):
    """Insert an item into a list of the nearest, nearest first, if it belongs there; return how many there are."""
    wanted = len(found)
    if n_found == wanted and distance >= distances[wanted - 1]:
        return n_found
    p = min(n_found, wanted - 1)
    while p > 0 and distances[p - 1] > distance:
        distances[p] = distances[p - 1]
        found[p] = found[p - 1]
        p -= 1
    distances[p] = distance
    found[p] = item
    return min(n_found + 1, wanted)


@kernel
def nearest_leaves(from_centers, from_leaf, centers, box_low, box_high, height, found, distances):
    """Fill found with the leaves whose centres are nearest to a tile's centre; return how many there are."""
    n_leaves = 1 << height
    wanted = len(found)
    n_found = 0
    stack = np.empty(height + 2, np.int64)
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        away = point_to_box(from_centers, from_leaf, box_low, box_high, node)
        if n_found == wanted and away >= distances[wanted - 1]:
            continue
        if node < n_leaves:
            left = point_to_box(from_centers, from_leaf, box_low, box_high, 2 * node)
            right = point_to_box(from_centers, from_leaf, box_low, box_high, 2 * node + 1)
            near = 2 * node if left <= right else 2 * node + 1
            stack[depth] = near ^ 1
            stack[depth + 1] = near
            depth += 2
            continue
        leaf = node - n_leaves
        distance = 0.0
        for f in range(centers.shape[1]):
            distance += (from_centers[from_leaf, f] - centers[leaf, f]) ** 2
        n_found = insert_nearest(leaf, distance, found, distances, n_found)
    return n_found
