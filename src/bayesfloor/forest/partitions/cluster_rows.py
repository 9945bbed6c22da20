"""Rows whose chunks the workers of a cluster read or compute, and which no process need hold all at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import F64, I64
from bayesfloor.forest.order.points import check_apart
from bayesfloor.forest.partitions.chunks import (
    SAMPLE_ROWS,
    chunk_starts,
    coordinates_of,
    look_at,
    places_by_chunk,
    rank_chunks,
    rough_hashes,
    rows_of_chunk,
)
from bayesfloor.forest.partitions.files import StoredRows
from bayesfloor.forest.partitions.graph import RankedRows
from bayesfloor.forest.partitions.layout import SPLIT_AXES, Layout, rows_per_partition
from bayesfloor.forest.partitions.tasks import PartitionEnds, PartitionInMemory
from bayesfloor.forest.results import Origin
from bayesfloor.forest.sweep.tiling import Axes
from bayesfloor.runtime.cluster import Cluster, ClusterRun, Computed
from bayesfloor.runtime.task_graph import Graph, Job
from bayesfloor.runtime.threads import supervise

# Maximum number of chunks of a Dask array per chunk of our own size; more are merged first.
SMALL_CHUNKS = 8


class RowsOnCluster:
    """Rows in chunks: jobs that read them, or futures of what a Dask collection computes."""

    def __init__(self, cluster: Cluster, chunks: Sequence[Job | Computed], places: list[str]):
        self.cluster, self.chunks = cluster, chunks
        self.origin: Origin | None = None
        n_sampled = -(-SAMPLE_ROWS // len(chunks))
        looks = [partial(look_at, where=place, n_sampled=n_sampled) for place in places]
        facts = self._of_every_chunk(looks)
        self.starts = np.concatenate(([0], np.cumsum([0 if own is None else len(own) for own in facts])))
        known = [own for own in facts if own is not None]
        n_features = {own.sample.shape[1] for own in known}
        if len(n_features) > 1:
            raise ValueError(f"chunks have different numbers of features: {sorted(n_features)}")
        if self.starts[-1] < 2:
            raise ValueError(f"Found array with {self.starts[-1]} sample(s) while a minimum of 2 is required.")
        self.ranked: RankedRows
        self.axes: Axes
        self.ranked, self.axes, extent = supervise(lambda pool: rank_chunks(known), 1, False)
        if extent.dust > 0:
            hashes = self._of_every_chunk([partial(rough_hashes, dust=extent.dust)] * len(chunks))
            check_apart(extent, self.ranked.sites, np.concatenate(hashes))
        self._coordinates = np.empty((0, 0))
        if self.starts[-1] > rows_per_partition(int(self.starts[-1]), self.ranked.n_features, cluster.n_slots):
            n_axes = min(SPLIT_AXES, self.axes.n_axes)
            work = partial(coordinates_of, axes=self.axes, exponent=self.ranked.exponent, n_axes=n_axes)
            self._coordinates = np.concatenate(self._of_every_chunk([work] * len(chunks)))

    def _of_every_chunk(self, works: list[Any]) -> list[Any]:
        """Have a function called with every chunk."""
        graph = Graph()
        self._add_chunks(graph)
        # held until the rows are in partitions
        graph.data = {name: chunk.future for name, chunk in graph.data.items()}
        for number, work in enumerate(works):
            graph.jobs[f"look {number}"] = Job(work, (f"chunk {number}",))
        graph.wanted = [f"look {number}" for number in range(len(works))]
        results = ClusterRun(self.cluster, graph).run(None)
        return [results[name] for name in graph.wanted]

    def _add_chunks(self, graph: Graph) -> None:
        for number, chunk in enumerate(self.chunks):
            if isinstance(chunk, Job):
                graph.jobs[f"chunk {number}"] = chunk
            else:
                graph.data[f"chunk {number}"] = chunk

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""
        return self._coordinates

    def partition_of(self, layout: Layout, number: int, ends: PartitionEnds, part_starts: I64) -> Job:
        """Return the job that puts a partition together from rows of several chunks."""
        places = places_by_chunk(layout.rows_of(number), self.starts)
        pieces = [f"piece {number} {chunk}" for chunk, (place, _) in enumerate(places) if len(place)]
        place = np.concatenate([place for place, _ in places]).astype(np.int32)
        work = partial(put_together, part_starts=part_starts, place=place)
        return Job(work, (f"ends {number}", pieces))

    def sort_into(self, layout: Layout, graph: Graph) -> None:
        """Add the jobs that make or read chunks, and those that take the rows of a partition from a chunk."""
        before = Graph()
        self._add_chunks(before)
        for number in range(layout.n_partitions):
            for chunk, (place, rows) in enumerate(places_by_chunk(layout.rows_of(number), self.starts)):
                if len(place):
                    work = partial(rows_of_chunk, rows=rows.astype(np.int32), exponent=self.ranked.exponent)
                    before.jobs[f"piece {number} {chunk}"] = Job(work, (f"chunk {chunk}",))
        graph.data.update(before.data)
        graph.jobs = {**before.jobs, **graph.jobs}


def put_together(ends: PartitionEnds, pieces: list[F64], part_starts: I64, place: np.ndarray) -> PartitionInMemory:
    """Make a partition of rows of several chunks."""
    X = np.empty((len(place), pieces[0].shape[1]))
    X[place] = np.concatenate(pieces)
    return PartitionInMemory(ends, part_starts, X)


def read_rows(stored: StoredRows, first: int, last: int) -> Any:
    """Read a chunk of a file."""
    return stored.read(first, last)


def rows_of_file(cluster: Cluster, stored: StoredRows) -> RowsOnCluster:
    """Have the workers read a file, which all of them must see."""
    starts = chunk_starts(*stored.shape)
    chunks = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
    jobs = [Job(partial(read_rows, stored, first, last), ()) for first, last in chunks]
    return RowsOnCluster(cluster, jobs, [f"rows {first} to {last - 1}" for first, last in chunks])


def is_collection(X: Any) -> bool:
    """Tell whether X is a Dask array or a Dask data frame, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def rows_of_collection(cluster: Cluster, X: Any) -> RowsOnCluster:
    """Have the workers compute the chunks of a Dask array, or the partitions of a Dask data frame."""
    if hasattr(X, "columns"):
        parts = X.to_delayed()
        places = [f"partition {number}" for number in range(len(parts))]
    elif getattr(X, "ndim", 0) == 2 and hasattr(X, "chunks"):
        # Chunks are used as they lie: to cut them anew would copy them. Where columns are apart they have to be joined,
        # and very small ones are joined because each costs some tasks.
        X = X.rechunk({1: -1})
        if not np.isnan(X.shape[0]):
            n_rows = max(1, int(np.diff(chunk_starts(*X.shape)).max()))
            if X.numblocks[0] > SMALL_CHUNKS * -(-X.shape[0] // n_rows):
                X = X.rechunk({0: n_rows})
        parts = X.to_delayed().ravel().tolist()
        places = [f"chunk {number}" for number in range(len(parts))]
    else:
        raise ValueError(f"Expected a Dask array of two dimensions or a Dask data frame, got {X!r} instead.")
    futures = cluster.client.compute(parts)
    chunks = [Computed(cluster.client, part, future) for part, future in zip(parts, futures, strict=True)]
    return RowsOnCluster(cluster, chunks, places)
