"""All floors of a problem at once, in the shape of a scikit-learn estimator."""

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from bayesfloor.floor.assembly import (
    count_cross_edges,
    one_vs_rest_result,
    pairwise_result,
    whole_result,
)
from bayesfloor.floor.problem import Progress, check_options, check_problem


class BayesErrorEstimator(BaseEstimator):  # type: ignore[misc]
    """Estimate the floor of the whole problem, of every class and of every pair from one pass.

    Parameters
    ----------
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    bias_correction : bool, default=True
        Hold estimates at the error of always naming the larger class.
    normalize : bool, default=True
        Whether ``pairwise_bayes_error_.hardest`` ranks by the normalized floor.
    forced_edges : {"drop", "keep"}, default="drop"
        Whether to leave out edges that only join classes that share no point.
    confidence : float, default=0.95
        Level of the intervals.
    n_tie_draws : int, default=1
        Over how many ways to break ties to average.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, default=0
        Seed of the tie-breaks.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    bayes_error_ : BayesError
        The whole problem, with the sum-of-pairs bounds.
    one_vs_rest_bayes_error_ : OneVsRestBayesError
        Each class against all others.
    pairwise_bayes_error_ : PairwiseBayesError
        Every pair of classes.
    findings_ : tuple of Finding
        What a reader should know about the data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
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
        n_tie_draws: int = 1,
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Progress = False,
    ) -> None:
        self.n_trees = n_trees
        self.bias_correction = bias_correction
        self.normalize = normalize
        self.forced_edges = forced_edges
        self.confidence = confidence
        self.n_tie_draws = n_tie_draws
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate all floors.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The points.
        y : array-like or series of shape (n_samples,)
            The labels, of any type that can be sorted.

        Returns
        -------
        BayesErrorEstimator
            This estimator.
        """
        problem = check_problem(X, y)
        validate_data(self, X, skip_check_array=True)  # only n_features_in_, feature_names_in_
        options = check_options(
            n_trees=self.n_trees,
            bias_correction=self.bias_correction,
            forced_edges=self.forced_edges,
            confidence=self.confidence,
            n_tie_draws=self.n_tie_draws,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            progress=self.progress,
        )
        draws = count_cross_edges(problem, options, whole=True, classes=True, pairs=True)
        pairs = pairwise_result(draws, problem, options, self.normalize)
        self.classes_ = problem.classes
        self.bayes_error_ = whole_result(draws, problem, options, pairs)
        self.one_vs_rest_bayes_error_ = one_vs_rest_result(draws, problem, options)
        self.pairwise_bayes_error_ = pairs
        self.findings_ = self.bayes_error_.findings
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
