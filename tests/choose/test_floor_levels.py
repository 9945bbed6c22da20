import numpy as np
import pytest
from scipy import sparse

from bayesfloor.choose.floor_levels import (
    FloorSet,
    difference_interval,
    level_without_features,
    mean_of_halves,
    pair_floors,
    whole_floor,
)
from bayesfloor.floor import bayes_error, pairwise_bayes_error
from bayesfloor.floor.trees.problem import check_options
from bayesfloor.forest import class_forests, spanning_forests

from .samples import shifted_classes

OPTIONS = check_options(n_jobs=1)


def floor_set(floor, below, above, directions):
    directions = np.asarray(directions, float)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return FloorSet(*(np.array(each, float) for each in (floor, below, above)), 0.95, sparse.csr_array(directions))


@pytest.fixture(scope="module")
def sample():
    return shifted_classes(0, 150, n_classes=3, shift=1.0)


def test_floors_are_those_of_the_floor_room(sample):
    X, y = sample
    forests = class_forests(X, y)
    whole = whole_floor(forests.whole, y, 3, OPTIONS, directed=True).level()
    expected = bayes_error(X, y)
    assert (whole.floor, (whole.low, whole.high)) == (expected.estimate, pytest.approx(expected.interval, abs=1e-15))
    pairs, expected = pair_floors(forests, y, OPTIONS, directed=True), pairwise_bayes_error(X, y)
    upper = np.triu_indices(3, 1)
    np.testing.assert_array_equal(pairs.floor, expected.estimate[upper])
    np.testing.assert_allclose(pairs.interval, expected.interval[upper], atol=1e-15)
    np.testing.assert_allclose((pairs.directions * pairs.directions).sum(axis=1), 1)
    # a pair knows only the rows of its two classes
    assert not pairs.directions[[0]].toarray()[0, y == 2].any()


@pytest.mark.parametrize("criterion", ["whole", "mean", "worst"])
def test_without_features_is_the_floor_of_a_constant_one(criterion):
    y = np.repeat([0, 1, 2], [5, 20, 40])
    start = level_without_features(np.bincount(y), criterion)
    forests = class_forests(np.ones((65, 1)), y)
    whole = whole_floor(forests.whole, y, 3, OPTIONS, directed=False).floor
    pairs = pair_floors(forests, y, OPTIONS, directed=False).floor
    constant = {"whole": whole[0], "mean": pairs.mean(), "worst": pairs.max()}[criterion]
    assert start.floor == start.low == start.high == pytest.approx(constant)
    assert start.standard_error == 0


def test_mean_of_floors_that_hang_on_the_same_rows_or_on_others():
    same = floor_set([0.1, 0.3], [0.03, 0.05], [0.04, 0.06], [[1, 2, 0, 0], [1, 2, 0, 0]]).mean().level()
    assert (same.floor, same.low, same.high) == pytest.approx((0.2, 0.16, 0.25))
    apart = floor_set([0.1, 0.3], [0.03, 0.04], [0.06, 0.08], [[1, 2, 0, 0], [0, 0, 1, 1]]).mean().level()
    assert (apart.low, apart.high) == pytest.approx((0.2 - 0.025, 0.2 + 0.05))
    assert apart.standard_error == pytest.approx(0.05 / 1.959964)


def test_difference_of_floors_that_hang_on_the_same_rows_or_on_others():
    first = floor_set([0.3, 0.3], [0.04, 0.03], [0.04, 0.06], [[1, 2, 0, 0], [1, 2, 0, 0]])
    second = floor_set([0.2, 0.1], [0.04, 0.03], [0.04, 0.04], [[1, 2, 0, 0], [0, 0, 1, 1]])
    low, high = difference_interval(first, second)
    np.testing.assert_allclose(low, [0.1, 0.2 - 0.05])
    np.testing.assert_allclose(high, [0.1, 0.2 + np.hypot(0.06, 0.03)])


def test_halves_err_independently():
    first = floor_set([0.1], [0.03], [0.06], [[1, 1]])
    second = floor_set([0.3], [0.04], [0.08], [[1, 2, 3]])
    both = mean_of_halves(first, second)
    level = both.level()
    assert (level.floor, level.low, level.high) == pytest.approx((0.2, 0.175, 0.25))
    direction = both.directions.toarray()[0]
    assert np.linalg.norm(direction) == pytest.approx(1)
    assert direction[:2] @ direction[:2] == pytest.approx(0.06**2 / (0.06**2 + 0.08**2))


def test_floors_without_error_have_an_interval_of_no_width():
    none = floor_set([0.5, 0.5], [0, 0], [0, 0], [[1, 0], [0, 1]])
    level = none.mean().level()
    assert (level.low, level.high, level.standard_error) == (0.5, 0.5, 0)
    low, high = difference_interval(none.mean(), none.mean())
    assert (low[0], high[0]) == (0, 0)


REPRESENTATIONS = {
    "the first two features": lambda X: X[:, :2],
    "other scales": lambda X: X * [1.0, 1.3, 0.7, 1.5],
    "rounded": np.round,
    "the last two features": lambda X: X[:, 2:],
}


def differences(change, n_samples, n=200):
    """Differences between the data and a representation of it: estimate, paired interval, width of unpaired ones."""
    records = []
    for seed in range(n_samples):
        X, y = shifted_classes(seed, n, 4, 4, n_classes=3, shift=0.7)
        first, second = (
            whole_floor(spanning_forests(points, n_jobs=1), y, 3, OPTIONS, directed=True)
            for points in (X, np.ascontiguousarray(REPRESENTATIONS[change](X)))
        )
        low, high = difference_interval(first, second)
        unpaired = np.hypot(np.diff(first.interval), np.diff(second.interval))[0, 0]
        records.append((first.floor[0] - second.floor[0], low[0], high[0], unpaired))
    return np.array(records).T


@pytest.mark.parametrize("change", ["the first two features", "rounded"])
def test_interval_of_a_difference_covers_its_mean(change):
    estimate, low, high, unpaired = differences(change, 60)
    mean = estimate.mean()
    assert np.mean((low <= mean) & (mean <= high)) > 0.9
    # pairing is worth something, and is not overdone
    assert np.mean(high - low) < 0.75 * unpaired.mean()
    assert np.mean(high - low) > 2 * 1.96 * estimate.std() * 0.9


@pytest.mark.slow
@pytest.mark.parametrize("change", REPRESENTATIONS)
def test_interval_of_a_difference_covers_its_mean_many_samples(change):
    estimate, low, high, unpaired = differences(change, 400, n=400)
    mean = estimate.mean()
    coverage = np.mean((low <= mean) & (mean <= high))
    print(
        f"{change}: coverage {coverage:.1%}, standard deviation {estimate.std():.4f}, "
        f"width over 3.92 {np.mean(high - low) / 3.92:.4f}, unpaired {unpaired.mean() / 3.92:.4f}"
    )
    assert coverage > 0.93
