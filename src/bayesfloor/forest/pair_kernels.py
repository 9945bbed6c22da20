"""Kernels: the forests of two classes merged, and many pairs of small classes joined in one call."""

import numpy as np

from bayesfloor.forest.blocks import squared_distance
from bayesfloor.forest.kruskal import comes_first, find, is_same_edge, order_edges, precedes, unite
from bayesfloor.forest.labels import measure_pair
from bayesfloor.runtime.kernels import kernel

FEW_EDGES = 96  # up to here insertion sorts faster than radix


@kernel
def merge_forests(u, v, d2, tree, other_u, other_v, other_d2, other_tree, shift, hashes, ranks, key):
    """Merge the forests of two classes into one list in the strict order, the other's points numbered from shift."""
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


@kernel
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


@kernel
def order_few_edges(u, v, d2, hashes, ranks, key):
    """Return the numbers of a few edges in the strict order, by insertion."""
    order = np.empty(len(d2), np.int32)
    for e in range(len(d2)):
        p = e
        while p > 0 and precedes(e, order[p - 1], u, v, d2, hashes, ranks, key):
            order[p] = order[p - 1]
            p -= 1
        order[p] = e
    return order


@kernel
def join_small_pairs(first_class, second_class, X, n_trees, key, copies, touch, tree_edges, tree_cross, sums, n_cross):
    """Join pairs of small classes, all edges between them being candidates.

    Fills in, by pair: whether the classes share a site, the edges of each tree, those between the classes, the sums
    over all of them, and the number of edges between. Returns these edges (u, v, d2), numbered within their classes,
    one pair after the other.
    """
    starts, rows, hashes, ranks, sites = copies.starts, copies.rows, copies.hashes, copies.ranks, copies.sites
    forest_starts, forest_u, forest_v = copies.forest_starts, copies.u, copies.v
    forest_d2, forest_tree = copies.d2, copies.tree
    room = 0
    for pair in range(len(first_class)):
        a, b = first_class[pair], second_class[pair]
        n_a, n_b = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
        room += min(n_a * n_b, n_trees * (n_a + n_b - 1))
    out_u, out_v, out_d2 = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float64)
    written = 0
    for pair in range(len(first_class)):
        a, b = first_class[pair], second_class[pair]
        from_a, from_b = starts[a], starts[b]
        n_a, n_b = starts[a + 1] - from_a, starts[b + 1] - from_b
        n = n_a + n_b
        own_hashes, own_ranks = np.empty(n, np.uint64), np.empty(n, np.int32)
        own_sites = np.empty(n, np.int64)
        n_sites = 0
        for i in range(n):
            copy = from_a + i if i < n_a else from_b + i - n_a
            own_hashes[i], own_ranks[i] = hashes[copy], ranks[copy]
            n_sites += i == 0 or i == n_a or sites[copy] != sites[copy - 1]
            own_sites[i] = n_sites - 1
        new_u, new_v = np.empty(n_a * n_b, np.int32), np.empty(n_a * n_b, np.int32)
        new_d2 = np.empty(n_a * n_b, np.float64)
        at = 0
        for i in range(n_a):
            for j in range(n_b):
                new_u[at], new_v[at] = i, n_a + j
                new_d2[at] = squared_distance(X, rows[from_a + i], X, rows[from_b + j])
                at += 1
                if sites[from_a + i] == sites[from_b + j]:
                    own_sites[n_a + j] = own_sites[i]
                    touch[pair] = True
        if touch[pair]:
            n_sites = close_gaps(own_sites, n_sites)
        if at <= FEW_EDGES:
            order = order_few_edges(new_u, new_v, new_d2, own_hashes, own_ranks, key)
        else:
            order = order_edges(new_u, new_v, new_d2, own_hashes, own_ranks, key)
        ga, ga_end, gb, gb_end = forest_starts[a], forest_starts[a + 1], forest_starts[b], forest_starts[b + 1]
        u, v, d2, tree = merge_forests(
            forest_u[ga:ga_end],
            forest_v[ga:ga_end],
            forest_d2[ga:ga_end],
            forest_tree[ga:ga_end],
            forest_u[gb:gb_end],
            forest_v[gb:gb_end],
            forest_d2[gb:gb_end],
            forest_tree[gb:gb_end],
            n_a,
            own_hashes,
            own_ranks,
            key,
        )
        u, v, d2, tree = walk_with(n, n_trees, u, v, d2, tree, new_u, new_v, new_d2, order, own_hashes, own_ranks, key)
        measure_pair(
            u, v, tree, own_sites, n_sites, n_a, own_ranks, False, tree_edges[pair], tree_cross[pair], sums[pair]
        )
        before = written
        for e in range(len(u)):
            if (u[e] < n_a) != (v[e] < n_a):
                out_u[written], out_v[written], out_d2[written] = min(u[e], v[e]), max(u[e], v[e]) - n_a, d2[e]
                written += 1
        n_cross[pair] = written - before
    return out_u[:written].copy(), out_v[:written].copy(), out_d2[:written].copy()


@kernel
def close_gaps(sites, n_sites):
    """Number sites anew, in order of appearance; return how many there are."""
    number = np.full(n_sites, -1, np.int64)
    n = 0
    for i in range(len(sites)):
        if number[sites[i]] < 0:
            number[sites[i]] = n
            n += 1
        sites[i] = number[sites[i]]
    return n
