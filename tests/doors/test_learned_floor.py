"""The learned floor as users meet it: results, options, invariance, and what bad input leads to."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from bayesfloor import learned_floor
from helpers.agreement import codes_of
from helpers.known_samples import gaussian_classes, same
from helpers.refusals import options_not_refused

#: Learners that take milliseconds, for tests that are not about accuracy.
QUICK = ["gaussian", "neighbours"]


def two_gaussians(n=400, distance=2.0, seed=0, n_features=2):
    return gaussian_classes(np.random.default_rng(seed), n, [0.5, 0.5], [[0.0], [distance]], n_features)


def test_floor_of_two_gaussians():
    """At a distance of 2 it is 0.1587."""
    floor = learned_floor(*two_gaussians(500), learners=[*QUICK, "logistic"])
    assert abs(floor.estimate - 0.1587) < 0.03
    assert floor.reached_interval[0] < floor.reached < floor.reached_interval[1]
    assert floor.reached <= floor.interval[1]
    assert abs(floor.residual_z) < 3
    assert_allclose(floor.curve.size, [400, 200, 100])
    assert floor.n_samples == floor.n_rows == 500
    assert floor.n_classes == 2
    assert floor.seconds > 0
    assert sum(floor.weights.values()) > 0.5


def test_separable_classes_have_floor_zero():
    floor = learned_floor(*two_gaussians(300, 20.0), learners=QUICK, checks=False)
    assert floor.reached == 0.0
    assert floor.interval[0] == 0.0
    assert floor.estimate == 0.0  # never above what was reached
    assert 0.0 < floor.interval[1] < 0.02


def test_pure_noise():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 5)), np.arange(400) % 4
    floor = learned_floor(X, y, learners=[*QUICK, "logistic"])
    assert abs(floor.estimate - 0.75) < 0.04
    assert floor.interval[1] >= 0.75
    assert "BF023" in codes_of(floor)
    assert floor.majority_error == 0.75


def test_seeds():
    X, y = two_gaussians(150)
    one, again, other = (learned_floor(X, y, cv=9, learners=["gaussian"], random_state=seed) for seed in (1, 1, 2))
    assert_allclose(one.curve.size, [150 * 8 / 9, 150 * 4 / 9, 150 * 2 / 9], rtol=0.02)
    same(one, again, rtol=0)
    assert one.estimate != other.estimate


def test_a_sample_of_the_rows():
    X, y = two_gaussians(500)
    floor = learned_floor(X, y, max_rows=100, learners=["gaussian"])
    assert (floor.n_samples, floor.n_rows) == (500, 100)
    assert "BF021" in codes_of(floor)
    assert "100 of 500 rows" in str(floor.findings[0])
    assert "BF021" not in codes_of(learned_floor(X, y, max_rows=None, learners=["gaussian"]))


def test_a_checkerboard():
    """It is invisible to Gaussian classes, whose neighbours err alike; what neighbours learn of it still falls."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (600, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    blind, learning = (learned_floor(X, y, learners=[name], checks=False) for name in QUICK)
    assert blind.residual_z > 5
    assert "BF024" in codes_of(blind)
    assert learning.residual_z < blind.residual_z / 2
    assert "BF025" in codes_of(learning)
    assert learning.curve.value[0] < learning.curve.value[-1]
    assert learning.estimate < learning.reached


def test_learners_of_ones_own():
    X, y = two_gaussians(100)
    named = learned_floor(X, y, learners={"bayes": GaussianNB(), "forest": RandomForestClassifier(5)})
    assert set(named.weights) <= {"bayes", "forest"}
    assert set(learned_floor(X, y, learners=GaussianNB()).weights) == {"GaussianNB"}
    both = learned_floor(X, y, learners=["gaussian", GaussianNB()])
    assert set(both.weights) - {"GaussianNB"} <= {"prior", "LDA", "QDA", "Gaussian naive Bayes"}


def test_confidence():
    X, y = two_gaussians(300)
    low, high = (learned_floor(X, y, learners=["gaussian"], confidence=level) for level in (0.5, 0.99))
    assert low.estimate == high.estimate
    assert high.interval[0] <= low.interval[0]
    assert low.interval[1] < high.interval[1]


def test_records():
    floor = learned_floor(*two_gaussians(100), learners=QUICK)
    frame = floor.frame()
    assert frame["estimate"][0] == floor.estimate
    assert frame["interval_low"][0] == floor.interval[0]
    assert len(frame) == 1
    assert len(floor.curve.frame()) == 3
    assert f"{floor.estimate:.4f}" in repr(floor)
    assert "limit" in repr(floor.curve)
    drawn = floor.metrics["error"].curve_at
    assert_allclose(drawn(floor.curve.size[0]), floor.curve.value[0], atol=0.03)  # but for a rise, which is smoothed
    assert_allclose(drawn(1e12), floor.estimate, atol=1e-3)


def test_what_cannot_be_used():
    X, y = two_gaussians(100)
    table = [
        ({"confidence": 1.0}, "'confidence' parameter must be a float in the range"),
        ({"cv": 4}, r"'cv' parameter must be an int in the range \[5, inf\)"),
        ({"cv": 5.0}, "'cv' parameter"),
        ({"cv": 60}, "needs at least 240 rows. Got 100"),
        ({"max_rows": 3}, "max_rows=3 is less than two rows for each"),
        ({"max_rows": "all"}, "'max_rows' parameter must be an int or None"),
        ({"learners": "magic"}, "'default', 'gaussian', .* Got 'magic'"),
        ({"learners": []}, "at least one learner"),
        ({"learners": [3]}, "must be a classifier with predict_proba. Got 3"),
        ({"learners": [GaussianNB(), GaussianNB()]}, "two learners called 'GaussianNB'"),
        ({"learners": {"all": "default", "LDA": GaussianNB()}}, "two learners called 'LDA'"),
        ({"learners": {"50 neighbours": GaussianNB(), "fast": "neighbours"}}, "called '50 neighbours'"),
        ({"random_state": "x"}, "'random_state' parameter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": "loud"}, "'progress' parameter"),
        ({"X": np.where(X > 1, np.nan, X)}, "NaN"),
        ({"y": np.zeros(100)}, "class"),
        ({"y": y[:-1]}, "(?i)inconsistent|length|rows"),
    ]
    assert options_not_refused(lambda **given: learned_floor(**{"X": X, "y": y, **given}), table) == []


def test_hostile_but_usable_data():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((60, 2))
    X = np.column_stack([np.full(60, 3.0), 1e300 * np.tanh(draws[:, 0]), 1e-300 * draws[:, 1], np.arange(60.0)])
    y = np.arange(60) % 2
    far = np.where(np.arange(60)[:, np.newaxis] == 3, [3.0, 1e20], draws)  # one cell far from all others
    for points, learners in ((X, "default"), (far, ["gaussian", "neighbours", "kernels"])):
        floor = learned_floor(points, y, learners=learners, checks=False)
        assert 0 <= floor.interval[0] <= floor.estimate <= floor.interval[1] <= 1


def test_progress_and_interrupt():
    calls = []
    learned_floor(*two_gaussians(200), learners=QUICK, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1]
    assert all(one[0] <= two[0] for one, two in pairwise(calls))

    stopped = []

    def interrupt(done, total):
        stopped.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learned_floor(*two_gaussians(200), learners=QUICK, progress=interrupt)
    assert len(stopped) == 1  # at the first report, and not once more
