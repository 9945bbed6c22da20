"""What every learner of numbers starts from: standardised rows and targets, and ridge regression on any features."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesfloor.data.target_encoding import N_FOLDS, PRIOR_ROWS
from bayesfloor.floor.learned.training_rows import Codes, never_stop
from bayesfloor.runtime.arrays import Floats, Ints

#: Ridge penalties to choose from, as multiples of the rows.
PENALTIES = np.geomspace(1e-7, 10.0, 25)
#: Penalties below so many rounding errors of the largest eigenvalue, or a score of one of them within this share of the
#: best, take double precision: which of them is chosen, and what it predicts, is left to rounding otherwise.
_ROUNDING_ERRORS, _NEAR_BEST = 100.0, 0.01
#: What each effective parameter counts in generalised cross-validation; 1 follows noise where features are many.
COST_OF_A_PARAMETER = 1.2


class Rows(NamedTuple):
    """Standardised rows to learn from, in random order.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their targets, with mean 0 and variance 1.
    weight : ndarray of shape (n,)
        What each row counts, 1 on average.
    check : callable
        Slow learners call it now and then; it raises an exception when the work was cancelled.
    table : Codes or None
        The columns as codes with gaps, where the rows come from a table.
    spread : ndarray of shape (d,) or float
        Standard deviations of the columns before they were standardised, as shares of the largest.
    given_columns : ndarray of shape (d,) or None
        Where each column, as the caller has them, is; None where all are where they were.
    """

    X: Floats
    y: Floats
    weight: Floats
    check: Callable[[], None] = never_stop
    table: Codes | None = None
    spread: Floats | float = 1.0
    given_columns: Ints | None = None

    def first(self, n: int) -> "Rows":
        """Return a sample of the rows, without their table."""
        return self._replace(X=self.X[:n], y=self.y[:n], weight=self.weight[:n], table=None)


class RidgeFit(NamedTuple):
    """Ridge regression of centred targets.

    Attributes
    ----------
    coefficients : ndarray of shape (p,)
        Of the features.
    offset : float
        Added to the products of features and coefficients.
    score : float
        Squared error by generalised cross-validation.
    """

    coefficients: Floats
    offset: float
    score: float


def fit_ridge(features: NDArray[np.floating], rows: Rows) -> RidgeFit:
    """Fit ridge regression; generalised cross-validation chooses the penalty.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Features of the rows. They are centred here. Those in single precision are fitted in it where that is enough.
    rows : Rows
        Whose targets and weights are used.

    Returns
    -------
    RidgeFit
    """
    n, p = features.shape
    total = float(rows.weight.sum())
    centre = (rows.weight @ features / total).astype(features.dtype)
    mean = float(rows.weight @ rows.y / total)
    root = np.sqrt(rows.weight)
    scaled = (features - centre) * root[:, np.newaxis].astype(features.dtype)
    target = (rows.y - mean) * root
    if p <= n:
        s, axes = linalg.eigh(scaled.T @ scaled, driver="evd", overwrite_a=True, check_finite=False)
        moments = axes.T @ (scaled.T @ target.astype(features.dtype))
    else:  # the same from the products of rows: the non-zero part of the spectrum is shared
        s, vectors = linalg.eigh(scaled @ scaled.T, driver="evd", overwrite_a=True, check_finite=False)
        s = np.maximum(s, 1e-12 * max(float(s[-1]), 1e-300))
        axes = scaled.T @ (vectors / np.sqrt(s))
        moments = np.sqrt(s) * (vectors.T @ target.astype(features.dtype))
    s, moments = np.maximum(s.astype(np.float64), 0.0), moments.astype(np.float64)
    penalties = PENALTIES * n
    is_rounded = penalties < _ROUNDING_ERRORS * np.finfo(features.dtype).eps * s[-1]
    shares = s[:, np.newaxis] / (s[:, np.newaxis] + penalties)
    explained = ((2.0 - shares) * moments[:, np.newaxis] ** 2 / (s[:, np.newaxis] + penalties)).sum(axis=0)
    left = np.maximum(float(target @ target) - explained, 0.0)
    freedom = n - 1.0 - COST_OF_A_PARAMETER * shares.sum(axis=0)
    scores = np.where(freedom > 0.05 * n, n * left / np.maximum(freedom, 1e-9) ** 2, np.inf)
    best = int(scores.argmin())
    if features.dtype == np.float32 and scores[is_rounded].min(initial=np.inf) <= (1.0 + _NEAR_BEST) * scores[best]:
        return fit_ridge(features.astype(np.float64), rows)
    coefficients = axes.astype(np.float64) @ (moments / (s + penalties[best]))
    return RidgeFit(coefficients, mean - float(centre @ coefficients), float(scores[best]))


def means_of(table: Codes, column: int, rows: Rows) -> tuple[Floats, Floats]:
    """Return the mean target in a category, for training rows from other training rows.

    Parameters
    ----------
    table : Codes
        The columns as codes.
    column : int
        Which of them.
    rows : Rows
        The training rows; their order is random.

    Returns
    -------
    train, test : ndarray of shape (n,)
        Means, drawn towards that of all rows. Missing values are a category; new ones have the mean of all.
    """
    known, others = (np.where(np.isnan(side[:, column]), -1.0, side[:, column]) for side in (table.train, table.test))
    levels, place = np.unique(known, return_inverse=True)
    folds = np.arange(len(place)) % N_FOLDS
    encoded = np.empty(len(place))
    for fold in range(N_FOLDS):
        held_out = folds == fold
        encoded[held_out] = _shrunk_means(place[~held_out], rows, ~held_out, len(levels))[place[held_out]]
    everywhere = np.append(_shrunk_means(place, rows, slice(None), len(levels)), _mean(rows, slice(None)))
    of_test = np.minimum(np.searchsorted(levels, others), len(levels) - 1)
    return encoded, everywhere[np.where(levels[of_test] == others, of_test, len(levels))]


def _mean(rows: Rows, some: NDArray[np.bool_] | slice) -> float:
    return float(rows.weight[some] @ rows.y[some] / rows.weight[some].sum())


def _shrunk_means(place: Ints, rows: Rows, some: NDArray[np.bool_] | slice, n_levels: int) -> Floats:
    sums = np.bincount(place, rows.weight[some] * rows.y[some], minlength=n_levels)
    counts = np.bincount(place, rows.weight[some], minlength=n_levels)
    return (sums + PRIOR_ROWS * _mean(rows, some)) / (counts + PRIOR_ROWS)
