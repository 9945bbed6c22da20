"""Models of many classes: the start in closed form, and shortlists of classes, beside brute force."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, softmax

from bayesfloor import LandmarkClassifier
from bayesfloor.learn.landmarks import row_sums, shortlists
from bayesfloor.learn.landmarks.multinomial import Objective, descend, penalty_of
from bayesfloor.runtime.threads import supervise

from .landmark_rows import class_rows

N_CLASSES = 150


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Several blocks of these few features, as there are of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sums, "BLOCK_VALUES", 1)
        yield


@pytest.fixture(scope="module")
def rows():
    return class_rows(3000, N_CLASSES)


@pytest.fixture(scope="module")
def features(rows):
    return rows.feature_map.features(rows.columns).astype(np.float64)


@pytest.fixture(scope="module")
def start(rows, features):
    judged = features.astype(np.float32), rows.codes
    return shortlists.closed_form_start(rows, N_CLASSES, rows.products(), penalty_of(rows.feature_map), 1.0, judged)


def indicators(codes, n_classes=N_CLASSES):
    return np.eye(n_classes)[codes]


def test_class_sums_are_those_of_the_rows_of_each_class(rows, features):
    expected = (rows.weight[:, np.newaxis] * indicators(rows.codes)).T @ features
    assert_allclose(rows.class_sums(N_CLASSES), expected, rtol=1e-4, atol=1e-4)


def test_start_is_ridge_regression_times_the_factor_of_the_lowest_loss(rows, features, start):
    penalty = penalty_of(rows.feature_map)
    matrix = np.diag(penalty.diagonal)
    matrix[penalty.columns, penalty.columns] += penalty.kernel
    weighted = features * rows.weight[:, np.newaxis]
    ridge = np.linalg.solve(weighted.T @ features + matrix, weighted.T @ indicators(rows.codes)).T
    factor = np.vdot(start, ridge) / np.vdot(ridge, ridge)
    assert_allclose(start, factor * ridge, atol=2e-3 * np.abs(start).max())

    def loss(times):
        return -rows.weight @ log_softmax(times * features @ ridge.T, axis=1)[np.arange(rows.n_rows), rows.codes]

    assert loss(factor) < min(loss(0.5 * factor), loss(2 * factor))


def test_factor_is_judged_on_the_rows_that_are_given(rows, features, start):
    """Labels that have nothing to do with the features are best predicted by scores near zero."""
    wrong = np.random.default_rng(0).permutation(rows.codes)
    careful = shortlists.closed_form_start(
        rows, N_CLASSES, rows.products(), penalty_of(rows.feature_map), 1.0, (features.astype(np.float32), wrong)
    )
    assert np.abs(careful).max() <= np.abs(start).max() / 8


def test_overlaps_are_the_products_of_probabilities(rows, features, start):
    P = softmax(features @ start.T, axis=1)
    totals = P.sum(axis=0)
    expected = P.T @ P / np.sqrt(np.outer(totals, totals))
    np.fill_diagonal(expected, 0)
    assert_allclose(shortlists.class_overlaps(rows, start), expected, rtol=1e-3, atol=1e-5)


@pytest.fixture(scope="module")
def lists(rows, start):
    overlaps = shortlists.class_overlaps(rows, start)
    return shortlists.draw_shortlists(rows.reordered(shortlists.order_along_tree(rows.codes, overlaps)), overlaps, (0,))


def test_loss_and_gradient_over_shortlists_follow_their_definition(rows, start, lists):
    loss, gradient = lists.gradient(start)
    ordered = lists.rows
    assert_array_equal(np.sort(ordered.codes), np.sort(rows.codes))
    expected_loss, expected = 0.0, np.zeros(start.shape)
    for block, classes, extra in zip(ordered.blocks, lists.classes, lists.extra, strict=True):
        F = ordered.feature_map.features(ordered.columns[block]).astype(np.float64)
        scores = F @ start[classes].T + extra
        own = np.searchsorted(classes, ordered.codes[block])
        assert_array_equal(classes[own], ordered.codes[block])
        expected_loss -= ordered.weight[block] @ log_softmax(scores, axis=1)[np.arange(len(F)), own]
        residuals = softmax(scores, axis=1) - indicators(own, len(classes))
        expected[classes] += (residuals * ordered.weight[block][:, np.newaxis]).T @ F
    assert loss == pytest.approx(expected_loss, rel=1e-4)
    assert_allclose(gradient, expected, atol=1e-3 * np.abs(expected).max())


def test_drawn_classes_stand_for_all_that_are_not_listed(lists):
    for classes, extra in zip(lists.classes, lists.extra, strict=True):
        assert len(classes) < N_CLASSES
        assert_allclose(np.exp(extra).sum(), N_CLASSES, rtol=1e-5)


def test_shortlists_of_few_classes_hold_all_of_them():
    rows = class_rows(600, 12)
    start = np.random.default_rng(1).standard_normal((12, rows.feature_map.n_features)).astype(np.float32)
    loss, gradient = shortlists.draw_shortlists(rows, shortlists.class_overlaps(rows, start), (0,)).gradient(start)
    expected_loss, expected = rows.gradient(start)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    assert_allclose(gradient, expected, atol=1e-4 * np.abs(expected).max())


def test_model_from_shortlists_is_as_good_as_that_of_all_classes():
    rows, fresh = (class_rows(n, N_CLASSES, n_landmarks=150, spread=3.0) for n in (4000, 5000))
    F = rows.feature_map.features(fresh.columns)
    penalty, products = penalty_of(rows.feature_map), rows.products()
    judged = rows.feature_map.features(rows.columns), rows.codes
    start = shortlists.closed_form_start(rows, N_CLASSES, products, penalty, 0.1, judged)

    def accuracy(coefficients):
        return np.mean((F @ coefficients.T).argmax(axis=1) == fresh.codes)

    def accuracies(_):
        objective = Objective(rows.gradient, products, penalty, 0.1)
        full = descend(objective, objective.at(start), 6, rows.n_rows).coefficients
        overlaps = shortlists.class_overlaps(rows, start)
        ordered = rows.reordered(shortlists.order_along_tree(rows.codes, overlaps))
        short = shortlists.descend_by_shortlists(ordered, overlaps, products, penalty, 0.1, start, 6, (0,))
        return accuracy(start), accuracy(full), accuracy(short)

    rough, full, short = supervise(accuracies, 1, False)  # with one thread of BLAS: blocks are small
    assert full > rough + 0.02
    assert short > full - 0.01


def fit_many(rows, pool, codes=None):
    """Fit without the last rows, and then with them."""
    own = replace(rows, pool=pool, codes=rows.codes if codes is None else codes)
    kept = own.weighted(np.where(np.arange(3000) < 2500, own.weight, np.float32(0.0)))
    _, go_on = shortlists.fit_many_classes(
        kept, judged_of(own, slice(2500, 3000)), N_CLASSES, penalty_of(rows.feature_map), 0
    )
    return go_on(own)


def judged_of(rows, held):
    columns = rows.columns[held]
    return row_sums.Judged(rows.feature_map.features(columns), columns, rows.codes[held], rows.weight[held])


def test_whole_fit_is_judged_on_rows_that_it_has_not_seen(rows):
    fresh = class_rows(6000, N_CLASSES)
    F = rows.feature_map.features(fresh.columns)
    fitted = supervise(partial(fit_many, rows), 1, False)
    log_probabilities = log_softmax(F @ fitted.coefficients.T, axis=1)
    assert fitted.log_loss == pytest.approx(-log_probabilities[np.arange(6000), fresh.codes].mean(), rel=0.15)
    assert fitted.error == pytest.approx(np.mean(log_probabilities.argmax(axis=1) != fresh.codes), abs=0.08)
    # labels of the held-out rows at random: the fit without them cannot know
    codes = rows.codes.copy()
    codes[2500:] = np.random.default_rng(0).permutation(codes[2500:])
    assert supervise(partial(fit_many, rows, codes=codes), 1, False).error > 0.95


def test_threads_do_not_matter(rows):
    one, two = (supervise(partial(fit_many, rows), n_threads, False) for n_threads in (1, 2))
    assert_array_equal(one.coefficients, two.coefficients)
    assert one.log_loss == two.log_loss


def test_classifier_of_as_many_classes_as_rows():
    X = np.random.default_rng(0).standard_normal((shortlists.MANY_CLASSES, 4))
    y = np.arange(len(X))
    model = LandmarkClassifier().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.5  # scores of scikit-learn 1.7 warn of so many classes
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_rows_of_which_none_can_be_held_out_judge_themselves(rows):
    everything, penalty = judged_of(rows, slice(0, rows.n_rows)), penalty_of(rows.feature_map)
    fitted, _ = supervise(
        lambda pool: shortlists.fit_many_classes(replace(rows, pool=pool), everything, N_CLASSES, penalty, 0), 1, False
    )
    scores = rows.feature_map.features(rows.columns) @ fitted.coefficients.T
    assert np.mean(scores.argmax(axis=1) == rows.codes) > 0.4
    assert np.isfinite(fitted.log_loss)
