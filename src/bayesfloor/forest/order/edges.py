"""Forests as lists of edges in the strict order, and Kruskal's walk that settles them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import I32, U64, Edges, ForestEdges
from bayesfloor.forest.order.hashing import seed_key
from bayesfloor.forest.order.kruskal import merge_forests, order_edges, walk_with


@dataclass(frozen=True)
class Task:
    """What is asked for: how many trees, how ties are broken, and where distances are computed."""

    n_trees: int
    n_trees_asked: int
    key: np.uint64
    device: Any = None  # computes blocks of distances in place of the CPU, see `sweep.driver.Device`

    @classmethod
    def of(cls, n_trees: int, seed: int, n_points: int) -> Task:
        """Return the task for a seed.

        A point with an edge in a tree has one in every tree before, so there are no more trees than a point has edges.
        """
        return cls(min(n_trees, n_points - 1), n_trees, np.uint64(seed_key(np.uint64(seed))))


@dataclass(frozen=True)
class Ends:
    """What the strict order needs to know of the points that edges join."""

    hashes: U64
    ranks: I32

    def __len__(self) -> int:
        return len(self.hashes)


def settle(ends: Ends, task: Task, forests: ForestEdges, edges: Sequence[Edges]) -> ForestEdges:
    """Run Kruskal's walk over the edges of some forests and over new ones, which are in no order."""
    u, v, d2 = (np.concatenate(field) for field in zip(*edges, strict=True))
    order = order_edges(u, v, d2, ends.hashes, ends.ranks, task.key)
    # Sorted once: of many edges, the walk would wait for memory at each one that it picks out.
    found = u.take(order), v.take(order), d2.take(order)
    in_order = np.arange(len(order), dtype=np.int32)
    return ForestEdges(
        *walk_with(len(ends), task.n_trees, *forests, *found, in_order, ends.hashes, ends.ranks, task.key)
    )


def no_edges() -> Edges:
    """Return an empty list of edges."""
    return Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


def no_forests() -> ForestEdges:
    """Return forests without an edge."""
    return ForestEdges(*no_edges(), np.empty(0, np.int32))


def shifted(edges: Edges | ForestEdges, by_u: int, by_v: int) -> Edges:
    """Renumber the ends of edges."""
    return Edges(edges.u + np.int32(by_u), edges.v + np.int32(by_v), edges.d2)


def merged(a: ForestEdges, b: ForestEdges, ends: Ends, n_copies_a: int, task: Task) -> ForestEdges:
    """Merge two forests into one list in the strict order; the points of b are numbered after those of a."""
    return ForestEdges(*merge_forests(tuple(a), tuple(b), np.int32(n_copies_a), ends.hashes, ends.ranks, task.key))
