"""The records that kernels read: one side of a block of distances, and what bounds its edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.forest.order.arrays import F32, F64, I32, I64, U64


class FullCoordinates(NamedTuple):
    """All features of points in tile order, relative to their tile's centre; no points where tiles hold them anyway."""

    points: F32  # (n, n_features)
    norms: F32  # (n,) squared norms of the points
    centers: F64  # (n_leaves, n_features)


class Side(NamedTuple):
    """A set of distinct points in tile order. `local`, `norms`, `centers` and the boxes are scaled coordinates."""

    height: int  # of the k-d tree: 2**height leaves
    starts: I64  # (n_leaves + 1,) first point of each tile
    box_low: F64  # (2 n_leaves, n_axes) by node
    box_high: F64
    centers: F64  # (n_leaves, n_axes)
    columns: I64  # (n_leaves + 1,) first column of each tile; tiles are padded to whole vectors of columns
    local: F32  # tile after tile, axis by axis, relative to the tile's centre
    norms: F32  # (n_columns,) squared norms of `local`
    vector_low: F32  # boxes of VECTOR columns each, relative to the tile's centre, n_axes padded to LANES; may be empty
    vector_high: F32
    slack: F64  # (n_leaves,) how far a point's float32 coordinates may be off, of `local` or of `full`
    full: FullCoordinates
    rows: F64  # (n, n_features) the points themselves
    hashes: U64  # (n,)
    copy_start: I64  # (n + 1,) copies of point i are numbered copy_start[i] .. copy_start[i + 1]


class Bounds(NamedTuple):
    """What the last tree found so far says about every point, tile and node of one side."""

    place_low: I32  # (n,) first place of the point's copies in the tree's line
    place_high: I32
    reach: F64  # (n,) length of the heaviest edge between the point and its tile's representative
    by_reach: I32  # (n,) the points of each tile, farthest reach first; empty where the order is not needed
    representative: I64  # (n_leaves,)
    node_reach: F64  # (2 n_leaves,) the farthest reach of the node's points
    node_low: I32  # (2 n_leaves,) places that the representatives of the node's tiles lie between
    node_high: I32
    rank_low: I32  # (2 n_leaves,) the same, in ranks among the representatives of all parts; see `Hops`
    rank_high: I32


class Line(NamedTuple):
    """The last tree as a line of points and the edges between them, heaviest edge last."""

    table: I32  # range maxima of the gaps
    logs: NDArray[np.int8]
    d2: F64  # (n_edges + 1,) squared length of each edge, infinity last
    lengths: F64  # (n_edges + 1,) scaled length
    hashes: U64  # (n_edges + 1,) edge hashes


class Hops(NamedTuple):
    """The line with the representatives alone on it: small enough for a processor's cache, as the line is not."""

    table: F32  # range maxima of the lengths between one representative and the next, rounded up
    known: I32  # (n, n_known) near neighbours of each point, whose edges were candidates before; may have no rows


class Work(NamedTuple):
    """One thread's buffers for a pair of tiles."""

    rows: F64  # (largest tile, n_axes) a tile's points in the tree's coordinates
    points: F32  # (largest tile, n_axes)
    norms: F64
    full_points: F32  # (largest tile, n_features), no rows where there are no `full` coordinates
    gaps: F32  # (largest tile,) distances of a tile's points to a box
    box: F32  # (2, n_axes) its low and its high sides
    chosen: I64  # points of the one tile that look at the other
    limit: F32
    column_limit: F32
    product: F32  # (largest tile ** 2,)
    block: F32  # (largest tile, largest tile)
    stack: I64
    candidate_i: I32  # pairs of points found in float32, to be settled in float64
    candidate_j: I32
    pending: I64  # (2,) the candidates from .. to that are not settled yet
    largest_slack: float
