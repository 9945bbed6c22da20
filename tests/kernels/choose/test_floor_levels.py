import numpy as np
import pytest
from scipy import sparse

from bayesfloor.choose.floor_levels import (
    DirectedFloor,
    difference_interval,
    level_without_features,
    mean_of_halves,
    pair_floors,
    whole_floor,
)
from bayesfloor.floor import bayes_error, pairwise_bayes_error
from bayesfloor.floor.trees.problem import check_options
from bayesfloor.forest import class_forests, spanning_forests
from helpers.samples_to_choose_from import shifted_classes

OPTIONS = check_options(n_jobs=1)


def directed(floor, below, above, direction):
    direction = np.asarray([direction], float)
    return DirectedFloor(floor, below, above, 0.95, sparse.csr_array(direction / np.linalg.norm(direction)))


@pytest.fixture(scope="module")
def sample():
    return shifted_classes(0, 150, n_classes=3, shift=1.0)


def test_floors_are_those_of_the_floor_room(sample):
    X, y = sample
    forests = class_forests(X, y)
    found = whole_floor(forests.whole, y, 3, OPTIONS, directed=True)
    whole, expected = found.level(), bayes_error(X, y)
    assert (whole.floor, (whole.low, whole.high)) == (expected.estimate, pytest.approx(expected.interval, abs=1e-15))
    assert (found.direction * found.direction).sum() == pytest.approx(1)
    pairs, expected = pair_floors(forests, y, OPTIONS), pairwise_bayes_error(X, y)
    np.testing.assert_array_equal(pairs, expected.estimate[np.triu_indices(3, 1)])


def test_without_features_is_the_floor_of_a_constant_one():
    y = np.repeat([0, 1, 2], [5, 20, 40])
    start = level_without_features(np.bincount(y))
    constant = whole_floor(spanning_forests(np.ones((65, 1))), y, 3, OPTIONS, directed=False).floor
    assert start.floor == start.low == start.high == pytest.approx(constant)
    assert start.standard_error == 0


def test_difference_of_floors_that_hang_on_the_same_rows_or_on_others():
    first = directed(0.3, 0.04, 0.04, [1, 2, 0, 0])
    assert difference_interval(first, directed(0.2, 0.04, 0.04, [1, 2, 0, 0])) == pytest.approx((0.1, 0.1))
    first = directed(0.3, 0.03, 0.06, [1, 2, 0, 0])
    apart = directed(0.1, 0.03, 0.04, [0, 0, 1, 1])
    assert difference_interval(first, apart) == pytest.approx((0.2 - 0.05, 0.2 + np.hypot(0.06, 0.03)))


def test_halves_err_independently():
    first = directed(0.1, 0.03, 0.06, [1, 1])
    second = directed(0.3, 0.04, 0.08, [1, 2, 3])
    both = mean_of_halves(first, second)
    level = both.level()
    assert (level.floor, level.low, level.high) == pytest.approx((0.2, 0.175, 0.25))
    direction = both.direction.toarray()[0]
    assert np.linalg.norm(direction) == pytest.approx(1)
    assert direction[:2] @ direction[:2] == pytest.approx(0.06**2 / (0.06**2 + 0.08**2))


def test_floors_without_error_have_an_interval_of_no_width():
    none = mean_of_halves(directed(0.5, 0, 0, [1, 0]), directed(0.5, 0, 0, [0, 1]))
    level = none.level()
    assert (level.low, level.high, level.standard_error) == (0.5, 0.5, 0)
    assert difference_interval(none, none) == (0, 0)


REPRESENTATIONS = {
    "other scales": lambda X: X * [1.0, 1.3, 0.7, 1.5],
    "rounded": np.round,
    "the first two features": lambda X: X[:, :2],
    "the last two features": lambda X: X[:, 2:],
}


def differences(change, n_samples, n):
    """Differences between the data and a representation of it: estimate, paired interval, width of unpaired ones."""
    records = []
    for seed in range(n_samples):
        X, y = shifted_classes(seed, n, 4, 4, n_classes=3, shift=0.7)
        first, second = (
            whole_floor(spanning_forests(points, n_jobs=1), y, 3, OPTIONS, directed=True)
            for points in (X, np.ascontiguousarray(REPRESENTATIONS[change](X)))
        )
        low, high = difference_interval(first, second)
        unpaired = np.hypot(first.below + first.above, second.below + second.above)
        records.append((first.floor - second.floor, low, high, unpaired))
    return np.array(records).T


def test_interval_of_a_difference_covers_its_mean():
    estimate, low, high, unpaired = differences("rounded", 60, 200)
    assert np.mean((low <= estimate.mean()) & (estimate.mean() <= high)) > 0.9
    # pairing is worth something, and is not overdone
    assert np.mean(high - low) < 0.75 * unpaired.mean()
    assert np.mean(high - low) > 2 * 1.96 * estimate.std() * 0.9


@pytest.mark.slow
@pytest.mark.parametrize("change", REPRESENTATIONS)
def test_interval_of_a_difference_covers_its_mean_many_samples(change):
    estimate, low, high, _ = differences(change, 400, 400)
    coverage = np.mean((low <= estimate.mean()) & (estimate.mean() <= high))
    assert coverage > 0.93
