"""The public functions: points and labels in, floors out.

Each one checks its input, counts what it needs and makes its record. `BayesErrorEstimator` (in
`estimator`) does all of it from one pass.
"""

from typing import Any

from bayesfloor.floor.trees.assembly import count_cross_edges, one_vs_rest_result, pairwise_result, whole_result
from bayesfloor.floor.trees.cross_edges import as_matrix, pairs_of
from bayesfloor.floor.trees.problem import Progress, check_options, check_problem_anywhere
from bayesfloor.floor.trees.results import (
    BayesError,
    HenzePenroseDivergence,
    OneVsRestBayesError,
    PairwiseBayesError,
)
from bayesfloor.runtime.frames import like_input


@like_input
def bayes_error(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_trees: int = 3,
    bias_correction: bool = True,
    forced_edges: str = "drop",
    confidence: float = 0.95,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> BayesError:
    """Estimate how low the error of any classifier can go on the whole problem.

    Parameters
    ----------
    X : array-like, data frame, path or Dask collection of shape (n_samples, n_features), or Table
        The points, as for `spanning_forests`. Distances are Euclidean, so scale the features as you would for
        neighbours. A `Table` from `read_table` has its labels with it.
    y : array-like of shape (n_samples,), str, default=None
        The labels, of any type that can be sorted, or the name of their column of a frame or a file; left out with a
        Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient. The floor is then that for rows of new groups: edges
        within a group do not count, and the intervals say what another sample of groups may change. A Table's own
        where None.
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in; more trees, less variance.
    bias_correction : bool, default=True
        Hold the estimate at the error of always predicting the commonest class, equations (7) and (8).
    forced_edges : {"drop", "keep"}, default="drop"
        Whether to leave out the edges (one for two classes, K − 1 for K) that a tree needs to join
        classes that share no point. "keep" is the paper to the letter.
    confidence : float, default=0.95
        Level of the intervals.
    n_jobs : int or None, default=None
        Threads; None for every core.
    device : {"auto", "cpu", "cuda"} or torch.device, default="auto"
        Where distances are computed, as for `spanning_forests`; the result is the same.
    random_state : int, default=0
        Seed of the tie-breaks. Without ties it changes nothing.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Compute the forests on this cluster, as for `spanning_forests`; the result is the same.

    Returns
    -------
    BayesError
        The estimate, its bounds, intervals, and findings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import bayes_error
    >>> floor = bayes_error(*load_iris(return_X_y=True))
    >>> round(floor.estimate, 3), round(floor.lower, 3), round(floor.upper, 3)
    (0.035, 0.024, 0.047)
    """
    options = check_options(
        n_trees, bias_correction, forced_edges, confidence, n_jobs, device, random_state, progress, client
    )
    problem = check_problem_anywhere(X, y, client, groups, options.random_state)
    return whole_result(count_cross_edges(problem, options, whole=True), problem, options)


@like_input
def pairwise_bayes_error(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
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
) -> PairwiseBayesError:
    """Estimate the floor of every pair of classes.

    Parameters
    ----------
    X, y, groups, n_trees, bias_correction, forced_edges, confidence, n_jobs, device, random_state, \
progress, client
        As for `bayes_error`.
    normalize : bool, default=True
        Whether ``hardest`` ranks pairs by the floor as a share of its largest possible value. The
        result holds both numbers either way.

    Returns
    -------
    PairwiseBayesError
        Symmetric matrices over the classes, and ``hardest(n)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import pairwise_bayes_error
    >>> iris = load_iris()
    >>> pairs = pairwise_bayes_error(iris.data, iris.target_names[iris.target])
    >>> hardest = pairs.hardest(1)[0]
    >>> print(hardest.first, hardest.second, round(hardest.normalized, 3))
    versicolor virginica 0.106
    """
    options = check_options(
        n_trees, bias_correction, forced_edges, confidence, n_jobs, device, random_state, progress, client
    )
    problem = check_problem_anywhere(X, y, client, groups, options.random_state)
    return pairwise_result(count_cross_edges(problem, options, pairs=True), problem, options, normalize)


@like_input
def one_vs_rest_bayes_error(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_trees: int = 3,
    bias_correction: bool = True,
    forced_edges: str = "drop",
    confidence: float = 0.95,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> OneVsRestBayesError:
    """Estimate the floor of telling each class from all others, from one set of forests.

    Parameters
    ----------
    X, y, groups, n_trees, bias_correction, forced_edges, confidence, n_jobs, device, random_state, \
progress, client
        As for `bayes_error`.

    Returns
    -------
    OneVsRestBayesError
        One entry per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import one_vs_rest_bayes_error
    >>> rest = one_vs_rest_bayes_error(*load_iris(return_X_y=True))
    >>> rest.estimate.round(3)
    array([0.   , 0.04 , 0.035])
    """
    options = check_options(
        n_trees, bias_correction, forced_edges, confidence, n_jobs, device, random_state, progress, client
    )
    problem = check_problem_anywhere(X, y, client, groups, options.random_state)
    return one_vs_rest_result(count_cross_edges(problem, options, classes=True), problem, options)


@like_input
def henze_penrose_divergence(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_trees: int = 3,
    forced_edges: str = "drop",
    confidence: float = 0.95,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> HenzePenroseDivergence:
    """Estimate the Henze-Penrose divergence between every two classes, equations (2) and (3).

    Parameters
    ----------
    X, y, groups, n_trees, forced_edges, confidence, n_jobs, device, random_state, progress, client
        As for `bayes_error`.

    Returns
    -------
    HenzePenroseDivergence
        A symmetric matrix over the classes; ``float(...)`` of it when there are two.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import henze_penrose_divergence
    >>> henze_penrose_divergence(*load_iris(return_X_y=True)).estimate.round(2)
    array([[0.  , 1.  , 1.  ],
           [1.  , 0.  , 0.86],
           [1.  , 0.86, 0.  ]])
    """
    options = check_options(n_trees, False, forced_edges, confidence, n_jobs, device, random_state, progress, client)
    problem = check_problem_anywhere(X, y, client, groups, options.random_state)
    counted = count_cross_edges(problem, options, pairs=True)
    cross = counted.pairs
    assert cross is not None
    counts = problem.class_counts
    first, second = (counts[classes] for classes in pairs_of(len(counts)))
    estimate, interval = cross.divergence(first, second, options.confidence, options.forced_edges)
    return HenzePenroseDivergence(
        classes=problem.classes,
        estimate=as_matrix(estimate, len(counts)),
        interval=as_matrix(interval, len(counts)),
        cross_edges=cross.summary(options.confidence, options.n_trees)._each(lambda each: as_matrix(each, len(counts))),
        class_counts=counts,
        confidence=options.confidence,
        findings=counted.findings,
    )
