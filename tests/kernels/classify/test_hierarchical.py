"""The classifier on a class tree: its tree, its routing, its weights."""

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bayesfloor.classify import hierarchical
from bayesfloor.classify.affinity import class_affinity
from bayesfloor.classify.hierarchical import HierarchicalClassifier
from bayesfloor.classify.linear.path_classifiers import OneVsOneSVC, SmartSVC
from bayesfloor.classify.routing import fit_platt, leaf_probabilities
from bayesfloor.floor import pairwise_bayes_error
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.tree import ClassTree, build_class_tree
from helpers.estimator_contract import (
    assert_same_outputs,
    blobs,
)

SVM = LinearSVC(dual=False)


def test_sparse_values_at_fault_are_named():
    X, y = blobs()
    X = sparse.lil_array(np.where(np.abs(X) < 1.0, 0.0, X))
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in 1 row, column 2"):
        HierarchicalClassifier(SVM).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"routing": "fuzzy"}, ValueError, "'routing' parameter must be .* Got 'fuzzy'"),
        ({"affinity": "cosine"}, ValueError, "'affinity' parameter must be .* Got 'cosine'"),
        ({"affinity": np.ones((2, 2))}, ValueError, "4 classes need affinity of shape"),
        ({"tree": "oak"}, ValueError, "oak"),
        ({"tree": [0, 1]}, ValueError, "2"),
        ({"n_trees": 0}, ValueError, "'n_trees'"),
        ({"random_state": "x"}, TypeError, "'random_state'"),
        ({"class_weight": "heavy"}, ValueError, "'class_weight' parameter must be .* Got 'heavy'"),
        ({"class_weight": {0: -1.0}}, ValueError, "not below zero"),
        # in the words of scikit-learn 1.8 and later, or of 1.7
        ({"estimator": LinearSVC}, TypeError, "estimator instance|LinearSVC.*'self'"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, error, message):
    with pytest.raises(error, match=message):
        HierarchicalClassifier(**{"estimator": SVM, **parameters}).fit(*blobs())


# --- the tree


def test_floors_and_tree_are_those_of_the_pairs():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    fitted = HierarchicalClassifier(SVM, tree="min-cut", affinity="henze-penrose").fit(X, y)
    expected = pairwise_bayes_error(X, y).normalized
    np.testing.assert_allclose(fitted.affinity_, expected, rtol=0, atol=1e-12)
    assert fitted.tree_.to_nested() == build_class_tree(expected, fitted.classes_).to_nested()
    assert len(fitted.estimators_) == fitted.tree_.n_nodes == 2
    assert fitted.calibration_ is None


def test_by_default_the_tree_joins_what_overlaps_by_bhattacharyya():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    fitted = HierarchicalClassifier(SVM).fit(X, y)
    _, expected = class_affinity(X, y, affinity="bhattacharyya")
    np.testing.assert_allclose(fitted.affinity_, expected, rtol=0, atol=1e-12)
    by_hand = build_class_tree(expected, fitted.classes_, cut="average-linkage")
    assert fitted.tree_.to_nested() == by_hand.to_nested()


def test_a_tree_by_hand():
    X, y = blobs()
    labels = np.array(["a", "b", "c", "d"])
    nested = [["a", "d"], ["b", "c"]]
    fitted = HierarchicalClassifier(SVM, tree=nested).fit(X, labels[y])
    assert fitted.tree_.to_nested() == nested
    assert fitted.affinity_ is None
    by_object = HierarchicalClassifier(SVM, tree=fitted.tree_).fit(X, labels[y])
    assert isinstance(by_object.tree_, ClassTree)
    assert_same_outputs(by_object, fitted, X)
    # a tree whose classes stand in another order is the same tree
    other_order = build_class_tree(None, labels[::-1], cut=nested)
    assert_same_outputs(HierarchicalClassifier(SVM, tree=other_order).fit(X, labels[y]), fitted, X)
    with pytest.raises(ValueError, match="'d'"):
        HierarchicalClassifier(SVM, tree=fitted.tree_).fit(X[y < 3], labels[y[y < 3]])


def test_each_node_is_the_estimator_fitted_to_its_two_sides():
    X, y = blobs()
    fitted = HierarchicalClassifier(SVM, tree=[[0, 3], [1, 2]]).fit(X, y)
    for part, node in zip(fitted.estimators_, fitted.tree_.nodes, strict=True):
        rows = np.isin(y, node.left + node.right)
        expected = clone(SVM).fit(X[rows], np.isin(y[rows], node.right).astype(int))
        np.testing.assert_array_equal(part.coef_, expected.coef_)
    root, left, right = (part.decision_function(X) for part in fitted.estimators_)
    expected = np.where(root > 0, np.where(right > 0, 2, 1), np.where(left > 0, 3, 0))
    np.testing.assert_array_equal(fitted.predict(X), expected)


# --- routing


class Watched(ClassifierMixin, BaseEstimator):
    """Decides by the first feature alone, and counts the rows it is asked about."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.threshold_ = X[y == 0, 0].mean()
        self.asked_ = 0
        return self

    def decision_function(self, X):
        self.asked_ += len(X)
        return X[:, 0] - self.threshold_


def test_prediction_asks_a_node_about_rows_that_reach_it_only():
    X, y = blobs(200, 5)
    fitted = HierarchicalClassifier(Watched()).fit(X, y)
    predicted = fitted.predict(X)
    for part, node in zip(fitted.estimators_, fitted.tree_.nodes, strict=True):
        below = np.isin(predicted, fitted.classes_[list(node.left + node.right)])
        assert part.asked_ == np.count_nonzero(below)


class Undecided(ClassifierMixin, BaseEstimator):
    """Scores of -1, 0 and 1 only: ties everywhere."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.feature_ = int(y.sum()) % X.shape[1]
        return self

    def decision_function(self, X):
        return np.clip(np.round(X[:, self.feature_]), -1, 1)


def test_ties_are_decided_alike_by_all_methods():
    for nested in ([0, 1], [[0, 2], 1], [[[5, 1], [0, [7, 2]]], [[3, 6], 4]]):
        n_classes = str(nested).count(",") + 1
        X, y = blobs(200, n_classes)
        for routing in ("hard", "soft"):
            fitted = HierarchicalClassifier(Undecided(), tree=nested, routing=routing).fit(X, y)
            scores = fitted.decision_function(X)
            chosen = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
            np.testing.assert_array_equal(fitted.classes_[chosen], fitted.predict(X))
            assert np.isfinite(scores).all()


def test_soft_routing_with_the_estimators_own_probabilities():
    X, y = blobs()
    fitted = HierarchicalClassifier(GaussianNB(), tree=[[0, 3], [1, 2]], routing="soft").fit(X, y)
    p, p_left, p_right = (part.predict_proba(X)[:, 1] for part in fitted.estimators_)
    expected = np.stack([(1 - p) * (1 - p_left), p * (1 - p_right), p * p_right, (1 - p) * p_left], axis=1)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, rtol=1e-14)
    np.testing.assert_allclose(fitted.decision_function(X), np.log(expected), rtol=1e-12)
    assert np.isnan(fitted.calibration_).all()


def test_soft_routing_with_sigmoids_of_held_out_scores(monkeypatch):
    X, y = blobs(n_classes=3)
    seen = []

    def spy(scores, right, weight):
        seen.append((scores.copy(), right.copy()))
        return fit_platt(scores, right, weight)

    monkeypatch.setattr(hierarchical, "fit_platt", spy)
    fitted = HierarchicalClassifier(RidgeClassifier(), tree=[0, [1, 2]], routing="soft").fit(X, y)
    np.testing.assert_array_equal(seen[0][1], y > 0)
    np.testing.assert_array_equal(seen[1][1], y[y > 0] == 2)
    for (scores, _), part, rows in zip(seen, fitted.estimators_, (y >= 0, y > 0), strict=True):
        assert not np.isclose(scores, part.decision_function(X[rows])).any()  # every row was held out
        assert np.corrcoef(scores, part.decision_function(X[rows]))[0, 1] > 0.95
    right = np.stack(
        [
            1 / (1 + np.exp(a * part.decision_function(X) + b))
            for part, (a, b) in zip(fitted.estimators_, fitted.calibration_, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(fitted.predict_proba(X), leaf_probabilities(right, fitted.tree_), rtol=1e-12)


def test_sigmoids_of_tiny_classes():
    for counts in [(1, 1), (2, 2), (1, 1, 1, 1), (3, 1, 40)]:
        y = np.repeat(np.arange(len(counts)), counts)
        X = 3.0 * np.eye(len(counts))[y] + 0.01 * np.random.default_rng(0).standard_normal((len(y), len(counts)))
        fitted = HierarchicalClassifier(SVM, routing="soft").fit(X, y)
        assert np.isfinite(fitted.calibration_).all()
        np.testing.assert_array_equal(fitted.predict(3.0 * np.eye(len(counts))), np.arange(len(counts)))


def test_routing_counts_from_the_next_fit_on():
    X, y = blobs()
    fitted = HierarchicalClassifier(GaussianNB()).fit(X, y)
    hard = fitted.predict(X)
    fitted.set_params(routing="soft")
    np.testing.assert_array_equal(fitted.predict(X), hard)
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        fitted.predict_proba(X)
    assert "available when fitted with routing='soft'" in str(raised.value.__cause__)
    soft = fitted.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(fitted.set_params(routing="hard").predict_proba(X), soft)


def test_any_binary_estimator():
    X, y = blobs()
    for estimator in (
        SVC(kernel="rbf"),
        RidgeClassifier(),
        KNeighborsClassifier(3),  # neither decision_function nor sample_weight
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), SVM),
        sklearn.linear_model.Ridge(),  # a regressor of 0 and 1
        sklearn.linear_model.Perceptron(tol=None, max_iter=50),
    ):
        for routing in ("hard", "soft"):
            fitted = HierarchicalClassifier(estimator, routing=routing, random_state=None).fit(X, y)
            assert fitted.score(X, y) > 0.6
            np.testing.assert_array_equal(fitted.decision_function(X).argmax(axis=1), fitted.predict(X))


# --- weights and metadata


def test_weights_reach_the_nodes():
    X, y = blobs()
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    fitted = HierarchicalClassifier(SVM, tree=[[0, 3], [1, 2]]).fit(X, y, sample_weight=weight)
    rows = np.isin(y, [1, 2])
    expected = clone(SVM).fit(X[rows], (y[rows] == 2).astype(int), sample_weight=weight[rows])
    np.testing.assert_array_equal(fitted.estimators_[2].coef_, expected.coef_)


def test_class_weights_multiply_sample_weights():
    X, y = blobs()
    sample_weight = np.linspace(0.5, 2, 120)
    of_class = {0: 3.0, 2: 0.5}
    total = np.choose(y, [3.0, 1.0, 0.5, 1.0]) * sample_weight
    tree = [[0, 3], [1, 2]]
    for routing in ("hard", "soft"):
        weighted = HierarchicalClassifier(SVM, tree=tree, class_weight=of_class, routing=routing)
        expected = HierarchicalClassifier(SVM, tree=tree, routing=routing).fit(X, y, sample_weight=total)
        assert_same_outputs(weighted.fit(X, y, sample_weight=sample_weight), expected, X)


def test_balanced_classes_weigh_the_same():
    X, y = blobs()
    counts = np.bincount(y)
    balanced = HierarchicalClassifier(SVM, class_weight="balanced").fit(X, y)
    by_hand = {k: len(y) / (4 * count) for k, count in enumerate(counts)}  # scikit-learn's formula
    assert_same_outputs(HierarchicalClassifier(SVM, class_weight=by_hand).fit(X, y), balanced, X)


def test_a_class_of_weight_zero_is_absent():
    X, y = blobs()
    fitted = HierarchicalClassifier(SVM, class_weight={1: 0.0}).fit(X, y)
    assert fitted.classes_.tolist() == [0, 2, 3]
    assert fitted.affinity_.shape == (3, 3)


def test_weights_that_the_estimator_cannot_take():
    X, y = blobs()
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        HierarchicalClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        HierarchicalClassifier(KNeighborsClassifier(), class_weight="balanced").fit(X, y)


def test_class_weights_of_a_pipeline_say_what_to_do():
    X, y = blobs()
    pipeline, balanced = make_pipeline(StandardScaler(), SVM), {"class_weight": "balanced"}
    instead = r"Put the steps before .*: make_pipeline\(StandardScaler\(\), HierarchicalClassifier\(LinearSVC\(\)"
    with pytest.raises(TypeError, match=rf"weights, which class_weight needs\. {instead}, class_weight=…\)\)"):
        HierarchicalClassifier(pipeline, **balanced).fit(X, y)
    with pytest.raises(TypeError, match=rf"Pipeline does not support sample weights\. {instead}\)\)"):
        HierarchicalClassifier(pipeline).fit(X, y, sample_weight=np.ones(len(y)))
    make_pipeline(StandardScaler(), HierarchicalClassifier(SVM, **balanced)).fit(X, y)  # as it says


class Noted(GaussianNB):
    """Remembers the weights it was given."""

    def fit(self, X, y, sample_weight=None):
        self.weight_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_weights_through_a_search_that_routes_metadata():
    X, y = blobs()
    weight = np.linspace(1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = HierarchicalClassifier(Noted(), tree=[[0, 3], [1, 2]]).set_fit_request(sample_weight=True)
        classifier.set_score_request(sample_weight=False)
        search = GridSearchCV(classifier, {"routing": ["hard", "soft"]}, cv=2)
        search.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.estimators_[0].weight_, weight)
    rows = np.isin(y, [1, 2])
    np.testing.assert_array_equal(search.best_estimator_.estimators_[2].weight_, weight[rows])


# --- seeds, errors, jobs


def test_seeds_of_the_nodes():
    X, y = blobs()
    forest = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1, splitter="random"))

    def seeds(random_state):
        fitted = HierarchicalClassifier(forest, random_state=random_state).fit(X, y)
        return [part[-1].random_state for part in fitted.estimators_], fitted.predict(X)

    first, again, other, untouched = seeds(5), seeds(5), seeds(6), seeds(None)
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1], again[1])
    assert len({*first[0], *other[0]}) == 6
    assert untouched[0] == [None] * 3
    assert forest[-1].random_state is None


class Fragile(GaussianNB):
    """Cannot be fitted to few rows, some of which have a certain value."""

    def fit(self, X, y, sample_weight=None):
        if len(X) < 100 and np.any(X[:, 0] == 77.0):
            raise ZeroDivisionError("broken")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_says_at_which_node(n_jobs):
    X, y = blobs()
    X[y == 2, 0] = 77.0
    classifier = HierarchicalClassifier(Fragile(), tree=[["a", "c"], ["b", "d"]], n_jobs=n_jobs)
    with pytest.raises(ZeroDivisionError, match="broken") as raised:
        classifier.fit(X, np.array(["a", "b", "c", "d"])[y])
    assert raised.value.__notes__ == ["This happened while fitting Fragile to tell 'a' from 'c'."]


class Diverged(GaussianNB):
    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)


def test_scores_that_are_no_numbers_are_refused():
    X, y = blobs()
    for routing in ("hard", "soft"):
        fitted = HierarchicalClassifier(Diverged(), routing=routing).fit(X, y)
        with pytest.raises(ValueError, match="Diverged answered NaN for 120 rows"):
            fitted.predict(X)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_jobs_change_nothing(backend):
    import joblib

    X, y = blobs()
    classifier = HierarchicalClassifier(LogisticRegression(), routing="soft")
    alone = clone(classifier).fit(X, y)
    with joblib.parallel_config(backend=backend):
        assert_same_outputs(clone(classifier).set_params(n_jobs=2).fit(X, y), alone, X)


def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 100
    X = 20.0 * rng.standard_normal((100, 3))[y] + 0.1 * rng.standard_normal((300, 3))
    nested = 99
    for label in range(98, -1, -1):
        nested = [label, nested]
    fitted = HierarchicalClassifier(GaussianNB(), tree=nested).fit(X, y)
    assert fitted.tree_.depth == 99
    np.testing.assert_array_equal(fitted.decision_function(X).argmax(axis=1), fitted.predict(X))


class _Threads(LinearSVC):
    """Notes how many threads it would take if it asked for every core."""

    seen: ClassVar[set[int]] = set()

    def fit(self, X, y, sample_weight=None):
        self.seen.add(check_n_jobs(None))
        return super().fit(X, y, sample_weight)


def test_pools_do_not_nest(monkeypatch):
    monkeypatch.setattr("bayesfloor.runtime.limits.usable_cores", lambda: 8)
    X, y = blobs()
    _Threads.seen.clear()
    HierarchicalClassifier(_Threads(), n_jobs=4).fit(X, y)
    assert _Threads.seen == {1}
    _Threads.seen.clear()
    HierarchicalClassifier(_Threads(), n_jobs=1).fit(X, y)
    with parallel_config(n_jobs=2):
        HierarchicalClassifier(make_pipeline(_Threads())).fit(X, y)
    assert _Threads.seen == {1, 8}


# --- names of classes are names


def separated(n_classes, n_features, spread, n=40):
    """Classes so far apart that most floors are 0: rows to train on, and as many to test."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 2 * n)
    X = spread * rng.standard_normal((n_classes, n_features))[y] + rng.standard_normal((len(y), n_features))
    train = np.arange(len(y)) % (2 * n) < n
    return X[train], y[train], X[~train], y[~train]


def splits(tree, names):
    return {frozenset([frozenset(names[c] for c in side) for side in (node.left, node.right)]) for node in tree.nodes}


def test_names_change_neither_tree_nor_predictions():
    alike = np.random.default_rng(0).standard_normal((320, 3)), np.repeat(np.arange(8), 40)  # most floors are 1
    for X, y in (separated(8, 4, 6)[:2], alike):
        for classifier in (
            SmartSVC(1.0),
            SmartSVC(1.0, tree="average-linkage"),
            HierarchicalClassifier(SVM, affinity=np.zeros((8, 8))),
        ):
            expected = classifier.fit(X, y).predict(X)
            tree = splits(classifier.tree_, range(8))
            name = np.random.default_rng(1).permutation(8)
            renamed = classifier.fit(X, name[y])
            assert splits(renamed.tree_, np.argsort(name)) == tree
            np.testing.assert_array_equal(np.argsort(name)[renamed.predict(X)], expected)


@pytest.mark.parametrize(("n_classes", "n_features", "spread"), [(10, 3, 8), (20, 8, 3)])
def test_easy_classes_are_cut_where_a_linear_svm_can(n_classes, n_features, spread):
    X, y, X_test, y_test = separated(n_classes, n_features, spread)
    pairs = OneVsOneSVC(1.0).fit(X, y).score(X_test, y_test)
    assert pairs > 0.97
    smart = SmartSVC(1.0).fit(X, y)
    assert smart.score(X_test, y_test) > pairs - 0.04
    assert [finding.code for finding in smart.tree_.findings] == ["BF018"]
