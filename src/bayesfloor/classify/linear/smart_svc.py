"""SmartSVM: linear SVMs along a class tree that was cut where the classes are easiest to tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from bayesfloor.classify.affinity import cut_class_tree
from bayesfloor.classify.linear.linear_svm import FoldedRows
from bayesfloor.classify.linear.path_classifier import PathClassifier
from bayesfloor.classify.routing import (
    fit_platt,
    leaf_margins,
    leaf_probabilities,
    log_scores,
    platt_probability,
    route_hard,
    routes_softly,
)
from bayesfloor.classify.training import F64, I64, Training
from bayesfloor.runtime.checks import check_option, check_random_state_seed


class SmartSVC(PathClassifier):
    """The paper's hierarchical classifier: a class tree with a linear SVM at each node, and one C for all of them.

    The pairwise floors of the classes are the weights of a graph; recursive cuts of it give a tree of binary
    problems that grow harder along its depth. A row is sent down the tree.

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
    affinity : {"henze-penrose", "bhattacharyya"} or array-like of shape (n_classes, n_classes), default="henze-penrose"
        The weights of the graph: normalised pairwise floors from spanning forests, the overlap of Gaussians (takes
        milliseconds), or given ones.
    routing : {"hard", "soft"}, default="hard"
        "hard": one way from the root to a class. "soft": the class with the largest product of probabilities along
        its way, each by Platt's sigmoid on scores of held-out rows.
    n_trees : int, default=3
        Spanning trees from which floors are computed.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn. The accuracy by which C is chosen is weighted by them too.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the folds, of ties between distances, and of a random tree.

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
    [0, [1, 2]]
    """

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
