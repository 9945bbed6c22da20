"""Forests that grow: what a `Forests` keeps of its points, and how rows that arrive later are added.

::

    Forests ──extend(X_new)──▶ Forests ──extend(X_new)──▶ ...
       │ ForestsOrigin            │ ForestsOrigin
       ▼                          ▼
    X, seed               X with X_new after it, seed, and the tiles of all rows (`batch`), or their links (`linked`)

A record holds only its X and its seed until it is extended. Tiles and links go from a record to the next; an older
record that is extended again makes its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.forest import plan
from bayesfloor.forest.growing.batch import TiledForests, by_rank, ends_of, extend_tiled, grow_tiled, grows_anew
from bayesfloor.forest.growing.linked import (
    FEW_FEATURES,
    LinkedForests,
    Record,
    can_be_linked,
    extend_linked,
    link_forests,
)
from bayesfloor.forest.order.arrays import F64, U64, ForestEdges
from bayesfloor.forest.order.edges import Task
from bayesfloor.forest.order.kruskal_kernels import order_edges
from bayesfloor.forest.order.points import Extent, Points, rank_points
from bayesfloor.forest.results import Forests, to_forests
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.forest.sweep.driver import Part, last_line
from bayesfloor.forest.sweep.tiling import choose_axes, tile_points
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise

ROWS_CHANGED = "These forests cannot be extended: rows of their X were changed after they were computed."
# Check the free memory, which takes a millisecond, for buffers above this number of bytes.
MUCH_MEMORY = 1 << 28
# Spare capacity of a buffer, as a share of its rows.
SPARE = 0.5


class RowBuffer:
    """Append-only buffer for rows that keep arriving; the rows of earlier results are prefix views of it."""

    def __init__(self) -> None:
        self._rows = np.empty((0, 0))
        self._used = 0
        self._lock = threading.Lock()

    def append(self, X: F64, X_new: F64) -> F64:
        """Return X with new rows after it, without a copy where X is all that is in here and there is capacity."""
        n, n_all = len(X), len(X) + len(X_new)
        with self._lock:
            if not (X.base is self._rows and self._used == n and n_all <= len(self._rows)):
                self._rows = np.empty((n_all + int(SPARE * n_all), X.shape[1]))
                self._rows[:n] = X
            self._rows[n:n_all] = X_new
            self._used = n_all
            X = self._rows[:n_all]
        X.flags.writeable = False
        return X

    def truncate(self, n: int) -> None:
        """Forget the rows after the first n."""
        with self._lock:
            self._used = min(self._used, n)

    def __reduce__(self) -> tuple[type[RowBuffer], tuple[()]]:
        return RowBuffer, ()


@dataclass(frozen=True, eq=False)
class Extendable:
    """The points of some forests and how they are kept, ready for more rows."""

    points: Points
    known: TiledForests | LinkedForests
    buffer: RowBuffer


def check_new_points(X_new: Any, n_features: int, whose: str) -> F64:
    """Return new rows as `check_points` does; there may be a single one."""
    X_new = check_points(X_new, min_rows=1)
    if X_new.shape[1] != n_features:
        raise ValueError(f"X has {X_new.shape[1]} features, but {whose} is expecting {n_features} features as input.")
    return X_new


class ForestsOrigin:
    """The points and the seed of forests, and their tiles where these forests come from others by `extend`."""

    def __init__(self, rows: F64 | Callable[[], F64], hashes: U64, seed: int, extendable: Extendable | None = None):
        self._rows, self.hashes, self.seed = rows, hashes, seed
        self._extendable = [] if extendable is None else [extendable]

    @property
    def X(self) -> F64:  # noqa: N802 - the name of points everywhere
        """The points, fetched where they are elsewhere."""
        return self._rows() if callable(self._rows) else self._rows

    def take_tiles(self) -> Extendable | None:
        """Return the tiles, if they are still here; the next caller gets None."""
        try:
            return self._extendable.pop()
        except IndexError:
            return None

    def put_back(self, extendable: Extendable) -> None:
        """Keep tiles for the next caller."""
        self._extendable.append(extendable)

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.X, "hashes": self.hashes, "seed": self.seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def extend(self, forests: Forests, X_new: Any, n_jobs: int | None, progress: Any) -> Forests:
        """Return the forests of all rows; see `Forests.extend`."""
        X_new = check_new_points(X_new, self.X.shape[1], "Forests")
        n_threads = check_n_jobs(n_jobs)
        n_all, n_features = len(self.X) + len(X_new), self.X.shape[1]
        per_point = 4 * 8 * n_features + min(forests.n_trees_asked, n_all - 1) * 200 + 600
        if n_all * per_point > MUCH_MEMORY:
            check_memory(n_all * per_point, f"the forests of {n_all} points in {n_features} dimensions")

        def compute(pool: WorkerPool) -> Forests:
            before = self.take_tiles()
            buffer = before.buffer if before is not None else RowBuffer()
            try:
                return self._forests_of(forests, before, buffer.append(self.X, X_new), buffer, pool)
            except BaseException:
                buffer.truncate(len(self.X))
                if before is not None:
                    self.put_back(before)
                raise

        return supervise(compute, n_threads, progress)

    def _forests_of(
        self, forests: Forests, before: Extendable | None, X: F64, buffer: RowBuffer, pool: WorkerPool
    ) -> Forests:
        """Return the forests of X, which begins with the rows of the forests."""
        n_old, n_all = forests.n_samples, len(X)
        amount = (n_all - n_old) * (n_all + n_old) // 2
        pool.expect(amount)
        task = Task.of(forests.n_trees_asked, self.seed, n_all)
        if not grows_anew(n_old, n_all - n_old) and X.shape[1] <= FEW_FEATURES:
            extended = self._linked(forests, before, X, task, pool)
            if extended is not None:
                linked, record = extended
                n_trees = task.n_trees
                return Forests(
                    n_samples=n_all,
                    n_trees=n_trees,
                    edges=record.edges,
                    weights=record.weights,
                    tree=record.tree,
                    sites=linked.points.sites,
                    n_components=np.ones(n_trees, np.int64),
                    n_trees_asked=forests.n_trees_asked,
                    _origin=ForestsOrigin(
                        X, linked.points.hashes, self.seed, Extendable(linked.points, linked, buffer)
                    ),
                )
        points = rank_points(X, pool)
        if not np.array_equal(points.hashes[:n_old], self.hashes):
            raise ValueError(ROWS_CHANGED)
        exponent = before.points.exponent if before is not None else Extent.of(X[:n_old]).exponent
        if points.exponent == exponent:
            tiled = before.known if before is not None else None
            if not isinstance(tiled, TiledForests):
                tiled = tile_forests(forests, points, task, pool)
            tiled = extend_tiled(points, tiled, np.arange(n_old, n_all), task, pool, amount)
        else:  # lengths are kept in units of another power of two now
            tiled = grow_tiled(points, np.arange(n_all), task, pool, amount)
        origin = ForestsOrigin(X, points.hashes, self.seed, Extendable(points, tiled, buffer))
        return to_forests(tiled.forests, tiled.rows, points, forests.n_trees_asked, origin=origin)

    def _linked(
        self, forests: Forests, before: Extendable | None, X: F64, task: Task, pool: WorkerPool
    ) -> tuple[LinkedForests, Record] | None:
        """Return the forests of X as link trees; None where that is not possible."""
        if before is not None and isinstance(before.known, LinkedForests):
            return extend_linked(before.known, X, task, pool)
        old = before.points if before is not None else rank_points(X[: forests.n_samples], pool)
        if not np.array_equal(old.hashes, self.hashes):
            raise ValueError(ROWS_CHANGED)
        if not can_be_linked(forests, old):
            return None
        return extend_linked(link_forests(forests, old, pool), X, task, pool)


def tile_forests(forests: Forests, points: Points, task: Task, pool: WorkerPool) -> TiledForests:
    """Cut the points of forests into tiles, and put the edges of all trees into the strict order."""
    n = forests.n_samples
    rows = np.arange(n)
    ends = ends_of(points, rows)
    u, v = (np.ascontiguousarray(end, np.int32) for end in forests.edges.T)
    d2 = np.empty(len(u))
    edge_lengths(points.X, points.X, u, v, d2)
    order = order_edges(u, v, d2, ends.hashes, ends.ranks, task.key)
    grown = ForestEdges(u.take(order), v.take(order), d2.take(order), forests.tree.take(order).astype(np.int32))
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, rows), axes, pool)
    place = last_line(ends, Task.of(task.n_trees_asked, 0, n), grown, axes.scale)[0]
    return TiledForests(rows, axes, (Part(tiled, number=tiled.copy_rows),), grown, place)
