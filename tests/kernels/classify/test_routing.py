"""Routing against one row at a time, and Platt's sigmoid against general optimisers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from bayesfloor.classify.routing import (
    fit_platt,
    leaf_margins,
    leaf_probabilities,
    log_scores,
    platt_probability,
    route_hard,
)
from bayesfloor.tree import build_class_tree


def random_nested(rng, labels):
    """A random tree of some labels as nested lists."""
    labels = list(rng.permutation(labels))
    while len(labels) > 1:
        i, j = sorted(rng.choice(len(labels), 2, replace=False))
        right = labels.pop(j)
        labels[i] = [labels[i], right]
    return labels[0]


def random_tree(seed, n_classes):
    rng = np.random.default_rng(seed)
    nested = random_nested(rng, np.arange(n_classes).tolist())
    return build_class_tree(None, np.arange(n_classes), cut=nested)


def chain(n_classes):
    """A tree that splits off one class at each node, as deep as a tree can be."""
    nested = n_classes - 1
    for label in range(n_classes - 2, -1, -1):
        nested = [label, nested]
    return build_class_tree(None, np.arange(n_classes), cut=nested)


def walk(scores, tree):
    """The class that one row reaches, by the sides of the nodes."""
    possible = set(range(tree.n_classes))
    for node, score in zip(tree.nodes, scores, strict=True):
        if possible == {*node.left, *node.right}:
            possible = set(node.right if score > 0 else node.left)
    (code,) = possible
    return code


TREES = st.builds(random_tree, st.integers(0, 10**6), st.integers(2, 9))
SCORES = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324]), st.floats(-1e3, 1e3))


@given(st.data())
def test_hard_routing_follows_the_sides(data):
    tree = data.draw(TREES)
    scores = data.draw(arrays(np.float64, (4, tree.n_nodes), elements=SCORES))
    expected = [walk(row, tree) for row in scores]
    assert route_hard(scores, tree).tolist() == expected
    assert leaf_margins(scores, tree).argmax(axis=1).tolist() == expected


@given(st.data())
def test_margins_are_the_worst_score_on_the_way(data):
    tree = data.draw(TREES)
    scores = data.draw(arrays(np.float64, (4, tree.n_nodes), elements=SCORES))
    margins = leaf_margins(scores, tree)
    for row, margin in zip(scores, margins, strict=True):
        for code in range(tree.n_classes):
            on_the_way = tree.sides[:, code] != 0
            worst = np.min(tree.sides[on_the_way, code] * row[on_the_way])
            assert margin[code] == pytest.approx(worst, rel=0, abs=1e-300)
        assert np.count_nonzero(margin > 0) == 1  # never a tie, not even at 0


@given(st.data())
def test_probabilities_are_products_along_the_way(data):
    tree = data.draw(TREES)
    right = data.draw(arrays(np.float64, (4, tree.n_nodes), elements=st.floats(0, 1)))
    probability = leaf_probabilities(right, tree)
    for row, of_row in zip(right, probability, strict=True):
        for code in range(tree.n_classes):
            side = tree.sides[:, code]
            expected = np.prod(row[side > 0]) * np.prod(1 - row[side < 0])
            assert of_row[code] == pytest.approx(expected, rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 12])
def test_log_scores_keep_the_order_where_logarithms_cannot(n_classes):
    # neighbouring numbers near 1/12 have the same logarithm
    probability = np.full((2 * n_classes, n_classes), 1 / n_classes)
    best = np.arange(2 * n_classes) % n_classes
    rows = np.arange(2 * n_classes)
    probability[rows, best] = np.nextafter(1 / n_classes, 1)
    scores = log_scores(probability)
    chosen = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(chosen, best)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_scores_are_logarithms_and_never_infinite(n_classes):
    probability = np.random.default_rng(0).dirichlet(np.ones(n_classes), 50)
    expected = np.log(probability)
    if n_classes == 2:
        expected = expected[:, 1] - expected[:, 0]
    np.testing.assert_allclose(log_scores(probability), expected, rtol=1e-9)
    assert np.isfinite(log_scores(np.eye(n_classes))).all()


def test_a_row_alone_gives_the_same_bits():
    tree = random_tree(3, 20)
    rng = np.random.default_rng(0)
    scores, right = rng.standard_normal((50, 19)), rng.random((50, 19))
    for i in (0, 17, 49):
        assert route_hard(scores[[i]], tree) == route_hard(scores, tree)[i]
        np.testing.assert_array_equal(leaf_margins(scores[[i]], tree)[0], leaf_margins(scores, tree)[i])
        np.testing.assert_array_equal(leaf_probabilities(right[[i]], tree)[0], leaf_probabilities(right, tree)[i])


def test_a_thousand_classes_in_a_chain():
    tree = chain(1000)
    assert tree.depth == 999
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((30, 999)) - 2.5
    scores[0] = 1.0  # to the very end
    expected = [int(np.argmax(row <= 0)) if (row <= 0).any() else 999 for row in scores]
    assert route_hard(scores, tree).tolist() == expected
    assert leaf_margins(scores, tree).argmax(axis=1).tolist() == expected
    probability = leaf_probabilities(expit(scores), tree)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(probability[0, -1], expit(1.0) ** 999)


def test_no_rows():
    tree = random_tree(0, 4)
    assert route_hard(np.empty((0, 3)), tree).shape == (0,)
    assert leaf_margins(np.empty((0, 3)), tree).shape == (0, 4)
    assert leaf_probabilities(np.empty((0, 3)), tree).shape == (0, 4)


def platt_loss(ab, scores, right, weight):
    """Platt's cross-entropy with his targets, section 2.2."""
    n_right, n_left = weight[right].sum(), weight[~right].sum()
    target = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n_left + 2))
    margin = -(ab[0] * scores + ab[1])
    return np.sum(weight * (np.logaddexp(0, margin) - target * margin))


def overlapping(seed, n=200):
    rng = np.random.default_rng(seed)
    right = rng.random(n) < 0.3
    return rng.standard_normal(n) + 1.5 * right - 0.3, right, rng.uniform(0.1, 3, n)


@pytest.mark.parametrize(("seed", "weighted"), [(0, False), (1, False), (2, True), (3, True)])
def test_platt_is_where_a_general_optimiser_ends(seed, weighted):
    scores, right, weight = overlapping(seed)
    weight = weight if weighted else np.ones(len(scores))
    best = minimize(platt_loss, [0.0, 0.0], (scores, right, weight), "BFGS", options={"gtol": 1e-7})
    found = fit_platt(scores, right, weight if weighted else None)
    np.testing.assert_allclose(found, best.x, rtol=1e-5, atol=1e-6)
    assert platt_loss(found, scores, right, weight) <= best.fun + 1e-12


class Passes(ClassifierMixin, BaseEstimator):
    """Its decision function is the only column of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
def test_platt_gives_scikit_learns_probabilities():
    scores, right, weight = overlapping(11)
    X, y = scores[:, None], right.astype(int)
    reference = CalibratedClassifierCV(FrozenEstimator(Passes().fit(X, y)), method="sigmoid")
    reference.fit(X, y, sample_weight=weight)
    a, b = fit_platt(scores, right, weight)
    grid = np.linspace(-5, 5, 101)
    expected = reference.predict_proba(grid[:, None])[:, 1]
    np.testing.assert_allclose(platt_probability(grid, a, b), expected, rtol=0, atol=1e-5)


def test_platt_of_separable_scores_reaches_its_targets():
    # with two distinct scores the sigmoid passes through both targets
    a, b = fit_platt([-3.0, -3.0, 1.0, 1.0, 1.0], [False, False, True, True, True])
    np.testing.assert_allclose(platt_probability([-3.0, 1.0], a, b), [1 / 4, 4 / 5])
    scores = np.concatenate([np.linspace(-9, -5, 500), np.linspace(5, 9, 500)])
    a, b = fit_platt(scores, scores > 0)
    assert -10 < a < 0
    assert np.isfinite(b)


def test_platt_minds_neither_the_unit_nor_an_offset():
    scores, right, _ = overlapping(2)
    a, b = fit_platt(scores, right)
    for scale in (1e-150, 1e-3, 1e6, 1e150):
        np.testing.assert_allclose(fit_platt(scale * scores, right), (a / scale, b), rtol=1e-9)
    plain = platt_probability(scores, *fit_platt(scores, right))
    shifted = platt_probability(scores + 1e6, *fit_platt(scores + 1e6, right))
    np.testing.assert_allclose(shifted, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ([0.7, 0.7, 0.7, 0.7], [True, False, False, False]),
        ([0.0, 0.0], [True, False]),
        ([1.0, 2.0, -1.0, -2.0], [False, False, True, True]),  # the wrong way round
    ],
)
def test_scores_that_say_nothing_leave_the_prior(scores, right):
    a, b = fit_platt(scores, right)
    right = np.array(right)
    n_right, n_left = right.sum(), (~right).sum()
    mean_target = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n_left + 2)).mean()
    assert a == 0
    np.testing.assert_allclose(platt_probability([-5.0, 0.0, 5.0], a, b), mean_target)


def test_platt_where_the_best_sigmoid_falls_takes_the_best_that_does_not():
    scores, right, weight = overlapping(4)
    scores = -scores
    best = minimize(platt_loss, [-1.0, 0.0], (scores, right, weight), "L-BFGS-B", bounds=[(None, 0), (None, None)])
    np.testing.assert_allclose(fit_platt(scores, right, weight), best.x, rtol=1e-4, atol=1e-12)


def test_platt_with_one_row_on_a_side():
    a, b = fit_platt([-4.0, 1.0, 1.1, 1.2], [False, True, True, True])
    left, right = platt_probability([-4.0, 1.1], a, b)
    assert left < 0.5 < right
