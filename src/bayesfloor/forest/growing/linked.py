"""Rows that arrive in few dimensions: new points search for their edges one by one, and trees exchange a few links.

In few dimensions the forests of all points take little more time than a few passes over them, so that a batch must do
with less: `link_kernels` finds the edges that can enter in one search per new point, and lets each tree take what it
is offered and hand what it gives up to the next. What is left per batch and point is a few steps of
copying.

Points lie in k-d trees, which are joined as the parts of `batch` are. Rows must be distinct, and the spanning trees
must span them; otherwise `batch` takes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest.growing.link_kernels import (
    attach,
    choose_attachments,
    exchange,
    fill_reach,
    keep_links,
    link_tree,
    merge_ranks,
    nearest_points,
    points_in_reach,
    write_tree,
)
from bayesfloor.forest.order.arrays import F64, I32, I64, Edges
from bayesfloor.forest.order.edges import Task, empty_edges, together
from bayesfloor.forest.order.kruskal_kernels import order_edges
from bayesfloor.forest.order.points import Extent, Points
from bayesfloor.forest.results import Forests
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.kdtree_kernels import leaf_boxes, leaf_starts, node_boxes, split_points
from bayesfloor.runtime.hash_kernels import hash_rows
from bayesfloor.runtime.threads import WorkerPool

# Maximum number of features for which a search per new point is faster than a sweep.
FEW_FEATURES = 3
# Maximum number of spanning trees for which a search per new point is faster.
FEW_TREES = 8
# Maximum number of points in a leaf of a k-d tree.
LEAF = 16
# Maximum number of edges per new point that a search may find; more occur where many new points lie far from others.
MANY_EDGES = 64
# Spare capacity of memory that is used again, as a share of what is needed.
SPARE = 0.5
# Join this number of new points at a time where there are more edges than that.
FEW_NEW = 32


class KDTree(NamedTuple):
    """Some of the points in a k-d tree, and how far each has to look: squared lengths, as of some earlier time."""

    height: int
    starts: I64  # (n_leaves + 1,) first point of each leaf
    box_low: F64  # (2 n_leaves, n_features) by node
    box_high: F64
    rows: F64  # (n, n_features)
    numbers: I32  # (n,)
    representative: I32  # (2 n_leaves,) number of one of the node's points
    node_reach: F64  # (2 n_leaves,) heaviest edge between it and any of the node's points in the last tree
    across: F64  # (n_leaves,) heaviest edge between the representatives of the node's two children
    reach: F64  # (n,) heaviest edge between the point and the representative of its leaf


class Obstacle(Enum):
    """Why new points cannot be joined here."""

    EQUAL_ROWS = auto()
    MANY_EDGES = auto()


class Room:
    """Memory for arrays of some forests, used again for later ones: fresh memory takes longer than to fill it."""

    def __init__(self) -> None:
        self._buffers: dict[str, np.ndarray] = {}

    def empty(self, name: str, shape: int | tuple[int, int], dtype: type) -> np.ndarray:
        """Return an array in the memory of the array that had this name before."""
        size = int(np.prod(shape))
        if name not in self._buffers or len(self._buffers[name]) < size:
            self._buffers[name] = np.empty(size + int(SPARE * size), dtype)
        return self._buffers[name][:size].reshape(shape)

    def edges(self, name: str, n: int) -> Edges:
        """Return an array for edges."""
        u, v = (self.empty(f"{name} {end}", n, np.int32) for end in "uv")
        return Edges(u, v, self.empty(f"{name} d2", n, np.float64))


class Links(NamedTuple):
    """The link trees of all trees: the parent of each point, the place of the edge between, and its squared length."""

    parent: I32  # (n_trees, n)
    edge: I32
    weight: F64

    @classmethod
    def empty(cls, n_trees: int, n: int, room: Room) -> Links:
        """Return arrays for link trees."""
        parent, edge = (room.empty(name, (n_trees, n), np.int32) for name in ("parent", "edge"))
        return cls(parent, edge, room.empty("weight", (n_trees, n), np.float64))


@dataclass(frozen=True, eq=False)
class LinkedForests:
    """Points that are numbered as rows, with their trees, ready for more."""

    points: Points
    trees: list[Edges]  # by tree, in the strict order, the smaller number first
    links: Links
    kdtrees: tuple[KDTree, ...]  # largest first
    room: Room  # where the trees, links and ranks are
    spare: Room  # that of the forests before, which are not needed any more

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return self.links.parent.shape[1]


def can_be_linked(forests: Forests, points: Points) -> bool:
    """Tell whether forests can be extended here: few dimensions, and the trees asked for span distinct points."""
    return (
        points.X.shape[1] <= FEW_FEATURES
        and forests.n_trees_asked <= FEW_TREES
        and forests.spans
        and points.exponent == 0
        and int(points.sites.max()) == len(points.sites) - 1
    )


def link_forests(forests: Forests, points: Points, pool: WorkerPool) -> LinkedForests:
    """Make forests ready for more points."""
    n = forests.n_samples
    u, v = (np.ascontiguousarray(end, np.int32) for end in forests.edges.T)
    d2 = np.empty(len(u))
    edge_lengths(points.X, points.X, u, v, d2)
    cuts = pairwise(range(0, len(u) + 1, n - 1))
    trees = [Edges(u[a:b], v[a:b], d2[a:b]) for a, b in cuts]
    room = Room()
    links = Links.empty(len(trees), n, room)
    pool.run(link_tree, [(np.int64(t), *tree, points.hashes, links) for t, tree in enumerate(trees)])
    kdtree = build_kdtree(points.X, np.arange(n, dtype=np.int32))
    fill_reach(kdtree, links.parent, links.weight, np.int64(len(trees) - 1))
    return LinkedForests(points, trees, links, (kdtree,), room, Room())


def build_kdtree(rows: F64, numbers: I32) -> KDTree:
    """Put numbered points into a k-d tree, without how far they have to look."""
    n = len(rows)
    height = max(0, (n - 1) // LEAF).bit_length()
    n_leaves = 1 << height
    starts = leaf_starts(n, height)
    items = np.arange(n, dtype=np.int32)
    split_points(rows, items, np.empty(n), starts, 0, n_leaves, height)
    box_low, box_high = np.empty((2 * n_leaves, rows.shape[1])), np.empty((2 * n_leaves, rows.shape[1]))
    leaf_boxes(rows, items, starts, box_low[n_leaves:], box_high[n_leaves:])
    node_boxes(box_low, box_high)
    return KDTree(
        height=height,
        starts=starts,
        box_low=box_low,
        box_high=box_high,
        rows=rows.take(items, axis=0),
        numbers=numbers.take(items),
        representative=np.empty(2 * n_leaves, np.int32),
        node_reach=np.empty(2 * n_leaves),
        across=np.empty(n_leaves),
        reach=np.empty(n),
    )


def rank_more(points: Points, X: F64, room: Room) -> Points | None:
    """Rank the rows of X, which begins with distinct points that are ranked; None where two rows have the same hash."""
    n_old, n = len(points.X), len(X)
    extent = Extent.union((points.extent, Extent.of(X[n_old:])))
    hashes = np.empty(n, np.uint64)
    hashes[:n_old] = points.hashes
    hash_rows(X.view(np.uint64), n_old, n, hashes)
    new = (n_old + np.argsort(hashes[n_old:], kind="stable")).astype(np.int32)
    order, ranks = (room.empty(name, n, np.int32) for name in ("order", "ranks"))
    if extent.exponent != 0 or not merge_ranks(hashes, points.order, points.ranks, new, order, ranks):
        return None
    more = Points(X, 0, hashes, order, ranks.astype(np.int64), X)
    more.__dict__.update(extent=extent, ranks=ranks)
    return more


class Record(NamedTuple):
    """The trees as users get them."""

    edges: I64
    weights: F64
    tree: I64

    @classmethod
    def empty(cls, n_edges: int) -> Record:
        """Return room for edges."""
        return cls(np.empty((n_edges, 2), np.int64), np.empty(n_edges), np.empty(n_edges, np.int64))

    def write(self, t: int, tree: Edges) -> None:
        """Fill in tree t; all trees have as many edges."""
        own = slice(t * len(tree.u), (t + 1) * len(tree.u))
        write_tree(np.int64(t), *tree, self.edges[own], self.weights[own], self.tree[own])


def extend_linked(known: LinkedForests, X: F64, task: Task, pool: WorkerPool) -> tuple[LinkedForests, Record] | None:
    """Add the rows of X that are not there yet; None where rows are equal, or too many edges could enter."""
    n = len(X)
    joined = join_new(known, X, task, pool)
    if isinstance(joined, tuple) or joined is Obstacle.EQUAL_ROWS:
        return joined if isinstance(joined, tuple) else None
    # Once some are there, the others have them near.
    at_once = FEW_NEW
    while known.n_points < n:
        joined = join_new(known, X[: min(known.n_points + at_once, n)], task, pool)
        if not isinstance(joined, tuple):
            return None
        known = replace(joined[0], spare=Room())  # the first of them are still needed where this fails
        at_once *= 2
    assert isinstance(joined, tuple)
    return joined


def join_new(known: LinkedForests, X: F64, task: Task, pool: WorkerPool) -> tuple[LinkedForests, Record] | Obstacle:
    """Add the rows of X that are not there yet, unless there is an obstacle."""
    n_old, n, last = known.n_points, len(X), task.n_trees - 1
    found, points = edges_of_new(known, X, task, pool)
    if points is None:
        return Obstacle.EQUAL_ROWS
    if found is None:
        return Obstacle.MANY_EDGES
    by_tree, batch = found
    hashes, ranks = points.hashes, points.ranks
    trees: list[Edges] = []
    places: list[I32] = []
    room = known.spare
    links, record = Links.empty(task.n_trees, n, room), Record.empty(task.n_trees * (n - 1))
    edges = empty_edges(0)

    def add_edges(t: int) -> Edges:
        # Edges that can enter this tree first, and those that the tree before has left.
        offered = together((edges, by_tree[t]))
        order = order_edges(*offered, hashes, ranks, task.key)
        offered = Edges(offered.u.take(order), offered.v.take(order), offered.d2.take(order))
        grown, left = room.edges(f"tree {t}", n - 1), room.edges("left", n_old - 1 + len(order))
        place, linked_by, roots = (room.empty(f"{name} {t}", n, np.int32) for name in ("place", "by", "roots"))
        known_tree = known.trees[t], known.links, offered, hashes, ranks, task.key
        n_left = exchange(np.int64(t), *known_tree, grown, place, linked_by, roots, links, left)
        trees.append(grown)
        places.append(place)
        return Edges(left.u[:n_left].copy(), left.v[:n_left].copy(), left.d2[:n_left].copy())

    def finish(t: int) -> None:
        keep_links(np.int64(t), known.links, places[t], links)
        record.write(t, trees[t])

    def finish_last() -> tuple[KDTree, ...]:
        keep_links(np.int64(last), known.links, places[last], links)
        return join_kdtrees([*known.kdtrees, batch], links)

    for t in range(task.n_trees):
        edges = pool.run(lambda step, *args: step(*args), [(add_edges, t), *([(finish, t - 1)] if t else [])])[0]
    kdtrees = pool.run(lambda step, *args: step(*args), [(finish_last,), (record.write, last, trees[last])])[0]
    return LinkedForests(points, trees, links, kdtrees, room, known.room), record


def edges_of_new(
    known: LinkedForests, X: F64, task: Task, pool: WorkerPool
) -> tuple[tuple[list[Edges], KDTree] | None, Points | None]:
    """Return the edges from new points that can enter, the new points in a k-d tree, and all points ranked.

    The edges come by the first tree that they can enter. None where there are too many edges, where points close by do
    not tell, and where rows are equal.
    """
    n_old, kdtrees, links = known.n_points, known.kdtrees, known.links
    rows = X[n_old:]
    m = len(rows)
    # Neighbours one after the other look at the same boxes and links.
    batch = build_kdtree(rows, np.arange(n_old, n_old + m, dtype=np.int32))
    pieces = pool.shares(m)
    n_near = 3 * task.n_trees + 3
    attached_to, attached_d2 = np.empty(m, np.int32), np.empty(m)

    def find_attachments(first: int, last: int, near: I32, best: F64, attached: tuple[Any, ...]) -> bool:
        """Find the points near to new ones, and those that they are attached to; tell whether all have one."""
        for kdtree in kdtrees:
            nearest_points(first, last, batch.rows, kdtree, best, near)
        return bool(choose_attachments(first, last, *attached))

    while True:
        near, best = np.full((m, n_near), -1, np.int32), np.full((m, n_near), np.inf)
        enters = np.full((m, n_near), task.n_trees, np.int8)
        attached = near, best, links.parent, links.weight, enters, attached_to, attached_d2
        tasks = [(find_attachments, *piece, near, best, attached) for piece in pieces]
        points, *chosen = pool.run(lambda step, *args: step(*args), [(rank_more, known.points, X, known.spare), *tasks])
        if all(chosen) or points is None:
            break
        if n_near > MANY_EDGES:
            return None, points
        n_near *= 2
    if points is None:
        return None, None
    room = known.spare
    parent, weight = room.empty("attached", (1, n_old + m), np.int32), room.empty("by", (1, n_old + m), np.float64)
    parent[0, :n_old], weight[0, :n_old] = links.parent[-1], links.weight[-1]
    attach(batch.numbers, attached_to, attached_d2, parent, weight)
    fill_reach(batch, parent, weight, np.int64(0))

    def search(first: int, last: int) -> Edges | None:
        out, count = empty_edges(MANY_EDGES * (last - first) + FEW_NEW**2), 0
        for kdtree in (*kdtrees, batch):
            ends = near, best, attached_to, attached_d2, parent, weight, np.int64(0)
            count = points_in_reach(first, last, n_old, batch, kdtree, *ends, out, np.int64(count))
            if count < 0:
                return None
        return Edges(out.u[:count], out.v[:count], out.d2[:count])

    found = pool.run(search, pieces)
    if any(edges is None for edges in found):
        return None, points
    by_tree = []
    for t in range(task.n_trees):
        new, at = np.nonzero(enters == t)
        by_tree.append(Edges(near[new, at], batch.numbers.take(new), best[new, at]))
    by_tree[0] = together([by_tree[0], *found])
    return (by_tree, batch), points


def join_kdtrees(kdtrees: Sequence[KDTree], links: Links) -> tuple[KDTree, ...]:
    """Join k-d trees into one as long as the last is no smaller than the one before."""
    n_joined, size = 1, len(kdtrees[-1].numbers)
    while n_joined < len(kdtrees) and len(kdtrees[-n_joined - 1].numbers) <= size:
        n_joined += 1
        size += len(kdtrees[-n_joined].numbers)
    if n_joined == 1:
        return tuple(kdtrees)
    joined = kdtrees[-n_joined:]
    rows = np.concatenate([kdtree.rows for kdtree in joined])
    numbers = np.concatenate([kdtree.numbers for kdtree in joined])
    kdtree = build_kdtree(rows, numbers)
    fill_reach(kdtree, links.parent, links.weight, np.int64(len(links.parent) - 1))
    return (*kdtrees[:-n_joined], kdtree)
