"""Columns on one scale, and fewer of them where they are very many."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from bayesfloor.data.points import SPARSE_LIMIT
from bayesfloor.learn.landmarks.feature_choice import Scaling
from bayesfloor.learn.landmarks.feature_map import F32, scaled
from bayesfloor.runtime.arrays import Floats, Ints

#: Project more columns than this on principal axes, and the maximum number of these.
MANY_COLUMNS, N_AXES = 512, 256
#: Rows that axes are computed from.
AXIS_ROWS = 2000
#: Rows in a block that is scaled at a time.
SCALED_ROWS = 65_536
#: Maximum share of non-zero values for which rows of many columns are stored as sparse.
SPARSE_SHARE = 0.1
#: A column counts as constant up to this width, relative to its largest value and absolute.
LEAST_WIDTH, SMALLEST = 1e-12, 1e-300


def by_share_of_zeros(X: Any) -> Any:
    """Return rows as a CSR array where columns are many and most values zero, and else as a dense array.

    The values alone decide, so that rows give the same model from either container.
    """
    size, has_many = X.shape[0] * X.shape[1], X.shape[1] > MANY_COLUMNS
    if not issparse(X):
        return csr_array(X) if has_many and np.count_nonzero(X) <= SPARSE_SHARE * size else np.ascontiguousarray(X)
    if not has_many:
        return X.toarray()
    stored = csr_array(X, copy=True)
    stored.sum_duplicates()
    stored.eliminate_zeros()
    return stored.toarray() if stored.nnz > SPARSE_SHARE * size and 8 * size <= SPARSE_LIMIT else stored


def scaling_of(X: Any, order: Ints, weight: F32, seed: int) -> Scaling:
    """Return what scales columns: to mean 0 and deviation 1, or to -1 and 1 where they have two values.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_columns)
        Rows; the first of them are a random sample.
    order : ndarray of shape (n_columns,)
        Where these columns stand in the caller's rows.
    weight : ndarray of shape (n,)
        Weights.
    seed : int
        Of the search for axes, where columns are many.

    Returns
    -------
    Scaling
    """
    share = weight.astype(np.float64)
    if X.shape[1] > MANY_COLUMNS:
        return _with_axes(X[:AXIS_ROWS], order, share[:AXIS_ROWS], seed)
    low, high = X.min(axis=0), X.max(axis=0)
    is_binary = (high > low) & ((low == X) | (high == X)).all(axis=0)
    centre, deviation = _moments(X, share, low, high)
    centre = np.where(is_binary, low / 2 + high / 2, centre)
    scale = _inverse(np.where(is_binary, high / 2 - low / 2, deviation), low, high)
    return Scaling(order, centre, scale, None, is_binary & (scale > 0))


def _moments(X: Floats, weight: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of columns that lie between two values."""
    share = weight / weight.sum()
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    unit = np.ldexp(1.0, np.frexp(half)[1])  # a power of two, so that squares neither overflow nor vanish
    centred = (X - middle) / unit  # no cancellation in the squares
    mean = share @ centred
    deviation = np.sqrt(np.maximum(share @ (centred * centred) - mean * mean, 0.0))
    return middle + unit * mean, unit * deviation


def _inverse(width: Floats, low: Floats, high: Floats) -> Floats:
    """Return what columns are multiplied by to be of width 1; 0 for those of one value, but for rounding."""
    is_none = width <= np.maximum(LEAST_WIDTH * np.maximum(np.abs(low), np.abs(high)), SMALLEST)
    return np.where(is_none, 0.0, 1.0 / np.where(is_none, 1.0, width))


def _with_axes(X: Any, order: Ints, weight: Floats, seed: int) -> Scaling:
    """Return the scaling of many columns: the principal axes of a sample, on one scale in all."""
    from sklearn.utils.extmath import randomized_svd

    sample = X.toarray() if issparse(X) else X
    low, high = sample.min(axis=0), sample.max(axis=0)
    centre, deviation = _moments(sample, weight, low, high)
    scale = _inverse(deviation, low, high)
    columns = scaled(sample, centre, scale, None)
    n_axes = min(N_AXES, *columns.shape)
    values, axes = randomized_svd(columns, n_axes, random_state=seed % 2**32)[1:]
    size = np.sqrt(float((values**2).sum()) / (len(columns) * n_axes))
    return Scaling(order, centre, scale, (axes.T / max(size, 1e-12)).astype(np.float32), np.zeros(n_axes, bool))


def scale_rows(X: Any, scaling: Scaling) -> F32:
    """Return scaled rows, block by block."""
    n_columns = X.shape[1] if scaling.axes is None else scaling.axes.shape[1]
    out = np.empty((X.shape[0], n_columns), np.float32)
    for first in range(0, X.shape[0], SCALED_ROWS):
        rows = slice(first, first + SCALED_ROWS)
        out[rows] = scaled(X[rows], scaling.centre, scaling.scale, scaling.axes)
    return out
