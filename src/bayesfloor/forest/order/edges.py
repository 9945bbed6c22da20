"""Forests as lists of edges in the strict order, and Kruskal's walk that settles them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import F64, I32, U64, Edges, ForestEdges
from bayesfloor.forest.order.hash_kernels import seed_key
from bayesfloor.forest.order.kruskal_kernels import merge_forests, order_between, walk_with
from bayesfloor.runtime.threads import WorkerPool

# Minimum number of edges that several threads sort.
SORTED_BY_MANY = 1 << 15
# Maximum number of edges for one walk over all of them; of more, the shortest are walked first.
ONE_WALK = 2_000
# Maximum number of entries per edge in the dense matrix of lengths that this takes; with more, one walk takes all.
MOST_SPARSE = 8


@dataclass(frozen=True)
class Task:
    """What is asked for: how many trees, how ties are broken, and where distances are computed."""

    n_trees: int
    n_trees_asked: int
    key: np.uint64
    device: Any = None  # computes blocks of distances in place of the CPU, see `gpu.engine.SweepDevice`

    @classmethod
    def of(cls, n_trees: int, seed: int, n_points: int, device: Any = None) -> Task:
        """Return the task for a seed.

        A point with an edge in a tree has one in every tree before, so there are no more trees than a point has edges.
        """
        return cls(min(n_trees, n_points - 1), n_trees, np.uint64(seed_key(np.uint64(seed))), device)


@dataclass(frozen=True)
class Ends:
    """What the strict order needs to know of the points that edges join."""

    hashes: U64
    ranks: I32

    def __len__(self) -> int:
        return len(self.hashes)


def settle(
    ends: Ends, task: Task, forests: ForestEdges, edges: Sequence[Edges], pool: WorkerPool | None = None
) -> ForestEdges:
    """Run Kruskal's walk over the edges of some forests and over new ones, which are in no order.

    The threads of a pool sort the new ones.
    """
    u, v, d2 = together(edges)
    # Sorted once: of many edges, the walk would wait for memory at each one that it picks out.
    found = in_ranges(ends, task, Edges(u, v, d2), (u, v, d2), pool)
    in_order = np.arange(len(found[0]), dtype=np.int32)
    return ForestEdges(
        *walk_with(len(ends), task.n_trees, *forests, *found, in_order, ends.hashes, ends.ranks, task.key)
    )


def in_ranges(
    ends: Ends, task: Task, edges: Edges, fields: Sequence[np.ndarray], pool: WorkerPool | None
) -> list[np.ndarray]:
    """Return fields of edges in the strict order; each thread of a pool sorts those of a range of lengths."""
    cuts = [0.0, np.inf]
    if pool is not None and len(edges.d2) >= SORTED_BY_MANY:
        sample = np.sort(edges.d2[:: max(1, len(edges.d2) // 1024)])
        cuts[1:1] = [float(sample[first]) for first, _ in pool.shares(len(sample))[1:]]

    def sort(low: float, high: float) -> list[np.ndarray]:
        order = order_between(*edges, low, high, ends.hashes, ends.ranks, task.key)
        return [field.take(order) for field in fields]

    some = pool.run(sort, [*pairwise(cuts)]) if pool is not None else [sort(*cuts)]
    return [np.concatenate(field) for field in zip(*some, strict=True)] if len(some) > 1 else list(some[0])


def in_strict_order(ends: Ends, task: Task, trees: Sequence[Edges], pool: WorkerPool) -> ForestEdges:
    """Put the edges of all trees, each in no order, into one list in the strict order."""
    edges = together(trees)
    tree = np.repeat(np.arange(len(trees), dtype=np.int32), [len(own.u) for own in trees])
    return ForestEdges(*in_ranges(ends, task, edges, (*edges, tree), pool))


def settle_all(ends: Ends, task: Task, forests: ForestEdges, others: Sequence[Edges], edges: Edges) -> ForestEdges:
    """Settle the edges between all points in NumPy, where most of many edges need not be put in order.

    The shortest edges of each end come first. What the last tree then joins by shorter edges, all trees join, and more
    edges only merge more: of the others, those that are longer than the longest edge between their ends in that tree
    are refused by all trees.
    """
    n = len(ends)
    if len(edges.u) <= ONE_WALK or n * n > MOST_SPARSE * len(edges.u):
        return settle(ends, task, forests, [*others, edges])
    u, v, d2 = edges
    lengths = np.full((n, n), np.inf)
    lengths[u, v] = lengths[v, u] = d2
    n_near = min(2 * task.n_trees + 2, n - 1)
    lengths.partition(n_near, axis=1)
    reach = lengths[:, n_near]
    is_near = d2 <= np.maximum(reach[u], reach[v])
    grown = settle(ends, task, forests, [*others, Edges(u[is_near], v[is_near], d2[is_near])])
    last = grown.tree == task.n_trees - 1
    is_open = ~is_near
    if np.count_nonzero(last) == n - 1:
        is_open &= d2 <= _longest_between(n, grown.u[last], grown.v[last], grown.d2[last])[u, v]
    return settle(ends, task, grown, [Edges(u[is_open], v[is_open], d2[is_open])])


def _longest_between(n: int, u: I32, v: I32, d2: F64) -> F64:
    """Return the longest edge on the way between each two points of a tree, whose edges are in order."""
    longest = np.zeros((n, n))
    members = {point: np.array([point]) for point in range(n)}
    of_point = np.arange(n)
    for a, b, length in zip(of_point[u], of_point[v], d2, strict=True):
        one, other = members.pop(of_point[a]), members.pop(of_point[b])
        longest[np.ix_(one, other)] = longest[np.ix_(other, one)] = length
        members[of_point[a]] = np.concatenate((one, other))
        of_point[other] = of_point[a]
    return longest


def empty_edges(n: int = 0) -> Edges:
    """Return room for edges."""
    return Edges(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n))


def together(edges: Iterable[Edges]) -> Edges:
    """Put lists of edges one after the other."""
    return Edges(*map(np.concatenate, zip(*edges, strict=True)))


def no_forests() -> ForestEdges:
    """Return forests without an edge."""
    return ForestEdges(*empty_edges(), np.empty(0, np.int32))


def shifted(edges: Edges | ForestEdges, by_u: int, by_v: int) -> Edges:
    """Renumber the ends of edges."""
    return Edges(edges.u + np.int32(by_u), edges.v + np.int32(by_v), edges.d2)


def merged(a: ForestEdges, b: ForestEdges, ends: Ends, n_copies_a: int, task: Task) -> ForestEdges:
    """Merge two forests into one list in the strict order; the points of b are numbered after those of a."""
    return ForestEdges(*merge_forests(tuple(a), tuple(b), np.int32(n_copies_a), ends.hashes, ends.ranks, task.key))
