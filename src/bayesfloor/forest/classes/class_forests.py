"""The forests of every pair of classes and of the whole set, each distance about once.

Each class's forests are grown once. A pair of classes adds the block of distances between them (`joining`). What the
forests of all pairs keep, taken together, holds the forests of the whole set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesfloor.forest.classes.joining import Joining, PairEdges, in_turn, joint_ends
from bayesfloor.forest.order.arrays import F64, I32, I64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, merged, no_forests, settle, shifted
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.results import EdgeSums, Forests, to_forests
from bayesfloor.forest.sweep.grow import grow, only_for_device
from bayesfloor.forest.sweep.tiling import Axes, Tiled, bare_tile, tile_points
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.threads import WorkerPool

# Maximum number of edges between classes that are settled at once for the whole set.
MANY_EDGES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class ClassForests(Result, says="n_samples classes n_trees", rows="class=classes n_samples=class_counts"):
    """The spanning forests of every pair of classes, and of the whole set.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class.
    n_samples : int
        Number of rows.
    n_trees : int
        Number of trees asked for, at most one fewer than rows.
    pair_cross_counts : ndarray of shape (n_trees, n_classes, n_classes)
        Edges between two classes in each tree of the forests of these two classes alone, labels averaged over rows
        with the same values.
    pair_edge_sums : EdgeSums of shape (n_classes * (n_classes - 1) / 2,)
        What the variance of these counts needs, for the pairs (0, 1), (0, 2), ..., (1, 2), ...
    """

    classes: np.ndarray
    class_counts: I64
    n_samples: int
    n_trees: int
    pair_cross_counts: F64
    pair_edge_sums: EdgeSums
    _points: Points
    _task: Task
    _tiled: list[Tiled]
    _grown: list[ForestEdges]
    _cross: PairEdges

    def pair(self, a: Any, b: Any) -> Forests:
        """Return the forests of the rows of two classes, the same as `spanning_forests` gives for these rows."""
        first, second = sorted((self._code(a), self._code(b)))
        if first == second:
            raise ValueError(f"a pair needs two different classes, got {a!r} twice")
        tiled = self._tiled[first], self._tiled[second]
        ends = joint_ends(*tiled)
        known = merged(self._grown[first], self._grown[second], ends, tiled[0].n_copies, self._task)
        number = first * len(self.classes) - first * (first + 1) // 2 + second - first - 1
        between = shifted(self._cross.of(number), 0, tiled[0].n_copies)
        grown = settle(ends, self._task, known, [between])
        copy_rows = np.concatenate((tiled[0].copy_rows, tiled[1].copy_rows)).astype(np.int64)
        ascending = np.argsort(copy_rows)
        number_of = np.empty_like(ascending)
        number_of[ascending] = np.arange(len(ascending))
        rows = copy_rows[ascending]
        return to_forests(grown, number_of, self._points, self._task.n_trees_asked, rows=rows)

    @cached_property
    def whole(self) -> Forests:
        """The forests of all rows, the same as `spanning_forests` gives."""
        first_copy = np.concatenate(([0], np.cumsum([tiled.n_copies for tiled in self._tiled])))
        ends = Ends(
            np.concatenate([tiled.copy_hashes for tiled in self._tiled]),
            np.concatenate([tiled.copy_ranks for tiled in self._tiled]),
        )
        found = [shifted(grown, first, first) for grown, first in zip(self._grown, first_copy[:-1], strict=True)]
        by_place = np.argsort(self._cross.first, kind="stable")
        shift_u, shift_v = (
            np.repeat(first_copy[of[by_place]], self._cross.count[by_place]).astype(np.int32)
            for of in np.triu_indices(len(self.classes), 1)
        )
        u, v, d2 = self._cross.edges
        grown = no_forests()
        for start in range(0, len(u), MANY_EDGES):
            part = slice(start, start + MANY_EDGES)
            between = Edges(u[part] + shift_u[part], v[part] + shift_v[part], d2[part])
            grown = settle(ends, self._task, grown, [*found, between])
            found = []
        row_of = np.concatenate([tiled.copy_rows for tiled in self._tiled])
        return to_forests(grown, row_of, self._points, self._task.n_trees_asked)

    def _code(self, label: Any) -> int:
        matches = np.flatnonzero(self.classes == label)
        if len(matches) != 1:
            raise ValueError(f"{label!r} is not one of the classes {self.classes.tolist()}")
        return int(matches[0])


def rows_by_class(points: Points, codes: I64, n_classes: int) -> list[I32]:
    """Return the rows of each class, by rank."""
    by_class = points.order[np.argsort(codes[points.order], kind="stable")]
    return np.split(by_class, np.cumsum(np.bincount(codes, minlength=n_classes))[:-1])


def grow_classes(
    points: Points, codes: I64, n_classes: int, axes: Axes, task: Task, pool: WorkerPool
) -> list[tuple[Tiled, ForestEdges]]:
    """Cut each class into tiles and grow its forests."""
    rows_of = rows_by_class(points, codes, n_classes)
    grown: dict[int, tuple[Tiled, ForestEdges]] = {}
    tiles: dict[int, Tiled] = {}
    if task.device is not None:
        if only_for_device(points, rows_of, task):
            tiles = {c: bare_tile(points, rows) for c, rows in enumerate(rows_of)}
        else:
            tiles = {c: tile_points(points, rows, axes, pool) for c, rows in enumerate(rows_of)}
        task.device.look_around(list(tiles.values()), task.n_trees)

    def grow_class(c: int, its_pool: WorkerPool) -> None:
        tiled = tiles.get(c) or tile_points(points, rows_of[c], axes, its_pool)
        grown[c] = grow(points, tiled, task, axes, its_pool, len(rows_of[c]) ** 2 // 2)

    sizes = [len(rows) ** 2 // 2 for rows in rows_of]
    in_turn(grow_class, [(c,) for c in range(n_classes)], sizes, pool, task.device is not None)
    return [grown[c] for c in range(n_classes)]


def forests_of_classes(
    points: Points, classes: np.ndarray, codes: I64, axes: Axes, task: Task, pool: WorkerPool
) -> ClassForests:
    """Grow every class, join every pair, and sum over the edges between."""
    class_counts = np.bincount(codes, minlength=len(classes))
    pool.expect((len(codes) ** 2 + int(np.sum(class_counts**2))) // 2)
    grown_classes = grow_classes(points, codes, len(classes), axes, task, pool)
    tiled = [tiled for tiled, _ in grown_classes]
    grown = [grown for _, grown in grown_classes]
    joining = Joining(points, tiled, grown, axes, task)
    joining.run(pool)
    found = joining.sums.tree_cross, joining.edge_sums(), joining.edges()
    result = class_record(classes, points, replace(task, device=None), tiled, grown, *found)
    result.whole  # noqa: B018 - part of the pass; kept for later
    return result


def class_record(
    classes: np.ndarray,
    points: Points,
    task: Task,
    tiled: list[Tiled],
    grown: list[ForestEdges],
    tree_cross: F64,
    sums: EdgeSums,
    cross: PairEdges,
) -> ClassForests:
    """Put together what users get: of each class its copies and forests, of each pair counts, sums and edges."""
    counts = np.zeros((task.n_trees, len(classes), len(classes)))
    first, second = np.triu_indices(len(classes), 1)
    counts[:, first, second] = counts[:, second, first] = tree_cross.T
    class_counts = np.array([own.n_copies for own in tiled])
    n_samples = int(class_counts.sum())
    return ClassForests(classes, class_counts, n_samples, task.n_trees, counts, sums, points, task, tiled, grown, cross)
