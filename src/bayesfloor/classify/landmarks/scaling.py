"""Columns on one scale, and fewer of them where they are very many."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bayesfloor.classify.landmarks.feature_choice import Scaling
from bayesfloor.classify.landmarks.feature_map import F32, scaled

#: Columns above which they are projected on principal axes, and how many of these there are at the most.
MANY_COLUMNS, N_AXES = 512, 256
#: Rows that axes are computed from.
AXIS_ROWS = 2000
#: Rows of a block that are scaled at a time.
SCALED_ROWS = 65_536


def dense_if_few_columns(X: Any) -> Any:
    """Return rows as a dense array unless they are sparse and their columns are to be projected on axes."""
    return X.toarray() if issparse(X) and X.shape[1] <= MANY_COLUMNS else X


def scaling_of(X: Any, weight: F32, seed: int) -> Scaling:
    """Return what scales columns: to mean 0 and deviation 1, or to -1 and 1 where they have two values.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_columns)
        Rows; the first of them are a random sample.
    weight : ndarray of shape (n,)
        Weights.
    seed : int
        Of the search for axes, where columns are many.

    Returns
    -------
    Scaling
    """
    if X.shape[1] > MANY_COLUMNS:
        return _with_axes(X, seed)
    low, high = X.min(axis=0), X.max(axis=0)
    is_binary = (high > low) & ((low == X) | (high == X)).all(axis=0)
    share = weight.astype(np.float64) / float(weight.sum())
    middle = low / 2 + high / 2
    centred = X - middle  # no cancellation in the squares
    mean = share @ centred
    deviation = np.sqrt(np.maximum(share @ (centred * centred) - mean * mean, 0.0))
    width = np.where(is_binary, high / 2 - low / 2, deviation)
    tiny = width <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    centre = middle + np.where(is_binary, 0.0, mean)
    return Scaling(centre, np.where(tiny, 0.0, 1.0 / np.where(tiny, 1.0, width)), None, is_binary & ~tiny)


def _with_axes(X: Any, seed: int) -> Scaling:
    """Return the scaling of many columns: the principal axes of a sample, on one scale in all."""
    from sklearn.utils.extmath import randomized_svd

    sample = X[:AXIS_ROWS]
    if issparse(sample):
        sample = sample.toarray()
    centre, deviation = sample.mean(axis=0), sample.std(axis=0)
    tiny = deviation <= 1e-12 * np.abs(sample).max(axis=0)
    scale = np.where(tiny, 0.0, 1.0 / np.where(tiny, 1.0, deviation))
    columns = scaled(sample, centre, scale, None)
    n_axes = min(N_AXES, *columns.shape)
    values, axes = randomized_svd(columns, n_axes, random_state=seed % 2**32)[1:]
    size = np.sqrt(float((values**2).sum()) / (len(columns) * n_axes))
    return Scaling(centre, scale, (axes.T / max(size, 1e-12)).astype(np.float32), np.zeros(n_axes, bool))


def scale_rows(X: Any, scaling: Scaling) -> F32:
    """Return scaled rows, block by block."""
    n_columns = X.shape[1] if scaling.axes is None else scaling.axes.shape[1]
    out = np.empty((X.shape[0], n_columns), np.float32)
    for first in range(0, X.shape[0], SCALED_ROWS):
        rows = slice(first, first + SCALED_ROWS)
        out[rows] = scaled(X[rows], scaling.centre, scaling.scale, scaling.axes)
    return out
