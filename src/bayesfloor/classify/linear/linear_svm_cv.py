"""A linear SVM that finds its own C: one problem for two classes, one against the rest for more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.linear.path_classifier import PathClassifier
from bayesfloor.classify.training import Training


class LinearSVCCV(PathClassifier):
    """Linear SVM with the squared hinge, its C chosen by cross-validation along a path.

    Fits what ``GridSearchCV(LinearSVC(dual=False), {"C": …}, cv=10)`` fits, many times faster: each C starts from the
    solution of the one before, and each fold from the solution on all rows. Several classes are each separated from
    the rest, with one C for all.

    Parameters
    ----------
    C : "cv" or float, default="cv"
        "cv" chooses the C with the best cross-validated accuracy; a number is taken as it is.
    Cs : int or array-like, default=19
        How many values from 2^-18 to 2^18, or the values themselves.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
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
    linear_svm_path : The solutions for all C.
    SmartSVC : Several classes by a tree of such problems.

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
