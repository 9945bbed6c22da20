"""Linear classifiers that find their own C along a path.

`PathClassifier` writes a multiclass problem as binary ones that share one C. `LinearSVCCV` has one for each class
against the rest, `OneVsOneSVC` one for each pair of classes, `SmartSVC` one for each node of a class tree that was cut
where the classes are easiest to tell apart.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.affinity import cut_class_tree
from bayesfloor.classify.decode_kernels import dag_margins, linear_scores, votes
from bayesfloor.classify.linear.linear_svm import (
    FoldedRows,
    check_values_of_c,
    dense_where_narrow,
    fold_rows,
    solve_problems,
    warn_of_failures,
)
from bayesfloor.classify.routing import (
    fit_platt,
    leaf_margins,
    leaf_probabilities,
    log_scores,
    platt_probability,
    route_hard,
    routes_softly,
)
from bayesfloor.classify.stored_model import StoredModel
from bayesfloor.classify.training import F64, I64, Training, check_rows, check_training
from bayesfloor.data.folds import fold_keys
from bayesfloor.learn.records import require, require_within
from bayesfloor.runtime.checks import check_option, check_random_state_seed, warn_caller
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.text import counted, listed, shown
from bayesfloor.runtime.threads import WorkerPool, supervise


def best_class(class_scores: F64) -> I64:
    """Return the code of the class with the largest score; for one score per row, 1 where it is above zero."""
    return np.argmax(class_scores, axis=1) if class_scores.ndim == 2 else (class_scores > 0).astype(np.int64)


#: Largest coefficient that is read; columns are of order one.
LARGEST_LINEAR = 1e100


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


class PathClassifier(LinearDecisions, metaclass=ABCMeta):
    """A multiclass classifier made of binary linear SVMs that share one C.

    A subclass says what the binary problems are (`_divide`) and how their scores become scores of
    classes (`_class_scores`). With ``C="cv"`` the C with the best cross-validated accuracy of the *whole* classifier is
    chosen, the smallest of them where several are equally good.
    """

    def __init__(
        self,
        C: Any = "cv",
        *,
        Cs: Any = 19,
        cv: Any = 10,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _divide(self, training: Training) -> NDArray[np.int8]:
        """Return what each class is in each binary problem, (n_problems, n_classes): -1, +1, or 0 for no part."""

    def _decide(self, scores: F64) -> I64:
        """Return the class of each row, as a code, from the scores (n, n_problems): the decision to cross-validate."""
        return best_class(self._class_scores(scores))

    @property
    def _needs_folds(self) -> bool:
        return isinstance(self.C, str)

    @like_input
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. Features should be on comparable scales.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight zero is as good as absent.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. No group is then in two folds,
            and a splitter gets the groups.

        Returns
        -------
        Self
            This estimator.

        Warns
        -----
        UserWarning
            Where the accuracy still rises at an end of the grid of C, and where a class is absent from a fold.
        """
        Cs = check_values_of_c(self.C, self.Cs)
        n_threads = check_n_jobs(self.n_jobs)
        beside = {"sample_weight": sample_weight, "groups": groups}
        training = check_training(
            self, X, y, **beside, class_weight=self.class_weight, accept_sparse=True, squares=True
        )
        X = dense_where_narrow(training.X)
        keys = fold_keys(X, check_random_state_seed(self.random_state))
        folds = None
        if self._needs_folds:
            folds = training.folds(self.cv, keys, groups)
            _warn_of_absent_classes(training, folds)
        self.classes_ = training.classes
        code_matrix = self._divide(training)
        rows = fold_rows(X, training.codes, training.weight, folds, keys)

        def compute(pool: WorkerPool) -> tuple[F64, int, F64]:
            coefficients, n_failed = solve_problems(rows, code_matrix, Cs, pool)
            return coefficients, n_failed, self._cross_validate(rows, coefficients, pool)

        coefficients, n_failed, cv_scores = supervise(compute, n_threads, False)
        warn_of_failures(n_failed, coefficients[..., 0].size)
        chosen = int(np.argmax(cv_scores.mean(axis=1))) if isinstance(self.C, str) else 0
        if not n_failed:  # else it has been said that the scales are wrong
            _warn_of_edge(Cs, cv_scores, chosen)
        self.C_ = float(Cs[chosen])
        self.Cs_ = Cs
        self.cv_scores_ = cv_scores
        self.coef_ = coefficients[0, chosen, :, :-1].copy()
        self.intercept_ = coefficients[0, chosen, :, -1].copy()
        self._after_fit(rows, coefficients[:, chosen], code_matrix)
        return self

    def _after_fit(self, rows: FoldedRows, coefficients: F64, code_matrix: NDArray[np.int8]) -> None:
        """Use the chosen C's coefficients, of all rows and without each fold, (1 + n_folds, n_problems, d + 1)."""

    def _cross_validate(self, rows: FoldedRows, coefficients: F64, pool: WorkerPool) -> F64:
        """Return the accuracy at each C on each fold by the classifier fitted without it, (n_Cs, n_folds)."""
        n_Cs = coefficients.shape[1]
        accuracy = np.empty((n_Cs, rows.n_folds))

        def test(fold: int) -> None:
            held = rows.fold(fold)
            truth, weight = rows.codes[held], rows.weight[held]
            for level in range(n_Cs):
                pool.check()
                right = self._decide(rows.scores(held, coefficients[1 + fold, level])) == truth
                accuracy[level, fold] = np.average(right, weights=weight)

        pool.run(test, [(fold,) for fold in range(rows.n_folds)])
        return accuracy


def _warn_of_absent_classes(training: Training, folds: I64) -> None:
    """Warn where a class is absent from a fold for want of rows, or from all rows that a fold's classifier sees."""
    present = np.zeros((int(folds.max()) + 1, len(training.classes)), np.bool_)
    present[folds, training.codes] = True
    n_rows, n_present = np.bincount(training.codes), present.sum(axis=0)
    absent = np.flatnonzero((n_rows < len(present)) | (n_present == 1))
    if len(absent):
        said = [f"{shown(training.classes[k])} ({counted(int(n_rows[k]), 'row')} in {n_present[k]})" for k in absent]
        warn_caller(
            f"Some of the {len(present)} folds lack a class: {listed(said)}. Cross-validation says little of it; take "
            "fewer folds (cv).",
            UserWarning,
        )


def _warn_of_edge(Cs: F64, cv_scores: F64, chosen: int) -> None:
    """Warn where a better C may lie beyond the grid.

    That is where the accuracy still rises at its end, by more than a standard error over the folds, and where it is the
    same at three values of C or more without being 1, as for features so small that none of these matters.
    """
    if len(Cs) == 1 or chosen not in (0, len(Cs) - 1):
        return
    rise = cv_scores[chosen] - cv_scores[1 if chosen == 0 else -2]
    said = f"still rises at C = {Cs[chosen]:.3g}, the {'largest' if chosen else 'smallest'} value that was tried"
    if len(Cs) > 2 and (cv_scores == cv_scores[0]).all() and cv_scores[0].mean() < 1.0:
        said = f"is the same at every C from {Cs[0]:.3g} to {Cs[-1]:.3g}"
    elif rise.mean() <= rise.std(ddof=1) / len(rise) ** 0.5:
        return
    reached = cv_scores[chosen].mean()
    warn_caller(f"The accuracy, {reached:.3f}, {said}: scale the features, or give other values (Cs).", UserWarning)


class LinearSVCCV(PathClassifier):
    """Linear SVM with the squared hinge, its C chosen by cross-validation along a path.

    Fits what ``GridSearchCV(LinearSVC(dual=False), {"C": …}, cv=10)`` fits (but for weights of three classes or more),
    many times faster: each C starts from the solution of the one before, and each fold from the solution on all rows.
    Several classes are each separated from the rest, with one C for all.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        "cv" chooses the C with the best cross-validated accuracy; a number is taken as it is.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. Each row weighs by its own class in every binary problem, and in the accuracy by which C
        is chosen. ``LinearSVC`` does the same with two classes only, see Notes.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the folds. Which rows fall together depends on their values and the seed, not on their order.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    C_ : float
        The C in use.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    Cs_ : ndarray of shape (n_Cs,)
        The values that were tried, rising.
    cv_scores_ : ndarray of shape (n_Cs, n_folds)
        Accuracy at each C on each fold.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    SmartSVC : Several classes by a tree of such problems.

    Notes
    -----
    With three classes or more, ``LinearSVC(class_weight=…)`` weighs the rows of the class that is separated from the
    rest, and gives all others a weight of 1. Rows that weigh by their class in all problems had a better balanced
    accuracy on the paper's sets, and a lower accuracy (``benchmarks/results/rest_weights.md``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from bayesfloor import LinearSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = LinearSVCCV().fit(scale(X), y)
    >>> svm.coef_.shape, svm.cv_scores_.shape
    ((1, 30), (19, 10))
    """

    def _divide(self, training: Training) -> NDArray[np.int8]:
        n_classes = len(self.classes_)
        if n_classes == 2:
            return np.array([[-1, 1]], np.int8)
        return 2 * np.eye(n_classes, dtype=np.int8) - 1


def pair_sides(n_classes: int) -> NDArray[np.int8]:
    """Return -1 for the first and +1 for the second class of each pair, (n_pairs, n_classes), 0 for the others."""
    first, second = np.triu_indices(n_classes, 1)
    pairs = np.arange(len(first))
    sides = np.zeros((len(first), n_classes), np.int8)
    sides[pairs, first], sides[pairs, second] = -1, 1
    return sides


class OneVsOneSVC(PathClassifier):
    """Linear SVMs for all pairs of classes, with one C chosen by cross-validation along paths.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        "cv" chooses the C with the best cross-validated accuracy; a number is taken as it is.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
    decision : {"vote", "dag"}, default="vote"
        "vote": the class that wins most of its pairs, the clearer one where several do. "dag" (Platt et al., 2000):
        the first class against the last, the loser leaves, and so on until one is left.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. Each row weighs by its own class in every binary problem, and in the accuracy by which C
        is chosen.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the folds. Which rows fall together depends on their values and the seed, not on their order.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    C_ : float
        The C in use.
    coef_ : ndarray of shape (n_pairs, n_features)
        Coefficients of the pairs (0, 1), (0, 2), …, (1, 2), …; a score above zero speaks for the second class.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts.
    Cs_ : ndarray of shape (n_Cs,)
        The values that were tried, rising.
    cv_scores_ : ndarray of shape (n_Cs, n_folds)
        Accuracy at each C on each fold.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import OneVsOneSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> OneVsOneSVC().fit(X, y).coef_.shape
    (3, 4)
    """

    def __init__(
        self,
        C: Any = "cv",
        *,
        Cs: Any = 19,
        cv: Any = 10,
        decision: str = "vote",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(C, Cs=Cs, cv=cv, class_weight=class_weight, n_jobs=n_jobs, random_state=random_state)
        self.decision = decision

    def _divide(self, training: Training) -> NDArray[np.int8]:
        check_option("decision", self.decision, ("vote", "dag"))
        return pair_sides(len(self.classes_))

    def _class_scores(self, scores: F64) -> F64:
        if scores.shape[1] == 1:
            return scores[:, 0]
        n_classes = len(self.classes_)
        return votes(scores, n_classes) if self.decision == "vote" else dag_margins(scores, n_classes)


class SmartSVC(StoredModel, PathClassifier):
    """The paper's hierarchical classifier: a class tree with a linear SVM at each node, and one C for all of them.

    The pairwise floors of the classes are the weights of a graph. It is cut where the least is lost, and so is each
    part, which gives a tree of binary problems. A row is sent down the tree.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        "cv" chooses the C with the best cross-validated accuracy of the whole tree; a number is taken as it is.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once. The tree is that of all rows; the floors see the
        labels of held-out rows, the SVMs do not.
    tree : str, ClassTree or nested lists, default="min-cut"
        How to cut the tree, see `build_class_tree`, or the tree itself.
    affinity : str or array-like of shape (n_classes, n_classes), default="henze-penrose"
        The weights of the graph: "henze-penrose", normalised pairwise floors from spanning forests; "bhattacharyya",
        the overlap of Gaussians, or "class-means", how near classes are, both in milliseconds; or given ones. Where
        they tie, as floors of 0 do, "class-means" decides, so that the names of the classes never do.
    routing : {"hard", "soft"}, default="hard"
        "hard": one way from the root to a class. "soft": the class with the largest product of probabilities along
        its way, each by Platt's sigmoid on scores of held-out rows.
    n_trees : int, default=3
        Spanning trees from which floors are computed.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. Each row weighs by its own class in every binary problem, and in the accuracy by which C
        is chosen.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the folds, and of ties between distances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    tree_ : ClassTree
        The class tree.
    affinity_ : ndarray of shape (n_classes, n_classes) or None
        The weights from which the tree was cut; None when the tree was given.
    C_ : float
        The C in use.
    coef_ : ndarray of shape (n_classes - 1, n_features)
        Coefficients at each node, in the order of ``tree_.nodes``; a score above zero goes right.
    intercept_ : ndarray of shape (n_classes - 1,)
        Intercepts.
    platt_ : ndarray of shape (n_classes - 1, 2) or None
        Slope and offset of the sigmoid at each node; None with hard routing.
    Cs_ : ndarray of shape (n_Cs,)
        The values that were tried, rising.
    cv_scores_ : ndarray of shape (n_Cs, n_folds)
        Accuracy, by hard routing, at each C on each fold.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    HierarchicalClassifier : A class tree over any binary classifier.

    Notes
    -----
    Weights reach the SVMs and the means of the classes; spanning forests count rows, whatever they weigh.

    References
    ----------
    van den Burg and Hero, "Fast Meta-Learning for Adaptive Hierarchical Classifier Design".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from bayesfloor import SmartSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> smart = SmartSVC().fit(scale(X), y)
    >>> smart.tree_.to_nested()
    [[0, 1], 2]
    """

    stored_as = "smartsvm"
    stored_parts: ClassVar[dict[str, Any]] = {"coef_": F64, "intercept_": F64, "platt_": F64 | None}

    def check_stored(self, n_features: int) -> None:
        """A line of coefficients for every node of the tree."""
        n_nodes = self.tree_.n_nodes
        require(self.coef_.shape == (n_nodes, n_features))
        require(self.intercept_.shape == (n_nodes,))
        require(self.platt_ is None or self.platt_.shape == (n_nodes, 2))
        for values in (self.coef_, self.intercept_, 0.0 if self.platt_ is None else self.platt_):
            require_within(values, -LARGEST_LINEAR, LARGEST_LINEAR)

    def __init__(
        self,
        C: Any = "cv",
        *,
        Cs: Any = 19,
        cv: Any = 10,
        tree: Any = "min-cut",
        affinity: Any = "henze-penrose",
        routing: str = "hard",
        n_trees: int = 3,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(C, Cs=Cs, cv=cv, class_weight=class_weight, n_jobs=n_jobs, random_state=random_state)
        self.tree = tree
        self.affinity = affinity
        self.routing = routing
        self.n_trees = n_trees

    @property
    def _needs_folds(self) -> bool:
        return super()._needs_folds or self.routing == "soft"

    def _divide(self, training: Training) -> NDArray[np.int8]:
        check_option("routing", self.routing, ("hard", "soft"))
        seed = check_random_state_seed(self.random_state)
        self.tree_, self.affinity_ = cut_class_tree(
            training, self.tree, self.affinity, n_trees=self.n_trees, n_jobs=self.n_jobs, seed=seed
        )
        return self.tree_.sides

    def _decide(self, scores: F64) -> I64:
        return route_hard(scores, self.tree_)

    def _after_fit(self, rows: FoldedRows, coefficients: F64, code_matrix: NDArray[np.int8]) -> None:
        """Fit the sigmoids to the scores that each row gets from the tree fitted without its fold.

        Where all rows of a class are in one fold, it is unknown without them, and their scores say nothing: the final
        ones are taken instead.
        """
        self.platt_: Any = None
        if self.routing != "soft":
            return
        final = rows.scores(slice(0, len(rows.codes)), coefficients[0])
        held_out = [rows.scores(rows.fold(number), coefficients[1 + number]) for number in range(rows.n_folds)]
        n_with = np.sum(
            [np.bincount(rows.codes[rows.fold(f)], minlength=len(self.classes_)) > 0 for f in range(rows.n_folds)],
            axis=0,
        )
        only = n_with[rows.codes] == 1
        scores = np.where(only[:, np.newaxis], final, np.concatenate(held_out))
        self.platt_ = np.empty((len(code_matrix), 2))
        for node, sides in enumerate(code_matrix):
            side = sides[rows.codes]
            below = side != 0
            self.platt_[node] = fit_platt(scores[below, node], side[below] > 0, rows.weight[below])

    def _class_scores(self, scores: F64) -> F64:
        """Return the worst score on the way to each class, or with soft routing the logarithm of its probability."""
        if self.platt_ is not None:
            return log_scores(leaf_probabilities(self._right(scores), self.tree_))
        return scores[:, 0] if len(self.classes_) == 2 else leaf_margins(scores, self.tree_)

    def _right(self, scores: F64) -> F64:
        return platt_probability(scores, self.platt_[:, 0], self.platt_[:, 1])

    @available_if(routes_softly("platt_"))
    def predict_proba(self, X: Any) -> F64:
        """Return the probability of each class, with soft routing.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        return leaf_probabilities(self._right(self._scores(X)), self.tree_)
