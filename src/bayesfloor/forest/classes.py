"""The forests of every pair of classes and of the whole set, each distance about once.

Each class's forests are grown once. A pair of classes adds the block of distances between them. What the forests of
all pairs keep, taken together, holds the forests of the whole set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesfloor.forest.engine import (
    Ends,
    Grown,
    Sweep,
    Task,
    copy_edges,
    grow,
    lengths_of,
    merge,
    neighbors_of,
    no_edges,
    settle,
    walk,
)
from bayesfloor.forest.kruskal import site_forests
from bayesfloor.forest.points import Points
from bayesfloor.forest.results import Forests, number_anew, to_forests
from bayesfloor.forest.sides import F64, I64, Edges
from bayesfloor.forest.threads import Crew
from bayesfloor.forest.tiling import Axes, Tiled, tile_points

LARGE_BLOCK = 4_000_000  # distances: from here on the threads share one block instead of taking one each
SMALL_BLOCK = 4_096  # distances: up to here every edge of a block is a candidate


@dataclass(frozen=True, eq=False, repr=False)
class ClassForests:
    """The spanning forests of every pair of classes, and of the whole set.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class.
    n_points : int
        Number of rows.
    n_trees : int
        Number of trees asked for, at most one fewer than rows.
    pair_cross_counts : ndarray of shape (n_trees, n_classes, n_classes)
        Edges between two classes in each tree of the forests of these two classes alone, labels averaged over rows
        with the same values.
    """

    classes: np.ndarray
    class_counts: I64
    n_points: int
    n_trees: int
    pair_cross_counts: F64
    _points: Points
    _task: Task
    _tiled: list[Tiled]
    _grown: list[Grown]
    _cross: dict[tuple[int, int], Edges]

    def __repr__(self) -> str:
        return f"ClassForests(n_points={self.n_points}, n_classes={len(self.classes)}, n_trees={self.n_trees})"

    def pair(self, a: Any, b: Any) -> Forests:
        """Return the forests of the rows of two classes, the same as `spanning_forests` gives for these rows."""
        first, second = sorted((self._code(a), self._code(b)))
        if first == second:
            raise ValueError(f"a pair needs two different classes, got {a!r} twice")
        tiled = self._tiled[first], self._tiled[second]
        ends = joint_ends(*tiled)
        known = joint_edges(self._grown[first], self._grown[second], tiled[0].n_copies, ends, self._task)
        grown = walk(ends, self._task, merge(ends, self._task, known, self._cross[first, second]))
        copy_rows = np.concatenate((tiled[0].copy_rows, tiled[1].copy_rows)).astype(np.int64)
        ascending = np.argsort(copy_rows)
        number_of = np.empty_like(ascending)
        number_of[ascending] = np.arange(len(ascending))
        return self._to_forests(grown, number_of, copy_rows[ascending])

    @cached_property
    def whole(self) -> Forests:
        """The forests of all rows, the same as `spanning_forests` gives."""
        first_copy = np.concatenate(([0], np.cumsum([tiled.n_copies for tiled in self._tiled])))
        found = [shifted(grown, first_copy[c], first_copy[c]) for c, grown in enumerate(self._grown)]
        for (a, b), edges in self._cross.items():
            found.append(shifted(edges, first_copy[a], first_copy[b] - self._tiled[a].n_copies))
        ends = Ends(
            np.concatenate([tiled.copy_hashes for tiled in self._tiled]),
            np.concatenate([tiled.copy_ranks for tiled in self._tiled]),
        )
        grown = settle(ends, self._task, no_edges(), found)
        return self._to_forests(grown, np.concatenate([tiled.copy_rows for tiled in self._tiled]), None)

    def _code(self, label: Any) -> int:
        matches = np.flatnonzero(self.classes == label)
        if len(matches) != 1:
            raise ValueError(f"{label!r} is not one of the classes {self.classes.tolist()}")
        return int(matches[0])

    def _to_forests(self, grown: Grown, row_of: np.ndarray, rows: I64 | None) -> Forests:
        sites = self._points.sites if rows is None else number_anew(self._points.sites[rows])
        return to_forests(
            *grown,
            row_of=row_of,
            sites=sites,
            exponent=self._points.exponent,
            n_trees_asked=self._task.n_trees_asked,
            rows=rows,
        )


def shifted(edges: Edges | Grown, by_u: int, by_v: int) -> Edges:
    """Renumber the ends of edges."""
    return Edges(edges.u + np.int32(by_u), edges.v + np.int32(by_v), edges.d2)


def joint_ends(a: Tiled, b: Tiled) -> Ends:
    """Number the copies of two classes, one after the other."""
    return Ends(
        np.concatenate((a.copy_hashes, b.copy_hashes)),
        np.concatenate((a.copy_ranks, b.copy_ranks)),
    )


def joint_edges(grown_a: Grown, grown_b: Grown, n_copies_a: int, ends: Ends, task: Task) -> Edges:
    """Merge the forests of two classes into one list in the strict order."""
    return merge(ends, task, grown_a, shifted(grown_b, n_copies_a, n_copies_a))


def grow_classes(
    points: Points, codes: I64, n_classes: int, axes: Axes, task: Task, crew: Crew
) -> list[tuple[Tiled, Grown]]:
    """Cut each class into tiles and grow its forests."""
    ranked_codes = codes[points.order]
    rows_of = [points.order[ranked_codes == c] for c in range(n_classes)]
    grown: dict[int, tuple[Tiled, Grown]] = {}

    def grow_class(c: int, its_crew: Crew) -> None:
        tiled = tile_points(points, rows_of[c], axes, its_crew)
        grown[c] = grow(points, tiled, task, axes, its_crew, len(rows_of[c]) ** 2 // 2)

    sizes = [len(rows) ** 2 // 2 for rows in rows_of]
    in_turn(grow_class, [(c,) for c in range(n_classes)], sizes, crew)
    return [grown[c] for c in range(n_classes)]


def in_turn(work: Callable[..., None], arguments: list[tuple[Any, ...]], sizes: list[int], crew: Crew) -> None:
    """Do large pieces of work one after the other with the whole crew, then small ones a thread each."""
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    n_large = sum(size > LARGE_BLOCK for size in sizes)
    for number in order[:n_large]:
        work(*arguments[number], crew)
    small = order[n_large:]
    if crew.n_threads == 1:
        for number in small:
            work(*arguments[number], crew)
    elif small:
        crew.run(work, [(*arguments[number], crew.alone) for number in small], [sizes[number] for number in small])


class SharedSites:
    """The sites at which rows of several classes have the same values."""

    def __init__(self, points: Points, tiled: list[Tiled]):
        first_copies = [own.side.copy_start[:-1] for own in tiled]
        sites_of = [points.sites[own.copy_rows[first]] for own, first in zip(tiled, first_copies, strict=True)]
        n_classes_at = np.bincount(np.concatenate(sites_of))
        self._points_at = []
        for sites in sites_of:
            shared = np.flatnonzero(n_classes_at[sites] > 1)
            shared = shared[np.argsort(sites[shared])]
            self._points_at.append((sites[shared], shared))

    def between(self, a: int, b: int) -> tuple[I64, I64]:
        """Return the points of two classes that coincide."""
        (sites_a, points_a), (sites_b, points_b) = self._points_at[a], self._points_at[b]
        _, at_a, at_b = np.intersect1d(sites_a, sites_b, assume_unique=True, return_indices=True)
        return points_a[at_a], points_b[at_b]


def coinciding_edges(a: Tiled, b: Tiled, points_a: I64, points_b: I64, ends: Ends, n_trees: int) -> Edges:
    """Return the edges of length zero between two classes that the forests of their common sites keep."""
    copies, groups = [], []
    for side, points, first in ((a.side, points_a, 0), (b.side, points_b, a.n_copies)):
        counts = np.diff(side.copy_start)[points]
        group = np.repeat(np.arange(len(points)), counts)
        within = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        copies.append(side.copy_start[points][group] + within + first)
        groups.append(group)
    copy, group = np.concatenate(copies), np.concatenate(groups)
    ordered = copy[np.lexsort((ends.ranks[copy], group))]
    starts = np.concatenate(([0], np.cumsum(np.bincount(group))))
    place_u, place_v = site_forests(starts, n_trees)
    u, v = ordered[place_u], ordered[place_v]
    between = (u < a.n_copies) != (v < a.n_copies)
    return Edges(u[between].astype(np.int32), v[between].astype(np.int32), np.zeros(np.count_nonzero(between)))


def join(
    a: Tiled,
    b: Tiled,
    known: Edges,
    ends: Ends,
    coinciding: list[Edges],
    task: Task,
    axes: Axes,
    crew: Crew,
    amount: int,
) -> Grown:
    """Return the forests of two classes together, given what their own forests keep."""
    n_a, n_b = len(a.side.hashes), len(b.side.hashes)
    if n_a * n_b <= SMALL_BLOCK or min(n_a, n_b) < task.n_trees:
        i, j = np.repeat(np.arange(n_a), n_b), np.tile(np.arange(n_b), n_a)
        edges = copy_edges(a, b, i, j, task.n_trees)
        return settle(ends, task, known, [shifted(edges, 0, a.n_copies), *coinciding])
    n_wanted = 1 if min(n_a, n_b) > 8 * task.n_trees else task.n_trees + 1
    near = neighbors_of(a, b, n_wanted, crew, n_near=1)
    i, j = np.repeat(np.arange(n_a), near.shape[1]), near.ravel().astype(np.int64)
    u = a.side.copy_start[i].astype(np.int32)
    v = (b.side.copy_start[j] + a.n_copies).astype(np.int32)
    seeds = Edges(u, v, lengths_of(a, b, i, j))
    grown = settle(ends, task, known, [seeds, *coinciding])
    return Sweep(a, b, ends, task, axes).run(grown, crew, amount)


def forests_of_classes(
    points: Points, classes: np.ndarray, codes: I64, axes: Axes, task: Task, crew: Crew
) -> ClassForests:
    """Grow every class, join every pair, and count the edges between."""
    n_classes = len(classes)
    class_counts = np.bincount(codes, minlength=n_classes)
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    sizes = [int(class_counts[a] * class_counts[b]) for a, b in pairs]
    crew.expect(sum(sizes) + sum(int(count) ** 2 // 2 for count in class_counts))
    grown_classes = grow_classes(points, codes, n_classes, axes, task, crew)
    tiled = [tiled for tiled, _ in grown_classes]
    grown = [grown for _, grown in grown_classes]
    shared = SharedSites(points, tiled)
    counts = np.zeros((task.n_trees, n_classes, n_classes))
    cross: dict[tuple[int, int], Edges] = {}
    result = ClassForests(
        classes, class_counts, len(codes), task.n_trees, counts, points, task, tiled, grown, cross
    )

    def join_pair(a: int, b: int, its_crew: Crew) -> None:
        ends = joint_ends(tiled[a], tiled[b])
        known = joint_edges(grown[a], grown[b], tiled[a].n_copies, ends, task)
        points_a, points_b = shared.between(a, b)
        coinciding = []
        if len(points_a) > 0:
            coinciding.append(coinciding_edges(tiled[a], tiled[b], points_a, points_b, ends, task.n_trees))
        size = int(class_counts[a] * class_counts[b])
        both = join(tiled[a], tiled[b], known, ends, coinciding, task, axes, its_crew, size)
        in_a_u, in_a_v = both.u < tiled[a].n_copies, both.v < tiled[a].n_copies
        between = in_a_u != in_a_v
        u, v = both.u[between], both.v[between]
        cross[a, b] = Edges(np.minimum(u, v), np.maximum(u, v), both.d2[between])
        if len(points_a) > 0:
            forests = result.pair(classes[a], classes[b])
            pair_codes = (codes[forests.rows] == b).astype(np.int64)
            its_counts = forests._count(pair_codes, 2)[:, 0, 1]
        else:
            its_counts = np.bincount(both.tree[between], minlength=task.n_trees).astype(float)
        counts[: len(its_counts), a, b] = counts[: len(its_counts), b, a] = its_counts

    in_turn(join_pair, pairs, sizes, crew)
    result.whole  # noqa: B018 - part of the pass; kept for later
    return result
