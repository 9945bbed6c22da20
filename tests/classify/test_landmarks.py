"""LandmarkClassifier: scikit-learn's checks, the room's contract, and what is its own."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesfloor import LandmarkClassifier

from .estimator_contract import (
    BAD_INPUT,
    CONTRACT,
    VARIANT_CONTRACT,
    blobs,
    check_kinds_of_array,
    check_search_in_processes,
)

DEFAULT = LandmarkClassifier(n_jobs=1)
VARIANTS = [
    LandmarkClassifier("fast"),
    LandmarkClassifier("high"),
    LandmarkClassifier(n_landmarks=5, n_rules=0),
]
LANDMARKS_ARE_ROWS = "landmarks and held-out rows are drawn from the rows: one that is given twice counts as two"


def expected_failures(estimator):
    return {f"check_sample_weight_equivalence_on_{kind}_data": LANDMARKS_ARE_ROWS for kind in ("dense", "sparse")}


@pytest.mark.usefixtures("array_api_checks")
@parametrize_with_checks([DEFAULT], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract(check):
    check(clone(DEFAULT))


@pytest.mark.parametrize("check", VARIANT_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("classifier", VARIANTS, ids=repr)
def test_contract_of_variants(classifier, check):
    check(clone(classifier))


def test_kinds_of_array(tmp_path):
    check_kinds_of_array(clone(DEFAULT), tmp_path)


def test_search_in_processes():
    check_search_in_processes(clone(DEFAULT))


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_refused(name):
    change, message = BAD_INPUT[name]
    with pytest.raises((ValueError, TypeError), match=message):
        LandmarkClassifier().fit(*change(*blobs()))
