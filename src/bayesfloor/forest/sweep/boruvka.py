"""Exact forests of rows with few axes, by Borůvka's rounds over a k-d tree of their own.

::

    rows ──split──▶ leaves, boxes ──near_rows──▶ a few nearest rows of each row
                        │                              │
                        │                  scan_lists ◀┘◀─────────────┐
                        ▼                      │ components left open │
                 search_strangers ◀────────────┤                      │ until one component is left,
                        │                      ▼                      │ then the next tree
                        └──────────────▶ join_components ─────────────┘

A component's first outgoing edge is in the tree. Most are in the lists: a row's first edge to a stranger is known where
it is shorter than anything that its list leaves out. Where too few components know theirs, the smaller ones search the
tree. A row carries what it learned from round to round as a bound below which it has no stranger.

Tree t is the minimum spanning tree of what trees 1 .. t - 1 leave: it is grown alike, without their edges. Edges are
compared in the strict order throughout, so the forests are those of Kruskal's walk, whatever the threads.

All rows take part, identical ones too: these are at distance 0, and ties among them fall by rank. Where one row has
many copies, each would look at all of them, and the sweep is used instead, as it is for more axes and many trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, I64, U64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, empty_edges, in_strict_order, together
from bayesfloor.forest.sweep.boruvka_kernels import combine, ends_by_row, join_components, leave_out, scan_lists
from bayesfloor.forest.sweep.cloud_kernels import box_leaves, box_nodes, label_leaves, label_nodes, split_rows
from bayesfloor.forest.sweep.search_kernels import near_rows, search_strangers
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Maximum number of trees: each has rounds of its own, while one sweep serves all.
MOST_TREES = 8
# Maximum number of identical rows.
MOST_COPIES = 8
# Maximum number of rows in a leaf, were all of the same size.
LEAF = 16
# Nearest rows in the list of a row: so many, and so many more for each tree.
NEAR, PER_TREE = 4, 2
# Rows whose nearest rows are found at a time: some milliseconds of work.
AT_ONCE = 1 << 14
# Share of the components that know their first edge from the lists, below which others search.
SETTLED = 0.25
# Share of the rows that search in a round, those of the smallest components; half of the components at the least.
SEARCHING = 0.8
# Parts of the tree for each thread, which takes every so many of them, so that all have about the same to search.
PARTS = 16
# Size of a component that no edge leaves.
CLOSED = 1 << 40


class Cloud(NamedTuple):
    """Rows in the order of a k-d tree's leaves."""

    rows: F64  # (n, 2 to 4)
    boxes: F64  # (2 n_leaves, 4 to 8) by node
    starts: I64  # (n_leaves + 1,)
    hashes: U64  # (n,)
    ranks: I32  # (n,)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.starts) - 1

    @property
    def more_axes(self) -> tuple[bool | None, bool | None]:
        """What tells kernels whether there is a third and a fourth axis."""
        n_axes = self.rows.shape[1]
        return True if n_axes > 2 else None, True if n_axes > 3 else None


class Taken(NamedTuple):
    """The edges of earlier trees: the other ends of those at each row, row after row."""

    starts: I64
    ends: I32


class Best(NamedTuple):
    """The best edge that leaves each component, of those looked at, and a bound on the others."""

    u: I32
    v: I32
    d2: F64
    least: F64  # squared length that no edge which has not been looked at is below

    @classmethod
    def unknown(cls, n: int) -> Best:
        """Return what is known before anything is."""
        return cls(np.empty(n, np.int32), np.empty(n, np.int32), np.full(n, np.inf), np.full(n, np.inf))

    def copy(self) -> Best:
        """Return a copy."""
        return Best(self.u.copy(), self.v.copy(), self.d2.copy(), self.least.copy())


def suits_rounds(n_rows: int, n_features: int, most_copies: int, task: Task) -> bool:
    """Tell whether the forests of rows, no more than so many of which are identical, come from Borůvka's rounds."""
    settings = plan.current()
    if is_plain() or task.device is not None or n_rows <= max(settings.all_pairs_below, 1):
        return False
    few = n_features <= settings.most_axes_of_rounds and task.n_trees <= MOST_TREES
    return few and most_copies <= MOST_COPIES


def grow_in_rounds(X: F64, ends: Ends, task: Task, pool: WorkerPool, amount: int) -> ForestEdges:
    """Return the exact forests of rows, which `suits_rounds` has accepted."""
    items, cloud = plant(X, ends, pool)
    n = len(X)
    near, bound = np.empty((n, min(NEAR + PER_TREE * task.n_trees, n - 1)), np.int32), np.empty(n)
    step = max(1, AT_ONCE * cloud.n_leaves // n)
    leaves = [(first, min(first + step, cloud.n_leaves)) for first in range(0, cloud.n_leaves, step)]
    work = [amount // (2 * len(leaves))] * len(leaves)
    pool.run(near_rows, [(*some, *cloud.more_axes, *cloud, task.key, near, bound) for some in leaves], work)
    taken = Taken(np.zeros(1, np.int64), np.empty(0, np.int32))
    trees: list[Edges] = []
    for _ in range(task.n_trees):
        if trees:
            grown = together(trees)
            taken = Taken(*ends_by_row(n, grown.u, grown.v))
            last = trees[-1]
            pool.run(leave_out, [(*share, last.u, last.v, near) for share in pool.shares(len(last.u))])
        trees.append(Rounds(cloud, task, near, bound.copy(), taken).run(pool))
        pool.advance(amount // (2 * task.n_trees))
    return in_strict_order(ends, task, [Edges(items.take(e.u), items.take(e.v), e.d2) for e in trees], pool)


def plant(X: F64, ends: Ends, pool: WorkerPool) -> tuple[I32, Cloud]:
    """Return the rows in the order of a k-d tree, with the tree, and their numbers."""
    n, n_features = X.shape
    height = 0
    while n > LEAF << height:
        height += 1
    n_leaves = 1 << height
    rows = np.zeros((n, max(n_features, 2)))
    rows[:, :n_features] = X
    items, starts = np.arange(n, dtype=np.int32), np.zeros(n_leaves + 1, np.int64)
    starts[-1] = n
    n_splits = min((4 * pool.n_threads - 1).bit_length(), height) if pool.n_threads > 1 else 0
    split_rows(rows, items, starts, 0, n_leaves, n_splits)
    part = n_leaves >> n_splits
    pool.run(split_rows, [(rows, items, starts, at, at + part, height) for at in range(0, n_leaves, part)])
    boxes = np.empty((2 * n_leaves, 2 * rows.shape[1]))
    pool.run(box_leaves, [(*share, rows, starts, boxes) for share in pool.shares(n_leaves)])
    box_nodes(boxes)
    hashes, ranks = np.empty(n, np.uint64), np.empty(n, np.int32)

    def take(first: int, last: int) -> None:
        own = slice(first, last)
        ends.hashes.take(items[own], out=hashes[own], mode="clip")
        ends.ranks.take(items[own], out=ranks[own], mode="clip")

    pool.run(take, pool.shares(n))
    return items, Cloud(rows, boxes, starts, hashes, ranks)


class Rounds:
    """Borůvka's rounds for one tree.

    `near` are the nearest rows of each row, without the edges of earlier trees, which are `taken`. All others are at a
    squared distance of `bound` or more; bounds rise.
    """

    def __init__(self, cloud: Cloud, task: Task, near: I32, bound: F64, taken: Taken):
        n = len(cloud.rows)
        self.cloud, self.key, self.near, self.bound, self.taken = cloud, task.key, near, bound, taken
        self.at = np.zeros(n, np.int8)  # how many of its nearest rows have joined a row's component
        self.labels = self.new_label = np.arange(n, dtype=np.int32)
        self.sizes = np.ones(n, np.int64)  # by component
        self.node_labels = np.empty(2 * cloud.n_leaves, np.int32)

    def run(self, pool: WorkerPool) -> Edges:
        """Return the edges of the tree, in no order."""
        edges, n_edges = empty_edges(len(self.cloud.rows) - 1), 0
        while np.count_nonzero(self.sizes < CLOSED) > 1:
            best = self.scan(pool)
            is_settled = best.least > best.d2
            if np.count_nonzero(is_settled) < SETTLED * len(self.sizes):
                self.search(best, self.smallest() & ~is_settled, pool)
            self.new_label = np.empty(len(self.sizes), np.int32)
            joined = join_components(best, self.labels, self.sizes, self.new_label, edges, n_edges)
            n_edges, self.sizes = joined
        return Edges(edges.u[:n_edges], edges.v[:n_edges], edges.d2[:n_edges])

    def scan(self, pool: WorkerPool) -> Best:
        """Return what the lists say about each component."""
        n_components, shares = len(self.sizes), pool.shares(len(self.labels))
        # Before the first round each row is a component of its own: threads do not meet.
        apart = n_components == len(self.labels)
        own = [Best.unknown(n_components)] * len(shares) if apart else [Best.unknown(n_components) for _ in shares]
        old, self.labels = self.labels, np.empty_like(self.labels)
        state = old, self.new_label, self.labels, self.near, self.at, self.bound
        how = *self.cloud.more_axes, self.cloud, self.key
        pool.run(scan_lists, [(*share, *how, *state, best) for share, best in zip(shares, own, strict=True)])
        return own[0] if apart else self.together(own)

    def together(self, own: list[Best]) -> Best:
        """Return the best of what threads found, in the place of the first one's."""
        for other in own[1:]:
            combine(own[0], other, self.cloud.hashes, self.cloud.ranks, self.key)
        return own[0]

    def smallest(self) -> np.ndarray:
        """Tell which components are the smaller ones, that search; the largest waits until others come."""
        by_size = np.sort(self.sizes[self.sizes < CLOSED])
        n_small = int(np.searchsorted(np.cumsum(by_size), SEARCHING * len(self.labels)))
        n_small = min(max(n_small, (len(by_size) + 1) // 2), len(by_size) - 1)
        return np.asarray(self.sizes <= by_size[n_small - 1])

    def search(self, best: Best, is_open: np.ndarray, pool: WorkerPool) -> None:
        """Find the best edges of open components among all rows."""
        cloud, n_threads = self.cloud, pool.n_threads
        shares = pool.shares(cloud.n_leaves)
        pool.run(label_leaves, [(*share, cloud.starts, self.labels, self.node_labels) for share in shares])
        label_nodes(self.node_labels)
        n_parts = min(cloud.n_leaves, 1 << (PARTS * n_threads - 1).bit_length())
        own = [best, *(best.copy() for _ in range(n_threads - 1))]
        how = *cloud.more_axes, cloud, self.key, self.labels, self.node_labels, self.taken, is_open, self.bound
        pool.run(search_strangers, [(first, n_threads, n_parts, *how, found) for first, found in enumerate(own)])
        self.together(own)
        best.least[is_open] = np.inf
        self.sizes[is_open & np.isinf(best.d2)] = CLOSED
