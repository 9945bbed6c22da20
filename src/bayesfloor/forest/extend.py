"""Forests that grow: what a `Forests` keeps of its points, and how rows that arrive later are added.

::

    Forests ──extend(X_new)──▶ Forests ──extend(X_new)──▶ ...
       │ Origin                   │ Origin
       ▼                          ▼
    X, seed               X with X_new behind it, seed, and the tiles of all rows (`extend_batch`)

A record holds only its X and its seed until it is extended. Tiles go from a record to the next; an older record that is
extended again makes its own.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.forest import plan
from bayesfloor.forest.blocks import edge_lengths
from bayesfloor.forest.engine import Grown, Task, last_line
from bayesfloor.forest.extend_batch import Part, Stock, by_rank, ends_of, extend_stock, grow_stock
from bayesfloor.forest.kruskal import order_edges
from bayesfloor.forest.points import Points, exponent_of, rank_points
from bayesfloor.forest.sides import F64, U64
from bayesfloor.forest.threads import Crew, supervise
from bayesfloor.forest.tiling import choose_axes, tile_points
from bayesfloor.runtime.limits import check_memory, check_n_jobs

if TYPE_CHECKING:
    from bayesfloor.forest.results import Forests

ROWS_CHANGED = "These forests cannot be extended: rows of their X were changed after they were computed."
SPARE = 0.5  # of the rows: room kept behind them for more


class Rows:
    """Room for rows that keep arriving. Whoever holds the first n rows looks at the same memory as who holds more."""

    def __init__(self) -> None:
        self._room = np.empty((0, 0))
        self._used = 0
        self._lock = threading.Lock()

    def append(self, X: F64, X_new: F64) -> F64:
        """Return X with new rows behind it, without a copy where X is all that is in here and there is room."""
        n, n_all = len(X), len(X) + len(X_new)
        with self._lock:
            if not (X.base is self._room and self._used == n and n_all <= len(self._room)):
                self._room = np.empty((n_all + int(SPARE * n_all), X.shape[1]))
                self._room[:n] = X
            self._room[n:n_all] = X_new
            self._used = n_all
            X = self._room[:n_all]
        X.flags.writeable = False
        return X

    def __reduce__(self) -> tuple[type[Rows], tuple[()]]:
        return Rows, ()

    def give_back(self, n: int) -> None:
        """Forget the rows after the first n."""
        with self._lock:
            self._used = min(self._used, n)


@dataclass(frozen=True, eq=False)
class Living:
    """The points of some forests and their tiles, ready for more."""

    points: Points
    stock: Stock
    rows: Rows


class Origin:
    """Where forests come from, which is what it takes to extend them."""

    def __init__(self, X: F64, hashes: U64, seed: int, living: Living | None = None):
        self.X, self.hashes, self.seed = X, hashes, seed
        self._living = [] if living is None else [living]

    def take_living(self) -> Living | None:
        """Return the tiles, if they are still here; the next to ask gets none."""
        try:
            return self._living.pop()
        except IndexError:
            return None

    def put_back(self, living: Living) -> None:
        """Keep tiles for the next to ask."""
        self._living.append(living)

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "hashes": self.hashes, "seed": self.seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def check_new_points(X_new: Any, n_features: int, whose: str) -> F64:
    """Return new rows as `check_points` does; there may be a single one."""
    X_new = check_points(X_new, min_rows=1)
    if X_new.shape[1] != n_features:
        raise ValueError(f"X has {X_new.shape[1]} features, but {whose} is expecting {n_features} features as input.")
    return X_new


def extend_forests(forests: Forests, X_new: Any, n_jobs: int | None, progress: Any) -> Forests:
    """Return the forests of all rows; see `Forests.extend`."""
    origin = forests._origin
    if origin is None:
        raise ValueError(
            "These forests cannot be extended, because they do not know their points: they are a part of class "
            "forests, or their points were not in memory. Extend what class_forests returned, or the result of "
            "spanning_forests."
        )
    X_new = check_new_points(X_new, origin.X.shape[1], "Forests")
    n_threads = check_n_jobs(n_jobs)
    n_all, n_features = len(origin.X) + len(X_new), origin.X.shape[1]
    per_point = 4 * 8 * n_features + min(forests.n_trees_asked, n_all - 1) * 200 + 600
    check_memory(n_all * per_point, f"the forests of {n_all} points in {n_features} dimensions")

    def compute(crew: Crew) -> Forests:
        before = origin.take_living()
        rows = before.rows if before is not None else Rows()
        try:
            return with_more_rows(forests, origin, before, rows.append(origin.X, X_new), rows, crew)
        except BaseException:
            rows.give_back(len(origin.X))
            if before is not None:
                origin.put_back(before)
            raise

    return supervise(compute, n_threads, progress)


def with_more_rows(forests: Forests, origin: Origin, before: Living | None, X: F64, rows: Rows, crew: Crew) -> Forests:
    """Return the forests of X, which begins with the rows of the forests."""
    from bayesfloor.forest.results import to_forests

    n_old, n_all = forests.n_points, len(X)
    amount = (n_all - n_old) * (n_all + n_old) // 2
    crew.expect(amount)
    points = rank_points(X, crew)
    if not np.array_equal(points.hashes[:n_old], origin.hashes):
        raise ValueError(ROWS_CHANGED)
    task = Task.of(forests.n_trees_asked, origin.seed, n_all)
    exponent = before.points.exponent if before is not None else exponent_of(X[:n_old])
    if points.exponent == exponent:
        stock = before.stock if before is not None else stock_of(forests, points, task, crew)
        stock = extend_stock(points, stock, np.arange(n_old, n_all), task, crew, amount)
    else:  # lengths are kept in units of another power of two now
        stock = grow_stock(points, np.arange(n_all), task, crew, amount)
    return to_forests(
        *stock.grown,
        row_of=stock.rows,
        sites=points.sites,
        exponent=points.exponent,
        n_trees_asked=forests.n_trees_asked,
        origin=Origin(X, points.hashes, origin.seed, Living(points, stock, rows)),
    )


def stock_of(forests: Forests, points: Points, task: Task, crew: Crew) -> Stock:
    """Cut the points of forests into tiles, and put the edges of all trees into the strict order."""
    n = forests.n_points
    rows = np.arange(n)
    ends = ends_of(points, rows)
    u, v = (np.ascontiguousarray(end, np.int32) for end in forests.edges.T)
    d2 = np.empty(len(u))
    edge_lengths(points.X, points.X, u, v, d2)
    order = order_edges(u, v, d2, ends.hashes, ends.ranks, task.key)
    grown = Grown(u.take(order), v.take(order), d2.take(order), forests.tree.take(order).astype(np.int32))
    axes = choose_axes(points, plan.current().projection)
    tiled = tile_points(points, by_rank(points, rows), axes, crew)
    place = last_line(ends, Task.of(task.n_trees_asked, 0, n), grown, axes.scale)[0]
    return Stock(rows, axes, (Part(tiled, tiled.copy_rows),), grown, place)
