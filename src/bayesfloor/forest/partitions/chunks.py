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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesfloor.data.points import read_points
from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import F64, I64, U64
from bayesfloor.forest.order.hash_kernels import order_of_hashes
from bayesfloor.forest.order.points import Extent, Points, hashes_without
from bayesfloor.forest.partitions.files import as_points
from bayesfloor.forest.partitions.graph import RankedRows
from bayesfloor.forest.sweep.tiling import Axes, choose_axes
from bayesfloor.runtime.caller_warnings import warn_caller
from bayesfloor.runtime.hash_kernels import hash_rows
from bayesfloor.runtime.task_graph import WithArrays

# Bytes of points that are read at a time.
CHUNK_BYTES = 8 * 2**20
# Rows in the sample from which axes are chosen.
SAMPLE_ROWS = 2_000
# Flips the bits of rows for their second hash.
OTHER_HASH = np.uint64(0x5851F42D4C957F2D)


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


def rank_chunks(facts: Sequence[ChunkFacts]) -> tuple[RankedRows, Axes, Extent]:
    """Rank the rows of all chunks, choose axes for them, and say how far they reach."""
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
    ranked = RankedRows(sample.shape[1], extent.exponent, hashes, order, sites)
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
