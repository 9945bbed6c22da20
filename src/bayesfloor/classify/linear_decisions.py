"""Base of the classifiers with linear scores: from coefficients to decisions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.decode_kernels import linear_scores
from bayesfloor.classify.training import F64, I64, check_rows


def best_class(class_scores: F64) -> I64:
    """Return the code of the class with the largest score; for one score per row, 1 where it is above zero."""
    return np.argmax(class_scores, axis=1) if class_scores.ndim == 2 else (class_scores > 0).astype(np.int64)


class LinearDecisions(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides by linear scores, ``X @ coef_.T + intercept_``."""

    classes_: NDArray[Any]
    coef_: F64
    intercept_: F64

    def _class_scores(self, scores: F64) -> F64:
        """Return scores (n, n_classes), largest for the decision; for two classes those of the second, (n,)."""
        return scores if scores.shape[1] > 1 else scores[:, 0]

    def decision_function(self, X: Any) -> F64:
        """Score each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, above zero where the second is predicted. Else the predicted class has the largest score.
        """
        return self._class_scores(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        codes = best_class(self.decision_function(X))
        return self.classes_[codes]

    def _scores(self, X: Any) -> F64:
        """Return the score of each row in each binary problem; a row's scores do not depend on the other rows."""
        check_is_fitted(self)
        points = check_rows(self, X, accept_sparse=True)
        if sparse.issparse(points):
            scores = points @ self.coef_.T + self.intercept_
        else:
            scores = linear_scores(points, np.ascontiguousarray(self.coef_.T), self.intercept_)
        if not np.isfinite(scores).all():
            raise ValueError("X holds values so large that scores exceed the range of float64.")
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
