"""Kernels: the strict order of edges, and Kruskal's walk into k forests.

Edges are compared by squared length, then by edge hash, then by the larger rank of their ends (ascending) and the
smaller (descending). Ranks only ever decide between copies of the same points.
"""

import numpy as np

from bayesfloor.forest.order.hash_kernels import SHORT_RUN, edge_hash, radix_sort_range
from bayesfloor.runtime.hash_kernels import SHIFT_32
from bayesfloor.runtime.hash_kernels import mix64 as mix64_of_array
from bayesfloor.runtime.kernels import kernel


@kernel(inline="always")
def is_same_edge(a, b, c, d):
    """Tell whether edges (a, b) and (c, d) are one edge."""
    return (a == c and b == d) or (a == d and b == c)


@kernel
def comes_first(a, b, c, d, hashes, ranks, key):
    """Tell whether edge (a, b) comes before edge (c, d), which is as long, in the strict order."""
    hash_ab = edge_hash(hashes[a], hashes[b], key)
    hash_cd = edge_hash(hashes[c], hashes[d], key)
    if hash_ab != hash_cd:
        return hash_ab < hash_cd
    larger_ab, larger_cd = max(ranks[a], ranks[b]), max(ranks[c], ranks[d])
    if larger_ab != larger_cd:
        return larger_ab < larger_cd
    return min(ranks[a], ranks[b]) > min(ranks[c], ranks[d])


@kernel
def precedes(a, b, u, v, d2, hashes, ranks, key):
    """Tell whether edge a of a list comes before edge b in the strict order."""
    if d2[a] != d2[b]:
        return d2[a] < d2[b]
    return comes_first(u[a], v[a], u[b], v[b], hashes, ranks, key)


@kernel
def sort_key(level, edge, d2_bits, u, v, hashes, ranks, key):
    """Return the 32 bits by which a run of edges is sorted at a level of the strict order."""
    if level == 0:
        return d2_bits[edge] >> SHIFT_32
    if level == 1:
        return d2_bits[edge] & np.uint64(0xFFFFFFFF)
    if level == 2:
        return edge_hash(hashes[u[edge]], hashes[v[edge]], key) >> SHIFT_32
    return np.uint64(max(ranks[u[edge]], ranks[v[edge]]))


def _order_edges(u, v, d2, hashes, ranks, key):
    def is_equal_to_next(values):
        return values[1:] == values[:-1]

    order = np.argsort(d2, kind="stable")
    if np.any(is_equal_to_next(d2[order])):
        edge_hashes = mix64_of_array((hashes[u] + hashes[v]) ^ key)
        order = np.lexsort((edge_hashes, d2))
        if np.any(is_equal_to_next(d2[order]) & is_equal_to_next(edge_hashes[order])):
            larger, smaller = np.maximum(ranks[u], ranks[v]), np.minimum(ranks[u], ranks[v])
            order = np.lexsort((-smaller, larger, edge_hashes, d2))
    return order.astype(np.int32)


@kernel(plain=_order_edges)
def order_edges(u, v, d2, hashes, ranks, key):
    """Return the edges' numbers in the strict order.

    Radix sorts by the leading bits, then again by the next key inside each long run of equals; short runs, and what
    is equal at every level, are finished by insertion.
    """
    n = len(d2)
    order = np.arange(n).astype(np.int32)
    keys = np.empty(n, np.uint64)
    keys_spare = np.empty(n, np.uint64)
    order_spare = np.empty(n, np.int32)
    d2_bits = d2.view(np.uint64)
    runs_lo, runs_hi = [0], [n]
    for level in range(4):
        next_lo, next_hi = [0], [0]
        for r in range(len(runs_lo)):
            lo, hi = runs_lo[r], runs_hi[r]
            for p in range(lo, hi):
                keys[p] = sort_key(level, order[p], d2_bits, u, v, hashes, ranks, key)
            radix_sort_range(keys, order, lo, hi, keys_spare, order_spare)
            start = lo
            for p in range(lo + 1, hi + 1):
                if p < hi and keys[p] == keys[start]:
                    continue
                if p - start > SHORT_RUN and level < 3:
                    next_lo.append(start)
                    next_hi.append(p)
                else:
                    for q in range(start + 1, p):
                        edge = order[q]
                        s = q - 1
                        while s >= start and precedes(edge, order[s], u, v, d2, hashes, ranks, key):
                            order[s + 1] = order[s]
                            s -= 1
                        order[s + 1] = edge
                start = p
        runs_lo, runs_hi = next_lo[1:], next_hi[1:]
        if len(runs_lo) == 0:
            break
    return order


def _order_between(u, v, d2, low, high, hashes, ranks, key):
    some = np.flatnonzero((d2 >= low) & (d2 < high)).astype(np.int32)
    return some[_order_edges(u[some], v[some], d2[some], hashes, ranks, key)]


@kernel(plain=_order_between)
def order_between(u, v, d2, low, high, hashes, ranks, key):
    """Return the numbers of those edges, in the strict order, whose squared length is at least low and below high."""
    n = 0
    for edge in range(len(d2)):
        n += low <= d2[edge] < high
    some, some_u, some_v = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    some_d2 = np.empty(n)
    at = 0
    for edge in range(len(d2)):
        if low <= d2[edge] < high:
            some[at], some_u[at], some_v[at], some_d2[at] = edge, u[edge], v[edge], d2[edge]
            at += 1
    order = order_edges(some_u, some_v, some_d2, hashes, ranks, key)
    for p in range(n):
        order[p] = some[order[p]]
    return order


@kernel(inline="always", plain=True)
def find(parent, i):
    """Return the root of i, halving its path. Roots hold minus their size."""
    up = parent[i]
    while up >= 0:
        above = parent[up]
        if above < 0:
            return np.int64(up)
        parent[i] = above
        i = np.int64(above)
        up = parent[i]
    return np.int64(i)


@kernel(plain=True)
def unite(parent, a, b):
    """Join two different roots, the smaller below the larger."""
    if parent[a] > parent[b]:
        a, b = b, a
    parent[a] += parent[b]
    parent[b] = a


def _merge_forests(some, others, shift, hashes, ranks, key):
    other_u, other_v, other_d2, other_tree = others
    both = zip(some, (other_u + shift, other_v + shift, other_d2, other_tree), strict=True)
    u, v, d2, tree = (np.concatenate(pair) for pair in both)
    order = _order_edges(u, v, d2, hashes, ranks, key)
    return u[order], v[order], d2[order], tree[order]


@kernel(plain=_merge_forests)
def merge_forests(some, others, shift, hashes, ranks, key):
    """Merge two forests (u, v, d2, tree) into one list in the strict order, the others' points numbered from shift."""
    u, v, d2, tree = some
    other_u, other_v, other_d2, other_tree = others
    n, m = len(u), len(other_u)
    out_u, out_v = np.empty(n + m, np.int32), np.empty(n + m, np.int32)
    out_d2, out_tree = np.empty(n + m, np.float64), np.empty(n + m, np.int32)
    p, q = 0, 0
    for at in range(n + m):
        take_other = p == n
        if p < n and q < m:
            take_other = other_d2[q] < d2[p]
            if other_d2[q] == d2[p]:
                take_other = comes_first(other_u[q] + shift, other_v[q] + shift, u[p], v[p], hashes, ranks, key)
        if take_other:
            out_u[at], out_v[at] = other_u[q] + shift, other_v[q] + shift
            out_d2[at], out_tree[at] = other_d2[q], other_tree[q]
            q += 1
        else:
            out_u[at], out_v[at], out_d2[at], out_tree[at] = u[p], v[p], d2[p], tree[p]
            p += 1
    return out_u, out_v, out_d2, out_tree


def _walk_with(n_points, n_trees, u, v, d2, tree, new_u, new_v, new_d2, order, hashes, ranks, key):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    u, v = np.concatenate((u, new_u[order])), np.concatenate((v, new_v[order]))
    d2 = np.concatenate((d2, new_d2[order]))
    if len(tree) > 0:
        in_order = _order_edges(u, v, d2, hashes, ranks, key)
        u, v, d2 = u[in_order], v[in_order], d2[in_order]
    one, other = np.minimum(u, v), np.maximum(u, v)
    tree = np.full(len(u), n_trees, np.int32)
    left = np.sort(np.unique(one.astype(np.int64) * n_points + other, return_index=True)[1])
    for t in range(n_trees):
        # The place in the strict order stands for the length: no two are equal.
        graph = coo_array((left + 1.0, (one[left], other[left])), shape=(n_points, n_points))
        tree[minimum_spanning_tree(graph.tocsr()).data.astype(np.int64) - 1] = t
        left = left[tree[left] == n_trees]
    kept = np.flatnonzero(tree < n_trees)
    return u[kept], v[kept], d2[kept], tree[kept]


@kernel(plain=_walk_with)
def walk_with(n_points, n_trees, u, v, d2, tree, new_u, new_v, new_d2, order, hashes, ranks, key):
    """Run Kruskal's walk over the edges of some forests and over new ones; `order` puts the new ones in order.

    More edges only merge more: an edge of tree t was refused by the trees before, and will be again. So it is offered
    to tree t first. Returns the accepted edges (u, v, d2, tree), in order.
    """
    n, m = len(u), len(order)
    parent = np.full(n_trees * n_points, -1, np.int32)
    missing = np.full(n_trees, n_points - 1, np.int64)
    n_open = n_trees
    capacity = min(n + m, n_trees * (n_points - 1))
    kept_u, kept_v = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    kept_d2, kept_tree = np.empty(capacity, np.float64), np.empty(capacity, np.int32)
    kept = 0
    last_u, last_v = np.int64(-1), np.int64(-1)
    last_tree = (n_trees - 1) * n_points
    p, q = 0, 0
    while n_open > 0 and (p < n or q < m):
        is_new = p == n
        if p < n and q < m:
            e = order[q]
            if new_d2[e] != d2[p]:
                is_new = new_d2[e] < d2[p]
            elif is_same_edge(u[p], v[p], new_u[e], new_v[e]):
                q += 1
                continue
            else:
                is_new = comes_first(new_u[e], new_v[e], u[p], v[p], hashes, ranks, key)
        if is_new:
            e = order[q]
            q += 1
            a, b, length, first_tree = np.int64(new_u[e]), np.int64(new_v[e]), new_d2[e], np.int64(0)
            if is_same_edge(a, b, last_u, last_v):
                continue
            last_u, last_v = a, b
            # Components of a later tree lie within those of an earlier one: what the last tree joins, all trees join.
            if find(parent, last_tree + a) == find(parent, last_tree + b):
                continue
        else:
            a, b, length, first_tree = np.int64(u[p]), np.int64(v[p]), d2[p], np.int64(tree[p])
            p += 1
        for t in range(first_tree, n_trees):
            root_a = find(parent, t * n_points + a)
            root_b = find(parent, t * n_points + b)
            if root_a == root_b:
                continue
            unite(parent, root_a, root_b)
            kept_u[kept], kept_v[kept], kept_d2[kept], kept_tree[kept] = a, b, length, t
            kept += 1
            missing[t] -= 1
            if missing[t] == 0:
                n_open -= 1
            break
    return kept_u[:kept], kept_v[:kept], kept_d2[:kept], kept_tree[:kept]


@kernel(plain=True)
def saturation_size(n_trees, limit):
    """Return how many copies of one point it takes until all forests span them, or limit if it takes more."""
    if limit < 2:
        return limit
    parent = np.full(n_trees * limit, -1, np.int32)
    components = np.full(n_trees, 1, np.int64)
    for copy in range(1, limit):
        if join_copy(parent, components, copy, n_trees, np.empty(0, np.int32), np.empty(0, np.int32), 0) < 0:
            return copy + 1
    return limit


@kernel(plain=True)
def join_copy(parent, components, copy, n_trees, out_u, out_v, written):
    """Add one more copy of a point to the forests of the copies before it.

    The strict order joins a new copy to the latest one first, then to the one before, and so on. Writes the accepted
    edges as far as the buffers go and returns how many are written by now, as -1 - written once every forest spans.
    """
    stride = len(parent) // n_trees
    for tree in range(n_trees):
        components[tree] += 1
    n_open = n_trees
    for other in range(copy - 1, -1, -1):
        for tree in range(n_trees):
            root_a = find(parent, tree * stride + copy)
            root_b = find(parent, tree * stride + other)
            if root_a == root_b:
                continue
            unite(parent, root_a, root_b)
            components[tree] -= 1
            if written < len(out_u):
                out_u[written], out_v[written] = other, copy
            written += 1
            break
        n_open = 0
        for tree in range(n_trees):
            n_open += components[tree] > 1
        if n_open == 0:
            break
    return written if n_open else -1 - written


@kernel(plain=True)
def site_forests(copy_start, n_trees):
    """Return the edges of the first forests inside every site of identical points.

    Points are numbered site by site and, within a site, by rank.
    """
    n_sites = len(copy_start) - 1
    capacity = 0
    for site in range(n_sites):
        copies = copy_start[site + 1] - copy_start[site]
        capacity += min(n_trees * (copies - 1), copies * (copies - 1) // 2)
    out_u = np.empty(capacity, np.int32)
    out_v = np.empty(capacity, np.int32)
    done = 0
    for site in range(n_sites):
        first = copy_start[site]
        copies = copy_start[site + 1] - first
        if copies < 2:
            continue
        parent = np.full(n_trees * copies, -1, np.int32)
        components = np.full(n_trees, 1, np.int64)
        written = 0
        for copy in range(1, copies):
            written = join_copy(parent, components, copy, n_trees, out_u[done:], out_v[done:], written)
            if written < 0:
                written = -1 - written
        for p in range(done, done + written):
            out_u[p] += first
            out_v[p] += first
        done += written
    return out_u[:done], out_v[:done]


@kernel
def component_labels(n_points, u, v):
    """Label the points of a forest by component."""
    parent = np.full(n_points, -1, np.int32)
    for edge in range(len(u)):
        unite(parent, find(parent, u[edge]), find(parent, v[edge]))
    labels = np.empty(n_points, np.int32)
    for i in range(n_points):
        labels[i] = find(parent, i)
    return labels


@kernel(plain=True)
def merge_components(edges, weights, merges):
    """Fill in a row for each merge: the two components, the smaller number first, their distance, and how many points.

    Points are components 0 .. n - 1, and merge i makes component n + i, as in a linkage of SciPy.
    """
    n_points = len(edges) + 1
    parent = np.full(n_points, -1, np.int64)
    component = np.arange(n_points)  # by root
    for i in range(len(edges)):
        a = find(parent, edges[i, 0])
        b = find(parent, edges[i, 1])
        merges[i, 0] = min(component[a], component[b])
        merges[i, 1] = max(component[a], component[b])
        merges[i, 2] = weights[i]
        unite(parent, a, b)
        root = a if parent[a] < 0 else b
        component[root] = n_points + i
        merges[i, 3] = -parent[root]
