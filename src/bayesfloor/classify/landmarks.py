"""Estimators on landmark models (`learn.landmarks`): a classifier and a regressor, near kernel methods in accuracy."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.classify.prediction_intervals import interval_ends
from bayesfloor.classify.stored_model import StoredModel
from bayesfloor.classify.training import (
    F64,
    check_regression,
    check_rows,
    check_training,
    chunks_to_predict,
    rows_to_fit,
    table_alike,
)
from bayesfloor.learn.landmarks.efforts import EFFORTS, Effort
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import (
    fit_model,
    order_rows,
    probabilities_of,
    scores_of,
)
from bayesfloor.learn.landmarks.members import LANDMARKS, Members
from bayesfloor.learn.landmarks.regression import HeldOutRows, fit_numbers
from bayesfloor.learn.learner import Rows
from bayesfloor.learn.records import LARGEST_COEFFICIENT, LARGEST_TARGET, require, require_within
from bayesfloor.runtime.checks import check_confidence, check_int, check_option, check_random_state_seed
from bayesfloor.runtime.frames import with_text_names
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise
from bayesfloor.tables.arguments import table_of
from bayesfloor.tables.chunked import joined_rows
from bayesfloor.tables.preparation import Preparation

T = TypeVar("T")


class Settings(NamedTuple):
    """Checked parameters of a fit."""

    effort: Effort
    seed: int
    n_landmarks: int | None
    n_rules: int | None


class LandmarkEstimator(StoredModel, BaseEstimator):  # type: ignore[misc]
    """Base class of estimators on landmarks."""

    stored_parts: ClassVar[dict[str, Any]] = {"feature_map_": FeatureMap, "coef_": F32, "members_": Members | None}

    feature_map_: FeatureMap
    preparation_: Preparation | None

    def __init__(
        self,
        effort: str = "default",
        *,
        n_landmarks: int | None = None,
        n_rules: int | None = None,
        n_jobs: int | None = None,
        progress: Any = False,
        random_state: Any = 0,
    ) -> None:
        self.effort = effort
        self.n_landmarks = n_landmarks
        self.n_rules = n_rules
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def check_stored(self, n_features: int) -> None:
        """Features of all columns, and a coefficient for each; members predict a class, or a number."""
        shape = (len(self.classes_),) if hasattr(self, "classes_") else ()
        require(len(self.feature_map_.centre) == n_features)
        require(self.coef_.shape == (*shape, self.feature_map_.n_features))
        require_within(self.coef_, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
        if self.members_ is None:
            return
        there = {LANDMARKS}
        for fitted in self.members_.fitted:
            for name, found in fitted.predict(Rows(np.zeros((1, self.feature_map_.n_axes)))).items():
                require(np.shape(found) == (1, *shape) and np.isfinite(found).all())
                there.add(name)
        if not self.members_.weights.keys() <= there:
            raise ValueError("the weights are not those of its members")

    def _settings(self) -> Settings:
        return Settings(
            EFFORTS[check_option("effort", self.effort, EFFORTS)],
            check_random_state_seed(self.random_state),
            None if self.n_landmarks is None else check_int("n_landmarks", self.n_landmarks),
            None if self.n_rules is None else check_int("n_rules", self.n_rules, 0),
        )

    def _supervised(self, work: Callable[[WorkerPool], T]) -> T:
        return supervise(work, check_n_jobs(self.n_jobs), self.progress)

    def _numbers_of(self, X: Any, y: Any, task: str, groups: Any) -> Any:
        """Return columns as numbers; of a data frame with text, dates or gaps, keep how they became these."""
        table = table_of(X, y, task=task, groups=groups)
        self.preparation_ = None if table is None else table.preparation
        return X if table is None else table.X

    def _scores_by(self, X: Any, coefficients: F32, members: Members | None = None) -> F32:
        """Return the scores of rows, (n, number of rows of the coefficients)."""
        n_threads = check_n_jobs(self.n_jobs)

        def scores(rows: Any) -> F32:
            if self.preparation_ is None:
                points = check_rows(self, rows, accept_sparse=True)
            else:
                points = table_alike(rows, self.preparation_).X
            work = partial(scores_of, points, self.feature_map_, coefficients, members)
            return supervise(lambda pool: work(pool), n_threads, False)

        return joined_rows(map(scores, chunks_to_predict(self, X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LandmarkClassifier(ClassifierMixin, LandmarkEstimator):  # type: ignore[misc]
    """Multinomial logistic regression on columns, kernels of landmarks, and rules, stacked with fast learners.

    The accuracy is near that of kernel methods and boosting, or above it; the time a fraction of theirs. Everything is
    chosen by the data: the width of the kernel, how much each column counts, the rules, the penalty, and the weights of
    boosting, a small network and nearest rows beside the landmark model.

    Parameters
    ----------
    effort : {"fast", "default"}, default="default"
        "fast" is the landmark model alone. "default" stacks it with gradient boosting and, where most columns have two
        values, a small network, if held-out rows show that they help.
    n_landmarks : int or None, default=None
        Rows that become centres of Gaussian kernels; None for about the square root of rows times classes, at most 512
        ("default").
    n_rules : int or None, default=None
        Maximum number of rules, cuts of columns and pairs of them; None for a share of the landmarks, or for none where
        rows are fewer than about 2000 and most columns are numeric.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    n_jobs : int or None, default=None
        Threads; None for every core.
    progress : bool or callable, default=False
        Whether to show progress, or what to call with (done, total).
    random_state : int, None or random generator, default=0
        Decides which rows become landmarks and which are held out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    feature_map_ : FeatureMap
        From rows to features: landmarks, their width, weights of columns, rules.
    coef_ : ndarray of shape (n_classes, n_features), float32
        From features to scores.
    members_ : Members or None
        What is stacked with the landmark model, where held-out rows show that it helps: `weights` by name, `steps` of
        learners. None for the landmark model alone.
    penalty_ : float
        The penalty in use.
    held_out_error_, held_out_log_loss_ : float
        Error and mean logarithmic loss on rows that were held out of this model, or of one that all other rows trained
        in the same way before all rows trained it. Penalty and weights of members were chosen on them, so they are a
        little too good; where rows are few, a fit with fewer of them may also make them too bad.
    preparation_ : Preparation or None
        How columns of a data frame became numbers; None where they are.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, when X has names that are all strings.

    See Also
    --------
    SmartSVC : Linear, along a class tree.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from bayesfloor.classify.landmarks import LandmarkClassifier
    >>> X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
    >>> bool(LandmarkClassifier().fit(X, y).score(X_test, y_test) > 0.95)
    True
    """

    stored_as = "landmarks"

    classes_: NDArray[Any]
    coef_: F32
    members_: Members | None

    def __init__(
        self,
        effort: str = "default",
        *,
        n_landmarks: int | None = None,
        n_rules: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        progress: Any = False,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            effort,
            n_landmarks=n_landmarks,
            n_rules=n_rules,
            n_jobs=n_jobs,
            progress=progress,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, LazyFrame or Dask collection
            The points. They need not be scaled. Text, dates and gaps of a data frame become numbers as in
            `read_table`. Of what is too large for memory, rows are drawn at random.
        y : array-like of shape (n_samples,) or str
            The labels, of any type that can be sorted, or the name of their column.
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
        X, y, sample_weight, groups = rows_to_fit(X, y, "classification", sample_weight, groups, seed)
        numbers = self._numbers_of(X, y, "classification", groups)
        asked = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        training = check_training(self, numbers, y, accept_sparse=True, squares=True, **asked)
        validate_data(self, with_text_names(X), skip_check_array=True)  # only n_features_in_, feature_names_in_
        rows = order_rows(training.X, training.codes, training.weight, seed, training.groups_of(groups), effort)
        self.classes_ = training.classes
        n_classes = len(self.classes_)
        fit = partial(fit_model, n_landmarks=n_landmarks, n_rules=n_rules)
        model = self._supervised(lambda pool: fit(rows, n_classes, effort, seed, pool))
        self.feature_map_ = model.feature_map
        self.coef_, self.members_ = model.coefficients, model.members
        self.penalty_ = model.penalty
        self.held_out_error_, self.held_out_log_loss_ = model.held_out_error, model.held_out_log_loss
        return self

    def decision_function(self, X: Any) -> F64:
        """Score each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the odds, up to a constant for each row. For two classes, above zero where the second is
            predicted.
        """
        scores = self._scores(X).astype(np.float64)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

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
        codes = self._scores(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> F64:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            They sum to 1.
        """
        return probabilities_of(self._scores(X))

    def _scores(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self)
        return self._scores_by(X, self.coef_, self.members_)


class LandmarkRegressor(RegressorMixin, LandmarkEstimator):  # type: ignore[misc]
    """Ridge regression on columns, kernels of landmarks, and rules, stacked with gradient boosting where it helps.

    The accuracy is near that of kernel ridge regression and of boosting, the time linear in the rows. Everything is
    chosen by the data: the width of the kernel, how much each column counts, the rules, the penalty, and the weights of
    both models.

    Parameters
    ----------
    effort : {"fast", "default"}, default="default"
        How many landmarks, and how many widths of the kernel to choose from; "fast" has no boosting.
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
    members_ : Members or None
        Boosting, and the weights of both models, where held-out rows show that it helps.
    target_mean_, target_deviation_ : float
        Mean and standard deviation of the target.
    penalty_ : float
        The penalty in use.
    held_out_ : HeldOutRows
        Rows that were held out of a first fit, and what it predicts for them, less the mean of the target and divided
        by its deviation; `predict_interval` takes its widths from there.
    held_out_mse_ : float
        Their mean squared error, with a penalty and weights of boosting that others of them chose. That fit had fewer
        rows, so it may be a little too bad.
    preparation_ : Preparation or None
        How columns of a data frame became numbers; None where they are.
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
    >>> from bayesfloor.classify.landmarks import LandmarkRegressor
    >>> X, y = make_friedman1(1000, noise=1.0, random_state=0)
    >>> regressor = LandmarkRegressor().fit(X[:700], y[:700])
    >>> bool(regressor.score(X[700:], y[700:]) > 0.9)
    True
    >>> low, high = regressor.predict_interval(X[700:], confidence=0.9).T
    >>> bool(0.85 < ((low <= y[700:]) & (y[700:] <= high)).mean() < 0.97)
    True
    """

    stored_as = "landmarks of numbers"
    stored_parts: ClassVar[dict[str, Any]] = LandmarkEstimator.stored_parts | {
        "target_mean_": float,
        "target_deviation_": float,
        "held_out_": HeldOutRows,
    }

    def check_stored(self, n_features: int) -> None:
        """As of a classifier; and the target has the size of what a fit takes."""
        super().check_stored(n_features)
        require_within(self.target_mean_, -LARGEST_TARGET, LARGEST_TARGET)
        require_within(self.target_deviation_, 0.0, LARGEST_TARGET)

    coef_: F32
    members_: Members | None
    held_out_: HeldOutRows

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, LazyFrame or Dask collection
            The points. They need not be scaled. Text, dates and gaps of a data frame become numbers as in
            `read_table`. Of what is too large for memory, rows are drawn at random.
        y : array-like of shape (n_samples,) or str
            The numbers to predict, or the name of their column.
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
        X, y, sample_weight, groups = rows_to_fit(X, y, "regression", sample_weight, groups, seed)
        numbers = self._numbers_of(X, y, "regression", groups)
        data = check_regression(self, numbers, y, sample_weight=sample_weight, groups=groups)
        validate_data(self, with_text_names(X), skip_check_array=True)  # only n_features_in_, feature_names_in_
        values, ranks = np.unique(data.y, return_inverse=True)  # equal rows are in the order of their targets
        rows = order_rows(data.X, ranks, data.weight, seed, data.groups, effort)
        numbers, share = values[rows.codes], rows.weight / rows.weight.sum(dtype=np.float64)
        middle = values[0] / 2 + values[-1] / 2
        self.target_mean_ = float(middle + share @ (numbers - middle))
        self.target_deviation_ = float(np.sqrt(share @ (numbers - self.target_mean_) ** 2))
        targets = ((numbers - self.target_mean_) / (self.target_deviation_ or 1.0)).astype(np.float32)
        fit = partial(fit_numbers, n_landmarks=n_landmarks, n_rules=n_rules)
        model = self._supervised(lambda pool: fit(rows, targets, effort, seed, pool))
        self.feature_map_ = model.feature_map
        self.coef_, self.members_ = model.coefficients, model.members
        self.penalty_ = model.penalty
        self.held_out_ = model.held_out
        self.held_out_mse_ = model.held_out.mse * self.target_deviation_**2
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
        return self._in_unit(self._standardised(X))

    def predict_interval(self, X: Any, *, confidence: float = 0.95) -> F64:
        """Tell where the number of each row lies, with some confidence.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.
        confidence : float, default=0.95
            Share of new rows whose numbers lie inside, as many below as above among the others.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends, from residuals of held-out rows, wider where these are larger for similar predictions.

        Notes
        -----
        The share holds for rows that are like those of the fit, over all of them, not for each kind of row; for those
        of new groups where the fit knows groups. The fit without the held-out rows had fewer rows than this one, so
        intervals tend to be a little too wide.
        """
        confidence = check_confidence(confidence)
        return self._in_unit(interval_ends(self.held_out_, self._standardised(X), confidence))

    def _standardised(self, X: Any) -> F64:
        """Predict the standardised target."""
        check_is_fitted(self)
        return self._scores_by(X, self.coef_[np.newaxis], self.members_)[:, 0].astype(np.float64)

    def _in_unit(self, values: F64) -> F64:
        return self.target_mean_ + self.target_deviation_ * values
