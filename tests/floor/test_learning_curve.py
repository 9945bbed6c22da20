"""Curves with a known end, and posteriors against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, norm

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.learning_curve import (
    DECADES_EXCESS,
    DECADES_RATES,
    EXCESS,
    RATES,
    VARIANCE,
    _sum_of_normals,
    covariance_of,
    curve_posterior,
    decades_posterior,
    power_of,
    split_posterior,
)
from bayesfloor.floor.learned.metrics import of_error, one_hot
from bayesfloor.floor.learned.stack_errors import middle_error

pytestmark = pytest.mark.limits(curve_detail=1.0)
SIZES = np.array([1.0, 0.5, 0.25])
#: Points of the second curve: sizes, and how many disjoint models are averaged.
SPLIT_SIZES, AVERAGED = np.array([1.0, 0.5, 0.25, 0.5, 0.25]), np.array([1.0, 1.0, 1.0, 2.0, 4.0])
#: Points of the curve over decades.
DECADES = np.array([1, 1 / 2, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 1024])
DECADE_SIZES, OF_TWO = np.append(DECADES, DECADES[1:]), np.repeat([1.0, 2.0], [7, 6])


def rows_with_means(means, n, seed=0, spread=0.2):
    """Rows whose columns have exactly these means, and vary together."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 1)) * spread
    values = common + 0.1 * spread * rng.standard_normal((n, len(means)))
    return values - values.mean(axis=0) + means


def binomial(theta, n):
    return theta * (1 - theta) / n


def test_posterior_by_brute_force():
    n = 400
    means = 0.10 + 0.03 * SIZES**-0.7
    values = rows_with_means(means, n)
    found = curve_posterior(values, 0.0, SIZES, 0.5)
    # the same by summing a likelihood over a fine grid of all three numbers
    off = 0.3 / n + 0.1 * (means - means.min() + 1e-3)
    precision = np.linalg.inv(np.cov(values.T, bias=True) / n + np.diag(off**2))
    theta = np.linspace(0, 0.5, 501)[:, None, None]
    c = (np.linspace(0, 0.5, 801)[1:] - 0.5 / 1600)[None, :, None]
    b = np.linspace(*RATES, 14)[None, None, :]
    weight = np.exp(-c / EXCESS)
    misfit = 0.0
    rest = [mean - theta - c * size**-b for mean, size in zip(means, SIZES, strict=True)]
    for i in range(3):
        for j in range(3):
            misfit = misfit + precision[i, j] * rest[i] * rest[j]
    marginal = (weight * np.exp(-0.5 * misfit)).sum(axis=(1, 2))
    marginal /= marginal.sum()
    theta = theta.ravel()
    assert_allclose(found.mean, theta @ marginal, atol=1e-3)
    for level in (0.025, 0.5, 0.975):
        expected = np.interp(level, np.cumsum(marginal), theta)
        assert_allclose(found.quantile(level), expected, atol=2.5e-3)


@pytest.mark.parametrize("theta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("excess", [0.01, 0.05])
def test_the_end_of_a_known_curve(theta, excess):
    n = 20_000
    means = theta + excess * SIZES**-0.8
    found = curve_posterior(rows_with_means(means, n), binomial(theta, n), SIZES, 0.5)
    assert found.quantile(0.025) < theta < found.quantile(0.975)
    assert abs(found.mean - theta) < excess / 2 + 0.002
    assert_allclose(found.fitted, means, atol=0.1 * excess + 0.002)
    assert np.all(np.diff(found.cdf) >= 0)


def test_averaged_models_tell_variance_from_bias():
    n, theta = 20_000, 0.1
    variance_only = theta + 0.04 / (SPLIT_SIZES * AVERAGED)
    bias_only = theta + 0.04 * SPLIT_SIZES**-1.0
    ends = [
        split_posterior(rows_with_means(means, n), binomial(theta, n), SPLIT_SIZES, AVERAGED, 0.5)
        for means in (variance_only, bias_only)
    ]
    for end in ends:
        assert end.quantile(0.025) < theta < end.quantile(0.975)
    # variance is seen to vanish, so the end of the curve is surer
    widths = [end.quantile(0.975) - end.quantile(0.025) for end in ends]
    assert widths[0] < widths[1]


def test_the_end_is_a_rate():
    zero = curve_posterior(np.zeros((500, 3)), 1e-6, SIZES, 0.5)
    assert 0.0 <= zero.quantile(0.025) <= zero.mean < 0.002
    chance = curve_posterior(rows_with_means(np.full(3, 0.5), 500), binomial(0.5, 500), SIZES, 0.5)
    assert 0.46 < chance.mean <= chance.quantile(0.999) <= 0.5


def test_more_rows_are_surer():
    widths = []
    for n in (500, 5000):
        found = curve_posterior(rows_with_means(0.1 + 0.01 / SIZES, n), binomial(0.11, n), SIZES, 0.5)
        widths.append(found.quantile(0.975) - found.quantile(0.025))
    assert widths[1] < widths[0]


def end_over_decades(means, theta, n=10_000):
    return decades_posterior(rows_with_means(means, n), binomial(theta, n), DECADE_SIZES, OF_TWO, 0.5)


def test_posterior_over_decades_by_brute_force():
    n = 400
    sizes, averaged = DECADE_SIZES[[0, 2, 4, 9]], OF_TWO[[0, 2, 4, 9]]
    means = 0.1 + 0.02 * sizes**-0.3 + 0.002 / (sizes * averaged)
    values = rows_with_means(means, n)
    found = decades_posterior(values, 0.0, sizes, averaged, 0.5)
    off = 0.3 / n + 0.2 * (means - means.min() + 1e-3)
    precision = np.linalg.inv(np.cov(values.T, bias=True) / n + np.diag(off**2))
    # the same by drawing curves from their prior, and summing over a fine grid of ends
    rng, n_drawn, means_of = np.random.default_rng(0), 40_000, np.array([DECADES_EXCESS, VARIANCE])
    drawn = rng.exponential(means_of, (n_drawn, 2))
    drawn[::2] = np.exp(rng.uniform(*np.log([1e-5, 1]), (n_drawn // 2, 2)))  # more of the small ones
    prior = np.prod(np.exp(-drawn / means_of) / means_of, axis=1)
    of_small = np.prod((drawn > 1e-5) * (drawn < 1) / drawn / np.log(1e5), axis=1)
    weight = prior / (0.5 * prior + 0.5 * of_small)
    c, v = drawn.T
    b = np.exp(rng.uniform(*np.log(DECADES_RATES), n_drawn))
    above = c[:, None] * sizes ** -b[:, None] + v[:, None] / (sizes * averaged)
    theta = np.linspace(0, 0.5, 501)
    marginal = np.zeros(501)
    for place, end in enumerate(theta):
        rest = means - end - above
        marginal[place] = weight @ np.exp(-0.5 * ((rest @ precision) * rest).sum(axis=1))
    marginal /= marginal.sum()
    assert_allclose(found.mean, theta @ marginal, atol=0.006)
    for level in (0.025, 0.5, 0.975):
        assert_allclose(found.quantile(level), np.interp(level, np.cumsum(marginal), theta), atol=0.012)


@pytest.mark.parametrize("rate", [0.15, 0.4, 0.9])
def test_the_end_of_a_curve_over_decades(rate):
    theta, excess = 0.15, 0.02
    means = theta + excess * DECADE_SIZES**-rate
    kept = means < 0.45
    n = 10_000
    found = decades_posterior(
        rows_with_means(means[kept], n), binomial(theta, n), DECADE_SIZES[kept], OF_TWO[kept], 0.5
    )
    # slow rates are as likely as fast ones, so that the end is placed low rather than high
    assert found.quantile(0.025) < theta < found.quantile(0.99)
    assert theta - 2 * excess < found.mean < theta + 0.5 * excess
    assert_allclose(found.fitted[:3], means[:3], atol=0.005)


def test_a_curve_that_is_flat_over_decades_ends_where_it_is():
    # the variance of a model must be able to vanish, though a thousandth of the rows would show it a thousandfold
    found = end_over_decades(np.full(13, 0.3), 0.3)
    assert_allclose(found.mean, 0.3, atol=0.02)
    assert_allclose(found.fitted, 0.3, atol=0.01)
    assert found.quantile(0.975) > 0.3


def test_another_law_of_small_sizes_does_not_mislead():
    # what is coarse is learnt within a 64th of the rows, and then what is fine, slowly
    theta = 0.2
    fine = 0.06 * np.maximum(DECADE_SIZES, 1 / 64) ** -0.2
    coarse = 0.0005 * DECADE_SIZES**-0.8
    found = end_over_decades(theta + fine + coarse, theta)
    assert found.quantile(0.025) < theta < found.quantile(0.975)
    assert_allclose(found.fitted[:3], (theta + fine + coarse)[:3], atol=0.005)


def test_the_rate_is_that_of_the_largest_sizes():
    excess = np.append(0.1 * np.array([1, 0.5, 0.25]) ** -0.5, [0.21, 0.22])
    assert_allclose(power_of(excess, np.array([1, 0.5, 0.25, 1 / 16, 1 / 64])), 0.5)


def test_hard_and_soft_errors():
    q = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.3, 0.3, 0.4]])
    hard, soft = (of_error(targets, q, np.ones(3)) for targets in (one_hot(np.array([0, 2, 2]), 3), q))
    assert_allclose(hard, [0, 1, 0])
    assert_allclose(soft, [0.3, 0.5, 0.6])


def test_middle_error():
    rng = np.random.default_rng(0)
    hard = (rng.random(1000) < 0.2).astype(float)
    bold = np.full(1000, 0.1)
    assert_allclose(middle_error(hard, bold), (hard + bold) / 2)  # soft below hard: always the mean of both
    timid = np.full(1000, 0.4)
    difference = hard - timid
    share = 1 - (2 * difference.std() / 1000**0.5 / difference.mean()) ** 2
    assert_allclose(middle_error(hard, timid).mean(), (1 - share) * (hard + timid).mean() / 2 + share * hard.mean())
    a_little = np.full(1000, hard.mean() + 0.001)  # more than hard, but not surely so
    assert_allclose(middle_error(hard, a_little), (hard + a_little) / 2)


@pytest.mark.parametrize(("count", "n"), [(0, 20), (3, 20), (20, 20), (137, 1000)])
def test_interval_of_a_proportion(count, n):
    expected = binomtest(count, n).proportion_ci(0.9, method="exact")
    assert_allclose(proportion_interval(count, n, 0.9), (expected.low, expected.high), atol=1e-12)


def test_calibrated_noise_cancels_to_first_order():
    """Where scores vary by chance, hard is above the floor and soft is below it, by about as much."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 200_000)
    floor = np.minimum(p, 1 - p).mean()
    noisy = np.clip(p + 0.05 * rng.standard_normal(len(p)), 0.001, 0.999)
    excess = np.where(noisy > 0.5, 1 - p, p).mean() - floor
    q = np.column_stack([1 - noisy, noisy])
    deficit = floor - of_error(q, q, np.ones(len(q))).mean()
    assert excess > 0.001
    assert abs(excess - deficit) < 0.25 * excess


def test_points_of_a_curve_share_at_least_the_variance_of_the_error():
    """Rows whose errors are all alike tell nothing of how a mean of others would vary."""
    apart = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    of_rows = np.cov(apart.T, bias=True) / 50
    away = ~np.eye(3, dtype=bool)
    assert_allclose(covariance_of(np.full((50, 3), 0.2), 0.04)[away], 0.04)
    assert_allclose(covariance_of(apart, 0.0)[away], of_rows[away])
    assert_allclose(covariance_of(apart, 0.04)[away], of_rows[away] + 0.04 - of_rows[0, 0])
    assert np.all(np.diag(covariance_of(apart, 0.04)) > np.diag(of_rows) + 0.04 - of_rows[0, 0])


def test_a_sum_of_normals_is_that_of_each_of_them():
    rng = np.random.default_rng(0)
    x, means, mass = np.linspace(-8.0, 30.0, 200), rng.uniform(0.0, 20.0, 500), rng.random(500)
    expected = norm.cdf(x[:, np.newaxis] - means) @ mass
    np.testing.assert_allclose(_sum_of_normals(x, means, mass), expected, atol=1e-10 * mass.sum())
