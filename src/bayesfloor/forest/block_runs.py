"""Blocks of rows become forests: rows are ranked and cut, tasks are planned, and whoever runs these runs them.

`cluster` runs tasks on Dask workers, `block_threads` in threads of this process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.block_graph import (
    Graph,
    Job,
    RankedRows,
    block_ends,
    class_records,
    forest_graph,
    whole_forests,
)
from bayesfloor.forest.block_tasks import Ask, Block, BlockEnds, BlockInMemory
from bayesfloor.forest.classes import ClassForests
from bayesfloor.forest.engine import Task
from bayesfloor.forest.extend import Origin
from bayesfloor.forest.points import rank_points
from bayesfloor.forest.results import Forests
from bayesfloor.forest.row_blocks import SPLIT_AXES, Layout, cut_rows, rows_per_block
from bayesfloor.forest.sides import F64, I64
from bayesfloor.forest.tiling import Axes, choose_axes

ROWS_AT_ONCE = 1 << 14  # rows whose coordinates are computed at a time


class Rows(Protocol):
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

    def block_of(self, layout: Layout, number: int, ends: BlockEnds, part_starts: I64) -> Block | Job:
        """Return a block, or the job that makes it."""

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
        return cls(points.X, ranked, choose_axes(points, plan.current().projection), Origin(X, points.hashes, seed))

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""
        out = np.empty((len(self.X), n_axes))
        for first in range(0, len(self.X), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            out[part] = self.axes.coordinates(self.X[part])[0][:, :n_axes]
        return out

    def block_of(self, layout: Layout, number: int, ends: BlockEnds, part_starts: I64) -> Block:
        """Copy the rows of a block."""
        return BlockInMemory(ends, part_starts, self.X.take(layout.rows_of(number), axis=0))

    def sort_into(self, layout: Layout, graph: Graph) -> None:
        """Do nothing: blocks are there."""


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """Rows cut into blocks, and the tasks that make forests of them."""

    rows: Rows
    layout: Layout
    ask: Ask
    graph: Graph

    def forests(self, results: dict[str, Any]) -> Forests:
        """Return the forests of all rows, once the graph has been run."""
        whole = results[self.graph.wanted[-1]]
        return whole_forests(self.layout, self.rows.ranked, self.ask, whole, self.rows.origin)

    def class_forests(self, results: dict[str, Any], classes: np.ndarray) -> ClassForests:
        """Return the forests of every pair of classes and of all rows."""
        return class_records(self.layout, self.rows.ranked, self.ask, self.graph, results, classes)


def plan_blocks(rows: Rows, codes: I64 | None, n_trees: int, seed: int, n_slots: int) -> BlockPlan:
    """Cut rows into blocks for so many tasks at a time, and plan these tasks.

    Parameters
    ----------
    rows : Rows
        The rows.
    codes : ndarray of shape (n,) or None
        The class of each row, or None where the forests of all rows are all that is wanted.
    n_trees, seed : int
        How many trees, and how ties are broken.
    n_slots : int
        How many tasks can run at a time.

    Returns
    -------
    BlockPlan
    """
    ranked, axes = rows.ranked, rows.axes
    n = len(ranked.order)
    codes = np.zeros(n, np.int64) if codes is None else codes
    counts = np.bincount(codes)
    most_rows = rows_per_block(n, ranked.n_features, n_slots)
    coords = np.empty((n, 0))
    if counts.max() > most_rows:
        coords = rows.coordinates(min(SPLIT_AXES, axes.n_axes))
    layout = cut_rows(ranked.order, codes, len(counts), coords, most_rows)
    ask = Ask(Task.of(n_trees, seed, n), axes, plan.current())
    ends = block_ends(layout, ranked)
    blocks = [
        rows.block_of(layout, number, ends[number], layout.part_starts(unit, number))
        for unit in layout.units
        for number in unit.blocks
    ]
    graph = forest_graph(layout, ask, ends, blocks)
    rows.sort_into(layout, graph)
    return BlockPlan(rows, layout, ask, graph)
