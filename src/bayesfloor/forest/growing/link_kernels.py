"""Kernels: trees that take new edges without a walk over all the others.

A *link tree* answers what the heaviest edge is between two points of a tree, as `order.bottleneck` does, and can be
repaired in place. Kruskal's merges make it: the root of the one component is linked below that of the other, and the
link notes the merging edge, as its place in the tree's own order. The row hash decides which root stays on top, so that
paths are about log(n) links long, and edges get heavier on the way up. The heaviest edge between two points is then the
heaviest link between them.

New edges can only replace links on the way up from their ends. All others stay as they are.
"""

import numpy as np

from bayesfloor.forest.order.kruskal_kernels import comes_first, find
from bayesfloor.runtime.kernels import kernel

# Place of the link above a root, which is heavier than any.
NEVER = 2**31 - 1
# Place of a link that has not been visited.
UNTOUCHED = -1


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
def exchange(t, tree, links, edges, hashes, ranks, key, out, place, new_links, left):
    """Add edges, which come in the strict order, to tree t (u, v, d2), which spans the first points.

    `out` receives the tree of all points, `place` where each of its edges is by now, and `left` what has no place in
    it, in the strict order. `new_links` receives those links that are made anew; `keep_links` fills in the others.
    Returns how many edges are left.
    """
    u, v, d2 = tree
    parent, edge, weight = links
    new_u, new_v, new_d2 = edges
    out_u, out_v, out_d2 = out
    new_parent, new_edge, new_weight = new_links
    left_u, left_v, left_d2 = left
    n_old, n_all, n, m = parent.shape[1], new_parent.shape[1], len(u), len(new_u)
    linked_by = np.full(n, -1, np.int32)  # the point whose link is to be made anew, by edge
    roots = np.full(n_all, -1, np.int32)
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
        while p < n and linked_by[p] < 0 and d2[p] < lightest:
            out_u[at], out_v[at], out_d2[at], place[p] = u[p], v[p], d2[p], at
            at += 1
            p += 1
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
def merge_ranks(hashes, old, new, order, ranks, sites):
    """Merge two lists of rows by hash, and number all rows in that order; return False where two hashes are equal."""
    p, q = 0, 0
    before = np.uint64(0)
    for at in range(len(order)):
        if p < len(old) and (q == len(new) or hashes[old[p]] < hashes[new[q]]):
            row = old[p]
            p += 1
        else:
            row = new[q]
            q += 1
        if at > 0 and hashes[row] == before:
            return False
        before = hashes[row]
        order[at], ranks[row], sites[row] = row, at, at
    return True
