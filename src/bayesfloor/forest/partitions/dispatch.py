"""Input that does not become forests in the memory of this process: where its rows are, and who computes.

===========================  =============================================================
array, with a client         cut into partitions here, scattered to the workers
path or memory map, client   read by the workers, chunk by chunk
Dask array or data frame     computed by the workers of its client, or of the default one
path or large memory map     read chunk by chunk, sorted into partitions on disk, threads here
===========================  =============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.forest import plan
from bayesfloor.forest.classes.class_forests import ClassForests
from bayesfloor.forest.order.arrays import F64, I64
from bayesfloor.forest.order.edges import Task
from bayesfloor.forest.order.points import Points, rank_points
from bayesfloor.forest.partitions.chunks import (
    RowsOnCluster,
    RowsOnDisk,
    rows_of_collection,
    rows_of_file,
    working_folder,
)
from bayesfloor.forest.partitions.files import RowsOfMap, StoredRows, open_rows
from bayesfloor.forest.partitions.graph import (
    class_records,
    forest_graph,
    partition_ends,
    whole_forests,
)
from bayesfloor.forest.partitions.layout import SPLIT_AXES, Layout, cut_rows, rows_per_partition
from bayesfloor.forest.partitions.tasks import PartitionEnds, PartitionInMemory, SharedInputs
from bayesfloor.forest.results import Forests
from bayesfloor.forest.sweep.tiling import Axes, choose_axes
from bayesfloor.runtime.checks import Progress
from bayesfloor.runtime.cluster import Cluster, ClusterRun, check_client, import_distributed
from bayesfloor.runtime.frames import is_collection
from bayesfloor.runtime.limits import available_memory, check_memory
from bayesfloor.runtime.progress import reporter
from bayesfloor.runtime.task_graph import Graph, Lazy, run_in_threads
from bayesfloor.runtime.threads import WorkerPool, supervise

Labels = Callable[[int], tuple[np.ndarray, I64]]  # of a number of rows: the classes, and each row's code

# Rows whose coordinates are computed at a time.
ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """The rows of an array."""

    X: F64
    ranked: Points  # without their values
    axes: Axes

    @classmethod
    def of(cls, X: F64) -> RowsInMemory:
        """Rank the rows of a checked array."""
        points = rank_points(X)
        ranked = Points(np.empty((0, X.shape[1])), points.exponent, points.hashes, points.order, points.sites)
        axes = choose_axes(points, plan.current().projection)
        return cls(points.X, ranked, axes)

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


RowSource = RowsInMemory | RowsOnDisk | RowsOnCluster


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Rows cut into partitions, and the tasks that make forests of them."""

    rows: RowSource
    layout: Layout
    shared: SharedInputs
    graph: Graph

    def record(self, results: dict[str, Any], classes: np.ndarray | None = None) -> Forests | ClassForests:
        """Return the forests of all rows, or of every pair of classes and all rows, once the graph has been run."""
        known = self.layout, self.rows.ranked, self.shared
        if classes is not None:
            return class_records(*known, self.graph, results, classes)
        return whole_forests(*known, results[self.graph.wanted[-1]])


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
    most_rows = rows_per_partition(n, ranked.X.shape[1], n_slots)
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


class Request(NamedTuple):
    """What is asked for."""

    n_trees: int
    seed: int
    n_threads: int
    progress: bool | Progress
    labels: Labels | None = None  # None for the forests of all rows alone


def in_memory(X: Any, client: Any, n_trees: int) -> Any:
    """Return X to be computed in memory: itself, or what is in its file where that fits; None when it is elsewhere."""
    if client is not None or is_collection(X):
        return None
    stored = open_rows(X)
    if stored is None:
        return X
    if plan.current().partition_rows is not None or not fits(stored.shape, n_trees):
        return None
    return X if isinstance(X, np.ndarray) else stored.read(0, stored.shape[0])


def fits(shape: tuple[int, int], n_trees: int) -> bool:
    """Tell whether the forests of so many points leave a third of the memory free."""
    available = available_memory()
    return available is None or 3 * bytes_for(*shape, n_trees) <= 2 * available


def bytes_for(n: int, n_features: int, n_trees: int) -> int:
    """Estimate the memory that forests take; the features count where points are in memory."""
    return n * (3 * 8 * n_features + min(n_trees, max(n - 1, 1)) * 200 + 600)


def forests_of_partitions(X: Any, client: Any, device: Any, request: Request) -> Any:
    """Compute the forests of input that is not `in_memory`; `ClassForests` where there are labels."""
    if str(device) not in ("auto", "cpu"):
        raise ValueError(f"device={device!r} cannot be had for partitions of rows, on a cluster or from a file")
    reporter(request.progress)  # refuses what is neither
    if client is None and not is_collection(X):
        stored = open_rows(X)
        assert stored is not None
        return _on_disk(stored, request)
    cluster = Cluster(check_client(default_client() if client is None else client))
    rows = _rows_for(cluster, X, request)
    n = len(rows.ranked.order)
    check_memory(bytes_for(n, 0, request.n_trees), f"the edges of the forests of {n} points")
    classes, codes = (None, None) if request.labels is None else request.labels(n)
    planned = supervise(
        lambda pool: plan_partitions(rows, codes, request.n_trees, request.seed, cluster.n_slots), 1, False
    )
    results = ClusterRun(cluster, planned.graph).run(reporter(request.progress))
    return planned.record(results, classes)


def _rows_for(cluster: Cluster, X: Any, request: Request) -> RowSource:
    """Return the rows of X as a cluster gets them."""
    if is_collection(X):
        return rows_of_collection(cluster, X)
    stored = open_rows(X)
    small_map = stored is not None and isinstance(X, np.ndarray) and fits(stored.shape, request.n_trees)
    if stored is not None and not small_map and not isinstance(stored, RowsOfMap):
        _check_shape(stored)
        return rows_of_file(cluster, stored)
    array = check_points(X)
    check_memory(bytes_for(len(array), array.shape[1], request.n_trees), f"the forests of {len(array)} points")
    return supervise(lambda pool: RowsInMemory.of(array), 1, False)


def _on_disk(stored: StoredRows, request: Request) -> Forests | ClassForests:
    """Compute the forests of a file, sorted into partitions in a temporary folder."""
    _check_shape(stored)
    n, n_features = stored.shape
    check_memory(bytes_for(n, 0, request.n_trees), f"the edges of the forests of {n} points")
    classes, codes = (None, None) if request.labels is None else request.labels(n)

    def compute(folder: Path, pool: WorkerPool) -> Forests | ClassForests:
        rows = RowsOnDisk(stored, folder, pool)
        planned = plan_partitions(rows, codes, request.n_trees, request.seed, pool.n_threads)
        return planned.record(run_in_threads(planned.graph, pool), classes)

    with working_folder(8 * n * n_features) as folder:
        return supervise(partial(compute, Path(folder)), request.n_threads, request.progress)


def _check_shape(stored: StoredRows) -> None:
    n, n_features = stored.shape
    if n < 2 or n_features < 1:
        check_points(stored.read(0, n))  # says what is wrong with it


def default_client() -> Any:
    """Return the client that Dask collections use."""
    try:
        return import_distributed().default_client()
    except ValueError as error:
        raise ValueError("X is a Dask collection, and there is no cluster to compute it: pass client=") from error
