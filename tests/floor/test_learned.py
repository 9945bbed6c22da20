"""The learned floor as users meet it: results, options, invariance, and what bad input leads to."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from tests.floor.samples import gaussian_classes, one_hot_table

import bayesfloor
from bayesfloor.floor.learned import copies, rows_needed, subgroups
from bayesfloor.floor.learned import findings as learned_findings
from bayesfloor.floor.learned.estimate import learned_floor
from bayesfloor.floor.learned.stack_errors import residual_test
from bayesfloor.floor.trees import near_copies

ROOT = Path(__file__).resolve().parents[2]

#: Learners that take milliseconds, for tests that are not about accuracy.
QUICK = ["gaussian", "neighbours"]


def two_gaussians(n=400, distance=2.0, seed=0, n_features=2):
    return gaussian_classes(np.random.default_rng(seed), n, [0.5, 0.5], [[0.0], [distance]], n_features)


def codes_of(floor):
    return [finding.code for finding in floor.findings]


def same(one, two, rtol=1e-9):
    assert_allclose(
        [one.estimate, *one.interval, one.reached, *one.reached_interval, one.residual_z],
        [two.estimate, *two.interval, two.reached, *two.reached_interval, two.residual_z],
        rtol=rtol,
        atol=1e-12,
    )


def test_floor_of_two_gaussians():
    """At a distance of 2 it is 0.1587."""
    floor = learned_floor(*two_gaussians(500))
    assert floor.interval[0] < 0.1587 < floor.interval[1]
    assert abs(floor.estimate - 0.1587) < 0.03
    assert floor.reached_interval[0] < floor.reached < floor.reached_interval[1]
    assert floor.reached <= floor.interval[1]
    assert abs(floor.residual_z) < 3
    assert_allclose(floor.curve.size, [400, 200, 100])
    assert floor.n_samples == floor.n_rows == 500
    assert floor.n_classes == 2
    assert floor.seconds > 0
    assert sum(floor.weights.values()) > 0.5


def test_floor_in_many_dimensions_where_neighbours_fail():
    X, y = two_gaussians(600, 3.0, n_features=60)  # floor 0.0668
    floor = learned_floor(X, y, learners=[*QUICK, "logistic"])
    assert floor.interval[0] <= 0.0668 <= floor.interval[1]
    assert abs(floor.estimate - 0.0668) < 0.035
    assert bayesfloor.bayes_error(X, y).lower > 0.0668  # what spanning trees call a lower bound


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


def test_order_of_rows_threads_and_names_change_nothing():
    rng = np.random.default_rng(0)
    X, y = one_hot_table(rng, 80, 4, 3)
    X = np.concatenate([X, np.round(rng.standard_normal((80, 1)), 1)], axis=1)
    floor = learned_floor(X, y, n_jobs=1)
    order = rng.permutation(80)
    same(learned_floor(X[order], np.array(["a", "b", "c"])[y[order]], n_jobs=2), floor, rtol=1e-12)
    renamed = learned_floor(X, np.array(["c", "a", "b"])[y], learners=QUICK)  # in another order
    same(renamed, learned_floor(X, y, learners=QUICK), rtol=5e-4)  # weights are found by steps that end somewhere


def test_kinds_of_input():
    X, y = two_gaussians(100)
    labels = np.array(["no", "yes"])[y]
    quick = {"learners": ["gaussian"]}
    floor = learned_floor(X, labels, **quick)
    assert floor.classes.tolist() == ["no", "yes"]
    same(learned_floor(pd.DataFrame(X, columns=["a", "b"]), pd.Series(labels), **quick), floor)
    same(learned_floor(pl.DataFrame(X, schema=["a", "b"]), pl.Series(labels), **quick), floor)
    same(learned_floor(X.tolist(), labels.tolist(), **quick), floor)


def test_seeds():
    X, y = two_gaussians(150)
    one, again, other = (learned_floor(X, y, learners=["gaussian"], random_state=seed) for seed in (1, 1, 2))
    same(one, again, rtol=0)
    assert one.estimate != other.estimate


def test_a_sample_of_the_rows():
    X, y = two_gaussians(500)
    floor = learned_floor(X, y, max_rows=100, learners=["gaussian"])
    assert (floor.n_samples, floor.n_rows) == (500, 100)
    assert "BF021" in codes_of(floor)
    assert "100 of 500 rows" in str(floor.findings[0])
    assert "BF021" not in codes_of(learned_floor(X, y, max_rows=None, learners=["gaussian"]))


def test_a_class_with_fewer_rows_than_folds():
    X, y = two_gaussians(100)
    y[:2] = 7
    floor = learned_floor(X, y, learners=[*QUICK, "logistic"])
    assert "BF022" in codes_of(floor)
    assert "7 (2)" in str(floor.findings)
    assert 0 <= floor.interval[0] <= floor.estimate <= floor.interval[1] <= 1


def test_signal_that_no_learner_caught():
    """A checkerboard is invisible to Gaussian classes; its neighbours err alike."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (600, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    floor = learned_floor(X, y, learners=["gaussian"])
    assert floor.residual_z > 5
    assert "BF024" in codes_of(floor)
    assert learned_floor(X, y, learners=["trees"]).residual_z < floor.residual_z / 2


def test_a_curve_that_still_falls():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (500, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    floor = learned_floor(X, y, learners=["neighbours"])
    assert "BF025" in codes_of(floor)
    assert floor.curve.value[0] < floor.curve.value[-1]
    assert floor.estimate < floor.reached


@pytest.mark.parametrize("size", [1e20, 1e200])
def test_one_cell_far_from_all_others(size):
    X, y = two_gaussians(100)
    X[3, 1] = size
    floor = learned_floor(X, y, learners=["gaussian", "neighbours", "kernels"])
    assert 0 <= floor.interval[0] <= floor.estimate <= floor.reached < 0.4


def test_learners_of_ones_own():
    X, y = two_gaussians(100)
    named = learned_floor(X, y, learners={"bayes": GaussianNB(), "forest": RandomForestClassifier(5)})
    assert set(named.weights) <= {"bayes", "forest"}
    assert set(learned_floor(X, y, learners=GaussianNB()).weights) == {"GaussianNB"}
    both = learned_floor(X, y, learners=["gaussian", GaussianNB()])
    assert set(both.weights) - {"GaussianNB"} <= {"prior", "LDA", "QDA", "Gaussian naive Bayes"}


def test_more_folds():
    X, y = two_gaussians(200)
    floor = learned_floor(X, y, cv=9, learners=QUICK)
    assert_allclose(floor.curve.size, [200 * 8 / 9, 200 * 4 / 9, 200 * 2 / 9])


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


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence": 1.0}, ValueError, "'confidence' parameter must be a float in the range"),
        ({"cv": 4}, ValueError, r"'cv' parameter must be an int in the range \[5, inf\)"),
        ({"cv": 5.0}, ValueError, "'cv' parameter"),
        ({"cv": 60}, ValueError, "needs at least 240 rows. Got 100"),
        ({"max_rows": 3}, ValueError, "max_rows=3 is less than two rows for each"),
        ({"max_rows": "all"}, TypeError, "'max_rows' parameter must be an int or None"),
        ({"learners": "magic"}, ValueError, "'default', 'gaussian', .* Got 'magic'"),
        ({"learners": []}, ValueError, "at least one learner"),
        ({"learners": [3]}, TypeError, "must be a classifier with predict_proba. Got 3"),
        ({"learners": [GaussianNB(), GaussianNB()]}, ValueError, "two learners called 'GaussianNB'"),
        ({"learners": {"all": "default", "LDA": GaussianNB()}}, ValueError, "two learners called 'LDA'"),
        ({"learners": {"50 neighbours": GaussianNB(), "fast": "neighbours"}}, ValueError, "called '50 neighbours'"),
        ({"random_state": "x"}, TypeError, "'random_state' parameter"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"progress": "loud"}, TypeError, "'progress' parameter"),
    ],
)
def test_options_that_cannot_be_used(options, error, message):
    with pytest.raises(error, match=message):
        learned_floor(*two_gaussians(100), **options)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [np.nan]] * 20, [0, 1] * 20, "NaN"),
        ([[0.0], [1.0]] * 20, [0] * 40, "class"),
        ([[0.0], [1.0]], [0, 1], "needs at least 20 rows. Got 2"),
        ([[0.0], [1.0]] * 20, [0, 1], "(?i)inconsistent|length|rows"),
    ],
)
def test_data_that_cannot_be_used(X, y, message):
    with pytest.raises(ValueError, match=message):
        learned_floor(X, y)


def test_hostile_but_usable_data():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((60, 2))
    X = np.column_stack([np.full(60, 3.0), 1e300 * np.tanh(draws[:, 0]), 1e-300 * draws[:, 1], np.arange(60.0)])
    y = np.arange(60) % 2
    floor = learned_floor(X, y)
    assert 0 <= floor.interval[0] <= floor.estimate <= floor.interval[1] <= 1
    identical = learned_floor(np.ones((60, 2)), y)
    assert abs(identical.estimate - 0.5) < 1e-9


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


def test_residuals_of_the_true_posterior_are_white():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    logits = np.column_stack([np.zeros(400), X[:, 0], X[:, 1]])
    q = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    folds = np.arange(400) % 5
    z = []
    for seed in range(40):
        draws = np.random.default_rng(seed).random((400, 1))
        codes = (q.cumsum(axis=1) < draws).sum(axis=1)
        z.append(residual_test(X, codes, q[np.newaxis], folds[np.newaxis], 1, 0))
    assert abs(np.mean(z)) < 3 / 40**0.5
    assert 0.75 < np.std(z) < 1.3
    flat = np.full((400, 3), 1 / 3)
    assert residual_test(X, codes, flat[np.newaxis], folds[np.newaxis], 1, 0) > 2.33


def test_modules_list_their_codes():
    files = (learned_findings.__file__, copies.__file__, near_copies.__file__, subgroups.__file__, rows_needed.__file__)
    source = "".join(Path(file).read_text(encoding="utf-8") for file in files)
    described = re.findall(r"^(BF\d{3}) ", learned_findings.__doc__ + subgroups.__doc__, flags=re.MULTILINE)
    assert {*described, *re.findall(r"BF\d{3}", copies.__doc__)} == set(re.findall(r'"(BF\d{3})"', source))
