"""Kernels: the nearest neighbours of all points, by a sweep with one limit for each point in place of a tree."""

import numpy as np

from bayesfloor.forest.sweep.bound_kernels import insert_by_reach
from bayesfloor.forest.sweep.distance_kernels import roughly_within, squared_distance
from bayesfloor.forest.sweep.tile_kernels import WITHIN, gather
from bayesfloor.runtime.kernels import kernel


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
    """Sweep tiles first..last against all tiles for near neighbours; returns as `sweep_leaves` does."""
    leaf, count = first, 0
    while True:
        count = settle_neighbors(side, farthest, work, out, count)
        if work.pending[0] < work.pending[1] or leaf == last:
            return count, leaf, from_leaf
        leaf, from_leaf = gather(
            leaf, from_leaf, side, bounds, side, bounds, line, hops, WITHIN, resumed, products, work
        )


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
