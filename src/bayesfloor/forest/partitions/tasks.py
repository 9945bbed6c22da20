"""What a task does with partitions of rows: grow their forests, join two partitions, merge what was found.

Tasks are pure functions of what they are given, so that a lost one can be run again anywhere. Edges travel between
them by the numbers of `layout`. Inside a task the rows of its partitions are points of their own: their ranks are anew
0, 1, ..., in the order of the whole, and `sweep` and `classes` work on them as they do on a whole set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.classes.joining import Joining, PairSums
from bayesfloor.forest.order.arrays import F64, I32, I64, U64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, empty_edges, no_forests, settle, together
from bayesfloor.forest.order.label_kernels import measure_pair
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.sweep.grow import grow
from bayesfloor.forest.sweep.tiling import Axes, Tiled, tile_points
from bayesfloor.runtime.task_graph import WithArrays
from bayesfloor.runtime.threads import WorkerPool, supervise

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SharedInputs:
    """What every task needs beside its partitions."""

    task: Task
    axes: Axes
    settings: plan.Plan


@dataclass(frozen=True, eq=False)
class PartitionEnds(WithArrays):
    """What the strict order knows of the rows of a partition, all that merging needs."""

    first: int  # number of the first row
    hashes: U64
    ranks: I32  # in the whole set
    sites: I64  # in the whole set

    def __len__(self) -> int:
        return len(self.hashes)

    def between(self, low: int, high: int) -> PartitionEnds:
        """Return the rows whose numbers are from low to before high."""
        part = slice(max(int(low) - self.first, 0), max(int(high) - self.first, 0))
        return PartitionEnds(self.first + part.start, self.hashes[part], self.ranks[part], self.sites[part])


@dataclass(frozen=True, eq=False)
class PartitionInMemory(WithArrays):
    """A partition with its points, multiplied by a power of two where the whole set is."""

    ends: PartitionEnds
    part_starts: I64  # where each class starts, and the end
    X: F64

    def points(self) -> F64:
        """Return the points."""
        return self.X


@dataclass(frozen=True, eq=False)
class PartitionOnDisk:
    """A partition whose points lie in a file, in the order of rows."""

    ends: PartitionEnds
    part_starts: I64
    path: str
    place: I32  # of each point among those of the partition in the file
    n_features: int

    def points(self) -> F64:
        """Read the points, in the order of their numbers."""
        n = len(self.ends)
        offset = 8 * self.ends.first * self.n_features
        stored = np.fromfile(self.path, np.float64, n * self.n_features, offset=offset)
        return stored.reshape(n, self.n_features)[self.place]


Partition = PartitionInMemory | PartitionOnDisk


class PartForest(NamedTuple):
    """The forests of one class in a partition, in the strict order, and how its points lie in tiles."""

    edges: ForestEdges
    tile_order: I32


@dataclass(frozen=True, eq=False)
class JoinedPairs(WithArrays):
    """Pairs of classes joined: what counts and sums need, and the edges between, pair after pair."""

    classes: tuple[I64, I64]  # within their partitions
    sums: PairSums
    edges: Edges
    edge_starts: I64  # (n_pairs + 1,)


@dataclass(frozen=True, eq=False)
class PartitionForests(WithArrays):
    """The forests of the classes in a partition, and of their pairs."""

    forests: list[PartForest]
    pairs: JoinedPairs | None


TaskResult = Edges | ForestEdges | PartitionForests | JoinedPairs


def as_task(work: Callable[Concatenate[WorkerPool, SharedInputs, P], T]) -> Callable[Concatenate[SharedInputs, P], T]:
    """Have work done off its thread, with one thread, BLAS held to one, and the caller's settings."""

    @wraps(work)
    def do(shared: SharedInputs, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with plan.override(**vars(shared.settings)):
            return supervise(lambda pool: work(pool, shared, *args, **kwargs), 1, False)

    return do


def points_of(partitions: Sequence[Partition]) -> Points:
    """Return the rows of some partitions, one partition after the other, as points of their own."""
    X = np.concatenate([partition.points() for partition in partitions])
    X.flags.writeable = False  # as checked input is: kernels are compiled for that
    ends = joined_ends([partition.ends for partition in partitions])
    sites = np.unique(ends.sites, return_inverse=True)[1]
    return Points(X, 0, ends.hashes, np.argsort(ends.ranks).astype(np.int32), sites)


def part_rows(part_starts: I64, part: int, first: int) -> I32:
    """Return the rows of one class of a partition that starts at row `first`, by rank."""
    return np.arange(first + part_starts[part], first + part_starts[part + 1], dtype=np.int32)


@as_task
def grow_partition(pool: WorkerPool, shared: SharedInputs, partition: Partition) -> PartitionForests:
    """Grow the forests of every class in a partition, and join all pairs of them."""
    points = points_of([partition])
    first = partition.ends.first
    tiled, grown, forests = [], [], []
    for part in range(len(partition.part_starts) - 1):
        rows = part_rows(partition.part_starts, part, 0)
        cut = tile_points(points, rows, shared.axes, pool)
        cut, own = grow(points, cut, shared.task, shared.axes, pool, 0)
        tiled.append(cut)
        grown.append(own)
        u, v = (cut.copy_rows[end] + np.int32(first) for end in (own.u, own.v))
        forests.append(PartForest(ForestEdges(u, v, own.d2, own.tree), tile_order(points, cut, rows)))
    if len(tiled) == 1:
        return PartitionForests(forests, None)
    pairs = np.triu_indices(len(tiled), 1)
    numbers = np.arange(first, first + len(partition.ends))
    return PartitionForests(forests, join_pairs(shared, points, tiled, grown, pairs, numbers, (0, 0), pool))


@as_task
def join_partitions(
    pool: WorkerPool,
    shared: SharedInputs,
    a: Partition,
    b: Partition,
    grown_a: PartitionForests,
    grown_b: PartitionForests,
) -> JoinedPairs:
    """Join every class of one partition with every class of another; both may hold parts of the same class."""
    points = points_of([a, b])
    tiled, grown = [], []
    first = 0
    for partition, known in ((a, grown_a), (b, grown_b)):
        for part, forest in enumerate(known.forests):
            rows = part_rows(partition.part_starts, part, first)
            cut = tile_points(points, rows, shared.axes, pool, forest.tile_order)
            number = np.empty(len(rows), np.int32)  # of each row's copy
            number[cut.copy_rows - rows[0]] = np.arange(len(rows), dtype=np.int32)
            own = forest.edges
            offset = np.int32(partition.ends.first + partition.part_starts[part])
            tiled.append(cut)
            u, v = number[own.u - offset], number[own.v - offset]
            grown.append(ForestEdges(u, v, own.d2.copy(), own.tree.copy()))
        first += len(partition.ends)
    n_a, n_b = len(grown_a.forests), len(grown_b.forests)
    pairs = np.repeat(np.arange(n_a), n_b), n_a + np.tile(np.arange(n_b), n_a)
    numbers = np.concatenate([np.arange(len(partition.ends)) + partition.ends.first for partition in (a, b)])
    return join_pairs(shared, points, tiled, grown, pairs, numbers, (0, n_a), pool)


def tile_order(points: Points, tiled: Tiled, rows: I32) -> I32:
    """Return how the distinct points of some rows, which come by rank, lie in tiles."""
    sites = points.sites[rows]
    site = np.cumsum(np.concatenate(([0], sites[1:] != sites[:-1])))
    return site[tiled.copy_rows[tiled.side.copy_start[:-1]] - rows[0]].astype(np.int32)


def join_pairs(
    shared: SharedInputs,
    points: Points,
    tiled: list[Tiled],
    grown: list[ForestEdges],
    pairs: tuple[I64, I64],
    numbers: I64,
    first_parts: tuple[int, int],
    pool: WorkerPool,
) -> JoinedPairs:
    """Join pairs of classes and return the edges between by their numbers, which `numbers` has for each row."""
    joining = Joining(points, tiled, grown, shared.axes, shared.task, pairs)
    joining.run(pool)
    found = joining.edges()
    # The edges of pair 0, then those of pair 1, and so on.
    starts = np.concatenate(([0], np.cumsum(found.count)))
    pair = np.repeat(np.arange(len(found.count)), found.count)
    place = np.arange(starts[-1]) - starts[pair] + found.first[pair]
    first_copy = np.concatenate(([0], np.cumsum([own.n_copies for own in tiled])))
    number = numbers[np.concatenate([own.copy_rows for own in tiled])].astype(np.int32)
    u, v = (
        number[ends[place] + first_copy[part[pair]]]
        for ends, part in zip((found.edges.u, found.edges.v), pairs, strict=True)
    )
    classes = pairs[0] - first_parts[0], pairs[1] - first_parts[1]
    return JoinedPairs(classes, joining.sums, Edges(u, v, found.edges.d2[place]), starts)


def edges_in(part: TaskResult) -> list[Edges]:
    """Return the edges that a task found."""
    if isinstance(part, Edges | ForestEdges):
        return [Edges(part.u, part.v, part.d2)]
    if isinstance(part, JoinedPairs):
        return [part.edges]
    own = [Edges(forest.edges.u, forest.edges.v, forest.edges.d2) for forest in part.forests]
    return own if part.pairs is None else [*own, part.pairs.edges]


@as_task
def merge_parts(
    pool: WorkerPool, shared: SharedInputs, ends: list[PartitionEnds], parts: list[TaskResult]
) -> ForestEdges:
    """Return the forests of all edges that some tasks found, among the rows of the given partitions."""
    return settle_numbers(shared.task, ends, [edges for part in parts for edges in edges_in(part)])


def settle_numbers(task: Task, ends: Sequence[PartitionEnds], found: Sequence[Edges]) -> ForestEdges:
    """Run Kruskal's walk over edges between the numbered rows of some partitions."""
    ends = sorted(ends, key=lambda own: own.first)
    firsts = np.array([own.first for own in ends])
    numbers = np.concatenate([np.arange(own.first, own.first + len(own), dtype=np.int32) for own in ends])
    # what a number has to be lowered by, for the numbers in between that are not here
    gaps = (firsts - np.concatenate(([0], np.cumsum([len(own) for own in ends])[:-1]))).astype(np.int32)

    def among_these(number: I32) -> I32:
        return number - gaps[np.searchsorted(firsts, number, side="right") - 1]

    local = [Edges(among_these(edges.u), among_these(edges.v), edges.d2) for edges in found]
    both = Ends(np.concatenate([own.hashes for own in ends]), np.concatenate([own.ranks for own in ends]))
    grown = settle(both, task, no_forests(), [empty_edges(), *local])
    return ForestEdges(numbers[grown.u], numbers[grown.v], grown.d2, grown.tree)


@as_task
def merge_between(
    pool: WorkerPool,
    shared: SharedInputs,
    ends_a: list[PartitionEnds],
    ends_b: list[PartitionEnds],
    class_starts: I64,
    found: list[TaskResult],
) -> Edges:
    """Return what the pairs of a class with the classes of another unit keep of edges between them.

    Parameters
    ----------
    shared : SharedInputs
        What is wanted.
    ends_a, ends_b : list of PartitionEnds
        Of those partitions of the class, and of the unit, that the edges are between.
    class_starts : ndarray of shape (n_classes of the unit + 1,)
        The numbers at which the classes of the unit start.
    found : list of JoinedPairs or Edges
        Edges between the two.

    Returns
    -------
    Edges
    """
    edges = together(own for part in found for own in edges_in(part))
    is_b = (class_starts[0] <= edges.u) & (edges.u < class_starts[-1])
    class_b = np.searchsorted(class_starts, np.where(is_b, edges.u, edges.v), side="right") - 1
    kept = []
    for number in np.unique(class_b):
        low, high = class_starts[number], class_starts[number + 1]
        ends = [*ends_a, *(own.between(low, high) for own in ends_b)]
        grown = settle_numbers(shared.task, ends, [Edges(*(field[class_b == number] for field in edges))])
        kept.append(Edges(grown.u, grown.v, grown.d2))
    return together([empty_edges(), *kept])


@as_task
def finish_pairs(
    pool: WorkerPool,
    shared: SharedInputs,
    ends_a: list[PartitionEnds],
    ends_b: list[PartitionEnds],
    class_starts: I64,
    known: list[TaskResult],
    found: list[TaskResult],
) -> JoinedPairs:
    """Return the pairs of a class that is cut into partitions with all classes of another unit.

    Parameters
    ----------
    shared : SharedInputs
        What is wanted.
    ends_a, ends_b : list of PartitionEnds
        Of all partitions of the class, and of the unit.
    class_starts : ndarray of shape (n_classes of the unit + 1,)
        The numbers at which the classes of the unit start.
    known : list
        The forests of the class and of all classes of the unit.
    found : list of JoinedPairs
        Every partition of the one joined with every partition of the other.

    Returns
    -------
    JoinedPairs
    """
    n_pairs = len(class_starts) - 1
    first_a = ends_a[0].first
    last_a = ends_a[-1].first + len(ends_a[-1])
    edges = together(own for part in (*known, *found) for own in edges_in(part))
    is_a = [(first_a <= end) & (end < last_a) for end in (edges.u, edges.v)]
    of_a = is_a[0] & is_a[1]
    class_u, class_v = (np.searchsorted(class_starts, end, side="right") - 1 for end in (edges.u, edges.v))
    other = np.where(is_a[0], class_v, class_u)
    # an edge between two classes of the unit belongs to no pair of this task
    other[~is_a[0] & ~is_a[1] & (class_u != class_v)] = -1
    sums = PairSums.empty(n_pairs, shared.task.n_trees)
    between: list[Edges] = []
    all_b = joined_ends(ends_b)
    for pair in range(n_pairs):
        low, high = class_starts[pair], class_starts[pair + 1]
        mine = Edges(*(field[of_a | (other == pair)] for field in edges))
        b_ends = all_b.between(low, high)
        both = [joined_ends(ends_a), b_ends]
        grown = settle_numbers(shared.task, both, [mine])
        n_a = len(both[0])
        local_u, local_v = (
            np.where((first_a <= end) & (end < last_a), end - first_a, end - low + n_a).astype(np.int32)
            for end in (grown.u, grown.v)
        )
        distinct, sites = np.unique(np.concatenate([own.sites for own in both]), return_inverse=True)
        sums.touch[pair] = len(np.intersect1d(both[0].sites, b_ends.sites)) > 0
        ranks = np.concatenate([own.ranks for own in both])
        out = (field[pair] for field in sums[:3])
        measure_pair(local_u, local_v, grown.tree, sites, len(distinct), n_a, ranks, bool(first_a > low), *out)
        crossing = (local_u < n_a) != (local_v < n_a)
        swap = local_u[crossing] >= n_a
        u, v = grown.u[crossing], grown.v[crossing]
        between.append(Edges(np.where(swap, v, u), np.where(swap, u, v), grown.d2[crossing]))
    counts = [len(edges.u) for edges in between]
    classes = np.zeros(n_pairs, np.int64), np.arange(n_pairs)
    return JoinedPairs(classes, sums, together(between), np.concatenate(([0], np.cumsum(counts))))


def joined_ends(ends: Sequence[PartitionEnds]) -> PartitionEnds:
    """Put the ends of partitions that follow each other in a row."""
    fields = (np.concatenate([getattr(own, name) for own in ends]) for name in ("hashes", "ranks", "sites"))
    return PartitionEnds(ends[0].first, *fields)
