"""Features that a transformer of the caller's learns with the labels: anew in every training set."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.points import check_points
from bayesfloor.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class SupervisedFeatures:
    """A transformer that needs labels, and the rows that it makes features of.

    Fitted on all rows, it would tell each model the labels that this is tested on: of 1000 columns of noise, those that
    `SelectKBest` finds by all labels predict a third of them.

    Attributes
    ----------
    transformer : object
        With ``fit_transform(X, y)`` and ``transform(X)``, as scikit-learn has them; copies of it are fitted.
    frame : data frame
        The columns of the rows.
    y : ndarray of shape (n,)
        Their labels.
    """

    transformer: Any
    frame: Any
    y: NDArray[Any]

    def take(self, rows: Ints) -> "SupervisedFeatures":
        """Keep some of the rows."""
        return replace(self, frame=_rows_of(self.frame, rows), y=self.y[rows])

    def features(self, train: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Fit the transformer on some rows and their labels, and return the features of these and of others.

        Parameters
        ----------
        train, others : ndarray
            Rows to fit on, and rows whose labels are not known.

        Returns
        -------
        train, others : ndarray of shape (n, n_features)
            At least one feature: zeros, where the transformer has left none.

        Raises
        ------
        ValueError
            When what comes out is no matrix of finite numbers with a row for each row.
        """
        from sklearn.base import clone  # takes a second to load

        fitted = clone(self.transformer)
        known = matrix_of(fitted.fit_transform(_rows_of(self.frame, train), self.y[train]), len(train), fitted)
        return known, matrix_of(fitted.transform(_rows_of(self.frame, others)), len(others), fitted)


def matrix_of(made: Any, n_rows: int, transformer: Any) -> Floats:
    """Return what a transformer made as numbers of one's own; sparse matrices become dense."""
    made = made.toarray() if hasattr(made, "toarray") else made
    if len(made) != n_rows:
        raise ValueError(f"{transformer!r} made {len(made)} rows of {n_rows}")
    if np.ndim(made) == 2 and np.shape(made)[1] == 0:
        return np.zeros((n_rows, 1))
    return np.array(check_points(made, min_rows=1))


def _rows_of(frame: Any, rows: Ints) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(frame, rows)
