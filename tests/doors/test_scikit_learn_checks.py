"""scikit-learn's own checks of the estimators of this room, one case an estimator."""

import pytest
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from bayesfloor import (
    HierarchicalClassifier,
    LandmarkClassifier,
    LandmarkRegressor,
    SmartSVC,
    StackedClassifier,
    StackedRegressor,
)

WEIGHTS_ARE_ROWS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
ROWS_ARE_COUNTED = "spanning forests count rows, whatever they weigh"
ROWS_ARE_LANDMARKS = "landmarks and held-out rows are drawn from the rows: one that is given twice counts as two"
ROWS_ARE_DRAWN = "learners without weights draw rows by them, and folds are of rows"


@pytest.mark.usefixtures("array_api_checks")
@pytest.mark.parametrize(
    ("estimator", "why_not_weights"),
    [
        (SmartSVC(cv=3), ROWS_ARE_COUNTED),
        (HierarchicalClassifier(LinearSVC(dual=False)), None),
        (LandmarkClassifier(n_jobs=1), ROWS_ARE_LANDMARKS),
        pytest.param(LandmarkRegressor(n_jobs=1), ROWS_ARE_LANDMARKS, marks=pytest.mark.slow),
        pytest.param(
            StackedClassifier("fast", learners=["gaussian"], n_jobs=1), ROWS_ARE_DRAWN, marks=pytest.mark.slow
        ),
        pytest.param(StackedRegressor("fast", learners=["linear"], n_jobs=1), ROWS_ARE_DRAWN, marks=pytest.mark.slow),
    ],
    ids=lambda each: None if each is None or isinstance(each, str) else type(each).__name__,
)
def test_all_but_what_cannot_hold(estimator, why_not_weights):
    expected = dict.fromkeys(WEIGHTS_ARE_ROWS, why_not_weights) if why_not_weights else {}
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    assert [each for each in results if each["status"] == "failed"] == []
    assert {each["check_name"] for each in results if each["status"] == "xfail"} == expected.keys()
