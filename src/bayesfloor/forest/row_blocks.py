"""Rows are cut into blocks: what one task holds at a time, on a cluster or out of core.

::

    rows ──by class──▶ units ──k-d splits──▶ blocks
                         a class of its own, cut into several blocks, or several small classes in one block

Rows are numbered anew, class after class, block after block and by rank within: the *numbers* that edges carry from
task to task. A class is then a range of numbers, and so is a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayesfloor.forest import plan
from bayesfloor.forest.kdtree import leaf_starts, split_points
from bayesfloor.forest.sides import F64, I32, I64

BLOCKS_PER_SLOT = 2  # every two of them are joined, so that there are enough tasks for all
FEWEST_ROWS = 2_000  # in smaller blocks tasks cost more than distances do
BLOCK_BYTES = 8 * 2**20  # of points in a block: tasks of a second or so, each of which holds a few times as much
LEAST_FULL_ROWS = 8_192  # rows of many features, which a block may have beyond that,
MOST_BLOCK_BYTES = 64 * 2**20  # but not beyond this
SPLIT_AXES = 8  # leading axes along which blocks are cut


@dataclass(frozen=True)
class Unit:
    """A class that is cut into several blocks, or a few whole classes in one block."""

    classes: range
    blocks: range

    @property
    def is_cut(self) -> bool:
        """Whether one class takes several blocks."""
        return len(self.blocks) > 1


@dataclass(frozen=True, eq=False)
class Layout:
    """Which rows are in which block."""

    rows: I32  # (n,) the row of each number
    block_starts: I64  # (n_blocks + 1,) first number of each block
    class_starts: I64  # (n_classes + 1,) first number of each class
    units: tuple[Unit, ...]

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.block_starts) - 1

    def rows_of(self, block: int) -> I32:
        """Return the rows of a block, class by class and by rank within."""
        return self.rows[self.block_starts[block] : self.block_starts[block + 1]]

    def part_starts(self, unit: Unit, block: int) -> I64:
        """Return where the classes of a block start within it, and its end."""
        first, last = self.block_starts[block], self.block_starts[block + 1]
        if unit.is_cut:
            return np.array([0, last - first])
        return self.class_starts[unit.classes.start : unit.classes.stop + 1] - first


def rows_per_block(n_rows: int, n_features: int, n_slots: int) -> int:
    """Choose how many rows a block may have, for so many tasks at a time."""
    wanted = plan.current().block_rows
    if wanted is not None:
        return wanted
    fair = max(FEWEST_ROWS, -(-n_rows // (BLOCKS_PER_SLOT * n_slots)))
    of_bytes, most = (n_bytes // (8 * n_features) for n_bytes in (BLOCK_BYTES, MOST_BLOCK_BYTES))
    return max(1, min(fair, max(of_bytes, LEAST_FULL_ROWS), most))


def cut_rows(order: I32, codes: I64, n_classes: int, coords: F64, most_rows: int) -> Layout:
    """Cut rows, given by rank, into blocks of about `most_rows` of neighbouring points.

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
        Classes of more rows are cut into blocks of at most so many.

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
        block = len(starts) - 1
        if counts[c] > most_rows:
            bounds = _cut_class(rows[first:last], coords, most_rows)
            starts += (first + bounds[1:]).tolist()
            units.append(Unit(range(c, c + 1), range(block, block + len(bounds) - 1)))
            c += 1
            continue
        end = c + 1
        while end < n_classes and class_starts[end + 1] - first <= most_rows:
            end += 1
        starts.append(int(class_starts[end]))
        units.append(Unit(range(c, end), range(block, block + 1)))
        c = end
    return Layout(rows, np.array(starts), class_starts, tuple(units))


def _cut_class(rows: I32, coords: F64, most_rows: int) -> I64:
    """Sort the rows of one class into blocks, by rank within each, and return where these start."""
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
