"""Rows that are read or made chunk by chunk: ranked, given axes and cut into partitions, never in memory all at once.

::

    chunks ──look──▶ hashes, extent, a sample ──▶ ranks, sites, axes
      │                                              │
      ├──coordinates──▶ cuts ──▶ partitions' rows ◀──────┘
      └──rows of each partition──▶ partitions

The first look also checks the values. Rows with equal values have equal hashes; two hashes of 64 bits tell different
rows apart, since values are not at hand to be compared.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bayesfloor.data.points import read_points
from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I64, U64
from bayesfloor.forest.order.hash_kernels import order_of_hashes
from bayesfloor.forest.order.points import Extent, Points, check_apart, hashes_without
from bayesfloor.forest.partitions.files import StoredRows, as_points
from bayesfloor.forest.partitions.layout import SPLIT_AXES, Layout, rows_per_partition
from bayesfloor.forest.partitions.tasks import PartitionEnds, PartitionInMemory, PartitionOnDisk
from bayesfloor.forest.sweep.tiling import Axes, choose_axes
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.cluster import Cluster, ClusterRun, Computed
from bayesfloor.runtime.hash_kernels import hash_rows
from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.task_graph import Graph, Job, WithArrays
from bayesfloor.runtime.threads import WorkerPool, supervise

# Bytes of points that are read at a time.
CHUNK_BYTES = 8 * 2**20
# Rows in the sample from which axes are chosen.
SAMPLE_ROWS = 2_000
# Flips the bits of rows for their second hash.
OTHER_HASH = np.uint64(0x5851F42D4C957F2D)

# Maximum number of chunks of a Dask array per chunk of our own size; more are merged first.
SMALL_CHUNKS = 8


@dataclass(frozen=True, eq=False)
class ChunkFacts(WithArrays):
    """What a first look at a chunk finds."""

    hashes: U64
    other_hashes: U64
    extent: Extent
    sample: F64
    warned: str | None

    def __len__(self) -> int:
        return len(self.hashes)


def chunk_starts(n_rows: int, n_features: int) -> I64:
    """Cut rows into chunks of a few megabytes."""
    rows = plan.current().partition_rows or max(1, CHUNK_BYTES // (8 * n_features))
    return np.append(np.arange(0, n_rows, rows), n_rows)


def look_at(raw: Any, where: str, n_sampled: int) -> ChunkFacts | None:
    """Check the rows of a chunk, hash them and take a sample.

    Parameters
    ----------
    raw : array or data frame
        The rows.
    where : str
        Which rows these are, for the message should something be wrong with them.
    n_sampled : int
        How many rows to take into the sample.

    Returns
    -------
    ChunkFacts or None
        None when there are no rows.
    """
    if len(raw) == 0:
        return None
    try:
        X, warned = read_points(raw, min_rows=1)
    except ValueError as error:
        raise ValueError(f"{error} (of {where})") from error
    n = len(X)
    hashes, other_hashes = np.empty(n, np.uint64), np.empty(n, np.uint64)
    hash_rows(X.view(np.uint64), 0, n, hashes)
    bits = (X + 0.0).view(np.uint64) ^ OTHER_HASH  # + 0.0 makes 0.0 of -0.0
    bits.flags.writeable = False  # as above: kernels are compiled for that
    hash_rows(bits, 0, n, other_hashes)
    sample = X[np.unique(np.linspace(0, n - 1, max(1, min(n, n_sampled))).astype(np.int64))]
    return ChunkFacts(hashes, other_hashes, Extent.of(X), sample, warned)


def rank_chunks(facts: Sequence[ChunkFacts]) -> tuple[Points, Axes, Extent]:
    """Rank the rows of all chunks, without their values, choose axes for them, and say how far they reach."""
    for text in dict.fromkeys(own.warned for own in facts if own.warned is not None):
        warn_caller(text, UserWarning)
    hashes = np.concatenate([own.hashes for own in facts])
    other_hashes = np.concatenate([own.other_hashes for own in facts])
    order = order_of_hashes(hashes)
    is_new = hashes[order[1:]] != hashes[order[:-1]]
    if np.any(~is_new & (other_hashes[order[1:]] != other_hashes[order[:-1]])):
        order = np.lexsort((np.arange(len(hashes)), other_hashes, hashes)).astype(np.int32)
        is_new = (hashes[order[1:]] != hashes[order[:-1]]) | (other_hashes[order[1:]] != other_hashes[order[:-1]])
    sites = np.empty(len(hashes), np.int64)
    sites[order] = np.concatenate(([0], np.cumsum(is_new)))
    extent = Extent.union(own.extent for own in facts)
    sample = np.concatenate([own.sample for own in facts])
    extent.check_lengths(sample.shape[1])
    ranked = Points(np.empty((0, sample.shape[1])), extent.exponent, hashes, order, sites)
    return ranked, _axes_of_sample(sample, extent), extent


def _axes_of_sample(sample: F64, extent: Extent) -> Axes:
    """Choose axes from a sample, scaled so that all rows, which lie in the extent, get coordinates of order one."""
    everything = np.arange(len(sample), dtype=np.int32)
    hashes, sites = np.zeros(len(sample), np.uint64), everything.astype(np.int64)
    points = Points(np.ldexp(sample, -extent.exponent), 0, hashes, everything, sites)
    points.__dict__["extent"] = extent.scaled()
    return choose_axes(points, plan.current().projection)


def rough_hashes(raw: Any, dust: float) -> U64:
    """Hash the rows of a chunk without their dust."""
    return hashes_without(dust, as_points(raw)) if len(raw) else np.empty(0, np.uint64)


def coordinates_of(raw: Any, axes: Axes, exponent: int, n_axes: int) -> F64:
    """Return the leading coordinates of the rows of a chunk."""
    if len(raw) == 0:
        return np.empty((0, n_axes))
    return axes.coordinates(np.ldexp(as_points(raw), -exponent))[0][:, :n_axes]


def rows_of_chunk(raw: Any, rows: I64, exponent: int) -> F64:
    """Return some rows of a chunk as points."""
    X = as_points(raw)[rows]
    return np.ldexp(X, -exponent) if exponent else X


def places_by_chunk(rows: np.ndarray, starts: I64) -> list[tuple[I64, I64]]:
    """Return, for every chunk, at which places of some rows its own are, and which rows of the chunk they are."""
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], starts)
    places = [order[first:last] for first, last in pairwise(bounds)]
    return [(place, rows[place] - start) for place, start in zip(places, starts[:-1], strict=True)]


class ChunkedRows:
    """Rows that no process need hold all at once: what is known of them without their values."""

    ranked: Points
    axes: Axes
    starts: I64  # first row of each chunk

    def __init__(self, places: list[str]):
        n_sampled = -(-SAMPLE_ROWS // len(places))
        facts = self.of_every_chunk([partial(look_at, where=place, n_sampled=n_sampled) for place in places])
        self.starts = np.concatenate(([0], np.cumsum([0 if own is None else len(own) for own in facts])))
        known = [own for own in facts if own is not None]
        n_features = {own.sample.shape[1] for own in known}
        if len(n_features) > 1:
            raise ValueError(f"chunks have different numbers of features: {sorted(n_features)}")
        if self.starts[-1] < 2:
            raise ValueError(f"Found array with {self.starts[-1]} sample(s) while a minimum of 2 is required.")
        self.ranked, self.axes, extent = supervise(lambda pool: rank_chunks(known), 1, False)
        if extent.dust > 0:
            hashes = self.of_every_chunk([partial(rough_hashes, dust=extent.dust)] * len(places))
            check_apart(extent, self.ranked.sites, np.concatenate(hashes))

    def of_every_chunk(self, works: list[Callable[[Any], Any]]) -> list[Any]:
        """Have a function called with every chunk."""
        raise NotImplementedError

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""
        work = partial(coordinates_of, axes=self.axes, exponent=self.ranked.exponent, n_axes=n_axes)
        return np.concatenate(self.of_every_chunk([work] * (len(self.starts) - 1)))


class RowsOnDisk(ChunkedRows):
    """Rows of a file, and the folder in which they are sorted into partitions."""

    def __init__(self, stored: StoredRows, folder: Path, pool: WorkerPool):
        self.stored, self.pool, self.path = stored, pool, folder / "partitions"
        self.chunks = list(pairwise(chunk_starts(*stored.shape).tolist()))
        super().__init__([f"rows {first} to {last - 1}" for first, last in self.chunks])

    def of_every_chunk(self, works: list[Callable[[Any], Any]]) -> list[Any]:
        """Read every chunk, and have a function called with it."""
        tasks = [(work, *chunk) for work, chunk in zip(works, self.chunks, strict=True)]
        return self.pool.run(lambda work, first, last: work(self.stored.read(first, last)), tasks)

    def partition_of(self, layout: Layout, number: int, ends: PartitionEnds, part_starts: I64) -> PartitionOnDisk:
        """Say where the points of a partition are going to be."""
        place = np.argsort(np.argsort(layout.rows_of(number))).astype(np.int32)
        return PartitionOnDisk(ends, part_starts, str(self.path), place, self.stored.shape[1])

    def sort_into(self, layout: Layout, graph: Graph) -> None:
        """Write the points to disk, partition after partition."""
        n, n_features = self.stored.shape
        partition_of_row = np.empty(n, np.int32)
        partition_of_row[layout.rows] = np.repeat(
            np.arange(layout.n_partitions, dtype=np.int32), np.diff(layout.partition_starts)
        )
        written = layout.partition_starts[:-1].copy()
        with self.path.open("wb") as file:
            for first, last in self.chunks:
                self.pool.check()
                partitions = partition_of_row[first:last]
                order = np.argsort(partitions, kind="stable")
                X = rows_of_chunk(self.stored.read(first, last), order, self.ranked.exponent)
                bounds = np.searchsorted(partitions[order], np.arange(layout.n_partitions + 1))
                for partition in np.flatnonzero(np.diff(bounds)):
                    part = X[bounds[partition] : bounds[partition + 1]]
                    file.seek(8 * int(written[partition]) * n_features)
                    part.tofile(file)
                    written[partition] += len(part)


def working_folder(n_bytes: int) -> tempfile.TemporaryDirectory[str]:
    """Make a temporary folder on a disk with so many bytes free, or raise."""
    folder = tempfile.TemporaryDirectory(prefix="bayesfloor-")
    free = shutil.disk_usage(folder.name).free
    if free < n_bytes:
        folder.cleanup()
        raise OSError(
            errno.ENOSPC,
            f"sorting the rows into partitions takes {in_gib(n_bytes)} in the folder for temporary files, "
            f"{os.path.dirname(folder.name)}, which has {in_gib(free)} free; TMPDIR names another one",
        )
    return folder


class RowsOnCluster(ChunkedRows):
    """Rows whose chunks workers read or compute: jobs that read them, or futures of a Dask collection."""

    def __init__(self, cluster: Cluster, chunks: Sequence[Job | Computed], places: list[str]):
        self.cluster, self.chunks = cluster, chunks
        super().__init__(places)
        self._coordinates = np.empty((0, 0))
        if self.starts[-1] > rows_per_partition(int(self.starts[-1]), self.ranked.X.shape[1], cluster.n_slots):
            self._coordinates = super().coordinates(min(SPLIT_AXES, self.axes.n_axes))

    def of_every_chunk(self, works: list[Callable[[Any], Any]]) -> list[Any]:
        """Have the workers call a function with every chunk."""
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
    chunks = list(pairwise(chunk_starts(*stored.shape).tolist()))
    jobs = [Job(partial(read_rows, stored, first, last), ()) for first, last in chunks]
    return RowsOnCluster(cluster, jobs, [f"rows {first} to {last - 1}" for first, last in chunks])


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
