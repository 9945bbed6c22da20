"""Kernels: the edges of new points in few dimensions, and trees that take them without a walk over all the others.

A *link tree* answers what the heaviest edge is between two points of a tree, as `order.bottleneck` does, and can be
repaired in place. Kruskal's merges make it: the root of the one component is linked below that of the other, and the
link notes the merging edge, as its place in the tree's own order. The row hash decides which root stays on top, so that
paths are about log(n) links long, and edges get heavier on the way up. The heaviest edge between two points is then the
heaviest link between them.

New edges can only replace links on the way up from their ends. All others stay as they are.

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

from bayesfloor.forest.order.kruskal_kernels import comes_first, find
from bayesfloor.forest.sweep.distance_kernels import squared_distance
from bayesfloor.forest.sweep.kdtree_kernels import point_to_box
from bayesfloor.runtime.kernels import kernel

# Place of the link above a root, which is heavier than any.
NEVER = 2**31 - 1
# Place of a link that has not been visited.
UNTOUCHED = -1

# Maximum number of points of a leaf that are tried as its representative.
TRIED = 3


@kernel
def link_tree(t, u, v, d2, hashes, links):
    """Fill in the link tree of tree t, whose edges come in the strict order."""
    parent, edge, weight = links
    n = len(hashes)
    roots = np.full(n, -1, np.int32)
    for x in range(n):
        parent[t, x], edge[t, x], weight[t, x] = -1, NEVER, np.inf
    for e in range(len(u)):
        a, b = find(roots, np.int64(u[e])), find(roots, np.int64(v[e]))
        if hashes[a] > hashes[b]:
            a, b = b, a
        roots[a] = b
        parent[t, a], edge[t, a], weight[t, a] = b, e, d2[e]


@kernel(inline="always")
def heaviest_link(parent, weight, t, a, b):
    """Return the squared length of the heaviest edge between two points in tree t, 0 when they are one point."""
    heaviest = 0.0
    while a != b:
        if weight[t, a] <= weight[t, b]:
            heaviest = weight[t, a]
            a = np.int64(parent[t, a])
        else:
            heaviest = weight[t, b]
            b = np.int64(parent[t, b])
    return heaviest


@kernel(inline="always")
def are_connected(parent, weight, t, a, b, d2):
    """Tell whether edges of tree t that are shorter connect two points."""
    while weight[t, a] < d2:
        a = np.int64(parent[t, a])
    while weight[t, b] < d2:
        b = np.int64(parent[t, b])
    return a == b


@kernel
def exchange(t, tree, links, edges, hashes, ranks, key, out, place, linked_by, roots, new_links, left):
    """Add edges, which come in the strict order, to tree t (u, v, d2), which spans the first points.

    `out` receives the tree of all points, `place` where each of its edges is by now, and `left` what has no place in
    it, in the strict order. `new_links` receives those links that are made anew; `keep_links` fills in the others.
    `linked_by` and `roots` are buffers for a number per point. Returns how many edges are left.
    """
    u, v, d2 = tree
    parent, edge, weight = links
    new_u, new_v, new_d2 = edges
    out_u, out_v, out_d2 = out
    new_parent, new_edge, new_weight = new_links
    left_u, left_v, left_d2 = left
    n_old, n_all, n, m = parent.shape[1], new_parent.shape[1], len(u), len(new_u)
    linked_by[:] = -1  # the point whose link is to be made anew, by edge
    roots[:] = -1
    for i in range(n_all):
        new_edge[t, i] = NEVER if i >= n_old else UNTOUCHED
    # An edge joins what shorter links have joined by then: links that are lighter stay, unless other edges open them.
    ends = np.empty((2, m), np.int32)
    for end in range(2):
        for e in range(m):
            x = np.int64(new_u[e] if end == 0 else new_v[e])
            while x < n_old and weight[t, x] < new_d2[e]:
                x = np.int64(parent[t, x])
            ends[end, e] = x
            while x >= 0 and new_edge[t, x] == UNTOUCHED:
                new_edge[t, x] = NEVER
                if parent[t, x] >= 0:
                    linked_by[edge[t, x]] = x
                x = np.int64(parent[t, x])
    p, q, at, n_left = 0, 0, 0, 0
    while True:
        lightest = new_d2[q] if q < m else np.inf
        # Most edges stay, in runs that are copied as vectors.
        run = p
        while run < n and linked_by[run] < 0 and d2[run] < lightest:
            run += 1
        start, stop, shift = np.uint64(p), np.uint64(run), np.uint64(at - p)
        for e in range(start, stop):
            out_u[e + shift], out_v[e + shift] = u[e], v[e]
        for e in range(start, stop):
            out_d2[e + shift] = d2[e]
        for e in range(start, stop):
            place[e] = e + shift
        at += run - p
        p = run
        if p == n and q == m:
            break
        is_new = p == n or lightest < d2[p]
        if p < n and lightest == d2[p]:
            is_new = comes_first(new_u[q], new_v[q], u[p], v[p], hashes, ranks, key)
        if is_new:
            end_u, end_v, length = new_u[q], new_v[q], lightest
            a, b = find(roots, np.int64(ends[0, q])), find(roots, np.int64(ends[1, q]))
            q += 1
        else:
            end_u, end_v, length = u[p], v[p], d2[p]
            x = np.int64(linked_by[p])
            place[p] = at
            p += 1
            if x < 0:
                out_u[at], out_v[at], out_d2[at] = end_u, end_v, length
                at += 1
                continue
            a, b = find(roots, x), find(roots, np.int64(parent[t, x]))
        if a == b:
            left_u[n_left], left_v[n_left], left_d2[n_left] = end_u, end_v, length
            n_left += 1
            continue
        if hashes[a] > hashes[b]:
            a, b = b, a
        roots[a] = b
        new_parent[t, a], new_edge[t, a], new_weight[t, a] = b, at, length
        out_u[at], out_v[at], out_d2[at] = end_u, end_v, length
        at += 1
    for i in range(n_all):
        if new_edge[t, i] == NEVER:
            new_parent[t, i], new_weight[t, i] = -1, np.inf
    return n_left


@kernel
def keep_links(t, links, place, new_links):
    """Fill in those links of tree t that `exchange` has left as they are."""
    parent, edge, weight = links
    new_parent, new_edge, new_weight = new_links
    n_old = parent.shape[1]
    is_kept = np.zeros(n_old, np.bool_)
    for x in range(n_old):
        if new_edge[t, x] == UNTOUCHED:
            is_kept[x] = True
            new_parent[t, x], new_edge[t, x], new_weight[t, x] = parent[t, x], place[edge[t, x]], weight[t, x]
    # What a point was linked to may have been linked itself before that by now.
    for x in range(n_old):
        if is_kept[x]:
            y = np.int64(new_parent[t, x])
            while new_edge[t, y] < new_edge[t, x]:
                y = np.int64(new_parent[t, y])
            new_parent[t, x] = y


@kernel
def attach(numbers, attached_to, attached_d2, parent, weight):
    """Link new points below what they are attached to, by the squared length of an edge each, for the time being."""
    for i in range(len(numbers)):
        y = np.int64(attached_to[i])
        while weight[0, y] < attached_d2[i]:
            y = np.int64(parent[0, y])
        parent[0, numbers[i]], weight[0, numbers[i]] = y, attached_d2[i]


@kernel
def merge_ranks(hashes, old, old_ranks, new, order, ranks):
    """Merge new rows, which come by hash, into a list of rows by hash; return False where two hashes are equal.

    `order` receives all rows in that order, `ranks` the number that each has there.
    """
    n, m = len(old), len(new)
    shift = np.empty(n, np.int32)  # new rows before each old one, by the rank of that
    p = 0
    for q in range(m + 1):
        until = n
        if q < m:
            wanted, low = hashes[new[q]], p
            while low < until:
                middle = (low + until) // 2
                if hashes[old[middle]] < wanted:
                    low = middle + 1
                else:
                    until = middle
            if until < n and hashes[old[until]] == wanted:
                return False
            if q > 0 and hashes[new[q - 1]] == wanted:
                return False
            order[until + q], ranks[new[q]] = new[q], until + q
        for e in range(np.uint64(p), np.uint64(until)):
            order[e + np.uint64(q)] = old[e]
            shift[e] = q
        p = until
    for row in range(np.uint64(n)):
        ranks[row] = old_ranks[row] + shift[old_ranks[row]]
    return True


@kernel
def write_tree(t, u, v, d2, edges, weights, tree):
    """Write the edges of tree t as users get them."""
    for e in range(np.uint64(len(u))):
        edges[e, 0], edges[e, 1] = u[e], v[e]
        weights[e] = np.sqrt(d2[e])
        tree[e] = t


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
