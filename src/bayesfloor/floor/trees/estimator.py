"""All floors of a problem at once, as a scikit-learn estimator that also takes rows in batches."""

from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points, host_array
from bayesfloor.data.problem import Problem
from bayesfloor.floor.trees.assembly import count_cross_edges, one_vs_rest_result, pairwise_result, whole_result
from bayesfloor.floor.trees.problem import Options, Progress, check_options, check_problem_anywhere, is_remote
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.frames import check_same_index, like_input, names_of, with_text_names

FITTED = ("bayes_error_", "one_vs_rest_bayes_error_", "pairwise_bayes_error_", "findings_")


class BayesErrorEstimator(BaseEstimator):  # type: ignore[misc]
    """Estimate the floor of the whole problem, of every class and of every pair from one pass.

    Parameters
    ----------
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    bias_correction : bool, default=True
        Hold estimates at the error of always predicting the commoner class.
    normalize : bool, default=True
        Whether ``pairwise_bayes_error_.hardest`` ranks by the normalized floor.
    forced_edges : {"drop", "keep"}, default="drop"
        Whether to leave out edges that only join classes that share no point.
    confidence : float, default=0.95
        Level of the intervals.
    n_jobs : int or None, default=None
        Threads; None for every core.
    device : {"auto", "cpu", "cuda"} or torch.device, default="auto"
        Where distances are computed, as for `spanning_forests`; the result is the same.
    random_state : int, default=0
        Seed of the tie-breaks.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Compute the forests on this cluster, as for `spanning_forests`; the result is the same. `partial_fit` computes
        here.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    bayes_error_ : BayesError
        The whole problem.
    one_vs_rest_bayes_error_ : OneVsRestBayesError
        Each class against all others.
    pairwise_bayes_error_ : PairwiseBayesError
        Every pair of classes.
    findings_ : tuple of Finding
        What a reader should know about the data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error : One of the three on its own.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from bayesfloor import BayesErrorEstimator
    >>> X, y = load_wine(return_X_y=True)
    >>> floors = BayesErrorEstimator().fit(scale(X), y)
    >>> floors.bayes_error_.n_classes, floors.pairwise_bayes_error_.estimate.shape
    (3, (3, 3))
    """

    def __init__(
        self,
        *,
        n_trees: int = 3,
        bias_correction: bool = True,
        normalize: bool = True,
        forced_edges: str = "drop",
        confidence: float = 0.95,
        n_jobs: int | None = None,
        device: Any = "auto",
        random_state: Any = 0,
        progress: Progress = False,
        client: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.bias_correction = bias_correction
        self.normalize = normalize
        self.forced_edges = forced_edges
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.progress = progress
        self.client = client

    @like_input
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Estimate all floors.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The points.
        y : array-like or series of shape (n_samples,)
            The labels, of any type that can be sorted.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, as for `bayes_error`.

        Returns
        -------
        BayesErrorEstimator
            This estimator.
        """
        options = self._options()
        problem = check_problem_anywhere(X, y, self.client, groups, options.random_state, needs_all=True)
        seen = problem.X if is_remote(X) else X
        validate_data(self, with_text_names(seen), skip_check_array=True)  # only n_features_in_, feature_names_in_
        self._estimate(problem, options)
        self.__dict__.pop("_stream", None)
        return self

    @like_input
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a batch of rows: estimate all floors from the rows of all batches so far.

        Rows are kept, and all of them are fitted again after each batch: the result equals that of `fit`, and takes
        as long. The first call begins a stream, and so does the first after `fit`, whose rows are not kept. Until rows
        of a second class have come, there are no floors.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The new points; one is enough.
        y : array-like or series of shape (n_samples,)
            Their labels; new ones may come with any batch.

        Returns
        -------
        BayesErrorEstimator
            This estimator.

        Notes
        -----
        The floors are those of all rows: of classes that drift, of their mixture over time. For the recent floor, fit
        a window of rows.
        """
        before: Problem | None = getattr(self, "_stream", None)
        check_same_index({"X": X, "y": y})
        options = replace(self._options(), client=None)
        if before is None:
            rows = first_batch(X, y)
            validate_data(self, with_text_names(X), skip_check_array=True)
        else:
            validate_data(self, with_text_names(X), skip_check_array=True, reset=False)
            rows = advance(before, X, y)
        if len(rows.classes) > 1:
            self._estimate(rows, options)
        else:
            for name in FITTED:
                self.__dict__.pop(name, None)
            self.classes_ = rows.classes
        self._stream = rows
        return self

    def _options(self) -> Options:
        return check_options(**{field.name: getattr(self, field.name) for field in fields(Options)})

    def _estimate(self, problem: Problem, options: Options) -> None:
        """Estimate all floors."""
        counted = count_cross_edges(problem, options, whole=True, classes=True, pairs=True)
        pairs = pairwise_result(counted, problem, options, self.normalize)
        whole = whole_result(counted, problem, options)
        by_class = one_vs_rest_result(counted, problem, options)
        self.classes_ = problem.classes
        self.bayes_error_ = whole
        self.one_vs_rest_bayes_error_ = by_class
        self.pairwise_bayes_error_ = pairs
        self.findings_ = whole.findings

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters, but not the client: a connection to a cluster is shared."""
        params = self.get_params(deep=False)
        return type(self)(**{name: v if name == "client" else clone(v, safe=False) for name, v in params.items()})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


# --- rows that arrive in batches


def first_batch(X: Any, y: Any) -> Problem:
    """Return the problem of the rows of a first batch."""
    points = check_points(host_array(X), min_rows=1).copy()  # the caller may put the next batch into the same array
    return Problem(points, *check_labels(y, len(points), min_classes=1), names_of(X))


def advance(before: Problem, X: Any, y: Any) -> Problem:
    """Return the problem of the rows so far and of a batch."""
    X = check_points(host_array(X), min_rows=1)
    new_classes, new_codes = check_labels(y, len(X), min_classes=1)
    seen, codes_of_old, codes_of_new = join_classes(before.classes, new_classes)
    codes = np.concatenate((codes_of_old[before.codes], codes_of_new[new_codes]))
    return Problem(np.concatenate((before.X, X)), seen, codes, before.feature_names)


def join_classes(old: NDArray[Any], new: NDArray[Any]) -> tuple[NDArray[Any], Ints, Ints]:
    """Return the labels of both, sorted, and the places of the old and of the new ones among them."""
    labels = [*old.tolist(), *new.tolist()]
    distinct, codes = check_labels(labels, len(labels), min_classes=1)
    classes = np.empty(len(distinct), np.result_type(old.dtype, new.dtype))
    classes[:] = distinct
    return classes, codes[: len(old)], codes[len(old) :]
