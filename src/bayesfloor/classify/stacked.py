"""Estimators on the learned floor's stack: the best model that was tried, to take home.

`fit` does what `learned_floor` or `regression_floor` does, keeps its answer, and trains the members of the stack once
more, on all rows::

    X, y ── learned_floor ──> floor_, held_out_      what the stack reaches on rows that it has not seen
              │
              └─ stack_model ──> model_, learners_   its members, trained on all rows ── predict ──> new rows
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.classify.prediction_intervals import interval_ends
from bayesfloor.classify.stack_figures import StackHeldOut, figures_of, rows_of_numbers
from bayesfloor.classify.stored_model import StoredModel
from bayesfloor.classify.training import F64, check_rows, chunks_to_predict, table_alike
from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import dense_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.held_out import HeldOut
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.result import StackFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.learned.stack_model import StackModel, fit_plain_model, fit_stack_model
from bayesfloor.floor.learned.trust.checks import Checked, checked_floor
from bayesfloor.floor.learned.trust.source import source_from
from bayesfloor.learn.landmarks.regression import HeldOutRows
from bayesfloor.learn.records import require
from bayesfloor.runtime.checks import check_confidence, check_int, check_option, check_random_state_seed
from bayesfloor.runtime.frames import as_narwhals, column_named, like_input, with_text_names
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import supervise
from bayesfloor.tables.arguments import at_hand, problem_and_table
from bayesfloor.tables.chunked import joined_rows
from bayesfloor.tables.frames import is_eager_frame
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.sources import collected

#: Fewest rows that are cross-fitted: four in each fold. Of fewer, one plain learner is trained.
FEWEST_ROWS = 4 * MIN_FOLDS


class StackedEstimator(StoredModel, BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators on the stack."""

    model_: StackModel
    preparation_: Preparation | None
    floor_: StackFloor | None
    held_out_: StackHeldOut | None
    held_out_rows_: HeldOutRows | None
    n_features_in_: int

    stored_parts: ClassVar[dict[str, Any]] = {"model_": StackModel}
    takes_tables = True

    def __init__(
        self,
        effort: str = "default",
        *,
        max_models: int | None = None,
        max_rows: int | None = None,
        learners: Any = "default",
        confidence: float = 0.95,
        n_jobs: int | None = None,
        progress: Any = False,
        client: Any = None,
        checks: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.effort = effort
        self.max_models = max_models
        self.max_rows = max_rows
        self.learners = learners
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.progress = progress
        self.client = client
        self.checks = checks
        self.random_state = random_state

    @property
    def learners_(self) -> dict[str, float]:
        """The members of the stack with their weights, the largest first."""
        check_is_fitted(self)
        return self.model_.weights

    def _fit(self, X: Any, y: Any, task: str, sample_weight: Any, groups: Any) -> Self:
        """Fit the stack."""
        check_confidence(self.confidence)
        if self.max_models is not None:
            check_int("max_models", self.max_models)
        seed = check_random_state_seed(self.random_state)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        X, beside = at_hand(X, y, seed=seed, y=y, sample_weight=sample_weight, groups=groups)
        y, sample_weight, groups = beside.values()
        known: dict[str, Any] = {"sample_weight": sample_weight, "groups": groups, "time": None}
        problem, table = problem_and_table(X, y, task=task, needs_all=True, **known)
        n_given, problem = len(problem.X), _that_count(replace(problem, time=None, by=None))
        if len(problem.X) >= FEWEST_ROWS:
            checked: Checked[Any] = checked_floor(
                source_from(problem, None if len(problem.X) < n_given else table, y),
                problem,
                lambda of, progress: self._run(of, seed, progress),
                checks=self.checks,
                learners=self.learners,
                may_split=True,
                n_jobs=self.n_jobs,
                seed=seed,
                progress=self.progress,
            )
            checked.warn()
            return self._keep_run(X, (y, groups, sample_weight), table, seed, checked)
        self._keep_columns(X, (y, groups, sample_weight), table)
        self.floor_ = self.held_out_ = self.held_out_rows_ = None
        self.model_ = supervise(lambda pool: fit_plain_model(problem, seed, pool), 1, False)
        self._keep_classes(problem)
        return self

    def _run(self, problem: Problem, seed: int, progress: Any) -> tuple[StackFloor, HeldOut]:
        """Cross-fit the stack."""
        asked = {name: getattr(self, name) for name in ("max_rows", "learners", "confidence", "n_jobs", "client")}
        asked |= {"random_state": seed, "progress": progress}
        return self._floor_of(problem, effort=check_option("effort", self.effort, EFFORTS), **asked)

    def _keep_run(self, X: Any, beside: Sequence[Any], table: Table | None, seed: int, checked: Checked[Any]) -> Self:
        """Keep what was learned, and train the members on all rows."""
        held_out = checked.given.held_out
        self._keep_columns(X, beside, table)
        self.floor_ = checked.floor
        self._keep_figures(checked)
        self.model_ = supervise(
            lambda pool: fit_stack_model(
                held_out.learned, max_models=self.max_models, seed=seed, pool=pool, client=self.client
            ),
            check_n_jobs(self.n_jobs),
            False,
        )
        self._keep_classes(held_out.used)
        return self

    def _keep_columns(self, X: Any, beside: Sequence[Any], table: Table | None) -> None:
        """Note how many columns there are and how they are called, without those that y, groups or weights name."""
        if table is None or not table.origin.is_drawn:
            X = collected(X)
        if is_eager_frame(X):
            named = {column_named(X, each) for each in beside} - {None}
            X = as_narwhals(with_text_names(X)).drop(list(named)).to_native()
        if table is not None and (isinstance(X, Table) or not is_eager_frame(X)):
            self.n_features_in_ = table.X.shape[1]
        else:
            validate_data(self, X, skip_check_array=True)  # only n_features_in_, feature_names_in_
        self.preparation_ = None if table is None else table.preparation

    def check_stored(self, n_features: int) -> None:
        """A stack of these columns, and classes."""
        model, classes = self.model_, getattr(self, "classes_", None)
        require(model.n_columns == n_features == len(model.standardizer.scaling.scale))
        require(model.are_classes == (classes is not None))
        require(len(model.offset) == (1 if classes is None else len(classes)))

    def _keep_classes(self, problem: Problem) -> None:
        """Keep the labels, where there are any."""

    def _floor_of(self, problem: Problem, **asked: Any) -> tuple[Any, Any]:
        """Cross-fit the stack."""
        raise NotImplementedError

    def _keep_figures(self, checked: Checked[Any]) -> None:
        """Note what the stack reaches on rows that it has not seen, as far as that can be trusted."""
        raise NotImplementedError

    def _predicted(self, X: Any) -> F64:
        """Return probabilities, or numbers, of rows."""
        check_is_fitted(self)
        n_threads = check_n_jobs(self.n_jobs)

        def predicted(rows: Any) -> F64:
            points, codes = self._points_of(rows)
            return supervise(lambda pool: self.model_.predict(points, codes, pool), n_threads, False)

        return joined_rows(map(predicted, chunks_to_predict(self, X)))

    def _points_of(self, X: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return rows as they were in training, and their codes."""
        if self.preparation_ is not None and not isinstance(X, Table):
            X = table_alike(X, self.preparation_)
        if isinstance(X, Table):
            if X.X.shape[1] != self.model_.n_columns:
                raise ValueError(f"{X.source} has {X.X.shape[1]} features, and the model {self.model_.n_columns}")
            return X.X, None if X.tabular is None else X.tabular.values
        points = check_rows(self, X, accept_sparse=True)
        return dense_points(points) if issparse(points) else points, None

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters, but not the client: a connection to a cluster is shared."""
        params = self.get_params(deep=False)
        return type(self)(**{name: v if name == "client" else clone(v, safe=False) for name, v in params.items()})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _that_count(problem: Problem) -> Problem:
    """Leave out rows of weight 0, and with them classes that have no other rows."""
    weight = problem.sample_weight
    if weight is None or weight.all():
        return problem
    problem = problem.take(np.flatnonzero(weight))
    assert problem.sample_weight is not None
    if problem.sample_weight.min() == problem.sample_weight.max():
        problem = replace(problem, sample_weight=None)
    if problem.task == "regression":
        return problem
    classes, codes = check_labels(problem.classes[problem.codes], len(problem.codes))
    return replace(problem, classes=classes, codes=codes)


class StackedClassifier(ClassifierMixin, StackedEstimator):  # type: ignore[misc]
    """The stack of `learned_floor` as a classifier: its best members, trained on all rows.

    Some twenty fast learners race on the smallest training sets. Those that may matter are trained on larger ones, and
    the best of them are combined by a product of powers of their probabilities, which calibrates them as well.

    Parameters
    ----------
    effort : {"fast", "default"}, default="default"
        How much is trained, as for `learned_floor`. With "fast", at most 4000 rows are used.
    max_models : int or None, default=None
        Members of the stack at the most. None for all whose absence costs more than a tenth of a standard error of the
        log-loss.
    max_rows : int or None, default=None
        Rows to use at the most, as for `learned_floor`.
    learners : "default", mapping or list, default="default"
        What the stack is made of, as for `learned_floor`.
    confidence : float, default=0.95
        Level of the intervals of `held_out_` and `floor_`.
    n_jobs : int or None, default=None
        Threads; None for every core.
    progress : bool or callable, default=False
        Whether to show progress, or what to call with (done, total).
    client : dask.distributed.Client or None, default=None
        Train the learners on the workers of this cluster, with the same result.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time, as `learned_floor`
        does. `held_out_` is then without them, and a `TrustWarning` says so. The model has all columns.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    learners_ : dict of str to float
        The members of the stack with their weights, the largest first.
    held_out_ : StackHeldOut or None
        Error and log-loss of the model on rows that it has not seen, with intervals. None with fewer than 20 rows.
    floor_ : LearnedFloor or None
        What `learned_floor` says of the same rows, from the same training: how far any model can get.
    model_ : StackModel
        The members, and how they are combined.
    preparation_ : Preparation or None
        How a data frame with text, dates or gaps becomes numbers; None where X holds numbers.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, when X has names that are all strings.

    See Also
    --------
    learned_floor : How good any classifier can get.
    LandmarkClassifier : One model in a fraction of the time.

    Notes
    -----
    What is held out is predicted by members trained on four fifths of the rows. The model is trained on all of them,
    and tends to be a little better; `held_out_` has what the learning curve says of that. Rows are taken as the floor
    takes them: of exact copies, one is used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor.classify.stacked import StackedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StackedClassifier(learners=["gaussian", "logistic"]).fit(X, y)
    >>> model.predict(X[:3]).tolist()
    [0, 0, 0]
    >>> bool(model.held_out_.metrics["error"].value < 0.06)
    True
    """

    stored_as = "stack"

    classes_: NDArray[Any]

    @like_input
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, Table, path, LazyFrame or Dask collection
            The points. Columns of text, dates and gaps of a data frame are made ready as `TablePreparer` does.
        y : array-like of shape (n_samples,), default=None
            The labels, of any type that can be sorted; left out with a Table.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, in training and in all figures.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. What is held out are whole
            groups then. At least 5 groups.

        Returns
        -------
        Self
            This estimator.
        """
        return self._fit(X, y, "classification", sample_weight, groups)

    def _floor_of(self, problem: Problem, **asked: Any) -> tuple[Any, Any]:
        return learned_floor_of(problem, metric=["error", "log_loss"], **asked)

    def _keep_figures(self, checked: Checked[Any]) -> None:
        floor, held_out = checked.honest.floor, checked.honest.held_out
        scores = {each.name for each in held_out.metrics if each.is_score}
        self.held_out_ = figures_of(floor, len(held_out.counted.codes), self.confidence, scores)

    def check_stored(self, n_features: int) -> None:
        """A stack of these columns, and classes."""
        model, classes = self.model_, getattr(self, "classes_", None)
        require(model.n_columns == n_features == len(model.standardizer.scaling.scale))
        require(model.are_classes == (classes is not None))
        require(len(model.offset) == (1 if classes is None else len(classes)))

    def _keep_classes(self, problem: Problem) -> None:
        self.classes_ = problem.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        codes = self._predicted(X).argmax(axis=1)
        return self.classes_[codes]

    def decision_function(self, X: Any) -> F64:
        """Score each row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the probabilities. For two classes, of the odds of the second, above zero where it is
            predicted.
        """
        scores = np.log(np.maximum(self._predicted(X), np.finfo(np.float64).tiny))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> F64:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            They sum to 1.
        """
        return self._predicted(X)


class StackedRegressor(RegressorMixin, StackedEstimator):  # type: ignore[misc]
    """The stack of `regression_floor` as a regressor: its best members, trained on all rows.

    Parameters
    ----------
    effort : {"fast", "default"}, default="default"
        How much is trained, as for `regression_floor`. With "fast", at most 4000 rows are used.
    max_models : int or None, default=None
        Members of the stack at the most. None for all whose absence costs more than a tenth of a standard error of the
        squared error.
    max_rows : int or None, default=None
        Rows to use at the most, as for `regression_floor`.
    learners : "default", mapping or list, default="default"
        What the stack is made of, as for `regression_floor`.
    confidence : float, default=0.95
        Level of the intervals of `held_out_` and `floor_`.
    n_jobs : int or None, default=None
        Threads; None for every core.
    progress : bool or callable, default=False
        Whether to show progress, or what to call with (done, total).
    client : dask.distributed.Client or None, default=None
        Train the learners on the workers of this cluster, with the same result.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time, as `learned_floor`
        does. `held_out_` is then without them, and a `TrustWarning` says so. The model has all columns.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.

    Attributes
    ----------
    learners_ : dict of str to float
        The members of the stack with their weights, the largest first.
    held_out_rows_ : HeldOutRows or None
        What the stack predicted for these rows, less the mean of the target and divided by its deviation;
        `predict_interval` takes its widths from there.
    held_out_ : StackHeldOut or None
        R², RMSE and MAE of the model on rows that it has not seen, with intervals. None with fewer than 20 rows.
    floor_ : RegressionFloor or None
        What `regression_floor` says of the same rows, from the same training.
    model_ : StackModel
        The members, and how they are combined.
    preparation_ : Preparation or None
        How a data frame with text, dates or gaps becomes numbers; None where X holds numbers.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, when X has names that are all strings.

    See Also
    --------
    regression_floor : How good any regressor can get.
    LandmarkRegressor : One model in a fraction of the time.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bayesfloor.classify.stacked import StackedRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = StackedRegressor(learners=["linear"]).fit(X, y)
    >>> bool(0.4 < model.held_out_.metrics["r2"].value < model.score(X, y))
    True
    """

    stored_as = "stack of numbers"
    stored_parts: ClassVar[dict[str, Any]] = StackedEstimator.stored_parts | {"held_out_rows_": HeldOutRows | None}

    @like_input
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, Table, path, LazyFrame or Dask collection
            The points. Columns of text, dates and gaps of a data frame are made ready as `TablePreparer` does.
        y : array-like of shape (n_samples,), default=None
            The numbers to predict; left out with a Table.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, in training and in all figures.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. What is held out are whole
            groups then. At least 5 groups.

        Returns
        -------
        Self
            This estimator.
        """
        return self._fit(X, y, "regression", sample_weight, groups)

    def _floor_of(self, problem: Problem, **asked: Any) -> tuple[Any, Any]:
        return regression_floor_of(problem, **asked)

    def _keep_figures(self, checked: Checked[Any]) -> None:
        honest = checked.honest
        self.held_out_ = figures_of(honest.floor, len(honest.held_out.tested), self.confidence)
        # beside leaks, which the model has too, intervals are those of rows with them
        self.held_out_rows_ = rows_of_numbers(checked.given.held_out if checked.leaks else honest.held_out)

    def predict(self, X: Any) -> F64:
        """Predict the number of each row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The numbers.
        """
        return self._predicted(X)

    def predict_interval(self, X: Any, *, confidence: float = 0.95) -> F64:
        """Tell where the number of each row lies, with some confidence.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
            The points.
        confidence : float, default=0.95
            Share of new rows whose numbers lie inside, as many below as above among the others.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends, from residuals of held-out rows, wider where these are larger for similar predictions.
        """
        confidence = check_confidence(confidence)
        predicted = self._predicted(X)
        if self.held_out_rows_ is None:
            raise ValueError(f"Intervals are made of rows that were held out, of at least {FEWEST_ROWS} in all.")
        centre, scale = self.model_.centre, self.model_.scale
        return centre + scale * interval_ends(self.held_out_rows_, (predicted - centre) / scale, confidence)
