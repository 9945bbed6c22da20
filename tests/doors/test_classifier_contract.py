"""What every classifier of this room must do: one of each kind in full, and variants where a parameter can matter."""

import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayesfloor import (
    HierarchicalClassifier,
    LandmarkClassifier,
    LinearSVCCV,
    OneVsOneSVC,
    SmartSVC,
    StackedClassifier,
)
from helpers.estimator_contract import (
    CONTRACT,
    VARIANT_CONTRACT,
    check_kinds_of_array,
    check_search_in_processes,
    check_splitter_beside_rows_of_weight_zero,
)

SVM = LinearSVC(dual=False)
EACH_KIND = [
    SmartSVC(cv=3),
    HierarchicalClassifier(SVM),
    LandmarkClassifier(n_jobs=1),
    StackedClassifier("fast", learners=["gaussian"], checks=False, n_jobs=1),  # of some problems a column tells all
]
VARIANTS = {
    "one against the rest": LinearSVCCV(cv=3),
    "dag": OneVsOneSVC(cv=3, decision="dag"),
    "Bhattacharyya": SmartSVC(2.0, tree="average-linkage", affinity="bhattacharyya"),
    "soft": SmartSVC(cv=3, routing="soft"),
    "min-cut": HierarchicalClassifier(SVM, tree="min-cut", affinity="henze-penrose"),
    "Platt": HierarchicalClassifier(SVM, routing="soft"),
    "own probabilities": HierarchicalClassifier(GaussianNB(), routing="soft"),
    "default": HierarchicalClassifier(),
    "fast": LandmarkClassifier("fast"),
    "no rules": LandmarkClassifier(n_landmarks=5, n_rules=0),
}


#: Many fits of a stack, and what it has from the same checks of input as the others.
SLOW = ("check_labels_come_back_as_they_were", "check_several_threads", "check_sparse_input")


def name_of(each):
    return each.__name__ if callable(each) else type(each).__name__


CASES = [
    pytest.param(
        classifier,
        check,
        id=f"{name_of(classifier)}-{name_of(check)}",
        marks=[pytest.mark.slow] if name_of(classifier) == "StackedClassifier" and name_of(check) in SLOW else [],
    )
    for classifier in EACH_KIND
    for check in CONTRACT
    if check is not check_splitter_beside_rows_of_weight_zero or "cv" in classifier.get_params(deep=False)
]


@pytest.mark.parametrize(("classifier", "check"), CASES)
def test_contract(classifier, check):
    check(clone(classifier))


@pytest.mark.parametrize("classifier", VARIANTS.values(), ids=VARIANTS)
def test_contract_of_variants(classifier):
    for check in VARIANT_CONTRACT:
        check(clone(classifier))


@pytest.mark.parametrize("classifier", EACH_KIND[:3], ids=name_of)
def test_kinds_of_array(classifier, tmp_path):
    check_kinds_of_array(clone(classifier), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("classifier", EACH_KIND[:3], ids=name_of)
def test_search_in_processes(classifier):
    check_search_in_processes(clone(classifier))
