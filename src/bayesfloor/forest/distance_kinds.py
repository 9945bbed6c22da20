"""Distances that are Euclidean in disguise: rows become points whose Euclidean distances order all pairs alike.

A minimum spanning tree depends on the order of the distances only, so an exact tree of the points is one of the rows.

=============  ===========================================================  =================================
distance       points                                                       distance, from the Euclidean one d
=============  ===========================================================  =================================
cosine         rows divided by their norms                                  1 - cos = d² / 2
correlation    rows less their means, divided by the norms of the rest      1 - r = d² / 2
mahalanobis    rows less the mean row, times a root of the inverse          d
               covariance matrix, VI = L Lᵀ
=============  ===========================================================  =================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.points import rank_points
from bayesfloor.runtime.checks import ParameterError, check_option
from bayesfloor.runtime.text import listed

DISTANCES = ("euclidean", "cosine", "correlation", "mahalanobis")
# Rows that are normalised at a time: they stay in the processor's cache.
BLOCK = 4096


def check_distance(distance: Any, VI: Any) -> str:
    """Return a distance that is known, and to which an inverse covariance matrix belongs where there is one."""
    distance = check_option("distance", distance, DISTANCES)
    if VI is not None and distance != "mahalanobis":
        raise ValueError(f"VI belongs to distance='mahalanobis', and distance is {distance!r}.")
    return str(distance)


def euclidean_points(X: F64, distance: str, VI: Any = None) -> F64:
    """Return points whose Euclidean distances order all pairs of rows as the distance does."""
    if distance == "euclidean":
        return X
    points = whitened(X, VI) if distance == "mahalanobis" else normalized(X, distance == "correlation")
    points.flags.writeable = False
    return points


def in_distance(lengths: F64, distance: str) -> F64:
    """Return distances of the kind asked for, given those of the points."""
    return lengths * lengths / 2.0 if distance in ("cosine", "correlation") else lengths


def in_points(distances: F64, distance: str) -> F64:
    """Return distances of the points, given those of the kind asked for."""
    return np.sqrt(2.0 * distances) if distance in ("cosine", "correlation") else distances


def normalized(X: F64, centered: bool) -> F64:
    """Return rows divided by their norms, each less its mean before where `centered`."""
    if centered:
        refuse_rows(np.ptp(X, axis=1) == 0.0, "correlation", "constant, so that it correlates with nothing")
    else:
        refuse_rows(~np.any(X, axis=1), "cosine", "zero, so that it has no direction")
    points = np.empty_like(X)
    for first in range(0, len(X), BLOCK):
        rows = X[first : first + BLOCK]
        # By a power of two, which rounds nothing: squares neither overflow nor vanish.
        rows = np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])
        if centered:
            rows = rows - rows[:, :1]  # nearly exact where all values are far from zero
            rows -= rows.mean(axis=1, keepdims=True)
            rows /= np.abs(rows).max(axis=1, keepdims=True)
        points[first : first + BLOCK] = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return points


def refuse_rows(is_bad: np.ndarray, distance: str, why: str) -> None:
    """Raise an error that names the first of the rows that a distance has no distance for."""
    if is_bad.any():
        n_bad = int(np.count_nonzero(is_bad))
        more = f" ({n_bad} such rows)" if n_bad > 1 else ""
        raise ValueError(
            f"distance={distance!r} has no distance for row {int(np.argmax(is_bad))}, which is {why}{more}."
        )


def whitened(X: F64, VI: Any) -> F64:
    """Return rows times a root of the inverse covariance matrix, that of the rows themselves where VI is None."""
    if VI is not None:
        return turned(X, centered_columns(X), root_of(VI, X.shape[1]))
    centered = centered_columns(X)
    largest = np.abs(centered).max(axis=0)
    refuse_columns(largest == 0.0)
    centered /= largest
    spread = np.sqrt(np.einsum("ij,ij->j", centered, centered) / (len(X) - 1))
    refuse_columns(spread == 0.0)
    centered /= spread
    # Of correlations, so that columns on very different scales are no reason to be called singular.
    values, vectors = np.linalg.eigh(centered.T @ centered / (len(X) - 1))
    rank = int(np.count_nonzero(values > max(X.shape) * np.finfo(np.float64).eps * values[-1]))
    if rank < X.shape[1]:
        raise ValueError(
            f"The covariance matrix of X is singular: its rank is {rank}, of {X.shape[1]} columns and {len(X)} rows. "
            "Leave out columns that others determine, or pass an inverse covariance matrix as VI."
        )
    return turned(X, centered, vectors / np.sqrt(values))


def turned(X: F64, centered: F64, root: F64) -> F64:
    """Multiply rows by a matrix, such that rows of X with the same values stay the same.

    A matrix product may round a row in another way where it stands in another place.
    """
    points = centered @ root
    sites = rank_points(X).sites
    n_sites = int(sites.max()) + 1
    if n_sites == len(X):
        return points
    first = np.empty(n_sites, np.int64)
    first[sites[::-1]] = np.arange(len(X))[::-1]
    return points.take(first.take(sites), axis=0)


def centered_columns(X: F64) -> F64:
    """Return a copy of X less its column means; values near the largest float64 do not overflow."""
    middle = X.min(axis=0) / 2.0 + X.max(axis=0) / 2.0
    centered = X - middle
    centered -= centered.mean(axis=0)
    return np.ascontiguousarray(centered)


def refuse_columns(is_constant: np.ndarray) -> None:
    """Raise an error that names the constant columns."""
    if is_constant.any():
        columns = [*map(str, np.flatnonzero(is_constant))]
        raise ValueError(
            f"The covariance matrix of X is singular: column{'s' if len(columns) > 1 else ''} {listed(columns, 10)} "
            f"{'are' if len(columns) > 1 else 'is'} constant. Leave out constant columns, or pass VI."
        )


def root_of(VI: Any, n_features: int) -> F64:
    """Return L of VI = L Lᵀ."""
    shape = f"a symmetric, positive definite matrix of shape ({n_features}, {n_features})"
    try:
        matrix = np.asarray(VI, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("VI", shape, VI) from error
    if matrix.shape != (n_features, n_features):
        raise ValueError(f"VI must be {shape}; its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise ValueError(f"VI must be {shape}; it contains NaN or infinity.")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-10 * np.abs(matrix).max()):
        raise ValueError(f"VI must be {shape}; it is not symmetric.")
    try:
        return np.asarray(np.linalg.cholesky((matrix + matrix.T) / 2.0), np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"VI must be {shape}; it is not positive definite.") from error
