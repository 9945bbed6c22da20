"""The classifiers on the path solver beside slower ways to the same end."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit, ShuffleSplit
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
)

from bayesfloor.classify.hierarchical import HierarchicalClassifier
from bayesfloor.classify.linear.path_classifiers import LinearSVCCV, OneVsOneSVC, SmartSVC
from bayesfloor.tree import build_class_tree
from helpers.estimator_contract import (
    assert_same_outputs,
    blobs,
)


def test_a_weight_of_two_is_a_row_given_twice():
    smart = SmartSVC(2.0, tree="average-linkage", affinity="bhattacharyya")
    check_sample_weight_equivalence_on_dense_data("SmartSVC", smart)


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


def slow_svm(C):
    return LinearSVC(C=C, dual=False, tol=1e-8, max_iter=10_000)


class ListOfClasses(OneVsOneClassifier):
    """A list of classes for each row: the first is tested against the last, and the loser is struck off.

    So do Platt, Cristianini and Shawe-Taylor (2000), section 3.
    """

    def predict(self, X):
        pairs = combinations(range(len(self.classes_)), 2)
        scores = {pair: part.decision_function(X) for pair, part in zip(pairs, self.estimators_, strict=True)}
        return self.classes_[[self.left({pair: each[row] for pair, each in scores.items()}) for row in range(len(X))]]

    def left(self, score_of_pair):
        classes = list(range(len(self.classes_)))
        while len(classes) > 1:
            first, last = classes[0], classes[-1]
            classes.remove(first if score_of_pair[first, last] > 0 else last)
        return classes[0]


#: The trees of SmartSVC.
SMART = {"tree": "min-cut", "affinity": "henze-penrose"}

SLOW = {
    "one-vs-rest": (LinearSVCCV, lambda C: OneVsRestClassifier(slow_svm(C))),
    "one-vs-one": (OneVsOneSVC, lambda C: OneVsOneClassifier(slow_svm(C))),
    "dag": (lambda **options: OneVsOneSVC(decision="dag", **options), lambda C: ListOfClasses(slow_svm(C))),
    "tree": (SmartSVC, lambda C: HierarchicalClassifier(slow_svm(C), **SMART)),
}


@pytest.mark.parametrize("kind", SLOW)
def test_same_decisions_as_a_fit_for_each_C(kind):
    fast, slow = SLOW[kind]
    X, y = digits()
    for C in (2.0**-8, 1.0):
        np.testing.assert_array_equal(fast(C=C).fit(X, y).predict(X), slow(C).fit(X, y).predict(X))


@pytest.mark.filterwarnings("ignore:The accuracy, .* still rises at C = 1, the largest value")  # few values are enough
@pytest.mark.parametrize("kind", SLOW)
def test_same_scores_as_a_cross_validation_of_each_C(kind):
    fast, slow = SLOW[kind]
    X, y = wine()
    folds = np.random.default_rng(0).integers(0, 4, len(y))
    Cs = [2.0**-10, 2.0**-4, 1.0]
    tree = SmartSVC(1.0).fit(X, y).tree_.to_nested()  # the tree of all rows serves all folds
    fitted = fast(Cs=Cs, cv=PredefinedSplit(folds)).fit(X, y)
    expected = np.empty((3, 4))
    for level, C in enumerate(Cs):
        for fold in range(4):
            without = slow(C) if kind != "tree" else slow(C).set_params(tree=tree)
            without.fit(X[folds != fold], y[folds != fold])
            expected[level, fold] = accuracy_score(y[folds == fold], without.predict(X[folds == fold]))
    np.testing.assert_allclose(fitted.cv_scores_, expected, atol=1e-12)
    assert Cs[expected.mean(axis=1).argmax()] == fitted.C_
    assert_same_outputs(fitted, fast(C=fitted.C_).fit(X, y), X, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "classifier", [LinearSVCCV(cv=3), OneVsOneSVC(cv=3, decision="dag"), SmartSVC(cv=3, routing="soft")], ids=repr
)
def test_order_of_rows_and_threads_change_nothing(classifier):
    X, y = blobs(200, 5)
    X = np.round(X, 1)
    order = np.random.default_rng(0).permutation(len(y))
    fitted = clone(classifier).set_params(n_jobs=1).fit(X, y)
    permuted = clone(classifier).set_params(n_jobs=3).fit(X[order], y[order])
    assert fitted.C_ == permuted.C_
    np.testing.assert_array_equal(fitted.coef_, permuted.coef_)
    np.testing.assert_array_equal(fitted.intercept_, permuted.intercept_)


def test_order_of_rows_changes_no_balanced_weights():
    X, y = blobs(200, 5)
    weight, order = np.random.default_rng(0).random(200), np.random.default_rng(1).permutation(200)
    fitted = LinearSVCCV(1.0, class_weight="balanced").fit(X, y, sample_weight=weight)
    permuted = LinearSVCCV(1.0, class_weight="balanced").fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_array_equal(fitted.coef_, permuted.coef_)


def test_class_weights_are_weights_of_rows():
    X, y = blobs()
    by_class = SmartSVC(1.0, class_weight={0: 3.0, 2: 0.5}).fit(X, y)
    by_row = SmartSVC(1.0).fit(X, y, sample_weight=np.array([3.0, 1.0, 0.5, 1.0])[y])
    assert_same_outputs(by_class, by_row, X)
    balanced = SmartSVC(1.0, class_weight="balanced").fit(X, y)
    reference = HierarchicalClassifier(slow_svm(1.0), class_weight="balanced", **SMART).fit(X, y)
    assert_same_outputs(balanced, reference, X, rtol=1e-4, atol=1e-5)


def test_class_weights_of_one_against_the_rest():
    """Rows weigh by their class in all problems; liblinear weighs those of the positive class alone."""
    X, y = blobs()
    weight = len(y) / 4 / np.bincount(y)
    problems = [slow_svm(1.0).fit(X, y == k, sample_weight=weight[y]) for k in range(4)]
    ours = LinearSVCCV(1.0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(ours.coef_, [each.coef_[0] for each in problems], rtol=1e-5)
    theirs = slow_svm(1.0).set_params(class_weight="balanced").fit(X, y)
    positives = [slow_svm(1.0).fit(X, y == k, sample_weight=np.where(y == k, weight[k], 1.0)) for k in range(4)]
    np.testing.assert_allclose(theirs.coef_, [each.coef_[0] for each in positives], rtol=1e-5)
    assert not np.allclose(ours.coef_, theirs.coef_, rtol=0.1)
    two = y < 2
    np.testing.assert_allclose(
        LinearSVCCV(1.0, class_weight="balanced").fit(X[two], y[two]).coef_, theirs.fit(X[two], y[two]).coef_, rtol=1e-5
    )


def test_a_warning_where_c_ends_at_the_edge_of_its_grid():
    classifier = LinearSVCCV(cv=5)
    X, y = wine()
    with pytest.warns(UserWarning, match=r"still rises at C = 2\.62e\+05, the largest value .*: scale the features"):
        assert clone(classifier).fit(1e-4 * X, y).C_ == 2.0**18
    noise, kinds = np.random.default_rng(2).standard_normal((150, 60)), np.repeat(np.arange(3), 50)
    noise[:, :3] += np.eye(3)[kinds]
    with pytest.warns(UserWarning, match=r"still rises at C = 0\.00391, the smallest value"):
        assert clone(classifier).set_params(Cs=[2.0**-8, 16.0]).fit(noise, kinds).C_ == 2.0**-8
    with pytest.warns(UserWarning, match=r"0\.399, is the same at every C from 3\.81e-06 to 2\.62e\+05: scale"):
        clone(classifier).fit(1e-6 * X, y)
    # nothing rises where every C does as well as can be, where one is given, or beside a better one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(classifier).fit(np.column_stack([10.0 * y, X]), y)
        clone(classifier).set_params(Cs=[2.0**-20]).fit(X, y)
        clone(classifier).fit(X, y)


def test_a_warning_where_a_class_is_absent_from_a_fold():
    X, y = blobs(100, 3)
    names = np.where(np.arange(100) < 4, "rare", np.array(["a", "b", "b"])[y])
    with pytest.warns(UserWarning, match=r"of the 10 folds lack a class: 'rare' \(4 rows in 4\)\. .* fewer folds"):
        SmartSVC().fit(X, names)
    # in groups of which one has all of a class
    with pytest.warns(UserWarning, match=r"of the 5 folds lack a class: 'rare' \(4 rows in 1\)"):
        LinearSVCCV(cv=5).fit(X, names, groups=np.arange(100) // 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SmartSVC(cv=4).fit(X, names)
        SmartSVC(1.0).fit(X, names)


def test_smart_svc_follows_a_given_tree():
    X, y = load_iris(return_X_y=True)
    names = np.array(["s", "ve", "vi"])[y]
    given = build_class_tree(None, ["s", "ve", "vi"], cut=["ve", ["s", "vi"]])
    for tree in (["ve", ["s", "vi"]], given):
        smart = SmartSVC(1.0, tree=tree).fit(X, names)
        assert smart.tree_.to_nested() == given.to_nested()
        assert smart.affinity_ is None
    assert SmartSVC(1.0, affinity=np.ones((3, 3))).fit(X, names).affinity_.shape == (3, 3)


def test_soft_routing_is_calibrated():
    """Two Gaussians of equal covariance, where the posterior is a sigmoid of a linear score."""
    rng = np.random.default_rng(0)
    y = (rng.random(12_000) < 0.3).astype(int)
    X = y[:, None] * [1.0, 0.7] + rng.standard_normal((12_000, 2))
    smart = SmartSVC(1.0, routing="soft").fit(X[:4000], y[:4000])
    probability = smart.predict_proba(X)[4000:, 1]
    exact = 1 / (1 + np.exp(-(X[4000:] @ [1.0, 0.7] - (1.0 + 0.49) / 2 + np.log(0.3 / 0.7))))
    assert np.abs(probability - exact).max() < 0.1
    assert np.abs(probability - exact).mean() < 0.02


def test_probabilities_need_soft_routing():
    X, y = blobs()
    smart = SmartSVC(1.0).fit(X, y)
    assert not hasattr(smart, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        smart.predict_proba(X)
    assert "routing='soft'" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (SmartSVC(C="best"), "The 'C' parameter must be 'cv' or a positive number"),
        (SmartSVC(C=0.0), "The 'C' parameter"),
        (SmartSVC(C=np.inf), "The 'C' parameter"),
        (SmartSVC(cv=1), "The 'cv' parameter must be an int"),
        (SmartSVC(cv=ShuffleSplit(3)), "tests each row once"),
        (SmartSVC(routing="medium"), "The 'routing' parameter"),
        (SmartSVC(tree="oak"), "The 'tree' parameter must be one of 'min-cut'"),
        (SmartSVC(affinity="love"), "The 'affinity' parameter"),
        (SmartSVC(class_weight="heavy"), "The 'class_weight' parameter"),
        (OneVsOneSVC(decision="coin"), "The 'decision' parameter"),
    ],
)
def test_unusable_parameters(classifier, message):
    with pytest.raises(ValueError, match=message):
        classifier.fit(*blobs())


def test_routing_counts_from_the_next_fit_on():
    X, y = blobs()
    for before, after in (("hard", "soft"), ("soft", "hard")):
        fitted = SmartSVC(1.0, cv=3, routing=before, affinity="bhattacharyya").fit(X, y)
        unchanged = clone(fitted).fit(X, y)
        assert_same_outputs(fitted.set_params(routing=after), unchanged, X)


@pytest.mark.filterwarnings("ignore:The accuracy, .* still rises at C")  # as it should on such features
def test_features_of_any_size():
    """Beside large features the penalty is lost in rounding: classes are told apart, and later there are numbers."""
    classifier = SmartSVC(Cs=3, cv=3)
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    assert clone(classifier).fit(X * 1e4, y).score(X * 1e4, y) > 0.97
    with warnings.catch_warnings():  # the last bits decide whether Newton's method comes to an end
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert clone(classifier).fit(X * 1e10, y).score(X * 1e10, y) > 0.97
    with pytest.warns(ConvergenceWarning, match="did not converge.* Scale the features") as caught:
        assert np.isfinite(clone(classifier).fit(X * 1e100, y).coef_).all()
    assert [each.filename for each in caught] == [__file__]
    X[:, 4] *= 1e155
    with pytest.raises(ValueError, match="whose squares overflow, in 178 rows, column 4"):
        classifier.fit(X, y)


def test_scores_that_overflow():
    X, y = blobs()
    fitted = SmartSVC(1.0, routing="soft", cv=3).fit(X, y)
    with pytest.raises(ValueError, match="scores exceed the range of float64"):
        fitted.predict_proba(np.full((1, 3), 1.7e308) * np.sign(fitted.coef_[0]))
