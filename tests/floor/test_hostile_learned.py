"""Strange but legal input to the floors that learn: finite figures, or an error that says what is wrong."""

import warnings

import numpy as np
import pytest

from bayesfloor import floor_gap, learned_floor, regression_floor
from bayesfloor.exceptions import TrustWarning

pytestmark = pytest.mark.usefixtures("coarse_curves")

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


def result_or_sentence(call):
    """Call; None where the input is refused by a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrustWarning)  # in some, a column gives the target away
            return call()
    except ValueError as error:
        if len(str(error).split()) < 5:
            raise
        return None


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name):
    points, y, options = CLASSES[name]
    asked = [*METRICS, *(["top_2_error"] if len(np.unique(y)) > 2 else []), *(["cost"] if "costs" in options else [])]
    floor = result_or_sentence(lambda: learned_floor(points, y, metric=asked, **options, **QUICK))
    if floor is not None:
        assert_sound(floor.metrics, asked[-1:] if "costs" in options else [asked[len(name) % len(asked)]])
        assert str(floor)


@pytest.mark.parametrize("name", TARGETS)
def test_numbers(name):
    points, y, options = TARGETS[name]
    floor = result_or_sentence(lambda: regression_floor(points, y, **options, **QUICK_NUMBERS))
    if floor is not None:
        assert_sound(floor.metrics, floor.metrics)
        assert np.isfinite([floor.noise_variance, *floor.noise_variance_interval]).all()
        assert str(floor)


PLAIN = [name for name, (*_, options) in CLASSES.items() if not options.keys() & {"costs", "by"}]


@pytest.mark.parametrize("name", PLAIN)
def test_a_model_beside_them(name):
    points, y, options = CLASSES[name]
    is_right = len(name) % 2 == 0  # never wrong, or always
    labels = np.unique(y)
    named = np.asarray(y) if is_right else labels[(np.searchsorted(labels, y) + 1) % len(labels)]
    found = result_or_sentence(lambda: floor_gap(None, points, y, predictions=named, **options, **QUICK))
    if found is not None:
        assert found.value == (0.0 if is_right else 1.0)
        assert np.isfinite([*found.interval, *found.sure_gap_interval, found.possible_gap]).all()
        assert np.isfinite(found.p_value) == found.are_alike
        assert found.sentence
