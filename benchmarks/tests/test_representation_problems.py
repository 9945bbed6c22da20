"""Floors of representations, beside what the best rule does on many rows."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from benchmarks.problems.representation_problems import BY_NAME, PROBLEMS, code_error, error_of
from benchmarks.truth.compare_features import row_of

N = 60_000
NORMAL = ["rotation", "lossy projection", "noise columns", "random projection", "measurement noise", "two views"]


def drawn(name, n=N):
    return BY_NAME[name].draw(n, np.random.default_rng(3))


def test_there_are_twelve_with_equal_and_other_floors():
    assert len(PROBLEMS) == 12
    gaps = []
    for problem in PROBLEMS:
        y, made = problem.draw(50, np.random.default_rng(0))
        assert all(X.shape[0] == len(y) == 50 for X, _ in made.values())
        truths = [truth for _, truth in made.values()]
        gaps += np.abs(np.subtract.outer(truths, truths))[np.triu_indices(len(truths), 1)].tolist()
    assert gaps.count(0.0) >= 12
    assert sum(gap > 0.02 for gap in gaps) >= 25


@pytest.mark.parametrize("name", NORMAL)
def test_normal_classes_have_the_error_of_a_linear_rule(name):
    y, made = drawn(name)
    for X, truth in made.values():
        rule = LinearDiscriminantAnalysis().fit(X[::2], y[::2])
        assert 1.0 - rule.score(X[1::2], y[1::2]) == pytest.approx(truth, abs=0.008)


def test_codes_have_the_error_of_their_cells():
    y, made = drawn("coarse coding")
    for name in ("3 codes", "2 codes"):
        X, truth = made[name]
        rule = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])  # every cell by itself
        assert 1.0 - rule.score(X[1::2], y[1::2]) == pytest.approx(truth, abs=0.008)
    assert code_error(np.array([1.0]), np.array([0.0])) == pytest.approx(norm.cdf(-0.5))
    # fine codes lose nothing
    fine = code_error(np.array([1.0, 0.8]), np.linspace(-4, 4, 200))
    assert fine == pytest.approx(error_of(np.array([1.0, 0.8]), np.eye(2)), abs=1e-3)


def test_five_classes_and_the_checkerboard():
    y, made = drawn("five classes")
    for name in ("plane", "line"):
        X, truth = made[name]
        rule = LinearDiscriminantAnalysis().fit(X[::2], y[::2])
        assert 1.0 - rule.score(X[1::2], y[1::2]) == pytest.approx(truth, abs=0.008)
    y, made = drawn("checkerboard")
    assert np.mean((made["product"][0][:, 0] > 0) != y) == pytest.approx(0.1, abs=0.005)
    assert np.mean((made["one"][0][:, 0] > 0) != y) == pytest.approx(0.5, abs=0.01)


def test_numbers_have_the_best_r2():
    y, made = drawn("linear numbers")
    for X, truth in made.values():
        assert LinearRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) == pytest.approx(truth, abs=0.01)
    y, made = drawn("curved numbers")
    Z = made["as it is"][0]
    codes = np.eye(6)[made["6 codes"][0].astype(int)].reshape(N, -1)
    known = {"as it is": np.column_stack([np.sin(2 * Z[:, 0]), Z[:, 1] ** 2]), "second alone": Z[:, 1:] ** 2}
    for name, terms in (known | {"6 codes": codes}).items():  # y is a sum of what these terms tell
        rule = LinearRegression().fit(terms[::2], y[::2])
        assert rule.score(terms[1::2], y[1::2]) == pytest.approx(made[name][1], abs=0.015)
    assert made["turned"][1] == made["as it is"][1]


def test_figures_of_pairs():
    def pair(truth, floor, interval, p, reached, reached_p):
        return {
            "truth": truth,
            "floor": floor,
            "floor_interval": interval,
            "floor_p_value": p,
            "reached": reached,
            "reached_p_value": reached_p,
        }

    pairs = [
        pair(0.1, 0.08, [0.02, 0.2], 0.01, 0.1, 0.01),
        pair(0.1, -0.01, [-0.1, 0.05], 0.8, 0.02, 0.6),
        pair(0.0, 0.05, [0.01, 0.1], 0.02, 0.05, 0.01),
        pair(0.0, 0.0, [-0.1, 0.1], 0.9, 0.0, 1.0),
    ]
    found = row_of([{"pairs": pairs}])
    assert found == ["4", "50.0% of 2", "100.0% of 2", "50.0% of 2", "50.0% of 4", "50.0% of 2", "50.0% of 2"]
