"""Rows whose label or number models find hard to believe."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import false_discovery_control, norm, t
from sklearn.datasets import make_blobs
from sklearn.metrics import average_precision_score

from bayesfloor import learned_floor, regression_floor
from bayesfloor.floor.learned.suspicious import (
    LISTED_LABEL,
    doubt_labels,
    doubt_numbers,
    nearest_others,
    noise_beyond,
    one_way,
    overlap_curve,
)
from helpers.one_case import for_each


def overlapping(n, distance, rng, share=0.0):
    """Two normal classes with their true probabilities, and a share of the labels turned round."""
    codes = rng.integers(0, 2, n)
    x = rng.standard_normal(n) + distance * (codes - 0.5)
    p = 1.0 / (1.0 + np.exp(-distance * x))
    wrong = rng.random(n) < share
    noisy = share + (1.0 - 2.0 * share) * p
    return np.column_stack([1.0 - noisy, noisy]), np.where(wrong, 1 - codes, codes), wrong


@for_each("distance", [0.5, 4.0])
def test_the_curve_of_overlap_is_that_of_normal_classes(distance):
    rng = np.random.default_rng(0)
    q, codes, _ = overlapping(400_000, distance, rng)
    rows = np.flatnonzero(q[:, 1] > 0.5)
    rows = rows[np.argsort(-q[rows, 1])]
    half = len(rows) // 2
    of_sure, of_rest = (float((codes[some] != 1).mean()) for some in (rows[:half], rows[half:]))
    assert np.interp(of_rest, *overlap_curve()) == pytest.approx(of_sure, abs=0.01)
    # over both halves it is the error of the best rule
    assert 0.5 * (of_sure + of_rest) == pytest.approx(norm.cdf(-distance / 2), abs=0.005)


@for_each("distance", [1.0, 3.0])
def test_overlap_alone_is_no_label_noise(distance):
    """No label is wrong: few are said to be, and none is listed but by chance."""
    found = [doubt_labels(*overlapping(1000, distance, np.random.default_rng(seed))[:2]) for seed in range(20)]
    assert sum(each.interval[0] > 0.0 for each in found) <= 2
    assert np.mean([each.n_wrong for each in found]) <= 30
    assert np.mean([each.is_listed.sum() for each in found]) <= 4


@for_each(("share", "distance"), [(0.02, 6.0), (0.1, 3.0), (0.2, 6.0)])
def test_wrong_labels_are_counted_and_listed(share, distance):
    inside, recall = [], []
    for seed in range(10):
        q, codes, wrong = overlapping(1000, distance, np.random.default_rng(seed), share)
        found = doubt_labels(q, codes)
        assert found.score.sum() == pytest.approx(found.n_wrong)
        assert np.all(found.score[found.is_listed] >= LISTED_LABEL)
        inside.append(found.interval[0] <= wrong.sum() <= found.interval[1])
        assert found.n_wrong == pytest.approx(wrong.sum(), abs=0.06 * len(codes))
        if distance == 6.0:
            assert wrong[found.is_listed].mean() > 0.8
        recall.append(found.is_listed[wrong].mean())
    assert sum(inside) >= 9
    assert distance == 3.0 or np.mean(recall) > 0.7


def test_labels_that_go_one_way_are_ranked_higher():
    """Of two labels that are equally unlikely, the one of a kind that is often mistaken is the more doubtful."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 2000)
    wrong = (truth == 2) & (rng.random(2000) < 0.2)
    codes = np.where(wrong, 3, truth)
    other = rng.integers(0, 4, 2000)  # the model's second choice, of whatever class
    q = np.full((2000, 4), 0.02)
    q[np.arange(2000), other] += 0.1
    q[np.arange(2000), truth] += 0.8
    q /= q.sum(axis=1, keepdims=True)
    weights = one_way(q, codes)
    assert weights[2, 3] == weights.max() > 10
    assert np.all(weights[[0, 1, 3]] < 3)
    ranked = average_precision_score(wrong, doubt_labels(q, codes).z)
    assert ranked >= average_precision_score(wrong, -q[np.arange(2000), codes])
    assert ranked > 0.99


def test_classes_that_overlap_do_not_hide_a_mistake_in_another():
    """Two classes are the same, one is far away, and has a row with the label of another."""
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 3
    codes = np.where(truth > 0, rng.integers(1, 3, 300), 0)
    codes[3] = 1
    first = np.where(truth == 0, rng.uniform(0.9, 0.98, 300), 0.0)
    first[3] = 0.97
    share = rng.uniform(0.45, 0.55, 300)
    q = np.column_stack([first, (1.0 - first) * share, (1.0 - first) * (1.0 - share)])
    found = doubt_labels(q, codes)
    assert np.flatnonzero(found.is_listed).tolist() == [3]


def test_nothing_errs_and_nothing_is_listed():
    codes = np.arange(100) % 4
    found = doubt_labels(np.eye(4)[codes], codes)
    assert (found.n_wrong, found.interval[0], found.is_listed.any()) == (0.0, 0.0, False)
    assert found.interval[1] < 1e-6
    none = doubt_labels(np.empty((0, 3)), np.empty(0, np.int64))
    assert (len(none.score), none.n_wrong, none.interval) == (0, 0.0, (0.0, 0.0))


@for_each("degrees", [3, 100])
def test_how_far_noise_reaches_beside_mistakes(degrees):
    """The tails of t are found although 1% of the numbers are mistakes, far off."""
    rng = np.random.default_rng(0)
    far, sizes = np.full(200, 60.0), np.abs(rng.standard_t(degrees, 19_800))
    least = np.array([1.0, 2.0, 4.0])
    expected = 2.0 * t.sf(least, degrees)
    np.testing.assert_allclose(noise_beyond(np.concatenate([far, sizes]), least), expected, rtol=0.25, atol=2e-5)


def test_noise_alone_reaches_anywhere():
    sizes = np.abs(np.random.default_rng(0).standard_normal(400))
    assert np.array_equal(noise_beyond(sizes, np.array([0.0, 3.0, 5.0])), np.ones(3))
    assert np.array_equal(noise_beyond(np.zeros(7), np.zeros(7)), np.ones(7))
    with_one = np.concatenate([1e-9 * sizes, [1e100]])
    assert noise_beyond(with_one, with_one)[-1] < 1e-9


@pytest.mark.parametrize("draw", ["uniform", "standard_exponential", "t of 3"])
def test_noise_alone_is_rarely_listed(draw):
    rng = np.random.default_rng(0)
    draws = [rng.standard_t(3, 500) if draw == "t of 3" else getattr(rng, draw)(size=500) for _ in range(80)]
    alarms = [doubt_numbers(z - np.median(z)).is_listed.any() for z in draws]
    assert np.mean(alarms) <= 0.05 + 3 * (0.05 * 0.95 / 80) ** 0.5


@for_each("noise", ["normal", "skewed"])
def test_mistakes_are_found_among_few_rows(noise):
    """8 of 400 lie 6 standard deviations off; up, where noise is skewed, it reaches nearly as far."""
    recall, alarms = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(400) if noise == "normal" else rng.standard_exponential(400) - 1.0
        z[:8] += np.resize([6.0, -6.0], 8)
        found = doubt_numbers(z).is_listed
        recall.append(found[:8].mean())
        alarms.append(found[8:].sum() / max(found.sum(), 1))
    assert np.mean(recall) > (0.8 if noise == "normal" else 0.4)
    assert np.mean(alarms) < 0.05


def test_p_values_are_adjusted_as_by_scipy():
    z = np.random.default_rng(0).standard_normal(300)
    z[:5] *= 6
    p = np.empty(300)
    for side in (z > 0, z < 0):
        p[side] = noise_beyond(np.abs(z[side]), np.abs(z[side]))
    np.testing.assert_allclose(1 - doubt_numbers(z).score, false_discovery_control(p), atol=1e-12)


def test_nearest_rows_beside_a_row():
    points = np.random.default_rng(0).standard_normal((40, 3))
    for row, pool in product(range(40), (np.arange(40), np.arange(0, 40, 3), np.arange(3), np.arange(1))):
        others = pool[pool != row]
        expected = others[np.argsort(np.linalg.norm(points[others] - points[row], axis=1))][:5]
        found = nearest_others(points, np.array([row]), pool)[0]
        assert found.tolist() == expected.tolist()[: len(found)]
        assert len(found) == min(5, len(pool) - (row in pool))


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(240, centers=3, cluster_std=1.0, random_state=0, center_box=(-15, 15))
    names = np.array(["a", "b", "c"])[y]
    wrong = [5, 77, 160]
    names[wrong] = np.array(["a", "b", "c"])[(y[wrong] + 1) % 3]
    return X, names, wrong, np.array(["a", "b", "c"])[y]


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_wrong_labels_of_a_floor(blobs):
    X, names, wrong, truth = blobs
    found = learned_floor(X, names).suspicious
    assert sorted(found.row.tolist()) == wrong
    assert found.given.tolist() == names[found.row].tolist()
    assert found.suggested.tolist() == truth[found.row].tolist()
    assert np.all(np.diff(found.score) <= 0)
    for row, label, near in zip(found.row, found.suggested, found.neighbours, strict=True):
        of_label = np.flatnonzero(names == label)
        distance = np.linalg.norm((X[of_label] - X[row]) / X.std(axis=0), axis=1)
        assert near.tolist() == of_label[np.argsort(distance)][:5].tolist()
    assert found.n_wrong_interval[0] <= 3 <= found.n_wrong_interval[1]
    assert (found.n_tested, found.n_samples) == (240, 240)
    assert list(found.frame().columns) == ["row", "given", "suggested", "score"]
    assert "3 listed" in repr(found)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_class_of_one_group_is_not_called_wrong():
    """No model can know it: each is trained without that group."""
    rng = np.random.default_rng(0)
    groups, y = np.arange(200) // 20, np.arange(200) % 2
    y[groups == 3] = 2
    X = rng.normal(size=(200, 2)) + 8 * y[:, None]
    found = learned_floor(X, y, groups=groups).suspicious
    assert not np.isin(found.row, np.flatnonzero(y == 2)).any()
    assert found.n_tested == 180


def test_numbers_of_a_floor():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X @ [3.0, -1.0] + 0.1 * rng.standard_normal(300)
    assert len(regression_floor(X, y, learners=["linear"]).suspicious) == 0
    y[[17, 101]] += [4.0, -4.0]
    found = regression_floor(X, y, learners=["linear"]).suspicious
    assert set(found.row.tolist()) == {17, 101}
    np.testing.assert_allclose(found.given, y[found.row])
    np.testing.assert_allclose(found.suggested, X[found.row] @ [3.0, -1.0], atol=0.5)
    assert np.array_equal(np.sign(found.z), np.sign(found.given - found.suggested))
    assert not np.any(found.neighbours == found.row[:, None])


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_models_that_tell_nothing_speak_against_no_label():
    rng = np.random.default_rng(0)
    found = learned_floor(rng.standard_normal((120, 2)), rng.permutation(np.arange(120) % 2)).suspicious
    assert len(found) == 0
    assert (found.n_wrong, found.n_wrong_interval[0]) == (0.0, 0.0)
    assert found.n_wrong_interval[1] > 30


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_group_that_differs_has_no_wrong_labels():
    """Of 30 patients two are the other way round; in another one label is wrong."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 8)
    y = groups % 2
    X = rng.standard_normal((240, 2)) + 8.0 * y[:, np.newaxis]
    given = np.where(np.isin(groups, [4, 9]), 1 - y, y)
    given[100] = 1 - given[100]
    found = learned_floor(X, given, groups=groups).suspicious
    assert found.row.tolist() == [100]
    assert found.n_tested == 240 - 16
