"""Files larger than memory: read chunk by chunk and sorted into partitions on disk, of which a few are in memory."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayesfloor.forest.order.arrays import F64, I32, I64
from bayesfloor.forest.order.points import check_apart
from bayesfloor.forest.partitions.chunks import (
    SAMPLE_ROWS,
    chunk_starts,
    coordinates_of,
    look_at,
    rank_chunks,
    rough_hashes,
    rows_of_chunk,
)
from bayesfloor.forest.partitions.files import StoredRows
from bayesfloor.forest.partitions.graph import RankedRows
from bayesfloor.forest.partitions.layout import Layout
from bayesfloor.forest.partitions.tasks import PartitionEnds
from bayesfloor.forest.results import Origin
from bayesfloor.forest.sweep.tiling import Axes
from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.task_graph import Graph
from bayesfloor.runtime.threads import WorkerPool


@dataclass(frozen=True, eq=False)
class PartitionOnDisk:
    """A partition whose points lie in a file, in the order of rows."""

    ends: PartitionEnds
    part_starts: I64
    path: str
    place: I32  # of each point among those of the partition in the file
    n_features: int

    def points(self) -> F64:
        """Read the points, in the order of their numbers."""
        n = len(self.ends)
        offset = 8 * self.ends.first * self.n_features
        stored = np.fromfile(self.path, np.float64, n * self.n_features, offset=offset)
        return stored.reshape(n, self.n_features)[self.place]


class RowsOnDisk:
    """Rows of a file, and the folder in which they are sorted into partitions."""

    def __init__(self, stored: StoredRows, folder: Path, pool: WorkerPool):
        self.stored, self.pool = stored, pool
        self.path = folder / "partitions"
        self.starts = chunk_starts(*stored.shape)
        self.origin: Origin | None = None
        n_sampled = -(-SAMPLE_ROWS // (len(self.starts) - 1))
        facts = pool.run(
            lambda first, last: look_at(stored.read(first, last), f"rows {first} to {last - 1}", n_sampled),
            self._chunks(),
        )
        self.ranked: RankedRows
        self.axes: Axes
        self.ranked, self.axes, extent = rank_chunks(facts)
        if extent.dust > 0:
            hashes = pool.run(lambda first, last: rough_hashes(stored.read(first, last), extent.dust), self._chunks())
            check_apart(extent, self.ranked.sites, np.concatenate(hashes))

    def _chunks(self) -> list[tuple[int, int]]:
        return list(zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True))

    def coordinates(self, n_axes: int) -> F64:
        """Return the leading coordinates of all rows."""
        out = np.empty((self.stored.shape[0], n_axes))

        def fill(first: int, last: int) -> None:
            out[first:last] = coordinates_of(self.stored.read(first, last), self.axes, self.ranked.exponent, n_axes)

        self.pool.run(fill, self._chunks())
        return out

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
            for first, last in self._chunks():
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
