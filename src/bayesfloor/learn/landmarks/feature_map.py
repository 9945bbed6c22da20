"""The features of a landmark model: a constant, the columns, Gaussian kernels of landmarks, and rules.

A rule is a cut of a column, or two that hold at the same time. Features are float32, block by block, so that they need
not be kept.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from bayesfloor.learn.landmarks.feature_kernels import fill_gaussians, fill_rules
from bayesfloor.runtime.arrays import Floats, Ints

F32 = NDArray[np.float32]

#: What linear features and rules are multiplied by, beside kernels that lie between 0 and 1: the penalty weighs them.
LINEAR_SCALE, RULE_SCALE = 0.2, 0.5
#: Deviations from the centre at which columns and axes are clipped, so that float32 holds squared distances.
FARTHEST = 1e4


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What turns rows into features.

    Attributes
    ----------
    order : ndarray of shape (n_columns,)
        The columns of X in the order in which all that follows has them: an order by their values.
    centre, scale : ndarray of shape (n_columns,)
        Subtracted from the columns, and multiplied with them then.
    axes : ndarray of shape (n_columns, n_axes), float32, or None
        Directions that the scaled columns are projected on, where these are many. In what follows, the axes are the
        columns then.
    weights : ndarray of shape (n_axes,), float32
        What columns are multiplied by for the kernels.
    landmarks : ndarray of shape (n_landmarks, n_axes), float32
        Rows, multiplied by the weights.
    gamma : float
        A kernel is exp(-gamma times the squared distance).
    cut_columns, cut_values : ndarray of shape (n_cuts,)
        A cut holds where the column is above the value.
    rule_first, rule_second : ndarray of shape (n_rules,)
        The cuts of each rule; the same twice for a rule of one.
    """

    order: Ints
    centre: Floats
    scale: Floats
    axes: F32 | None
    weights: F32
    landmarks: F32
    gamma: float
    cut_columns: Ints
    cut_values: F32
    rule_first: Ints
    rule_second: Ints

    @property
    def n_axes(self) -> int:
        """How many columns the kernels and rules see."""
        return len(self.weights)

    @property
    def kernel_columns(self) -> slice:
        """Where among the features those of the landmarks are."""
        return slice(1 + self.n_axes, 1 + self.n_axes + len(self.landmarks))

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return 1 + self.n_axes + len(self.landmarks) + len(self.rule_first)

    def scaled(self, X: Any) -> F32:
        """Return rows, dense or sparse, as the float32 columns from which features are computed."""
        X = X[:, self.order]
        if issparse(X):
            X.sum_duplicates()
        return scaled(X, self.centre, self.scale, self.axes)

    def features(self, columns: F32) -> F32:
        """Return the features of scaled rows, (n, n_features)."""
        n, d = columns.shape
        out = np.empty((n, self.n_features), np.float32)
        out[:, 0] = 1.0
        np.multiply(columns, np.float32(LINEAR_SCALE), out=out[:, 1 : 1 + d])
        fill_gaussian(columns * self.weights, self.landmarks, self.gamma, 1 + d, out)
        if len(self.rule_first):
            first = 1 + d + len(self.landmarks)
            fill_rules(
                columns, self.cut_columns, self.cut_values, self.rule_first, self.rule_second, RULE_SCALE, first, out
            )
        return out

    def landmark_kernel(self) -> Floats:
        """Return the kernel between every two landmarks."""
        return gaussian(self.landmarks, self.landmarks, self.gamma).astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain arrays and numbers."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def scaled(X: Any, centre: Floats, scale: Floats, axes: F32 | None) -> F32:
    """Centre and scale rows, dense or sparse, and project them; see `FeatureMap`."""
    if axes is None:
        return _deviations(X.toarray() if issparse(X) else X, centre, scale)
    if issparse(X):
        # only what is not zero is multiplied, by how much more it deviates than a zero does
        of_zeros = _deviations(np.zeros_like(centre), centre, scale)
        more = _deviations(X.data, centre[X.indices], scale[X.indices]) - of_zeros[X.indices]
        projected = csr_array((more, X.indices, X.indptr), X.shape) @ axes
        projected += of_zeros @ axes
    else:
        projected = _deviations(X, centre, scale) @ axes
    return np.clip(projected, -FARTHEST, FARTHEST, out=projected)


def _deviations(values: Floats, centre: Floats, scale: Floats) -> F32:
    """Return how many times its scale each value is off the centre of its column."""
    columns = values - centre
    with np.errstate(over="ignore"):
        columns *= scale
    return np.clip(columns, -FARTHEST, FARTHEST, out=columns).astype(np.float32)


def squares_of_rows(A: F32) -> F32:
    """Return the sum of squares of each row."""
    return np.einsum("ij,ij->i", A, A)


def fill_gaussian(rows: F32, landmarks: F32, gamma: float, first: int, out: F32) -> None:
    """Write exp(-gamma |x - z|^2) of rows x and landmarks z into the columns of `out` from `first` on."""
    width = np.float32(gamma)
    products = rows @ (landmarks.T * (2 * width))
    fill_gaussians(products, width * squares_of_rows(rows), width * squares_of_rows(landmarks), first, out)


def gaussian(rows: F32, landmarks: F32, gamma: float) -> F32:
    """Return exp(-gamma |x - z|^2) of rows x and landmarks z."""
    out = np.empty((len(rows), len(landmarks)), np.float32)
    fill_gaussian(rows, landmarks, gamma, 0, out)
    return out
