"""Kernels: the edges between new points and all others that can enter the forests, in few dimensions.

New points are few and lie far apart, so each walks down the k-d trees on its own. It is held against the last spanning
tree, as the sweep does it; what differs is that new points are in no tree yet. Instead, each is *attached* to a point
to which it is going to be connected in the last tree by edges no longer than the one between the two.

To find it, near points are inspected, nearest first. The edge from the new point to r cannot enter tree t if a point s
was noted for t before, by a lighter edge, and lighter edges connect s to r in t. So r is noted for the first tree
without such an s: there the edge enters, unless the two are connected already, and either way they are connected
afterwards. The new point is attached to the first point noted for the last tree. Other new points and edges only ever
connect more, so that this holds whatever they are.
"""

import numpy as np

from bayesfloor.forest.growing.link_kernels import are_connected, heaviest_link
from bayesfloor.forest.sweep.distance_kernels import squared_distance
from bayesfloor.forest.sweep.kdtree_kernels import point_to_box
from bayesfloor.runtime.kernels import kernel

# Maximum number of points of a leaf that are tried as its representative.
TRIED = 3


@kernel
def fill_reach(kdtree, parent, weight, last_tree):
    """Choose a representative of every node, and fill in the heaviest edge from there to each of the node's points.

    Later trees of more points only have lighter ones between the same two, so that what is filled in stays valid.
    """
    starts, numbers, representative = kdtree.starts, kdtree.numbers, kdtree.representative
    node_reach, across, reach = kdtree.node_reach, kdtree.across, kdtree.reach
    n_leaves = 1 << kdtree.height
    for leaf in range(n_leaves):
        start, stop = starts[leaf], starts[leaf + 1]
        step = max(1, (stop - start) // TRIED)
        best, best_sum = np.int64(numbers[start]), np.inf
        for tried in range(start, stop, step):
            candidate, total = np.int64(numbers[tried]), 0.0
            for i in range(start, stop):
                total += np.sqrt(heaviest_link(parent, weight, last_tree, candidate, np.int64(numbers[i])))
            if total < best_sum:
                best, best_sum = candidate, total
        farthest = 0.0
        for i in range(start, stop):
            reach[i] = heaviest_link(parent, weight, last_tree, best, np.int64(numbers[i]))
            farthest = max(farthest, reach[i])
        representative[n_leaves + leaf] = best
        node_reach[n_leaves + leaf] = farthest
    for node in range(n_leaves - 1, 0, -1):
        left, right = np.int64(representative[2 * node]), np.int64(representative[2 * node + 1])
        representative[node] = left
        across[node] = heaviest_link(parent, weight, last_tree, left, right)
        node_reach[node] = max(across[node], max(node_reach[2 * node], node_reach[2 * node + 1]))


@kernel(inline="always")
def points_in_boxes(kdtree):
    """Return the arrays of a k-d tree that every search reads."""
    return kdtree.starts, kdtree.box_low, kdtree.box_high, kdtree.rows, kdtree.numbers


@kernel
def nearest_points(first, last, rows, kdtree, best, near):
    """Merge the points of a k-d tree into the nearest so far of new points first..last, nearest first."""
    starts, box_low, box_high, own_rows, numbers = points_in_boxes(kdtree)
    n_leaves = 1 << kdtree.height
    stack, away = np.empty(kdtree.height + 2, np.int64), np.empty(kdtree.height + 2)
    at_end = near.shape[1] - 1
    for i in range(first, last):
        stack[0], away[0] = 1, 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if away[depth] >= best[i, at_end]:
                continue
            if node < n_leaves:
                left = point_to_box(rows, i, box_low, box_high, 2 * node)
                right = point_to_box(rows, i, box_low, box_high, 2 * node + 1)
                nearer = 2 * node if left <= right else 2 * node + 1
                stack[depth], away[depth] = nearer ^ 1, max(left, right)
                stack[depth + 1], away[depth + 1] = nearer, min(left, right)
                depth += 2
                continue
            leaf = node - n_leaves
            for j in range(starts[leaf], starts[leaf + 1]):
                d2 = squared_distance(rows, i, own_rows, j)
                if d2 >= best[i, at_end]:
                    continue
                p = at_end
                while p > 0 and best[i, p - 1] > d2:
                    best[i, p], near[i, p] = best[i, p - 1], near[i, p - 1]
                    p -= 1
                best[i, p], near[i, p] = d2, numbers[j]


@kernel
def choose_attachments(first, last, near, best, parent, weight, enters, attached_to, attached_d2):
    """Choose what new points first..last are attached to, and the first tree that each edge to a near point can enter.

    Returns False where a point finds none.
    """
    n_trees = len(parent)
    last_tree = n_trees - 1
    noted = np.empty((n_trees, near.shape[1]), np.int64)
    n_noted = np.empty(n_trees, np.int64)
    for i in range(first, last):
        for t in range(n_trees):
            n_noted[t] = 0
        for j in range(near.shape[1]):
            r, length = np.int64(near[i, j]), best[i, j]
            if r < 0:
                break
            # What the last tree connects, all trees connect.
            is_ahead = n_noted[last_tree] > 0 and attached_d2[i] < length
            if is_ahead and are_connected(parent, weight, last_tree, np.int64(attached_to[i]), r, length):
                continue
            t = 0
            while t < n_trees:
                is_connected = False
                for p in range(n_noted[t]):
                    s = noted[t, p]
                    if best[i, s] < length and are_connected(parent, weight, t, np.int64(near[i, s]), r, length):
                        is_connected = True
                        break
                if not is_connected:
                    break
                t += 1
            if t == n_trees:
                continue
            enters[i, j] = t
            if t == last_tree and n_noted[t] == 0:
                attached_to[i], attached_d2[i] = r, length
            noted[t, n_noted[t]] = j
            n_noted[t] += 1
        if n_noted[last_tree] == 0:
            return False
    return True


@kernel
def points_in_reach(
    first, last, n_old, new, kdtree, near, best, attached_to, attached_d2, parent, weight, last_tree, out, count
):
    """Find the edges from new points first..last to points of a k-d tree that can enter, but those to the nearest.

    Returns how many edges are written, or -1 when `out` is full.
    """
    starts, box_low, box_high, own_rows, numbers = points_in_boxes(kdtree)
    representative, node_reach, across, reach = kdtree.representative, kdtree.node_reach, kdtree.across, kdtree.reach
    rows, new_numbers = new.rows, new.numbers
    out_u, out_v, out_d2 = out.u, out.v, out.d2
    n_leaves, n_near = 1 << kdtree.height, near.shape[1]
    is_old = numbers[0] < n_old
    stack, between = np.empty(kdtree.height + 2, np.int64), np.empty(kdtree.height + 2)
    for i in range(first, last):
        number, s, longest, farthest = new_numbers[i], np.int64(attached_to[i]), attached_d2[i], best[i, n_near - 1]
        # What lies nearer than the last of the nearest is among them, unless it is new as well.
        nearest = farthest if is_old else 0.0
        stack[0], between[0] = 1, heaviest_link(parent, weight, last_tree, s, np.int64(representative[1]))
        depth = 1
        while depth > 0:
            depth -= 1
            node, limit = stack[depth], between[depth]
            if node < n_leaves:
                for child in range(2 * node + 1, 2 * node - 1, -1):
                    its_limit = limit if child == 2 * node else max(limit, across[node])
                    apart = max(nearest, point_to_box(rows, i, box_low, box_high, child))
                    least = max(longest, node_reach[child])
                    if apart > max(least, its_limit):
                        continue
                    # Two heaviest edges to a third point are equal, unless both are lighter than that between the two.
                    if child > 2 * node and across[node] >= limit:
                        its_limit = heaviest_link(parent, weight, last_tree, s, np.int64(representative[child]))
                        if apart > max(least, its_limit):
                            continue
                    stack[depth], between[depth] = child, its_limit
                    depth += 1
                continue
            leaf = node - n_leaves
            limit = max(limit, longest)
            for j in range(starts[leaf], starts[leaf + 1]):
                d2 = squared_distance(rows, i, own_rows, j)
                q = np.int64(numbers[j])
                if max(limit, reach[j]) < d2 or q >= number:
                    continue
                if d2 < farthest and q < n_old:
                    continue
                is_known = False
                for p in range(n_near if d2 == farthest else 0):
                    is_known = is_known or near[i, p] == q
                if is_known or (longest < d2 and are_connected(parent, weight, last_tree, s, q, d2)):
                    continue
                if count == len(out_d2):
                    return -1
                out_u[count], out_v[count], out_d2[count] = q, number, d2
                count += 1
    return count
