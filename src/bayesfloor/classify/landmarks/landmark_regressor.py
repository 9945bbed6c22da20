"""Regression on columns, Gaussian kernels of landmarks, and rules."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.landmarks.landmark_estimator import LandmarkEstimator
from bayesfloor.classify.training import F64, check_regression
from bayesfloor.learn.landmarks.fitting import order_rows
from bayesfloor.learn.landmarks.regression import fit_ridge


class LandmarkRegressor(RegressorMixin, LandmarkEstimator):  # type: ignore[misc]
    """Ridge regression on columns, kernels of landmarks, and rules.

    The accuracy is near that of kernel ridge regression, the time linear in the rows. Everything is chosen by the data:
    the width of the kernel, how much each column counts, the rules, and the penalty.

    Parameters
    ----------
    effort : {"fast", "default", "high"}, default="default"
        How many landmarks, and how many widths of the kernel to choose from.
    n_landmarks : int or None, default=None
        Rows that become centres of Gaussian kernels; None for a number that grows with rows and columns, at most 512
        ("default").
    n_rules : int or None, default=None
        Maximum number of rules, cuts of columns and pairs of them; None for a share of the landmarks.
    n_jobs : int or None, default=None
        Threads; None for every core.
    progress : bool or callable, default=False
        Whether to show progress, or what to call with (done, total).
    random_state : int, None or random generator, default=0
        Decides which rows become landmarks and which are held out.

    Attributes
    ----------
    feature_map_ : FeatureMap
        From rows to features: landmarks, their width, weights of columns, rules.
    coef_ : ndarray of shape (n_features,), float32
        From features to the target, less its mean and divided by its deviation.
    target_mean_, target_deviation_ : float
        Mean and standard deviation of the target.
    penalty_ : float
        The penalty in use.
    held_out_mse_ : float
        Mean squared error on rows that were held out of a first fit. The penalty was chosen on them, so it is a little
        too good; that fit had fewer rows, so it may also be too bad.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, when X has names that are all strings.

    See Also
    --------
    LandmarkClassifier : The same features for classes.
    regression_floor : How good any regressor can get.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from bayesfloor.classify.landmarks.landmark_regressor import LandmarkRegressor
    >>> X, y = make_friedman1(1000, noise=1.0, random_state=0)
    >>> regressor = LandmarkRegressor().fit(X[:700], y[:700])
    >>> bool(regressor.score(X[700:], y[700:]) > 0.9)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. They need not be scaled.
        y : array-like of shape (n_samples,)
            The numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; their scale does not matter. A row of weight zero is as good as absent.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. Whole groups are held out for
            the choice of the penalty then.

        Returns
        -------
        Self
            This estimator.
        """
        effort, seed, n_landmarks, n_rules = self._settings()
        data = check_regression(self, X, y, sample_weight=sample_weight, groups=groups)
        values, ranks = np.unique(data.y, return_inverse=True)  # equal rows are in the order of their targets
        rows = order_rows(data.X, ranks, data.weight, seed, data.groups, effort)
        numbers, share = values[rows.codes], rows.weight / rows.weight.sum(dtype=np.float64)
        middle = values[0] / 2 + values[-1] / 2
        self.target_mean_ = float(middle + share @ (numbers - middle))
        self.target_deviation_ = float(np.sqrt(share @ (numbers - self.target_mean_) ** 2))
        targets = ((numbers - self.target_mean_) / (self.target_deviation_ or 1.0)).astype(np.float32)
        fit = partial(fit_ridge, has_groups=data.groups is not None, n_landmarks=n_landmarks, n_rules=n_rules)
        model = self._supervised(lambda pool: fit(rows, targets, effort, seed, pool))
        self.feature_map_ = model.feature_map
        self.coef_ = model.coefficients
        self.penalty_ = model.penalty
        self.held_out_mse_ = model.held_out_mse * self.target_deviation_**2
        return self

    def predict(self, X: Any) -> F64:
        """Predict the number of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The numbers.
        """
        check_is_fitted(self)
        scores = self._scores_by(X, self.coef_[np.newaxis])
        return self.target_mean_ + self.target_deviation_ * scores[:, 0].astype(np.float64)
