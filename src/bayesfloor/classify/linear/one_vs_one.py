"""One linear SVM for each pair of classes: decided by votes, or along a directed acyclic graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.decode_kernels import dag_margins, votes
from bayesfloor.classify.linear.path_classifier import PathClassifier
from bayesfloor.classify.training import F64, Training
from bayesfloor.runtime.checks import check_option


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
        Weights of the classes, as in scikit-learn. The accuracy by which C is chosen is weighted by them too.
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

    See Also
    --------
    DAGClassifier : The same graph over any binary classifier.

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
