"""The decision DAG: scikit-learn's checks, the room's contract, and the paper's procedure one row at a time."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesfloor.classify.hierarchical import DAGClassifier

from .estimator_contract import (
    BAD_INPUT,
    CONTRACT,
    blobs,
    check_kinds_of_array,
    check_search_in_processes,
)

SVM = LinearSVC(dual=False)


@pytest.mark.usefixtures("array_api_checks")
@parametrize_with_checks([DAGClassifier(SVM)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract(check):
    check(DAGClassifier(clone(SVM)))


@pytest.mark.parametrize("case", BAD_INPUT)
def test_refused_with_a_reason(case):
    change, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        DAGClassifier(SVM).fit(*change(*blobs()))


def test_kinds_of_array(tmp_path):
    check_kinds_of_array(DAGClassifier(GaussianNB()), tmp_path)


@pytest.mark.slow
def test_search_in_processes():
    check_search_in_processes(DAGClassifier(SVM))


def descend(score_of_pair, n_classes):
    """Platt et al., section 3: a list of classes, the first tested against the last, the loser struck off."""
    classes, tests = list(range(n_classes)), []
    while len(classes) > 1:
        first, last = classes[0], classes[-1]
        tests.append((first, last))
        classes.remove(first if score_of_pair[first, last] > 0 else last)
    return classes[0], tests


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_rows_meet_the_tests_of_the_paper(n_classes):
    X, y = blobs(150, n_classes)
    fitted = DAGClassifier(SVM).fit(X, y)
    pairs = list(combinations(range(n_classes), 2))
    assert len(fitted.estimators_) == len(pairs)
    scores = {}
    for (a, b), part in zip(pairs, fitted.estimators_, strict=True):
        rows = (y == a) | (y == b)
        alone = clone(SVM).fit(X[rows], (y[rows] == b).astype(int))
        np.testing.assert_array_equal(part.coef_, alone.coef_)
        scores[a, b] = alone.decision_function(X)
    predicted, margins = fitted.predict(X), fitted.decision_function(X)
    for i in range(len(X)):
        of_row = {pair: score[i] for pair, score in scores.items()}
        code, tests = descend(of_row, n_classes)
        assert predicted[i] == code
        if n_classes == 2:
            assert margins[i] == pytest.approx(of_row[0, 1], rel=1e-12)
            continue
        for k in range(n_classes):
            signed = [of_row[t] if t[1] == k else -of_row[t] for t in tests if k in t]
            assert margins[i, k] == pytest.approx(min(signed), rel=1e-12)


class Watched(ClassifierMixin, BaseEstimator):
    """Scores of -1, 0 and 1 by one feature: ties everywhere. Counts the rows it is asked about."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.feature_ = len(y) % X.shape[1]
        self.asked_ = 0
        return self

    def decision_function(self, X):
        self.asked_ += len(X)
        return np.clip(np.round(X[:, self.feature_]), -1, 1)


def test_ties_are_decided_alike_and_each_row_meets_one_test_fewer_than_classes():
    X, y = blobs(200, 6)
    fitted = DAGClassifier(Watched()).fit(X, y)
    predicted = fitted.predict(X)
    assert sum(part.asked_ for part in fitted.estimators_) == 5 * 200
    np.testing.assert_array_equal(fitted.decision_function(X).argmax(axis=1), predicted)


def test_weights_reach_the_pairs():
    X, y = blobs()
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    fitted = DAGClassifier(SVM).fit(X, y, sample_weight=weight)
    rows = (y == 1) | (y == 3)
    expected = clone(SVM).fit(X[rows], (y[rows] == 3).astype(int), sample_weight=weight[rows])
    np.testing.assert_array_equal(fitted.estimators_[4].coef_, expected.coef_)


def test_the_default_is_a_linear_svm():
    X, y = blobs()
    fitted = DAGClassifier().fit(X, y)
    assert type(fitted.estimators_[0]).__name__ == "LinearSVCCV"
    assert fitted.score(X, y) > 0.6
