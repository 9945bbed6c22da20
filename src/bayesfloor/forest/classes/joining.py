"""Every pair of classes joined: what their own forests keep, and the edges between.

Pairs of small classes are joined many at a time, all edges between them being candidates and blocks of distances
of moderate size one by one, each in one call (both in `pair_kernels`); large ones by `sweep.driver`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.classes.pair_kernels import join_block, join_small_pairs
from bayesfloor.forest.order.arrays import F64, I32, I64, U64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, empty_edges, merged, settle, settle_all, shifted, together
from bayesfloor.forest.order.kruskal_kernels import saturation_size, site_forests
from bayesfloor.forest.order.label_kernels import record_pair
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.results import EdgeSums
from bayesfloor.forest.sweep.driver import SMALL_CHUNK, Part, Sweep, device_for
from bayesfloor.forest.sweep.grow import neighbors_of
from bayesfloor.forest.sweep.records import Work
from bayesfloor.forest.sweep.tiling import Axes, Tiled, copy_edges, lengths_of, new_work
from bayesfloor.runtime.kernels import is_plain
from bayesfloor.runtime.threads import WorkerPool

# Minimum number of distances in a block that threads share; they take one smaller block each.
LARGE_BLOCK = 4_000_000
# Maximum number of distances between two classes that one thread joins in one call.
AT_ONCE = 20_000_000
# Maximum number of distances in a block of which every edge is a candidate.
SMALL_BLOCK = 4_096
# Maximum number of axes for joining two classes in one call; matrix products are faster beyond.
MANY_AXES = 100
# Fixed cost of a pair of small classes, in distances.
PAIR_COST = 300


@dataclass(frozen=True, eq=False)
class PairEdges:
    """The edges between the two classes of every pair, one pair after the other in any order.

    Pairs are numbered (0, 1), (0, 2), ..., (1, 2), ...; the ends of an edge are numbered within their classes.
    """

    edges: Edges
    first: I64  # (n_pairs,) where a pair's edges start
    count: I64  # (n_pairs,)

    def of(self, pair: int) -> Edges:
        """Return the edges of one pair."""
        part = slice(self.first[pair], self.first[pair] + self.count[pair])
        return Edges(self.edges.u[part], self.edges.v[part], self.edges.d2[part])


class PairSums(NamedTuple):
    """What counts of cross edges, and their variance, need of each pair of classes."""

    tree_edges: I64  # (n_pairs, n_trees) edges of each tree
    tree_cross: F64  # those between the two classes
    sums: F64  # (n_pairs, 7) over all edges
    touch: np.ndarray  # (n_pairs,) whether the classes share a site

    @classmethod
    def empty(cls, n_pairs: int, n_trees: int) -> PairSums:
        """Return zeros, to be added to."""
        shape = n_pairs, n_trees
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros((n_pairs, 7)), np.zeros(n_pairs, np.bool_))

    def put(self, pairs: I64, some: PairSums) -> None:
        """Fill in what is known of some pairs."""
        for own, new in zip(self, some, strict=True):
            own[pairs] = new

    def edge_sums(self, n_points: I64) -> EdgeSums:
        """Return the sums of pairs that have so many points."""
        n_spanning = np.count_nonzero(self.tree_edges == n_points[:, None] - 1, axis=1)
        return EdgeSums._make([*self.sums.T.copy(), n_spanning, np.where(self.touch, 1, 2)])


def joint_ends(a: Tiled, b: Tiled) -> Ends:
    """Number the copies of two classes, one after the other."""
    return Ends(
        np.concatenate((a.copy_hashes, b.copy_hashes)),
        np.concatenate((a.copy_ranks, b.copy_ranks)),
    )


def in_turn(
    work: Callable[..., None],
    arguments: list[tuple[Any, ...]],
    sizes: list[int],
    pool: WorkerPool,
    on_device: bool = False,
) -> None:
    """Do large pieces of work one after the other with the whole pool, then small ones a thread each.

    A device shares its time by itself: there, every piece has a thread where there are enough pieces.
    """
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    n_large = sum(size > LARGE_BLOCK for size in sizes)
    if on_device and 2 * len(sizes) > pool.n_threads:
        n_large = 0
    for number in order[:n_large]:
        work(*arguments[number], pool)
    small = order[n_large:]
    if pool.n_threads == 1:
        for number in small:
            work(*arguments[number], pool)
    elif small:
        pool.run(work, [(*arguments[number], pool.alone) for number in small], [sizes[number] for number in small])


class SharedSites:
    """The sites at which rows of several classes have the same values."""

    def __init__(self, points: Points, tiled: list[Tiled]):
        self._points_at: list[tuple[I64, I64]] = []
        if points.n_sites == len(points.sites):
            self._points_at = [(np.empty(0, np.int64), np.empty(0, np.int64))] * len(tiled)
            return
        first_copies = [own.side.copy_start[:-1] for own in tiled]
        sites_of = [points.sites[own.copy_rows[first]] for own, first in zip(tiled, first_copies, strict=True)]
        n_classes_at = np.bincount(np.concatenate(sites_of))
        for sites in sites_of:
            shared = np.flatnonzero(n_classes_at[sites] > 1)
            shared = shared[np.argsort(sites[shared])]
            self._points_at.append((sites[shared], shared))

    def between(self, a: int, b: int) -> tuple[I64, I64]:
        """Return the points of two classes that coincide."""
        (sites_a, points_a), (sites_b, points_b) = self._points_at[a], self._points_at[b]
        if len(sites_a) == 0 or len(sites_b) == 0:
            return points_a[:0], points_b[:0]
        _, at_a, at_b = np.intersect1d(sites_a, sites_b, assume_unique=True, return_indices=True)
        return points_a[at_a], points_b[at_b]


def coinciding_edges(a: Tiled, b: Tiled, points_a: I64, points_b: I64, ends: Ends, n_trees: int) -> Edges:
    """Return the edges of length zero between two classes that the forests of their common sites keep."""
    copies, sites = [], []
    for side, points, first in ((a.side, points_a, 0), (b.side, points_b, a.n_copies)):
        counts = np.diff(side.copy_start)[points]
        site = np.repeat(np.arange(len(points)), counts)
        within = np.arange(len(site)) - np.repeat(np.cumsum(counts) - counts, counts)
        copies.append(side.copy_start[points][site] + within + first)
        sites.append(site)
    copy, site = np.concatenate(copies), np.concatenate(sites)
    ordered = copy[np.lexsort((ends.ranks[copy], site))]
    starts = np.concatenate(([0], np.cumsum(np.bincount(site))))
    place_u, place_v = site_forests(starts, n_trees)
    u, v = ordered[place_u], ordered[place_v]
    between = (u < a.n_copies) != (v < a.n_copies)
    return Edges(u[between].astype(np.int32), v[between].astype(np.int32), np.zeros(np.count_nonzero(between)))


class Copies(NamedTuple):
    """The copies and the forests of all classes, one class after the other; ends are numbered within each class."""

    starts: I64  # (n_classes + 1,) first copy of each class
    rows: I32
    hashes: U64
    ranks: I32
    sites: I64
    forest_starts: I64  # (n_classes + 1,) first edge of each class
    u: I32
    v: I32
    d2: F64
    tree: I32


def in_a_row(points: Points, tiled: list[Tiled], grown: list[ForestEdges]) -> Copies:
    """Put the copies and the forests of all classes in a row."""
    rows, hashes, ranks = (
        np.concatenate([getattr(own, name) for own in tiled]) for name in ("copy_rows", "copy_hashes", "copy_ranks")
    )
    starts = np.concatenate(([0], np.cumsum([own.n_copies for own in tiled])))
    forest_starts = np.concatenate(([0], np.cumsum([len(own.u) for own in grown])))
    forests = map(np.concatenate, zip(*grown, strict=True))
    return Copies(starts, rows, hashes, ranks, points.sites[rows], forest_starts, *forests)


class Joining:
    """Pairs of classes being joined, all of them unless some are given.

    Each pair is one thread's work, or in turn that of all threads.
    """

    def __init__(
        self,
        points: Points,
        tiled: list[Tiled],
        grown: list[ForestEdges],
        axes: Axes,
        task: Task,
        pairs: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.points, self.tiled, self.grown, self.axes, self.task = points, tiled, grown, axes, task
        self.shared = SharedSites(points, tiled)
        most_copies = max(int(np.diff(own.side.copy_start).max()) for own in tiled)
        self.saturation = saturation_size(task.n_trees, most_copies + 1)
        self.classes = np.triu_indices(len(tiled), 1) if pairs is None else pairs
        self.sums = PairSums.empty(len(self.classes[0]), task.n_trees)
        self.found: list[tuple[I64, I64, Edges]] = []
        self._buffers = threading.local()

    def run(self, pool: WorkerPool) -> None:
        """Join all pairs."""
        n_copies = np.array([own.n_copies for own in self.tiled])
        sizes = n_copies[self.classes[0]] * n_copies[self.classes[1]]
        # A block that would keep one thread busy for longer than the others is shared by all of them.
        fair = max(LARGE_BLOCK, int(sizes.sum()) // pool.n_threads)
        at_once = sizes <= self.most_at_once(fair)
        if self.task.device is not None:
            at_once &= sizes < plan.current().device_pairs
        if is_plain():  # all edges are candidates, without kernels for blocks
            at_once[:] = False
        is_small = at_once & (sizes <= SMALL_BLOCK)
        large = np.flatnonzero(~at_once)
        pairs, on_device = [(int(pair),) for pair in large], self.task.device is not None
        in_turn(self.join_large, pairs, list(map(int, sizes[large])), pool, on_device)
        in_blocks = np.flatnonzero(at_once & ~is_small)
        in_blocks = in_blocks[np.argsort(-sizes[in_blocks], kind="stable")]
        if is_small.any():
            self.in_a_row = in_a_row(self.points, self.tiled, self.grown)
        batches = [
            *((self.join_blocks, pairs) for pairs in in_batches(in_blocks, sizes, pool)),
            *((self.join_small, pairs) for pairs in in_batches(np.flatnonzero(is_small), sizes, pool)),
        ]
        amounts = [int(sizes[pairs].sum()) for _, pairs in batches]
        pool.run(lambda work, pairs: work(pairs, pool), batches, amounts)

    def most_at_once(self, fair: int) -> int:
        """Return up to how many distances a pair is joined in one call."""
        return min(AT_ONCE, fair) if self.axes.n_axes <= MANY_AXES else SMALL_BLOCK

    def join_large(self, pair: int, pool: WorkerPool) -> None:
        """Join one pair by a sweep."""
        a, b = int(self.classes[0][pair]), int(self.classes[1][pair])
        tiled, task = (self.tiled[a], self.tiled[b]), self.task
        ends = joint_ends(*tiled)
        known = merged(self.grown[a], self.grown[b], ends, tiled[0].n_copies, task)
        coinciding, twin = self.meeting(pair, a, b)
        self.record(pair, a, b, self.joined(a, b, known, ends, coinciding, pool), twin)

    def joined(
        self, a: int, b: int, known: ForestEdges, ends: Ends, coinciding: Edges, pool: WorkerPool
    ) -> ForestEdges:
        """Return the forests of two classes together, given what their own forests keep, and edges of length zero."""
        one, other, task = self.tiled[a], self.tiled[b], self.task
        n_one, n_other, amount = len(one.side.hashes), len(other.side.hashes), one.n_copies * other.n_copies
        if n_one * n_other <= SMALL_BLOCK or min(n_one, n_other) < task.n_trees or is_plain():
            i, j = np.repeat(np.arange(n_one), n_other), np.tile(np.arange(n_other), n_one)
            edges = shifted(copy_edges(one, other, i, j, task.n_trees), 0, one.n_copies)
            if is_plain():
                return settle_all(ends, task, known, [coinciding], edges)
            return settle(ends, task, known, [edges, coinciding])
        device = device_for(task, n_one * n_other)
        if device is not None:
            joined: ForestEdges = device.join(one, other, known, ends, [coinciding], task, pool, amount)
            return joined
        n_wanted = 1 if min(n_one, n_other) > 8 * task.n_trees else task.n_trees + 1
        near = neighbors_of(one, other, n_wanted, pool, n_near=1)
        is_found = near.ravel() >= 0  # the nearest tile may hold fewer
        i, j = np.repeat(np.arange(n_one), near.shape[1])[is_found], near.ravel()[is_found].astype(np.int64)
        u = one.side.copy_start[i].astype(np.int32)
        v = (other.side.copy_start[j] + one.n_copies).astype(np.int32)
        grown = settle(ends, task, known, [Edges(u, v, lengths_of(one, other, i, j)), coinciding])
        return Sweep(Part(one), Part(other, one.n_copies), ends, task, self.axes).run(grown, pool, amount)

    def join_blocks(self, pairs: I64, pool: WorkerPool) -> None:
        """Join pairs one after the other, each in one call."""
        for pair in pairs:
            pool.check()
            a, b = int(self.classes[0][pair]), int(self.classes[1][pair])
            if self.tiled[a].n_copies < self.tiled[b].n_copies:  # the larger class finds neighbours in the smaller
                a, b = b, a
            coinciding, twin = self.meeting(pair, a, b)
            self.record(pair, a, b, self.block(a, b, coinciding), twin)

    def buffers(self, n_points: int) -> tuple[Work, Edges]:
        """Return this thread's buffers for a pair that has so many points."""
        capacity = int(plan.current().survivors_per_point * self.task.n_trees * n_points)
        capacity = max(capacity, 4 * self.saturation**2)
        mine = self._buffers
        if not hasattr(mine, "work"):
            mine.work = new_work(*(own.side for own in self.tiled))
        if not hasattr(mine, "out") or len(mine.out.u) < capacity:
            mine.out = empty_edges(capacity)
        return mine.work, mine.out

    def block(self, a: int, b: int, coinciding: Edges) -> ForestEdges:
        """Return the forests of two classes, joined in one call, given the edges of length zero between them."""
        (one, grown_one), (other, grown_other) = ((self.tiled[c], self.grown[c]) for c in (a, b))
        return ForestEdges(
            *join_block(
                one.side,
                other.side,
                (one.copy_hashes, one.copy_ranks),
                (other.copy_hashes, other.copy_ranks),
                grown_one,
                grown_other,
                coinciding,
                self.task.n_trees,
                self.task.key,
                self.axes.scale,
                self.saturation,
                *self.buffers(one.n_copies + other.n_copies),
            )
        )

    def join_small(self, pairs: I64, pool: WorkerPool) -> None:
        """Join many pairs of small classes in one call."""
        pool.check()
        X, n_trees, key = self.points.X, self.task.n_trees, self.task.key
        own, n_cross = PairSums.empty(len(pairs), n_trees), np.zeros(len(pairs), np.int64)
        first, second = (classes[pairs] for classes in self.classes)
        out = own.touch, own.tree_edges, own.tree_cross, own.sums, n_cross
        edges = join_small_pairs(first, second, X, n_trees, key, self.in_a_row, *out)
        self.sums.put(pairs, own)
        self.found.append((pairs, n_cross, Edges(*edges)))

    def meeting(self, pair: int, a: int, b: int) -> tuple[Edges, I64]:
        """Return the edges of length zero between two classes, and the point of a at which each point of b lies."""
        points_a, points_b = self.shared.between(a, b)
        one, other = self.tiled[a], self.tiled[b]
        twin = np.full(len(other.side.hashes), -1)
        if len(points_a) == 0:
            return empty_edges(), twin
        self.sums.touch[pair] = True
        twin[points_b] = points_a
        ends = joint_ends(one, other)
        return coinciding_edges(one, other, points_a, points_b, ends, self.task.n_trees), twin

    def record(self, pair: int, a: int, b: int, both: ForestEdges, twin: I64) -> None:
        """Keep what is wanted of the forests of a pair."""
        one, other = self.tiled[a], self.tiled[b]
        starts, ranks = (one.side.copy_start, other.side.copy_start), np.concatenate((one.copy_ranks, other.copy_ranks))
        sums = (field[pair] for field in self.sums[:3])
        edges = Edges(*record_pair(*both, *starts, twin, ranks, a > b, *sums))
        if a > b:
            edges = Edges(edges.v, edges.u, edges.d2)
        self.found.append((np.array([pair]), np.array([len(edges.u)]), edges))

    def edges(self) -> PairEdges:
        """Return the edges between the classes of all pairs."""
        pairs = np.concatenate([pairs for pairs, _, _ in self.found])
        counts = np.concatenate([counts for _, counts, _ in self.found])
        first, count = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
        first[pairs], count[pairs] = np.cumsum(counts) - counts, counts
        return PairEdges(together(edges for _, _, edges in self.found), first, count)

    def edge_sums(self) -> EdgeSums:
        """Return the sums over the edges of all pairs."""
        n_copies = np.array([own.n_copies for own in self.tiled])
        n_points = n_copies[self.classes[0]] + n_copies[self.classes[1]]
        return self.sums.edge_sums(n_points)


def in_batches(pairs: I64, sizes: I64, pool: WorkerPool) -> Iterator[I64]:
    """Cut a list of pairs into parts of some milliseconds' work, but not into more than keep every thread busy."""
    if len(pairs) == 0:
        return
    costs = np.cumsum(sizes[pairs] + PAIR_COST)
    batch = max(SMALL_CHUNK, int(costs[-1]) // (32 * pool.n_threads))
    yield from np.split(pairs, np.flatnonzero(np.diff(costs // batch)) + 1)
