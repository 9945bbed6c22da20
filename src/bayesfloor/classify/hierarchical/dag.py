"""A decision DAG over all pairs of classes: each test drops one class from a list, until one is left."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.hierarchical.binary_parts import (
    BinaryPartsClassifier,
    binary_problem,
    fit_part,
    part_scores,
    take_rows,
)
from bayesfloor.classify.linear.one_vs_one import pair_sides
from bayesfloor.classify.training import F64, I64, Training


class DAGClassifier(BinaryPartsClassifier):
    """One binary classifier for each pair of classes, of which a row meets one fewer than there are classes.

    A row starts with the list of all classes. The classifier of the first and the last class on the list drops one of
    the two, and so on until one class is left (Platt, Cristianini and Shawe-Taylor 2000).

    Parameters
    ----------
    estimator : classifier or None, default=None
        A clone of it works on each pair of classes. None stands for `LinearSVCCV`.
    n_jobs : int or None, default=None
        How many pairs to fit at once; None for one, unless in a ``joblib.parallel_config``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    estimators_ : list of n_classes * (n_classes - 1) / 2 estimators
        One per pair: of classes 0 and 1, 0 and 2, and so on. Label 1 is the second class of the pair.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    HierarchicalClassifier : A tree of classes instead of all pairs.

    References
    ----------
    J. C. Platt, N. Cristianini and J. Shawe-Taylor, *Large margin DAGs for multiclass classification*, NIPS 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bayesfloor.classify.hierarchical.dag import DAGClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = DAGClassifier(LogisticRegression()).fit(X, y)
    >>> len(classifier.estimators_), classifier.predict(X[::50]).tolist()
    (3, [0, 1, 2])
    """

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _fit_parts(self, training: Training, groups: I64 | None, fit_params: dict[str, Any]) -> None:
        problems = (binary_problem(training, sides) for sides in pair_sides(len(training.classes)))
        estimator = self._part_estimator()
        self.estimators_ = self._run(fit_part, ((estimator, training.X, each, fit_params, None) for each in problems))

    def decision_function(self, X: Any) -> F64:
        """Score each class for each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The smallest signed score of the class in the tests it took part in: above 0 for the predicted class, the
            score by which it was dropped for any other. For two classes, the score of the second.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        margins = np.full((rows.shape[0], len(self.classes_)), np.inf)
        self._decide(rows, margins)
        return margins[:, 1] if len(self.classes_) == 2 else margins

    def _decide(self, rows: Any, margins: F64 | None = None) -> I64:
        """Run the tests that each row meets; return the codes of the classes left.

        The classes still on a row's list are neighbours, so after each test it is enough to know the first of them.
        Where ``margins`` (n_rows, n_classes) is given, it is lowered to the scores in these tests.
        """
        n_classes = len(self.classes_)
        first = np.zeros(rows.shape[0], np.int64)
        for width in range(n_classes - 1, 0, -1):
            order = np.argsort(first, kind="stable")
            lists, starts = np.unique(first[order], return_index=True)
            for code, some in zip(lists.tolist(), np.split(order, starts[1:]), strict=True):
                rival = code + width
                scores = part_scores(self._part_of_pair(code, rival), take_rows(rows, some))
                first[some] += scores > 0
                if margins is not None:
                    margins[some, rival] = np.minimum(margins[some, rival], scores)
                    margins[some, code] = np.minimum(margins[some, code], -scores)
        return first

    def _part_of_pair(self, first: int, second: int) -> Any:
        n_before = first * (2 * len(self.classes_) - first - 1) // 2
        return self.estimators_[n_before + second - first - 1]
