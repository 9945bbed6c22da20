"""Partitions of rows become forests: rows are ranked and cut, and tasks are planned; see `runtime.task_graph`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.classes.class_forests import ClassForests
from bayesfloor.forest.growing.forests import ForestsOrigin
from bayesfloor.forest.order.arrays import F64, I64
from bayesfloor.forest.order.edges import Task
from bayesfloor.forest.order.points import rank_points
from bayesfloor.forest.partitions.graph import (
    RankedRows,
    class_records,
    forest_graph,
    partition_ends,
    whole_forests,
)
from bayesfloor.forest.partitions.layout import SPLIT_AXES, Layout, cut_rows, rows_per_partition
from bayesfloor.forest.partitions.tasks import Partition, PartitionEnds, PartitionInMemory, SharedInputs
from bayesfloor.forest.results import Forests, Origin
from bayesfloor.forest.sweep.tiling import Axes, choose_axes
from bayesfloor.runtime.task_graph import Graph, Job, Lazy

# Rows whose coordinates are computed at a time.
ROWS_AT_ONCE = 1 << 14


class RowSource(Protocol):
    """The rows of an input, wherever they are."""

    @property
    def ranked(self) -> RankedRows:
        """What is known of all rows without their values."""

    @property
    def axes(self) -> Axes:
        """The axes in which tiles are cut and compared."""

    @property
    def origin(self) -> Origin | None:
        """What it takes to extend the forests, where the points are at hand."""

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""

    def partition_of(
        self, layout: Layout, number: int, ends: PartitionEnds, part_starts: I64
    ) -> Partition | Lazy | Job:
        """Return a partition, or how it is made, here or by a job."""

    def sort_into(self, layout: Layout, graph: Graph) -> None:
        """Do what has to be done before the jobs of a graph can be; more jobs may be added to it."""


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """The rows of an array."""

    X: F64
    ranked: RankedRows
    axes: Axes
    origin: Origin | None

    @classmethod
    def of(cls, X: F64, seed: int) -> RowsInMemory:
        """Rank the rows of a checked array."""
        points = rank_points(X)
        ranked = RankedRows(X.shape[1], points.exponent, points.hashes, points.order, points.sites)
        axes = choose_axes(points, plan.current().projection)
        return cls(points.X, ranked, axes, ForestsOrigin(X, points.hashes, seed))

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""
        out = np.empty((len(self.X), n_axes))
        for first in range(0, len(self.X), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            out[part] = self.axes.coordinates(self.X[part])[0][:, :n_axes]
        return out

    def partition_of(self, layout: Layout, number: int, ends: PartitionEnds, part_starts: I64) -> Lazy:
        """Say how the rows of a partition are copied."""
        return Lazy(lambda: PartitionInMemory(ends, part_starts, self.X.take(layout.rows_of(number), axis=0)))

    def sort_into(self, layout: Layout, graph: Graph) -> None:
        """Do nothing: partitions are there."""


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Rows cut into partitions, and the tasks that make forests of them."""

    rows: RowSource
    layout: Layout
    shared: SharedInputs
    graph: Graph

    def forests(self, results: dict[str, Any]) -> Forests:
        """Return the forests of all rows, once the graph has been run."""
        whole = results[self.graph.wanted[-1]]
        return whole_forests(self.layout, self.rows.ranked, self.shared, whole, self.rows.origin)

    def class_forests(self, results: dict[str, Any], classes: np.ndarray) -> ClassForests:
        """Return the forests of every pair of classes and of all rows."""
        return class_records(self.layout, self.rows.ranked, self.shared, self.graph, results, classes)


def plan_partitions(rows: RowSource, codes: I64 | None, n_trees: int, seed: int, n_slots: int) -> PartitionPlan:
    """Cut rows into partitions for so many tasks at a time, and plan these tasks.

    Parameters
    ----------
    rows : RowSource
        The rows.
    codes : ndarray of shape (n,) or None
        The class of each row, or None where the forests of all rows are all that is wanted.
    n_trees, seed : int
        How many trees, and how ties are broken.
    n_slots : int
        How many tasks can run at a time.

    Returns
    -------
    PartitionPlan
    """
    ranked, axes = rows.ranked, rows.axes
    n = len(ranked.order)
    codes = np.zeros(n, np.int64) if codes is None else codes
    counts = np.bincount(codes)
    most_rows = rows_per_partition(n, ranked.n_features, n_slots)
    coords = np.empty((n, 0))
    if counts.max() > most_rows:
        coords = rows.coordinates(min(SPLIT_AXES, axes.n_axes))
    layout = cut_rows(ranked.order, codes, len(counts), coords, most_rows)
    shared = SharedInputs(Task.of(n_trees, seed, n), axes, plan.current())
    ends = partition_ends(layout, ranked)
    partitions = [
        rows.partition_of(layout, number, ends[number], layout.part_starts(unit, number))
        for unit in layout.units
        for number in unit.partitions
    ]
    graph = forest_graph(layout, shared, ends, partitions)
    rows.sort_into(layout, graph)
    return PartitionPlan(rows, layout, shared, graph)
