"""Strange but legal input to the floors that learn: each has finite figures, or is refused in the words named here."""

import re
import warnings

import numpy as np
import pytest

from bayesfloor import floor_gap, learned_floor, regression_floor
from bayesfloor.exceptions import TrustWarning

N = 48
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2))
HALVES = np.arange(N) % 2
ONE = (np.arange(N) == 7).astype(int)
NUMBERS = X[:, 0] + RNG.standard_normal(N)
METRICS = ["error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision", "f1"]
QUICK = {"learners": ["gaussian"], "n_jobs": 1}
QUICK_NUMBERS = {"learners": ["linear"], "n_jobs": 1}

CLASSES = {
    "two rows": (X[:2], [0, 1], {}),
    "as few rows as can be": (X[:20], HALVES[:20], {}),
    "one row in a class": (X, ONE, {}),
    "one row in each of two classes": (X, np.where(np.arange(N) < 2, np.arange(N) + 1, 0), {}),
    "as many classes as rows": (X, np.arange(N), {}),
    "two rows in each class": (X, np.arange(N) // 2, {}),
    "classes that features tell exactly": (X, (X[:, 0] > 0).astype(int), {}),
    "all rows equal": (np.ones((N, 2)), HALVES, {}),
    "all rows equal but one": (np.vstack([np.ones((N - 1, 2)), [[2.0, 2.0]]]), HALVES, {}),
    "large values": (1e150 * X, HALVES, {}),
    "small values": (1e-150 * X, HALVES, {}),
    "one group": (X, HALVES, {"groups": np.zeros(N)}),
    "a group for each row": (X, HALVES, {"groups": np.arange(N)}),
    "groups of one class each": (X, HALVES, {"groups": HALVES + 2 * (np.arange(N) % 12 // 2)}),
    "one row in a class, in groups": (X, ONE, {"groups": np.arange(N) // 4}),
    "equal times": (X, HALVES, {"time": np.zeros(N)}),
    "times": (np.vstack([X, X + 0.1]), np.tile(HALVES, 2), {"time": np.arange(2.0 * N)}),
    "a class that ends": (np.vstack([X, X + 0.1]), (np.arange(2 * N) % 3) * (np.arange(2 * N) < N + 9),
                          {"time": np.arange(2.0 * N)}),
    "costs of 0 but one": (X, HALVES, {"costs": [[0, 0], [1, 0]]}),
    "large costs": (X, HALVES, {"costs": [[0, 1e99], [1, 0]]}),
    "small costs": (X, HALVES, {"costs": [[0, 1e-99], [1e-98, 0]]}),
    "costs below 0": (X, HALVES, {"costs": [[-2, -1], [-1, -2]]}),
    "subgroups of single rows": (X, HALVES, {"by": np.where(np.arange(N) < 3, np.arange(N), 9).astype(str)}),
}  # fmt: skip

TARGETS = {
    "two rows": (X[:2], [0.0, 1.0], {}),
    "as few rows as can be": (X[:20], NUMBERS[:20], {}),
    "constant": (X, np.ones(N), {}),
    "constant but one": (X, ONE.astype(float), {}),
    "two values": (X, HALVES.astype(float), {}),
    "exactly linear": (X, X[:, 0], {}),
    "all rows equal": (np.ones((N, 2)), NUMBERS, {}),
    "large": (X, 1e150 * NUMBERS, {}),
    "small": (X, 1e-150 * NUMBERS, {}),
    "far from 0": (X, 1e15 + NUMBERS, {}),
    "weights of 0": (X, NUMBERS, {"sample_weight": (np.arange(N) > 9).astype(float)}),
    "one weight": (X, NUMBERS, {"sample_weight": ONE.astype(float)}),
    "large weights": (X, NUMBERS, {"sample_weight": 1e300 * (1.0 + HALVES)}),
    "small weights": (X, NUMBERS, {"sample_weight": 1e-300 * (1.0 + HALVES)}),
    "weights of all sizes": (X, NUMBERS, {"sample_weight": 10.0 ** np.linspace(-300, 300, N)}),
    "one group": (X, NUMBERS, {"groups": np.zeros(N)}),
    "a group for each row": (X, NUMBERS, {"groups": np.arange(N)}),
    "groups without weight": (X, NUMBERS, {"groups": np.arange(N) // 8, "sample_weight": (np.arange(N) < 32) * 1.0}),
    "equal times": (X, NUMBERS, {"time": np.zeros(N)}),
    "times": (np.vstack([X, X + 0.1]), np.tile(NUMBERS, 2), {"time": np.arange(2.0 * N)}),
    "constant in the later half": (np.vstack([X, X + 0.1]), np.append(NUMBERS, np.zeros(N)),
                                   {"time": np.arange(2.0 * N)}),
}  # fmt: skip

TOO_FEW = "A learning curve with cv=5 needs at least 20 rows. Got 2."
ONE_GROUP = "groups holds one value only, 0.0; at least two groups are needed"
ONE_TIME = "time holds one value only; rows cannot be put in order"

#: What is refused, and why; everything else has finite figures.
REFUSED = {"two rows": TOO_FEW, "one group": ONE_GROUP, "equal times": ONE_TIME}
REFUSED_NUMBERS = REFUSED | {
    "constant": "y is 1 everywhere: there is nothing to predict",
    "large": "y holds values beyond 1e+140, whose squares cannot be added up; divide it by a constant",
    "small": "y varies by less than 1e-140, whose square is 0; multiply it by a constant",
    "one weight": "A learning curve with cv=5 needs at least 20 rows. Got 1.",
    "weights of all sizes": "sample_weight ranges from 1e-300 to 1e+300: rows of less than 1e-12 of the largest weight "
    "count for nothing. Set their weight to 0",
    "groups without weight": "A learning curve of groups needs at least 5 of them. Got 4.",
    "constant in the later half": "y is 0 in all of the 48 rows that are tested",
}


def assert_sound(metrics, asked_for_rows):
    for each in metrics.values():
        figures = [each.estimate, *each.interval, each.reached, *each.reached_interval, each.baseline]
        assert np.isfinite(figures).all(), (each.name, figures)
        assert each.interval[0] <= each.estimate <= each.interval[1], each.name
        rounding = 1e-9 * max(abs(each.reached), abs(each.baseline))
        assert each.reached_interval[0] - rounding <= each.reached <= each.reached_interval[1] + rounding, each.name
        for column in (each.curve.value, each.curve.fitted, each.curve.covariance):
            assert np.isfinite(column).all(), each.name
    for name in asked_for_rows:
        each = metrics[name]
        needed = each.rows_for(0.5 * (each.baseline + each.perfect))
        assert needed.interval[0] <= needed.rows <= needed.interval[1], name


def called(call, refusal):
    """Return what a call returns, or None where it is refused in exactly these words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrustWarning)  # in some, a column gives the target away
        if refusal is None:
            return call()
        with pytest.raises(ValueError, match=rf"\A{re.escape(refusal)}\Z"):
            call()
    return None


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name):
    points, y, options = CLASSES[name]
    asked = [*METRICS, *(["top_2_error"] if len(np.unique(y)) > 2 else []), *(["cost"] if "costs" in options else [])]
    floor = called(lambda: learned_floor(points, y, metric=asked, **options, **QUICK), REFUSED.get(name))
    if floor is not None:
        assert_sound(floor.metrics, asked[-1:] if "costs" in options else [asked[len(name) % len(asked)]])
        assert str(floor)


@pytest.mark.parametrize("name", TARGETS)
def test_numbers(name):
    points, y, options = TARGETS[name]
    floor = called(lambda: regression_floor(points, y, **options, **QUICK_NUMBERS), REFUSED_NUMBERS.get(name))
    if floor is not None:
        assert_sound(floor.metrics, floor.metrics)
        assert np.isfinite([floor.noise_variance, *floor.noise_variance_interval]).all()
        assert str(floor)


PLAIN = [name for name, (*_, options) in CLASSES.items() if not options.keys() & {"costs", "by"}][::2]


@pytest.mark.parametrize("name", PLAIN)
def test_a_model_beside_them(name):
    points, y, options = CLASSES[name]
    is_right = len(name) % 2 == 0  # never wrong, or always
    labels = np.unique(y)
    named = np.asarray(y) if is_right else labels[(np.searchsorted(labels, y) + 1) % len(labels)]
    ask = {**options, **QUICK, "predictions": named, "task": "classification"}
    found = called(lambda: floor_gap(None, points, y, **ask), REFUSED.get(name))
    if found is not None:
        assert found.value == (0.0 if is_right else 1.0)
        assert np.isfinite([*found.interval, *found.sure_gap_interval, found.possible_gap]).all()
        assert np.isfinite(found.p_value) == found.are_alike
        assert found.sentence()


def test_an_error_is_no_answer():
    """An error passes only for the input that it is named for, and only in its own words."""

    def fails():
        raise ValueError("a sentence of more than five words")

    assert REFUSED_NUMBERS.keys() <= TARGETS.keys()
    assert REFUSED.keys() <= CLASSES.keys()
    with pytest.raises(ValueError, match="a sentence of more"):
        called(fails, None)
    for refusal in REFUSED_NUMBERS.values():
        with pytest.raises(AssertionError):
            called(fails, refusal)
        with pytest.raises(pytest.fail.Exception):
            called(lambda: None, refusal)
