"""Class forests that grow: rows of any class arrive, and new classes with them.

Each class that has new rows is joined with them as in `batch`. A pair of classes keeps the edges it had between
its two classes, and looks only at distances that are new: of the one's new rows to the other, and the other way round.
Classes and pairs of moderate size do so in one compiled call each (`classes.pair_kernels`). Pairs of very small classes
are joined anew, which takes less time than to find out what is new; pairs without new rows stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesfloor.data.labels import check_labels
from bayesfloor.forest import plan
from bayesfloor.forest.classes.class_forests import ClassForests, class_record, forests_of_classes
from bayesfloor.forest.classes.joining import (
    MANY_AXES,
    Candidates,
    Joining,
    Looking,
    PairEdges,
    all_of,
    in_turn,
    none_of,
)
from bayesfloor.forest.growing.batch import TiledForests, by_rank, is_far_out, join_batch, near_in_parts
from bayesfloor.forest.growing.forests import MUCH_MEMORY, ROWS_CHANGED, RowBuffer, check_new_points
from bayesfloor.forest.order.arrays import F64, I32, I64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, settle, shifted, together
from bayesfloor.forest.order.points import Points, rank_points
from bayesfloor.forest.results import EdgeSums
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.driver import Part, Sweep
from bayesfloor.forest.sweep.grow import grow
from bayesfloor.forest.sweep.records import Side
from bayesfloor.forest.sweep.tiling import Axes, Tiled, choose_axes, tile_points
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise

# Grow the forests of a class anew up to this number of rows.
FEW_POINTS = 128
# Maximum number of new distances in a class for one call; a sweep, which skips many tiles at once, is faster beyond.
IN_ONE_CALL = 250_000


@dataclass(frozen=True, eq=False)
class ClassGrowth:
    """What class forests need beside their tiles to be extended."""

    axes: Axes
    chosen_at: int  # rows there were when the axes were chosen
    buffer: RowBuffer

    def extend(self, forests: ClassForests, X_new: Any, y_new: Any, n_jobs: int | None, progress: Any) -> ClassForests:
        """Return the class forests of all rows; see `ClassForests.extend`."""
        X_old = forests._rows_given
        X_new = check_new_points(X_new, X_old.shape[1], "ClassForests")
        new_classes, new_codes = check_labels(y_new, len(X_new), min_classes=1)
        classes, old_codes, codes_of_new = join_classes(forests.classes, new_classes)
        n_threads = check_n_jobs(n_jobs)
        n, n_features = len(X_old) + len(X_new), X_old.shape[1]
        n_bytes = n * (4 * 8 * n_features + 800)
        if n_bytes > MUCH_MEMORY:
            check_memory(n_bytes, f"the forests of {n} points in {n_features} dimensions")

        def compute(pool: WorkerPool) -> ClassForests:
            try:
                X = self.buffer.append(X_old, X_new)
                return self._forests_of(forests, X, classes, old_codes, codes_of_new[new_codes], pool)
            except BaseException:
                self.buffer.truncate(len(X_old))
                raise

        return supervise(compute, n_threads, progress)

    def _forests_of(
        self,
        forests: ClassForests,
        X: F64,
        classes: np.ndarray,
        old_codes: I64,
        new_codes: I64,
        pool: WorkerPool,
    ) -> ClassForests:
        """Return the class forests of X, which begins with the rows of the forests."""
        n_old, n = forests.n_samples, len(X)
        points = rank_points(X, pool)
        if not np.array_equal(points.hashes[:n_old], forests._points.hashes):
            raise ValueError(ROWS_CHANGED)
        task = replace(forests._task, n_trees=min(forests._task.n_trees_asked, n - 1))
        codes = np.empty(n, np.int64)
        for c, tiled in zip(old_codes, forests._tiled, strict=True):
            codes[tiled.copy_rows] = c
        codes[n_old:] = new_codes
        ranked = by_rank(points, np.arange(n_old, n))
        if points.exponent != forests._points.exponent or task.n_trees != forests.n_trees:
            axes = choose_axes(points, plan.current().projection)
            origin = ClassGrowth(axes, n, self.buffer)
            return forests_of_classes(points, classes, codes, axes, task, pool, origin)
        # Tiles that only a device can compare lack a part.
        origin = self
        tiles_stay = origin.axes.exact or all(
            len(own.side.full.points) == len(own.side.hashes) for own in forests._tiled
        )
        if n >= 2 * origin.chosen_at or is_far_out(points, ranked, origin.axes):
            origin = ClassGrowth(choose_axes(points, plan.current().projection), n, self.buffer)
            tiles_stay = False

        has_new = np.bincount(new_codes, minlength=len(classes)) > 0
        first, second = np.triu_indices(len(classes), 1)
        touched = np.flatnonzero(has_new[first] | has_new[second])
        pool.expect((n - n_old) * n)
        known = zip(old_codes, zip(forests._tiled, forests._grown, strict=True), strict=True)
        before = {int(c): own for c, own in known}
        extension = Extension(points, origin.axes, tiles_stay, task)
        extended = extension.extend_all(before, codes, n_old, len(classes), pool)
        old_pairs = OldPairs(forests, old_codes, len(classes), extended)
        joining = Rejoining(points, extended, origin.axes, task, (first[touched], second[touched]), old_pairs)
        joining.run(pool)
        tiles, forests_of = [own.tiled for own in extended], [own.grown for own in extended]
        of_pairs = old_pairs.with_joined(joining, touched, task.n_trees)
        result = class_record(classes, points, task, tiles, forests_of, *of_pairs, origin)
        result.whole  # noqa: B018 - part of the pass; kept for later
        return result


@dataclass(frozen=True, eq=False)
class ExtendedClass:
    """A class after a batch."""

    tiled: Tiled
    grown: ForestEdges
    number: I32  # new number of each copy that was there before
    batch: Part | None  # its new rows

    @cached_property
    def looking(self) -> Looking:
        """Its new rows, as those that look for edges."""
        if self.batch is None:
            return none_of(self.tiled)
        return Looking(self.batch.tiled.side, self.batch.numbers(np.arange(self.batch.tiled.n_copies)))


def join_classes(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, I64, I64]:
    """Return the labels of both, sorted, and the places of the old and of the new ones among them."""
    labels = [*old.tolist(), *new.tolist()]
    distinct, codes = check_labels(labels, len(labels), min_classes=1)
    classes = np.empty(len(distinct), np.result_type(old.dtype, new.dtype))
    classes[:] = distinct
    return classes, codes[: len(old)], codes[len(old) :]


@dataclass(frozen=True, eq=False)
class Extension:
    """New rows on their way into the classes that they belong to."""

    points: Points  # all rows, those that are new last
    axes: Axes
    tiles_stay: bool  # whether the tiles of old rows serve on these axes
    task: Task

    def tiled(self, rows: np.ndarray, pool: WorkerPool) -> Tiled:
        """Cut rows into tiles."""
        return tile_points(self.points, by_rank(self.points, rows), self.axes, pool)

    def grown(self, rows: np.ndarray, pool: WorkerPool) -> tuple[Tiled, ForestEdges]:
        """Grow the forests of rows from nothing."""
        return grow(self.points, self.tiled(rows, pool), self.task, self.axes, pool, len(rows) ** 2 // 2)

    def extend_all(
        self, before: dict[int, tuple[Tiled, ForestEdges]], codes: I64, n_old: int, n_classes: int, pool: WorkerPool
    ) -> list[ExtendedClass]:
        """Add new rows to each class that has some."""
        new_of = [n_old + np.flatnonzero(codes[n_old:] == c) for c in range(n_classes)]
        extended: dict[int, ExtendedClass] = {}

        def extend_class(c: int, its_pool: WorkerPool) -> None:
            if c not in before:
                tiled, grown = self.grown(new_of[c], its_pool)
                extended[c] = ExtendedClass(tiled, grown, np.empty(0, np.int32), Part(tiled))
                return
            tiled, grown = before[c]
            if len(new_of[c]):
                extended[c] = self.add_rows(tiled, grown, new_of[c], its_pool)
            elif self.tiles_stay:
                ranks = self.points.ranks.take(tiled.copy_rows)
                same = np.arange(tiled.n_copies, dtype=np.int32)
                extended[c] = ExtendedClass(replace(tiled, copy_ranks=ranks), grown, same, None)
            else:
                extended[c] = self.renumbered(tiled.copy_rows, tiled.n_copies, grown, None, its_pool)

        n_known = [before[c][0].n_copies if c in before else 0 for c in range(n_classes)]
        sizes = [len(rows) * (len(rows) + n) for rows, n in zip(new_of, n_known, strict=True)]
        in_turn(extend_class, [(c,) for c in range(n_classes)], sizes, pool)
        return [extended[c] for c in range(n_classes)]

    def add_rows(self, tiled: Tiled, grown: ForestEdges, new_rows: I64, pool: WorkerPool) -> ExtendedClass:
        """Add new rows to a class."""
        n_old = tiled.n_copies
        rows = np.concatenate((tiled.copy_rows, new_rows))
        if n_old < max(len(new_rows), FEW_POINTS):
            every, anew = self.grown(rows, pool)
            batch = self.tiled(new_rows, pool)
            new_part = Part(batch, number=every.numbers_of(batch.copy_rows))
            return ExtendedClass(every, anew, every.numbers_of(rows)[:n_old], new_part)
        if not self.tiles_stay:
            own = self.renumbered(tiled.copy_rows, n_old, grown, None, pool)
            again = replace(self, tiles_stay=True).add_rows(own.tiled, own.grown, new_rows, pool)
            return replace(again, number=again.number.take(own.number))
        if n_old * len(new_rows) <= IN_ONE_CALL and self.axes.n_axes <= MANY_AXES and self.task.device is None:
            return self.join_rows(tiled, grown, new_rows, pool)
        same = np.arange(n_old, dtype=np.int32)
        known = TiledForests(tiled.copy_rows.astype(np.int64), self.axes, (Part(tiled),), grown, same)
        ranked, amount = by_rank(self.points, new_rows), len(new_rows) * len(rows)
        joined = join_batch(self.points, known, new_rows, ranked, self.task, pool, amount)
        return self.renumbered(rows, n_old, joined.forests, joined.batch, pool)

    def join_rows(self, tiled: Tiled, grown: ForestEdges, new_rows: I64, pool: WorkerPool) -> ExtendedClass:
        """Add new rows to a class in one call, as if they were another class that is joined with it."""
        points, axes, task = self.points, self.axes, self.task
        old = replace(tiled, copy_ranks=points.ranks.take(tiled.copy_rows))
        n_old = old.n_copies
        new, own = self.grown(new_rows, pool)
        joining = Joining(points, [old, new], [grown, own], axes, task)
        neighbors = near_in_parts(axes.coordinates(new.side.rows)[0], (Part(old),), task.n_trees + 2, pool)
        i, at = np.nonzero(neighbors >= 0)
        u, v = neighbors[i, at], new.side.copy_start.take(i)
        d2 = np.empty(len(u))
        edge_lengths(points.X, points.X, old.copy_rows.take(u), new.copy_rows.take(v), d2)
        seeds = Edges(u, (n_old + v).astype(np.int32), d2)
        candidates = Candidates(together((seeds, joining.meeting(0, 0, 1)[0])), need_seeds=False)
        both = joining.block(0, 1, (none_of(old), all_of(new)), candidates)
        rows = np.concatenate((old.copy_rows, new.copy_rows))
        return self.renumbered(rows, n_old, both, Part(new, n_old), pool)

    def renumbered(
        self, rows: np.ndarray, n_old: int, grown: ForestEdges, batch: Part | None, pool: WorkerPool
    ) -> ExtendedClass:
        """Cut the numbered rows of a class into tiles anew, and number them by these; those from n_old on are new."""
        tiled = self.tiled(rows, pool)
        number = tiled.numbers_of(rows)
        grown = grown._replace(u=number.take(grown.u), v=number.take(grown.v))
        if batch is not None:
            batch = replace(batch, number=number.take(batch.numbers(np.arange(batch.tiled.n_copies))))
        return ExtendedClass(tiled, grown, number[:n_old], batch)


class OldPairs:
    """What the pairs of classes were before a batch, under the numbers that classes and rows have after it."""

    def __init__(self, forests: ClassForests, old_codes: I64, n_classes: int, extended: list[ExtendedClass]):
        self.forests, self.n_classes, self.extended = forests, n_classes, extended
        self.old_code = np.full(n_classes, -1)
        self.old_code[old_codes] = np.arange(len(old_codes))

    def pair_of(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the number that pairs had; classes come in order and were there before."""
        first, second = self.old_code[a], self.old_code[b]
        return np.asarray(first * len(self.forests.classes) - first * (first + 1) // 2 + second - first - 1)

    def between(self, a: int, b: int) -> Edges | None:
        """Return the edges that there were between two classes; None where one of them is new."""
        if self.old_code[a] < 0 or self.old_code[b] < 0:
            return None
        edges = self.forests._cross.of(int(self.pair_of(np.asarray(a), np.asarray(b))))
        return Edges(self.extended[a].number.take(edges.u), self.extended[b].number.take(edges.v), edges.d2)

    def with_joined(self, joining: Rejoining, touched: I64, n_trees: int) -> tuple[F64, EdgeSums, PairEdges]:
        """Return the cross edges by tree, the sums and the edges of all pairs; those touched are joined anew."""
        first, second = np.triu_indices(self.n_classes, 1)
        n_pairs = len(first)
        stay = np.setdiff1d(np.arange(n_pairs), touched, assume_unique=True)
        were = self.pair_of(first[stay], second[stay])
        tree_cross = np.empty((n_pairs, n_trees))
        one, other = (self.old_code[ends[stay]] for ends in (first, second))
        tree_cross[stay] = self.forests.pair_cross_counts[:, one, other].T
        tree_cross[touched] = joining.sums.tree_cross
        sums = []
        for old, new in zip(self.forests.pair_edge_sums, joining.edge_sums(), strict=True):
            field = np.empty(n_pairs, new.dtype)
            field[stay], field[touched] = old[were], new
            sums.append(field)

        cross, new_cross = self.forests._cross, joining.edges()
        count = np.empty(n_pairs, np.int64)
        count[stay], count[touched] = cross.count[were], new_cross.count
        kept_starts = np.cumsum(count[stay]) - count[stay]
        kept = np.repeat(cross.first[were] - kept_starts, count[stay]) + np.arange(int(count[stay].sum()))
        start = np.empty(n_pairs, np.int64)
        start[stay], start[touched] = kept_starts, len(kept) + new_cross.first
        of_pair = np.repeat(stay, count[stay])
        was, joined = cross.edges, new_cross.edges
        edges = Edges(
            np.concatenate((self._renumbered(first.take(of_pair), was.u.take(kept)), joined.u)),
            np.concatenate((self._renumbered(second.take(of_pair), was.v.take(kept)), joined.v)),
            np.concatenate((was.d2.take(kept), joined.d2)),
        )
        return tree_cross, EdgeSums._make(sums), PairEdges(edges, start, count)

    def _renumbered(self, of_class: np.ndarray, number: I32) -> I32:
        """Return the new numbers of copies of some classes."""
        starts = np.concatenate(([0], np.cumsum([len(own.number) for own in self.extended])))
        return np.concatenate([own.number for own in self.extended]).take(starts.take(of_class) + number)


class Rejoining(Joining):
    """Those pairs of classes being joined that have new rows."""

    def __init__(
        self,
        points: Points,
        extended: list[ExtendedClass],
        axes: Axes,
        task: Task,
        pairs: tuple[np.ndarray, np.ndarray],
        before: OldPairs,
    ):
        super().__init__(points, [own.tiled for own in extended], [own.grown for own in extended], axes, task, pairs)
        self.extended, self.before = extended, before

    def sides(self, c: int) -> list[Side]:
        """Return all points of a class, and the new ones."""
        return [self.tiled[c].side, self.extended[c].looking.side]

    def looking(self, a: int, b: int, coinciding: Edges) -> tuple[tuple[Looking, Looking], Candidates]:
        """Have only new points look, given the edges between two classes before."""
        between = self.before.between(min(a, b), max(a, b))
        if between is None:
            return super().looking(a, b, coinciding)
        if a > b:
            between = Edges(between.v, between.u, between.d2)
        candidates = together((shifted(between, 0, self.tiled[a].n_copies), coinciding))
        return (self.extended[a].looking, self.extended[b].looking), Candidates(candidates, need_seeds=False)

    def work(self, pairs: I64, sizes: I64) -> list[int]:
        """Return how many distances are new in each of some pairs."""
        n_all = np.array([own.tiled.n_copies for own in self.extended])
        n_old = np.array([len(own.number) for own in self.extended])
        a, b = self.classes[0][pairs], self.classes[1][pairs]
        return list(map(int, n_all[a] * n_all[b] - n_old[a] * n_old[b]))

    def joined(
        self, a: int, b: int, known: ForestEdges, ends: Ends, coinciding: Edges, pool: WorkerPool
    ) -> ForestEdges:
        """Join two classes, given the edges between them before."""
        between = self.before.between(a, b)
        if between is None:
            return super().joined(a, b, known, ends, coinciding, pool)
        n_a, batch_b = self.tiled[a].n_copies, self.extended[b].batch
        side_a, side_b = Part(self.tiled[a]), Part(self.tiled[b], n_a)
        new_b = None if batch_b is None else batch_b.shifted(n_a)
        blocks = [(new, old) for new, old in ((self.extended[a].batch, side_b), (new_b, side_a)) if new is not None]
        seeds = [self.near((a, b), new, old, pool) for new, old in blocks]
        grown = settle(ends, self.task, known, [shifted(between, 0, n_a), *seeds, coinciding])
        amount = sum(new.tiled.n_copies * old.tiled.n_copies for new, old in blocks)
        return Sweep(blocks, ends, self.task, self.axes).run(grown, pool, amount)

    def near(self, pair: tuple[int, int], new: Part, old: Part, pool: WorkerPool) -> Edges:
        """Return edges from the new points of a class to near ones of another."""
        rows = new.tiled.side.rows
        n_wanted = 1 if len(old.tiled.side.hashes) > 8 * self.task.n_trees else self.task.n_trees + 1
        neighbors = near_in_parts(self.axes.coordinates(rows)[0], (old,), n_wanted, pool)
        i, at = np.nonzero(neighbors >= 0)
        u, v = new.first_copies(i), neighbors[i, at]
        row_of = np.concatenate([self.tiled[c].copy_rows for c in pair])
        d2 = np.empty(len(u))
        edge_lengths(self.points.X, self.points.X, row_of.take(u), row_of.take(v), d2)
        return Edges(u, v, d2)
