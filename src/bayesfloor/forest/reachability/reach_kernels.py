"""Kernels: what differs from `sweep` where edges have mutual reachability distances, and where neighbours are wanted.

`core` holds squares here: of each point the largest float64 whose root rounds to its core distance. So an edge that is
no longer than the core distance of an end, as both are rounded, has exactly that weight.
"""

import numpy as np

from bayesfloor.forest.order.bottleneck_kernels import heaviest_gap
from bayesfloor.forest.order.hash_kernels import edge_hash
from bayesfloor.forest.sweep.bound_kernels import insert_by_reach
from bayesfloor.forest.sweep.distance_kernels import roughly_within, squared_distance
from bayesfloor.forest.sweep.tile_kernels import WITHIN, search_leaf, sweep_leaf
from bayesfloor.runtime.kernels import kernel


@kernel(inline="always", plain=True)
def n_copy_pairs(n_a, n_b, sat, tied_a, tied_b):
    """Return how many pairs of copies `write_copies` writes."""
    outer_a, outer_b = min(n_a, 2 * sat), min(n_b, 2 * sat)
    if tied_a and tied_b:
        return outer_a * n_b + n_a * outer_b - outer_a * outer_b
    return (n_a if tied_a else outer_a) * (n_b if tied_b else outer_b)


@kernel(plain=True)
def write_copies(a0, a1, b0, b1, sat, tied_a, tied_b, d2, out_u, out_v, out_d2, count):
    """Write the edges between copies a0 .. a1 of one point and b0 .. b1 of another that can matter; return the count.

    All of them weigh the same and fall by rank. Copies of one point that lighter edges join are one component in every
    tree: only the first and last few take part. Where the edges that join them tie with those between (`tied_a`,
    `tied_b`), they may come later, and all copies take part; if that is so on both sides, each edge still has one end
    among the first or last few. `docs/design.md` says why.
    """
    for p in range(a0, a1):
        inner = a0 + sat <= p < a1 - sat
        if inner and not tied_a:
            continue
        for q in range(b0, b1):
            if b0 + sat <= q < b1 - sat and (not tied_b or (inner and tied_a)):
                continue
            out_u[count], out_v[count], out_d2[count] = p, q, d2
            count += 1
    return count


@kernel(plain=True)
def copies_of_pairs(i, j, d2, core, copy_start, sat):
    """Return the edges between copies of pairs of points that can matter, as (u, v, d2)."""
    n_edges = 0
    for e in range(len(i)):
        n_a, n_b = copy_start[i[e] + 1] - copy_start[i[e]], copy_start[j[e] + 1] - copy_start[j[e]]
        n_edges += n_copy_pairs(n_a, n_b, sat, d2[e] == core[i[e]], d2[e] == core[j[e]])
    u, v, out_d2 = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32), np.empty(n_edges, np.float64)
    count = 0
    for e in range(len(i)):
        a0, a1, b0, b1 = copy_start[i[e]], copy_start[i[e] + 1], copy_start[j[e]], copy_start[j[e] + 1]
        tied_a, tied_b = d2[e] == core[i[e]], d2[e] == core[j[e]]
        count = write_copies(a0, a1, b0, b1, sat, tied_a, tied_b, d2[e], u, v, out_d2, count)
    return u, v, out_d2


@kernel
def gather(leaf, from_leaf, side, bounds, line, hops, resumed, products, work):
    """Gather candidates between a tile and all tiles, from a leaf on; return the tile and the leaf to go on with."""
    work.pending[0], work.pending[1] = 0, 0
    if products:
        from_leaf = sweep_leaf(leaf, from_leaf, side, bounds, side, bounds, line, WITHIN, resumed, work)
    else:
        from_leaf = search_leaf(leaf, from_leaf, side, bounds, side, bounds, hops, line.logs, WITHIN, resumed, work)
    return (leaf, from_leaf) if from_leaf < 1 << side.height else (leaf + 1, 0)


@kernel
def settle_reaching(side, bounds, line, core, key, sat, work, out, count):
    """Decide pending candidates in float64 and write the edges that may enter the forests.

    Returns the new count; candidates stay pending when `out` is full.
    """
    candidate_i, candidate_j, pending = work.candidate_i, work.candidate_j, work.pending
    copies, rows, hashes = side.copy_start, side.rows, side.hashes
    lows, highs = bounds.place_low, bounds.place_high
    table, logs, edge_d2, edge_hashes = line.table, line.logs, line.d2, line.hashes
    out_u, out_v, out_d2 = out.u, out.v, out.d2
    for at in range(pending[0], pending[1]):
        i, j = candidate_i[at], candidate_j[at]
        least = max(core[i], core[j])
        edge = heaviest_gap(table, logs, min(lows[i], lows[j]), max(highs[i], highs[j]))
        bound = edge_d2[edge]
        if least > bound or not roughly_within(rows, i, rows, j, bound):
            continue
        d2 = max(squared_distance(rows, i, rows, j), least)
        if d2 > bound or (d2 == bound and edge_hash(hashes[i], hashes[j], key) > edge_hashes[edge]):
            continue
        a0, a1, b0, b1 = copies[i], copies[i + 1], copies[j], copies[j + 1]
        tied_a, tied_b = d2 == core[i], d2 == core[j]
        if count + n_copy_pairs(a1 - a0, b1 - b0, sat, tied_a, tied_b) > len(out_d2):
            pending[0] = at
            return count
        count = write_copies(a0, a1, b0, b1, sat, tied_a, tied_b, d2, out_u, out_v, out_d2, count)
    pending[0] = pending[1]
    return count


@kernel
def sweep_reaching(first, last, from_leaf, side, bounds, line, hops, core, key, sat, resumed, products, work, out):
    """Sweep tiles first..last against all tiles for edges that may enter.

    Returns the number of edges written and where to go on, as `sweep_leaves` does.
    """
    leaf, count = first, 0
    while True:
        count = settle_reaching(side, bounds, line, core, key, sat, work, out, count)
        if work.pending[0] < work.pending[1] or leaf == last:
            return count, leaf, from_leaf
        leaf, from_leaf = gather(leaf, from_leaf, side, bounds, line, hops, resumed, products, work)


@kernel
def settle_neighbors(side, farthest, work, out, count):
    """Write the pending candidates that are nearer than the farthest that either point still looks for."""
    candidate_i, candidate_j, pending = work.candidate_i, work.candidate_j, work.pending
    rows = side.rows
    out_u, out_v, out_d2 = out.u, out.v, out.d2
    for at in range(pending[0], pending[1]):
        if count == len(out_d2):
            pending[0] = at
            return count
        i, j = candidate_i[at], candidate_j[at]
        bound = max(farthest[i], farthest[j])
        if not roughly_within(rows, i, rows, j, bound):
            continue
        d2 = squared_distance(rows, i, rows, j)
        if d2 < bound:
            out_u[count], out_v[count], out_d2[count] = i, j, d2
            count += 1
    pending[0] = pending[1]
    return count


@kernel
def sweep_neighbors(first, last, from_leaf, side, bounds, line, hops, farthest, resumed, products, work, out):
    """Sweep tiles first..last against all tiles for near neighbours; returns as `sweep_reaching` does."""
    leaf, count = first, 0
    while True:
        count = settle_neighbors(side, farthest, work, out, count)
        if work.pending[0] < work.pending[1] or leaf == last:
            return count, leaf, from_leaf
        leaf, from_leaf = gather(leaf, from_leaf, side, bounds, line, hops, resumed, products, work)


@kernel
def bound_by_neighbors(side, farthest, scale, bounds):
    """Fill in how far every point of a side looks for neighbours, and each tile's points by that."""
    n_leaves = 1 << side.height
    starts, reaches, by_reach = side.starts, bounds.reach, bounds.by_reach
    for leaf in range(n_leaves):
        start, stop = starts[leaf], starts[leaf + 1]
        widest = 0.0
        for i in range(start, stop):
            reach = np.sqrt(farthest[i]) * scale
            reaches[i] = reach
            widest = max(widest, reach)
            insert_by_reach(i, start, reaches, by_reach)
        bounds.node_reach[n_leaves + leaf] = widest


@kernel
def keep_neighbors(first, last, u, v, d2, near, near_d2):
    """Put pairs into the lists of near points of points first..last, nearest first; some may be there already."""
    n_wanted = near.shape[1]
    for e in range(2 * len(u)):
        at = e >> 1
        i, j = (u[at], v[at]) if e & 1 else (v[at], u[at])
        if i < first or i >= last or d2[at] >= near_d2[i, n_wanted - 1]:
            continue
        known = False
        for p in range(n_wanted):
            known |= near[i, p] == j
        if known:
            continue
        p = n_wanted - 1
        while p > 0 and near_d2[i, p - 1] > d2[at]:
            near_d2[i, p], near[i, p] = near_d2[i, p - 1], near[i, p - 1]
            p -= 1
        near_d2[i, p], near[i, p] = d2[at], j


@kernel
def count_to_core(k, near, near_d2, copy_start, farthest):
    """Fill in the squared distance to the k-th nearest other copy, given the nearest points of each point."""
    for i in range(len(near)):
        left = k - (copy_start[i + 1] - copy_start[i] - 1)
        p, d2 = 0, 0.0
        while left > 0 and p < near.shape[1]:
            d2 = near_d2[i, p]
            j = near[i, p]
            if j >= 0:
                left -= copy_start[j + 1] - copy_start[j]
            p += 1
        farthest[i] = d2
