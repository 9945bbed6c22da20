"""Names of classes are names: another order of them gives the same tree and the same predictions."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from bayesfloor.classify.hierarchical import HierarchicalClassifier
from bayesfloor.classify.linear.path_classifiers import OneVsOneSVC, SmartSVC


def separated(n_classes, n_features, spread, n=40, seed=0):
    """Classes so far apart that most floors are 0: rows to train on, and as many to test."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), 2 * n)
    X = spread * rng.standard_normal((n_classes, n_features))[y] + rng.standard_normal((len(y), n_features))
    train = np.arange(len(y)) % (2 * n) < n
    return X[train], y[train], X[~train], y[~train]


def hopeless(n_classes=8, seed=0):
    """Classes with nothing to tell them apart, so that most floors are 1."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40 * n_classes, 3)), np.repeat(np.arange(n_classes), 40)


def splits(tree, names):
    return {frozenset([frozenset(names[c] for c in side) for side in (node.left, node.right)]) for node in tree.nodes}


@pytest.mark.parametrize(
    "classifier",
    [
        SmartSVC(1.0),
        SmartSVC(1.0, tree="average-linkage"),
        SmartSVC(1.0, affinity=np.ones((8, 8))),
        HierarchicalClassifier(LinearSVC(dual=False), affinity="henze-penrose"),
        HierarchicalClassifier(LinearSVC(dual=False), affinity=np.zeros((8, 8))),
    ],
    ids=repr,
)
@pytest.mark.parametrize("points", [separated(8, 4, 6)[:2], hopeless()], ids=["floors of 0", "floors of 1"])
def test_names_change_neither_tree_nor_predictions(points, classifier):
    X, y = points
    expected = classifier.fit(X, y).predict(X)
    tree = splits(classifier.tree_, range(8))
    for seed in range(3):
        name = np.random.default_rng(seed).permutation(8)
        renamed = classifier.fit(X, name[y])
        assert splits(renamed.tree_, np.argsort(name)) == tree
        np.testing.assert_array_equal(np.argsort(name)[renamed.predict(X)], expected)


@pytest.mark.parametrize(("n_classes", "n_features", "spread"), [(10, 3, 8), (20, 8, 3), (30, 8, 3), (30, 3, 10)])
def test_easy_classes_are_cut_where_a_linear_svm_can(n_classes, n_features, spread):
    X, y, X_test, y_test = separated(n_classes, n_features, spread)
    pairs = OneVsOneSVC(1.0).fit(X, y).score(X_test, y_test)
    assert pairs > 0.97
    smart = SmartSVC(1.0).fit(X, y)
    assert smart.score(X_test, y_test) > pairs - 0.04
    assert [finding.code for finding in smart.tree_.findings] == ["BF018"]
