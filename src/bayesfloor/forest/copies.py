"""Edges between points become edges between their copies."""

from __future__ import annotations

import numpy as np

from bayesfloor.forest.blocks import edge_lengths
from bayesfloor.forest.kruskal import saturation_size
from bayesfloor.forest.sides import F64, Edges, Side
from bayesfloor.forest.tiling import Tiled


def lengths_of(a: Tiled, b: Tiled, i: np.ndarray, j: np.ndarray) -> F64:
    """Return squared distances of points i of a and j of b."""
    d2 = np.empty(len(i))
    edge_lengths(a.side.rows, b.side.rows, i, j, d2)
    return d2


def copy_edges(a: Tiled, b: Tiled, i: np.ndarray, j: np.ndarray, n_trees: int) -> Edges:
    """Return the edges between all copies of points i of a and j of b that can matter."""
    d2 = lengths_of(a, b, i, j)
    copies_a, copies_b = np.diff(a.side.copy_start), np.diff(b.side.copy_start)
    if a.n_copies == len(copies_a) and b.n_copies == len(copies_b):
        return Edges(i.astype(np.int32), j.astype(np.int32), d2)
    saturation = saturation_size(n_trees, int(max(copies_a.max(), copies_b.max())) + 1)
    outer_a, start_a = outer_copies(a.side, saturation)
    outer_b, start_b = outer_copies(b.side, saturation)
    n_a, n_b = np.diff(start_a)[i], np.diff(start_b)[j]
    pair = np.repeat(np.arange(len(i)), n_a * n_b)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(n_a * n_b) - n_a * n_b, n_a * n_b)
    u = outer_a[start_a[i[pair]] + within // n_b[pair]]
    v = outer_b[start_b[j[pair]] + within % n_b[pair]]
    return Edges(u.astype(np.int32), v.astype(np.int32), d2[pair])


def outer_copies(side: Side, saturation: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last copies of each point, those an edge to another point can end in, and their starts."""
    copies = np.diff(side.copy_start)
    site = np.repeat(np.arange(len(copies)), copies)
    place = np.arange(side.copy_start[-1]) - side.copy_start[site]
    outer = (place < saturation) | (place >= copies[site] - saturation)
    return np.flatnonzero(outer), np.concatenate(([0], np.cumsum(np.bincount(site[outer], minlength=len(copies)))))
