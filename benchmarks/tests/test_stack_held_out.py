"""What a stack says of itself, beside fresh rows whose figures are known."""

import numpy as np
import pytest

from benchmarks.problems.random_problems import RandomProblem
from benchmarks.truth import stack_held_out as script


def test_fresh_figures_are_means_over_what_may_be_observed():
    """Of two classes told by a sign with a chance of .9, the best rule errs in .1 of the rows."""

    def known(X):
        chance = np.where(X[:, 0] > 0, 0.9, 0.1)
        return np.column_stack([1 - chance, chance]), np.zeros(len(X))

    problem = RandomProblem("sign", lambda n, rng: rng.standard_normal((n, 1)), known, 8.0, 0.1)

    class Best(script.StackedClassifier):
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return known(X)[0]

    found = script.fresh_figures(problem, Best(), np.random.default_rng(0))
    assert found["error"] == pytest.approx(0.1)
    assert found["log_loss"] == pytest.approx(-0.9 * np.log(0.9) - 0.1 * np.log(0.1))


def test_fresh_figures_of_numbers():
    """A line with normal noise of deviation .5, predicted .5 too high."""
    problem = RandomProblem(
        "line",
        lambda n, rng: rng.standard_normal((n, 1)),
        lambda X: (X, np.full(len(X), 0.5)),
        1e6,
        0.8,
    )

    class High:
        def predict(self, X):
            return X[:, 0] + 0.5

    found = script.fresh_figures(problem, High(), np.random.default_rng(0))
    assert found["rmse"] == pytest.approx(0.5**0.5)
    assert found["r2"] == pytest.approx(1 - 0.5 / 1.25, abs=0.01)
    # E|z + 1| / 2 of a normal z: a folded normal
    assert found["mae"] == pytest.approx(0.5 * 1.16663, abs=0.005)


def test_cells():
    stated = [[0.2, 0.1, 0.3], [0.3, 0.25, 0.35]]
    records = [
        {
            "stated": {"error": each},
            "measured": {"error": each[0] + 0.01},
            "known": {"error": 0.25},
            "fresh": {"error": 0.22},
        }
        for each in stated
    ]
    n, covers, width, off, by_posteriors, before = script.cells_of(records, "error")
    assert (n, covers, width) == ("2", "50.0%", "0.150")
    assert off.startswith("+0.0300")
    assert by_posteriors.startswith("+0.0200")
    assert before.startswith("+0.0300")
