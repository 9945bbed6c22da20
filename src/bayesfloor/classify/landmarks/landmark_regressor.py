"""Regression on columns, kernels of landmarks, and rules: the features of the classifier under a ridge penalty."""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.landmarks.efforts import Effort
from bayesfloor.classify.landmarks.feature_choice import FeaturePlan, Sample, choose_features
from bayesfloor.classify.landmarks.feature_map import F32, FeatureMap
from bayesfloor.classify.landmarks.fitting import Rows, order_rows, plan_features
from bayesfloor.classify.landmarks.landmark_estimator import LandmarkEstimator
from bayesfloor.classify.landmarks.multinomial import Penalty, cholesky, penalty_of, solve
from bayesfloor.classify.landmarks.row_sums import RowSums, Sums
from bayesfloor.classify.training import F64, check_regression
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.threads import Crew

#: Take as many landmarks as for this number of classes: ridge regression needs no steps, so there is time for more.
LIKE_CLASSES = 10
#: Penalties to try, from large to small, as multiples of that of ridge regression on a few rows.
PATH = 10.0 ** np.arange(2.0, -7.0, -0.5)
#: Up to `FEW_ROWS` rows, choose the penalty by `N_FOLDS`-fold cross-validation; with more rows, hold a part out once.
FEW_ROWS, N_FOLDS = 10_000, 5
#: Maximum share of the rows that features are chosen on. The penalty is chosen on others, since rules fit the rows that
#: they were chosen on too well.
FEW_SHARE = 0.6
#: Rows and landmarks on which the width of the kernel and the weights of the columns are chosen, and the power of the
#: gradients. One target costs less than many classes do, and its gradients are less noisy.
WIDTH_CHOICE = (1200, 192, 0.5)
#: Factors for the penalty of rules, taken where held-out rows show a gain, and factors of all penalties with them.
RULE_PENALTIES, NEARBY = (10.0, 1e4), (10.0**0.5, 1.0, 10.0**-0.5)
#: Stop the path after this number of penalties that do not improve on the best.
MOST_WORSE = 3


class RidgeModel(NamedTuple):
    """A fitted model of the standardised target.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to features.
    coefficients : ndarray of shape (n_features,), float32
        From features to the target.
    penalty : float
        The penalty in use.
    held_out_mse : float
        Mean squared error on held-out rows of the fit without them; the penalty was chosen on these rows.
    """

    feature_map: FeatureMap
    coefficients: F32
    penalty: float
    held_out_mse: float


def fit_ridge(
    rows: Rows,
    targets: F32,
    effort: Effort,
    seed: int,
    crew: Crew,
    *,
    has_groups: bool = False,
    n_landmarks: int | None = None,
    n_rules: int | None = None,
) -> RidgeModel:
    """Choose features and a penalty, and regress a standardised target on all rows.

    Parameters
    ----------
    rows : Rows
        Rows in order; their classes are not read.
    targets : ndarray of shape (n,), float32
        The target of each row.
    effort : Effort
        How much to spend.
    seed : int
        Draws pairs of rows.
    crew : Crew
        Threads.
    has_groups : bool, default=False
        Whether rows belong together, so that no others than the held-out ones can be left out.
    n_landmarks, n_rules : int or None, default=None
        How many; None for the default of the effort.

    Returns
    -------
    RidgeModel
    """
    n, n_kept = len(targets), rows.n_kept
    scaling, columns, plan = plan_features(rows, LIKE_CLASSES, effort, seed, n_landmarks, n_rules)
    plan = FeaturePlan(*plan[:3], *WIDTH_CHOICE)
    parts = _parts(n, n_kept, has_groups)
    n_few = min(effort.n_tune, max(2, int(FEW_SHARE * n)), n_kept)
    few = slice(0, n_few)
    root = np.sqrt(rows.weight[few] / rows.weight[few].mean())[:, np.newaxis]
    sample = Sample(columns[few], targets[few, np.newaxis] * root, None if (root == root[0]).all() else root)
    feature_map, strength = choose_features(
        scaling, sample, columns[: plan.n_landmarks], plan, np.random.default_rng(seed)
    )
    crew.check()
    crew.expect(2)
    penalty = penalty_of(feature_map)
    sums = [RowSums(feature_map, columns[part], rows.codes[part], rows.weight[part], crew) for part in parts]
    products = [each.products() for each in sums]
    moments = [_moments(each, targets[part]) for each, part in zip(sums, parts, strict=True)]
    crew.advance(1)
    all_products, all_moments = np.sum(products, axis=0), np.sum(moments, axis=0)
    judged = [number for number, part in enumerate(parts) if part.start >= n_few] or [len(parts) - 1]

    def error(strength: float, of_rules: float) -> float:
        """Return the mean squared error on parts that had no say in the choice of features, each left out in turn."""
        total = weight = 0.0
        for number in judged:
            crew.check()
            fitted = solve_ridge(
                all_products - products[number],
                all_moments - moments[number],
                _with_rules(penalty, feature_map, of_rules),
                strength,
            )
            total += _sum_of_squares(sums[number], fitted, targets[parts[number]])
            weight += float(sums[number].weight.sum(dtype=np.float64))
        return total / weight

    best, lowest, n_worse = strength, np.inf, 0
    for factor in PATH:
        tried = error(strength * factor, 1.0)
        if tried < lowest:
            best, lowest, n_worse = strength * float(factor), tried, 0
        else:
            n_worse += 1
            if n_worse == MOST_WORSE:
                break
    of_rules = 1.0
    if len(feature_map.rule_first):
        middle = best
        for heavier in RULE_PENALTIES:
            for factor in NEARBY:
                tried = error(middle * factor, heavier)
                if tried < lowest:
                    best, of_rules, lowest = middle * factor, heavier, tried
    crew.advance(1)
    fitted = solve_ridge(all_products, all_moments, _with_rules(penalty, feature_map, of_rules), best)
    return RidgeModel(feature_map, fitted, best, lowest)


def _with_rules(penalty: Penalty, feature_map: FeatureMap, times: float) -> Penalty:
    """Return the penalty with that of rules multiplied."""
    diagonal = penalty.diagonal.copy()
    diagonal[feature_map.n_features - len(feature_map.rule_first) :] *= times
    return penalty._replace(diagonal=diagonal)


def _parts(n: int, n_kept: int, has_groups: bool) -> list[slice]:
    """Return parts of the rows; some of the last ones are left out in turn to choose the penalty."""
    if n > FEW_ROWS or has_groups:
        return [slice(0, n_kept), slice(n_kept, n)] if n_kept < n else [slice(0, n)]
    cuts = np.linspace(0, n, min(N_FOLDS, n) + 1).astype(np.int64).tolist()
    return [slice(*ends) for ends in pairwise(cuts)]


def solve_ridge(products: Floats, moments: F32, penalty: Penalty, strength: float) -> F32:
    """Return the minimiser of ½ Σ_i w_i (y_i - f_i'b)² + (λ/2) b'Rb.

    Parameters
    ----------
    products : ndarray of shape (n_features, n_features)
        Σ_i w_i f_i f_i', the lower triangle.
    moments : ndarray of shape (n_features,), float32
        Σ_i w_i y_i f_i.
    penalty : Penalty
        R.
    strength : float
        λ.

    Returns
    -------
    ndarray of shape (n_features,), float32
    """
    return solve(cholesky(products, penalty, strength), moments[np.newaxis])[0]


def _moments(sums: RowSums, targets: F32) -> F32:
    """Return the sum over rows of weight times target times features."""
    total: F32 = sums.add_up(_moments_of_lane, targets)[0]
    return total


def _moments_of_lane(rows: RowSums, numbers: list[int], targets: F32) -> Sums:
    total = np.zeros(rows.feature_map.n_features, np.float32)
    for number in numbers:
        block = rows.block(number)
        total += (rows.weight[block] * targets[block]) @ rows.features(block)
    return [total]


def _sum_of_squares(sums: RowSums, coefficients: F32, targets: F32) -> float:
    """Return the weighted sum of squared residuals."""
    return float(sums.add_up(_squares_of_lane, coefficients, targets)[0])


def _squares_of_lane(rows: RowSums, numbers: list[int], coefficients: F32, targets: F32) -> Sums:
    total = 0.0
    for number in numbers:
        block = rows.block(number)
        residuals = targets[block] - rows.features(block) @ coefficients
        total += float(rows.weight[block] @ (residuals * residuals))
    return [np.array(total)]


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
        data = check_regression(
            self, X, y, sample_weight=sample_weight, groups=groups, accept_sparse=True, squares=True
        )
        values, ranks = np.unique(data.y, return_inverse=True)  # equal rows are in the order of their targets
        rows = order_rows(data.X, ranks, data.weight, seed, data.groups, effort)
        numbers, share = values[rows.codes], rows.weight / rows.weight.sum(dtype=np.float64)
        middle = values[0] / 2 + values[-1] / 2
        self.target_mean_ = float(middle + share @ (numbers - middle))
        self.target_deviation_ = float(np.sqrt(share @ (numbers - self.target_mean_) ** 2))
        targets = ((numbers - self.target_mean_) / (self.target_deviation_ or 1.0)).astype(np.float32)
        fit = partial(fit_ridge, has_groups=data.groups is not None, n_landmarks=n_landmarks, n_rules=n_rules)
        model = self._supervised(lambda crew: fit(rows, targets, effort, seed, crew))
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
