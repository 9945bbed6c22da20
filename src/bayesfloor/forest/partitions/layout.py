"""Rows are cut into partitions: what one task holds at a time, on a cluster or out of core.

::

    rows ──by class──▶ units ──k-d splits──▶ partitions
                         a class of its own, cut into several partitions, or several small classes in one partition

Rows are numbered anew, class after class, partition after partition and by rank within: the *numbers* that edges carry
from task to task. A class is then a range of numbers, and so is a partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I32, I64
from bayesfloor.forest.sweep.kdtree_kernels import leaf_starts, split_points

# Partitions per task that can run at a time. Every two are joined, so that there are enough tasks for all workers.
PARTITIONS_PER_SLOT = 2
# Minimum number of rows in a partition that is cut: below, tasks cost more than their distances.
FEWEST_ROWS = 2_000
# Bytes of points in a partition: a task of about a second, which holds a few times as much in memory.
PARTITION_BYTES = 8 * 2**20
# Rows that a partition may have beyond PARTITION_BYTES where rows have many features.
LEAST_FULL_ROWS = 8_192
# Maximum number of bytes of points in a partition.
MOST_PARTITION_BYTES = 64 * 2**20
# Leading axes along which partitions are cut.
SPLIT_AXES = 8


@dataclass(frozen=True)
class Unit:
    """A class that is cut into several partitions, or a few whole classes in one partition."""

    classes: range
    partitions: range

    @property
    def is_cut(self) -> bool:
        """Whether one class takes several partitions."""
        return len(self.partitions) > 1


@dataclass(frozen=True, eq=False)
class Layout:
    """Which rows are in which partition."""

    rows: I32  # (n,) the row of each number
    partition_starts: I64  # (n_partitions + 1,) first number of each partition
    class_starts: I64  # (n_classes + 1,) first number of each class
    units: tuple[Unit, ...]

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.partition_starts) - 1

    def rows_of(self, partition: int) -> I32:
        """Return the rows of a partition, class by class and by rank within."""
        return self.rows[self.partition_starts[partition] : self.partition_starts[partition + 1]]

    def part_starts(self, unit: Unit, partition: int) -> I64:
        """Return where the classes of a partition start within it, and its end."""
        first, last = self.partition_starts[partition], self.partition_starts[partition + 1]
        if unit.is_cut:
            return np.array([0, last - first])
        return self.class_starts[unit.classes.start : unit.classes.stop + 1] - first


def rows_per_partition(n_rows: int, n_features: int, n_slots: int) -> int:
    """Choose how many rows a partition may have, for so many tasks at a time."""
    wanted = plan.current().partition_rows
    if wanted is not None:
        return wanted
    fair = max(FEWEST_ROWS, -(-n_rows // (PARTITIONS_PER_SLOT * n_slots)))
    of_bytes, most = (n_bytes // (8 * n_features) for n_bytes in (PARTITION_BYTES, MOST_PARTITION_BYTES))
    return max(1, min(fair, max(of_bytes, LEAST_FULL_ROWS), most))


def cut_rows(order: I32, codes: I64, n_classes: int, coords: F64, most_rows: int) -> Layout:
    """Cut rows, given by rank, into partitions of about `most_rows` of neighbouring points.

    Parameters
    ----------
    order : ndarray of shape (n,)
        Rows by rank.
    codes : ndarray of shape (n,)
        The class of each row.
    n_classes : int
        The number of classes, each of which has a row.
    coords : ndarray of shape (n, n_axes)
        Coordinates of each row by which to cut.
    most_rows : int
        Classes of more rows are cut into partitions of at most so many.

    Returns
    -------
    Layout
    """
    by_class = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes, minlength=n_classes)
    class_starts = np.concatenate(([0], np.cumsum(counts)))
    rows = by_class.copy()
    starts = [0]
    units: list[Unit] = []
    c = 0
    while c < n_classes:
        first, last = class_starts[c], class_starts[c + 1]
        partition = len(starts) - 1
        if counts[c] > most_rows:
            bounds = _cut_class(rows[first:last], coords, most_rows)
            starts += (first + bounds[1:]).tolist()
            units.append(Unit(range(c, c + 1), range(partition, partition + len(bounds) - 1)))
            c += 1
            continue
        end = c + 1
        while end < n_classes and class_starts[end + 1] - first <= most_rows:
            end += 1
        starts.append(int(class_starts[end]))
        units.append(Unit(range(c, end), range(partition, partition + 1)))
        c = end
    return Layout(rows, np.array(starts), class_starts, tuple(units))


def _cut_class(rows: I32, coords: F64, most_rows: int) -> I64:
    """Sort the rows of one class into partitions, by rank within each, and return where these start."""
    n = len(rows)
    height = 0
    while n > most_rows << height and n >= 2 << height:
        height += 1
    bounds = leaf_starts(n, height)
    items = np.arange(n, dtype=np.int32)
    split_points(np.ascontiguousarray(coords[rows]), items, np.empty(n), bounds, 0, 1 << height, height)
    ranked = rows.copy()
    for first, last in pairwise(bounds):
        rows[first:last] = ranked[np.sort(items[first:last])]
    return bounds
