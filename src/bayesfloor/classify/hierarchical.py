"""Any learner at the nodes of a class tree.

A row follows the tree from its root to one class, or to all of them with a probability each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.affinity import cut_class_tree
from bayesfloor.classify.binary_parts import (
    BinaryPartsClassifier,
    BinaryProblem,
    binary_problem,
    fit_part,
    part_probability,
    part_scores,
    take_rows,
)
from bayesfloor.classify.routing import (
    fit_platt,
    leaf_margins,
    leaf_probabilities,
    log_scores,
    platt_probability,
    routes_softly,
)
from bayesfloor.classify.training import F64, I64, Training
from bayesfloor.data.folds import fold_keys, grouped_folds, stratified_folds
from bayesfloor.runtime.checks import check_option, check_random_state_seed

#: Number of folds that give Platt's sigmoid held-out scores.
_N_FOLDS = 5


class HierarchicalClassifier(BinaryPartsClassifier):
    """Divide the classes again and again, those that overlap last, with a binary classifier at each division.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A clone of it works at each node of the class tree. None stands for `LinearSVCCV`.
    tree : {"min-cut", "average-linkage"}, ClassTree or nested lists, default="average-linkage"
        How to cut the classes into a tree, or the tree itself, for instance ``[["a", "b"], ["c", "d"]]``.
    affinity : str or array-like of shape (n_classes, n_classes), default="bhattacharyya"
        How much every two classes overlap: "henze-penrose", the normalised floors of the pairs; "bhattacharyya", the
        coefficients of Gaussians with a common covariance (in milliseconds); "class-means", how near they are; or the
        values themselves. Where they tie, "class-means" decides.
    routing : {"hard", "soft"}, default="hard"
        "hard" follows each row along the nodes' decisions to one class. "soft" multiplies the nodes' probabilities on
        the way to every class, and takes the most probable one. Probabilities are those of the estimator or, where it
        has none, a sigmoid of its scores (Platt 2000) fitted to the scores of held-out rows.
    n_trees : int, default=3
        Spanning trees to count in, for the floors.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of each class, by its label.
    n_jobs : int or None, default=None
        How many nodes to fit at once; None for one, unless in a ``joblib.parallel_config``. The floors take as many
        threads, and every core for None.
    random_state : int, None or random generator, default=0
        Seeds the estimators' own ``random_state``, and how ties fall among the floors. None leaves estimators as they
        are, and stands for 0 otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    tree_ : ClassTree
        The class tree.
    affinity_ : ndarray of shape (n_classes, n_classes) or None
        The affinities from which the tree was cut; None when the tree was given.
    estimators_ : list of n_classes - 1 estimators
        One per node, in the order of ``tree_.nodes``. Label 1 is a node's right side.
    calibration_ : ndarray of shape (n_classes - 1, 2) or None
        With soft routing, a and b of each node's sigmoid, and NaN where the estimator has probabilities of its own.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    SmartSVC : The same with linear support vector machines that share one C, faster.
    OneVsOneSVC : Linear SVMs for all pairs of classes instead of a tree.

    Notes
    -----
    The defaults are those that did best on the paper's data sets with linear SVMs in the nodes
    (``benchmarks/results/classify.md``): over 15 of them, average linkage on Bhattacharyya coefficients had a mean
    adjusted Rand index of .703, the paper's min-cuts of Henze-Penrose floors .678 in two and a half times the time, and
    random trees .531. Soft routing added .003 for half as much time again.

    Rows of weight zero are left out, and do not count in the floors either. Other weights reach the estimators, the
    sigmoids and the Gaussians of "bhattacharyya"; spanning trees count rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bayesfloor.classify.hierarchical import HierarchicalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = HierarchicalClassifier(LogisticRegression(), routing="soft").fit(X, y)
    >>> classifier.tree_.to_nested()
    [0, [1, 2]]
    >>> classifier.predict_proba(X[:1]).round(2).tolist()
    [[0.98, 0.02, 0.0]]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        tree: Any = "average-linkage",
        affinity: Any = "bhattacharyya",
        routing: str = "hard",
        n_trees: int = 3,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.tree = tree
        self.affinity = affinity
        self.routing = routing
        self.n_trees = n_trees
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_parts(self, training: Training, groups: I64 | None, fit_params: dict[str, Any]) -> None:
        check_option("routing", self.routing, ("hard", "soft"))
        seed = 0 if self.random_state is None else check_random_state_seed(self.random_state)
        self.tree_, self.affinity_ = cut_class_tree(
            training, self.tree, self.affinity, n_trees=self.n_trees, n_jobs=self.n_jobs, seed=seed
        )
        n_nodes = self.tree_.n_nodes
        seeds: list[int | None] = np.random.SeedSequence(seed).generate_state(n_nodes).tolist()
        if self.random_state is None:
            seeds = [None] * n_nodes
        estimator, soft = self._part_estimator(), self.routing == "soft"
        nodes = zip(self.tree_.sides, seeds, strict=True)
        fitted = self._run(
            _fit_node, ((estimator, training, groups, sides, fit_params, seed, soft) for sides, seed in nodes)
        )
        self.estimators_ = [part for part, _ in fitted]
        self.calibration_: Any = np.array([ab for _, ab in fitted]) if soft else None

    def _decide(self, rows: Any) -> I64:
        return self._follow(rows) if self.calibration_ is None else self._probability(rows).argmax(axis=1)

    def decision_function(self, X: Any) -> F64:
        """Score each class for each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The predicted class has the largest score: with hard routing the smallest of the nodes' scores on the way to
            the class, signed; with soft routing the logarithm of its probability. For two classes, the score or the
            log-odds of the second, above 0 where that is predicted.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        if self.calibration_ is not None:
            return log_scores(self._probability(rows))
        scores = np.empty((rows.shape[0], len(self.estimators_)))
        self._follow(rows, scores)
        return scores[:, 0] if len(self.classes_) == 2 else leaf_margins(scores, self.tree_)

    @available_if(routes_softly("calibration_"))
    def predict_proba(self, X: Any) -> F64:
        """Estimate the probability of each class, with ``routing="soft"``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        check_is_fitted(self)
        return self._probability(self._rows(X))

    def _probability(self, rows: Any) -> F64:
        right = np.empty((rows.shape[0], len(self.estimators_)))
        for node, (part, (a, b)) in enumerate(zip(self.estimators_, self.calibration_, strict=True)):
            if np.isnan(a):
                right[:, node] = part_probability(part, rows)
            else:
                right[:, node] = platt_probability(part_scores(part, rows), a, b)
        return leaf_probabilities(right, self.tree_)

    def _follow(self, X: Any, scores: F64 | None = None) -> I64:
        """Follow rows down the tree, asking each node about the rows that reach it; return the codes of their classes.

        Where ``scores`` (n_rows, n_nodes) is given, it is filled with the scores of all rows at all nodes. Those of
        rows that do not reach a node are asked for apart: a matrix product may round a row differently in other
        company, and decisions must be the same with and without them.
        """
        n_rows = X.shape[0]
        codes = np.empty(n_rows, np.int64)
        waiting = {0: np.arange(n_rows)}
        for node, (part, children) in enumerate(zip(self.estimators_, self.tree_.children.tolist(), strict=True)):
            rows = waiting.pop(node)
            of_rows = part_scores(part, take_rows(X, rows))
            if scores is not None:
                others = np.delete(np.arange(n_rows), rows)
                scores[rows, node] = of_rows
                scores[others, node] = part_scores(part, take_rows(X, others))
            for child, reached in zip(children, (rows[~(of_rows > 0)], rows[of_rows > 0]), strict=True):
                if child < 0:
                    codes[reached] = ~child
                else:
                    waiting[child] = reached
        return codes


def _fit_node(
    estimator: Any,
    training: Training,
    groups: I64 | None,
    sides: NDArray[np.int8],
    fit_params: dict[str, Any],
    seed: int | None,
    soft: bool,
) -> tuple[Any, tuple[float, float]]:
    """Fit one node and, where it needs one, the sigmoid of its scores: a and b, else NaN."""
    problem = binary_problem(training, sides)
    part = fit_part(estimator, training.X, problem, fit_params, seed)
    if not soft or hasattr(part, "predict_proba"):
        return part, (np.nan, np.nan)
    scores = _held_out_scores(part, training, groups, problem, fit_params, seed)
    weight = fit_params.get("sample_weight")
    weight = None if weight is None else np.asarray(weight)[problem.rows]
    return part, fit_platt(scores, problem.right, weight)


def _held_out_scores(
    part: Any,
    training: Training,
    groups: I64 | None,
    problem: BinaryProblem,
    fit_params: dict[str, Any],
    seed: int | None,
) -> F64:
    """Score each row of a problem by an estimator that has seen neither it nor its group.

    The folds hold the same share of every class, or whole groups. The only row of a side is in no fold, since without
    it there would be nothing to fit; its score is that of the fitted part itself. So it is with a side's only group.
    """
    X = take_rows(training.X, problem.rows)
    by_side = training.codes[problem.rows] + problem.right * len(training.classes)
    if groups is None:
        folds = stratified_folds(by_side, _N_FOLDS, fold_keys(X, 0))
    else:
        folds = grouped_folds(by_side, groups[problem.rows], _N_FOLDS, fold_keys(X, 0))
    folds[np.bincount(problem.right)[problem.right] == 1] = -1
    scores = part_scores(part, X)
    for fold in np.unique(folds[folds >= 0]):
        held_out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(np.unique(problem.right[kept])) < 2:
            continue
        rest = BinaryProblem(problem.rows[kept], problem.right[kept], problem.name)
        without = fit_part(part, training.X, rest, fit_params, seed)
        scores[held_out] = part_scores(without, X[held_out])
    return scores
