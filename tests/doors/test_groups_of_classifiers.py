"""Classifiers that cross-validate, where rows belong together."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import HierarchicalClassifier, LinearSVCCV, OneVsOneSVC, SmartSVC

#: Some classes are in one fold only, on purpose; and two values of C are a grid with nothing but edges.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Some of the . folds lack a class"),
    pytest.mark.filterwarnings("ignore:The accuracy, .* still rises at C = "),
]

CROSS_VALIDATING = [
    SmartSVC(Cs=[1.0, 16.0], cv=5, affinity="bhattacharyya", routing="soft"),
    LinearSVCCV(Cs=[1.0, 16.0], cv=5),
    OneVsOneSVC(Cs=[1.0, 16.0], cv=5),
]
MADE_OF_PARTS = [
    HierarchicalClassifier(LinearSVCCV(Cs=[1.0, 16.0], cv=5), routing="soft"),
    HierarchicalClassifier(LogisticRegression(), routing="soft"),
]


def copies(seed=0, n_groups=15, size=8):
    """Rows of a group are nearly the same, and labels have nothing to do with them."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.standard_normal((n_groups, 12))[groups] + 0.01 * rng.standard_normal((len(groups), 12))
    return X, (np.arange(n_groups) % 3)[groups], groups


def best_accuracy(classifier):
    return classifier.cv_scores_.mean(axis=1).max()


@pytest.mark.parametrize("classifier", CROSS_VALIDATING, ids=lambda each: type(each).__name__)
def test_no_fold_knows_the_groups_of_another(classifier):
    X, y, groups = copies()
    assert best_accuracy(classifier.fit(X, y)) > 0.9  # copies of each row are in all folds
    assert best_accuracy(classifier.fit(X, y, groups=groups)) < 0.7
    splitter = sklearn.base.clone(classifier).set_params(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert splitter.cv_scores_.shape == (2, 3)


def test_a_class_in_one_group_only():
    X, y, groups = copies()
    y[groups == 4] = 9
    for classifier in (*CROSS_VALIDATING, *MADE_OF_PARTS):
        fitted = classifier.fit(X, y, groups=groups)
        assert set(fitted.predict(X)) <= {0, 1, 2, 9}
        if hasattr(fitted, "predict_proba"):
            np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


def test_parts_get_the_groups():
    X, y, groups = copies()
    estimator = LinearSVCCV(Cs=[1.0, 16.0], cv=5)
    classifier = HierarchicalClassifier(estimator)
    parts = classifier.fit(X, y, groups=groups).estimators_
    assert np.mean([best_accuracy(part) for part in parts]) < 0.8
    assert np.mean([best_accuracy(part) for part in classifier.fit(X, y).estimators_]) > 0.9
    soft = HierarchicalClassifier(estimator, routing="soft")
    slopes = [abs(soft.fit(X, y, groups=each).calibration_[:, 0]) for each in (groups, None)]
    assert slopes[0].max() < slopes[1].min()  # scores say little about new groups, and much about known ones


def test_metadata_routing():
    X, y, groups = copies()
    pipeline = make_pipeline(StandardScaler(), LinearSVCCV(Cs=[1.0, 16.0], cv=5))
    assert best_accuracy(pipeline.fit(X, y, linearsvccv__groups=groups)[-1]) < 0.7
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator in (LinearSVCCV(Cs=[1.0], cv=5).set_fit_request(groups=True), LogisticRegression()):
            HierarchicalClassifier(estimator, routing="soft").fit(X, y, groups=groups)


def test_groups_that_cannot_be_used():
    X, y, groups = copies()
    with pytest.raises(ValueError, match="groups holds one value only"):
        SmartSVC().fit(X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="one value for each of the 120 rows"):
        LinearSVCCV().fit(X, y, groups=groups[1:])
    with pytest.raises(ValueError, match="The 'groups' parameter should not be None"):
        LinearSVCCV(cv=GroupKFold(3)).fit(X, y)
