"""Where learning curves end, properties of the ranges, and how many rows until a model reaches a value."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.findings import find_in_learned
from bayesfloor.floor.learned.learning_curve import (
    EXCESS,
    RATES,
    covariance_of,
    curve_posterior,
    decades_posterior,
    drift_posterior,
    power_of,
    split_posterior,
)
from bayesfloor.floor.learned.metrics import check_metrics
from bayesfloor.floor.learned.result import LearningCurve, MetricFloor
from bayesfloor.floor.learned.rows_needed import MOST
from bayesfloor.floor.learned.rules import Lead, below_attained
from bayesfloor.floor.learned.simulated import LEAST, Signs, with_simulated
from bayesfloor.floor.learned.stack_errors import middle_error
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.summary import GROWTH, N_DOUBLINGS, summarise
from bayesfloor.tables.arguments import check_problem
from helpers.one_case import for_each
from helpers.refusals import options_not_refused

pytestmark = pytest.mark.limits(curve_detail=1.0)
SIZES = np.array([1.0, 0.5, 0.25])
#: Points of the second curve: sizes, and how many disjoint models are averaged.
SPLIT_SIZES, AVERAGED = np.array([1.0, 0.5, 0.25, 0.5, 0.25]), np.array([1.0, 1.0, 1.0, 2.0, 4.0])
#: Points of the curve over decades.
DECADES = np.array([1, 1 / 2, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 1024])
DECADE_SIZES, OF_TWO = np.append(DECADES, DECADES[1:]), np.repeat([1.0, 2.0], [7, 6])


# --- ends of curves


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
    misfit = 0.0
    rest = [mean - theta - c * size**-b for mean, size in zip(means, SIZES, strict=True)]
    for i in range(3):
        for j in range(3):
            misfit = misfit + precision[i, j] * rest[i] * rest[j]
    marginal = (np.exp(-c / EXCESS) * np.exp(-0.5 * misfit)).sum(axis=(1, 2))
    marginal /= marginal.sum()
    theta = theta.ravel()
    assert_allclose(found.mean, theta @ marginal, atol=1e-3)
    for level in (0.025, 0.5, 0.975):
        assert_allclose(found.quantile(level), np.interp(level, np.cumsum(marginal), theta), atol=2.5e-3)


@for_each(("theta", "excess"), [(0.02, 0.05), (0.1, 0.01), (0.3, 0.05)])
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


def test_the_end_is_a_rate_and_more_rows_are_surer():
    zero = curve_posterior(np.zeros((500, 3)), 1e-6, SIZES, 0.5)
    assert 0.0 <= zero.quantile(0.025) <= zero.mean < 0.002
    chance = curve_posterior(rows_with_means(np.full(3, 0.5), 500), binomial(0.5, 500), SIZES, 0.5)
    assert 0.46 < chance.mean <= chance.quantile(0.999) <= 0.5
    found = [
        curve_posterior(rows_with_means(0.1 + 0.01 / SIZES, n), binomial(0.11, n), SIZES, 0.5) for n in (500, 5000)
    ]
    assert np.diff([each.quantile(0.975) - each.quantile(0.025) for each in found])[0] < 0


def test_the_end_over_decades():
    theta, excess, n = 0.15, 0.02, 10_000
    for rate in (0.15, 0.9):
        means = theta + excess * DECADE_SIZES**-rate
        kept = means < 0.45
        values = rows_with_means(means[kept], n)
        found = decades_posterior(values, binomial(theta, n), DECADE_SIZES[kept], OF_TWO[kept], 0.5)
        # slow rates are as likely as fast ones, so that the end is placed low rather than high
        assert found.quantile(0.025) < theta < found.quantile(0.99)
        assert theta - 2 * excess < found.mean < theta + 0.5 * excess
        assert_allclose(found.fitted[:3], means[:3], atol=0.005)
    # the variance of a model must be able to vanish, though a thousandth of the rows would show it a thousandfold
    flat = decades_posterior(rows_with_means(np.full(13, 0.3), n), binomial(0.3, n), DECADE_SIZES, OF_TWO, 0.5)
    assert_allclose(flat.mean, 0.3, atol=0.02)
    assert_allclose(flat.fitted, 0.3, atol=0.01)
    excess = np.append(0.1 * np.array([1, 0.5, 0.25]) ** -0.5, [0.21, 0.22])
    assert_allclose(power_of(excess, np.array([1, 0.5, 0.25, 1 / 16, 1 / 64])), 0.5)


def test_drift_curve():
    """The error first falls with more rows, then rises with older ones: the floor is below all of it."""
    theta = 0.1
    means = theta + 0.02 * SIZES**-0.7 + 0.06 * SIZES**2
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2000, 3)) * 0.05
    values += means - values.mean(axis=0)
    plain, drift = (posterior(values, 1e-5, SIZES, 0.5) for posterior in (curve_posterior, drift_posterior))
    assert plain.quantile(0.025) > theta
    assert drift.quantile(0.025) < theta < drift.quantile(0.975)
    assert_allclose(drift.fitted, means, atol=0.01)
    fewer = drift_posterior(values, 1e-3, SIZES, 0.5, n_rows=20.0)
    assert fewer.quantile(0.975) - fewer.quantile(0.025) > drift.quantile(0.975) - drift.quantile(0.025)


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


def test_interval_of_a_proportion():
    for count, n in [(0, 20), (3, 20), (20, 20), (137, 1000)]:
        expected = binomtest(count, n).proportion_ci(0.9, method="exact")
        assert_allclose(proportion_interval(count, n, 0.9), (expected.low, expected.high), atol=1e-12)
    # a loss with next to no variance stands for more rows than quantiles of the beta distribution can take
    reach = 1.96 * (0.06 * 0.94 / 1e10) ** 0.5  # the normal interval of 1e10 rows
    for n in (1e10, 1e16, 1e27):
        assert_allclose(proportion_interval(0.06 * n, n, 0.95), (0.06 - reach, 0.06 + reach), atol=1e-9)


def test_points_of_a_curve_share_at_least_the_variance_of_the_error():
    """Rows whose errors are all alike tell nothing of how a mean of others would vary."""
    apart = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    of_rows = np.cov(apart.T, bias=True) / 50
    away = ~np.eye(3, dtype=bool)
    assert_allclose(covariance_of(np.full((50, 3), 0.2), 0.04)[away], 0.04)
    assert_allclose(covariance_of(apart, 0.0)[away], of_rows[away])
    assert_allclose(covariance_of(apart, 0.04)[away], of_rows[away] + 0.04 - of_rows[0, 0])
    assert np.all(np.diag(covariance_of(apart, 0.04)) > np.diag(of_rows) + 0.04 - of_rows[0, 0])


# --- where the range begins: what the errors at three training sizes allow to be said


def stack_with(error, codes, n_views):
    """Predictions of two classes that are wrong so often, the same rows at all sizes first, and say so."""
    wrong = np.arange(len(codes)) < round(error * len(codes))
    named = np.where(wrong, 1 - codes, codes)
    q = np.where(np.arange(2) == named[:, None], 1 - error, error)
    return Stack(np.tile(np.log(q), (1, n_views, 1, 1)), np.ones((5, 1)))


def summary_of(errors, n=2000, **options):
    """A summary of such errors, and the codes of its findings."""
    codes = np.random.default_rng(0).permutation(np.arange(n) % 2)
    stacks = [stack_with(error, codes, n_views) for error, n_views in zip(errors, (1, 2, 4), strict=True)]
    rows = PlainRows(codes, np.bincount(codes, minlength=2))
    (error,) = check_metrics("error", None, None, np.arange(2), rows.class_counts)
    sizes = 0.8 * n * SIZES
    summary = summarise(stacks, sizes, rows, error, residual_z=0.0, confidence=0.95, **options)
    found = find_in_learned(summary, 0.0, check_problem(np.arange(n)[:, None], codes), codes, 5)
    return summary, {finding.code for finding in found}


def test_what_curves_allow_to_be_said():
    flat, found = summary_of([0.2, 0.202, 0.205])
    assert 0.12 < flat.interval[0] < 0.2
    assert found == set()
    chance, found = summary_of([0.495, 0.497, 0.5])
    assert chance.interval == (0.0, 0.5)
    assert "BF023" in found
    for errors in ([0.2, 0.3, 0.4], [0.3, 0.32, 0.36]):  # leads that grow
        summary, found = summary_of(errors)
        assert summary.growth == pytest.approx((0.5 - errors[0]) / (0.5 - errors[2]))
        assert {"BF039", "BF040"} & found == {"BF039"}
        assert summary.interval[0] == 0.0 or summary.growth < GROWTH[1]
    # in time smaller training sets are more recent: what grows with them says nothing of what is still to come
    assert summary_of([0.2, 0.3, 0.4], in_time=True)[0].growth == 1.0
    falls, found = summary_of([0.1, 0.13, 0.16])
    assert falls.steady_fall == pytest.approx(0.03)
    assert (falls.interval[0], falls.growth < GROWTH[0], "BF040" in found) == (0.0, True, True)
    little, _ = summary_of([0.3, 0.306, 0.313])
    assert 0.0 < little.interval[0] <= 0.3 - N_DOUBLINGS * little.steady_fall < 0.3
    slower, found = summary_of([0.14, 0.15, 0.18])
    assert (slower.steady_fall, "BF040" in found) == (0.0, False)
    assert "BF042" in summary_of([0.3, 0.25, 0.25])[1]
    assert "BF042" not in summary_of([0.25, 0.25, 0.3])[1]


def test_the_lower_end_falls_with_the_growth_and_is_capped_by_sampling():
    ends = [summary_of([0.3, 0.3 + d, 0.3 + 3 * d])[0].interval[0] for d in (0.0, 0.01, 0.014, 0.018, 0.03)]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.2
    assert ends[-1] == 0.0
    for error in (0.02, 0.1, 0.3):  # Clopper and Pearson's lower limit of what was reached
        assert summary_of([error] * 3, n=500)[0].interval[0] <= proportion_interval(round(error * 500), 500, 0.95)[0]


# --- what simulated problems add


def any_signs(rng):
    """An estimate, its interval, signs and a lead, of any size."""
    baseline = rng.uniform(0.01, 1.0)
    losses, kinds = baseline * rng.uniform(0.0, 1.3, 3), rng.dirichlet(np.ones(4))[:3]
    signs = Signs(10 ** rng.uniform(1, 7), rng.integers(1, 10**5), losses, losses[0], baseline, 9.0, kinds)
    estimate = losses[0] * rng.random()
    interval = estimate * rng.random(), losses[0] * rng.uniform(1, 2)
    return estimate, interval, signs, Lead(0.1, 0.01, 1.0, growth=rng.uniform(-50, 50))


@for_each("task", ["classes", "numbers"])
def test_any_signs_give_a_range_in_order(task):
    rng = np.random.default_rng(0)
    for _ in range(300):
        estimate, interval, signs, lead = any_signs(rng)
        found, (low, high) = with_simulated(task, estimate, interval, signs, lead, 0.95)
        assert 0.0 <= low <= found <= high
        assert high >= signs.losses[0]
        assert found <= max(signs.losses[0], LEAST * signs.baseline)
        # in another unit all is as many times as large
        unit = signs._replace(losses=3 * signs.losses, reached=3 * signs.reached, baseline=3 * signs.baseline)
        other, ends = with_simulated(task, 3 * estimate, (3 * interval[0], 3 * interval[1]), unit, lead, 0.95)
        assert_allclose([other, *ends], [3 * found, 3 * low, 3 * high], atol=1e-12)
        # a higher level has no narrower range
        wide = with_simulated(task, estimate, interval, signs, lead, 0.99)[1]
        assert wide[0] <= low + 1e-12
        assert wide[1] >= high - 1e-12
        unseen = lead._replace(surely=0.9)
        assert with_simulated(task, estimate, interval, signs, unseen, 0.95) == (estimate, interval)


# --- a floor is below what is attained

LOSSES = st.floats(0.0, 2.0)


@given(*7 * [LOSSES])
def test_a_floor_is_below_what_is_attained(estimate, low, high, reached, reached_arm, baseline, baseline_arm):
    of_model, of_constant = (reached, reached + reached_arm), (baseline, baseline + baseline_arm)
    found, (least, most) = below_attained(estimate, (low, high), of_model, of_constant)
    assert found == min(estimate, reached, baseline)
    assert least <= found <= min(reached, baseline) <= most
    assert most <= max(of_constant[1], found)
    if of_model[1] < baseline:
        assert most <= max(baseline, found)


# --- how many rows until a model reaches a value

TRAINED = np.array([800.0, 400.0, 200.0])


def floor_of(values, estimate, interval, noise=1e-4, larger_is_better=False):
    """A floor whose curve has such values; rows are the same at all sizes, so levels vary together."""
    values = np.array(values)
    curve = LearningCurve(TRAINED, *[values] * 4, estimate, 0.5, noise**2 * (np.eye(3) + 1.0))
    name = "ROC AUC" if larger_is_better else "error"
    reached = values[0], (values[0], values[0])
    floor = MetricFloor(name, name, estimate, interval, *reached, 0.5, larger_is_better, curve, 0.95)
    return replace(floor, is_rate=not larger_is_better)


@for_each(("limit", "excess", "rate"), [(0.0, 0.1, 0.5), (0.05, 0.1, 0.8), (0.1, 0.04, 1.2)])
def test_a_power_law_is_read_the_other_way_round(limit, excess, rate):
    values = limit + excess * (TRAINED / TRAINED[0]) ** -rate
    found = floor_of(values, limit, (limit - 1e-4, limit + 1e-4) if limit else (0.0, 1e-4))
    spreads = []
    for times in (0.5, 3.0, 10.0):
        needed = found.rows_for(limit + excess * times**-rate)
        assert needed.rows == pytest.approx(times * TRAINED[0], rel=0.15)
        assert needed.interval[0] <= times * TRAINED[0] <= needed.interval[1]
        assert needed.verdict == ("reached" if times < 1 else "more rows")
        assert needed.findings == ()
        spreads.append(needed.interval[1] / needed.interval[0])
    assert spreads[1] <= spreads[2]  # the further the wider


def test_verdicts():
    reached = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12), noise=0.01).rows_for(0.15)
    assert (reached.verdict, "reached already" in reached.sentence()) == ("reached", True)
    assert reached.interval[0] <= 400.0
    assert reached.rows <= TRAINED[0]
    below = floor_of([0.20, 0.21, 0.22], 0.17, (0.15, 0.22), noise=0.005).rows_for(0.1)
    assert (below.verdict, below.rows, below.interval[1]) == ("below the floor", np.inf, np.inf)
    assert "by models like those tried on these columns, however many rows" in below.sentence()
    flat = floor_of([0.2, 0.2, 0.2], 0.19, (0.0, 0.21), noise=0.002).rows_for(0.1)
    assert (flat.verdict, flat.rows, flat.interval[1]) == ("out of reach", np.inf, np.inf)
    assert f"within {MOST:g} times the 800 training rows" in flat.sentence()
    nothing = floor_of([0.0, 0.0, 0.0], 0.0, (0.0, 0.01), noise=0.001).rows_for(0.0)
    assert nothing.verdict == "reached"
    assert nothing.interval[0] <= 200.0
    rises = floor_of([0.25, 0.2, 0.21], 0.18, (0.0, 0.3), noise=0.005).rows_for(0.15)
    assert [finding.code for finding in rises.findings] == ["BF042"]
    assert "0.2000 with 400, 0.2500 with 800" in rises.sentence()
    assert floor_of([0.21, 0.2, 0.21], 0.18, (0.0, 0.3), noise=0.005).rows_for(0.15).findings == ()


def test_larger_is_better_is_the_mirror_image():
    losses = np.array([0.10, 0.14, 0.2])
    smaller = floor_of(losses, 0.05, (0.01, 0.12), noise=0.004)
    larger = floor_of(1 - losses, 0.95, (0.88, 0.99), noise=0.004, larger_is_better=True)
    for loss in (0.15, 0.08, 0.04, 0.005):
        one, other = smaller.rows_for(loss), larger.rows_for(1 - loss)
        assert one.verdict == other.verdict
        assert one.rows == pytest.approx(other.rows)
        assert one.interval == pytest.approx(other.interval)


def test_values_that_cannot_be():
    found = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12))
    wrong = [({"value": value}, r"'value' parameter.*\[0.0, 1.0\]") for value in (np.nan, -0.1, 1.1, "0.1", None, True)]
    assert options_not_refused(found.rows_for, wrong) == []
    assert options_not_refused(replace(found, bounds=(0.0, np.inf)).rows_for, [({"value": np.inf}, "'value'")]) == []
    unknown = replace(found, curve=replace(found.curve, covariance=None))
    assert options_not_refused(unknown.rows_for, [({"value": 0.05}, "no covariance")]) == []


def test_how_it_is_shown():
    needed = floor_of(0.1 * (TRAINED / TRAINED[0]) ** -0.5, 0.0, (0.0, 1e-4)).rows_for(0.1 * 4**-0.5)
    assert repr(needed).startswith("RowsNeeded(metric 'error', value 0.0500, verdict 'more rows', rows 3")
    assert needed.sentence().startswith("An error of 5.0% takes models like those tried ")
    assert "1,300 training rows to more than 100 times the 800 at hand (95% interval; about 3," in needed.sentence()
    assert needed.frame()["rows"].tolist() == [needed.rows]
