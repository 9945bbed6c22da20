"""Two classifiers on the same rows, beside brute force, enumeration and published values."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest

from bayesfloor.floor.learned.certainty import sampling_of
from bayesfloor.floor.learned.counted_rows import PlainRows, StratifiedRows
from bayesfloor.floor.learned.metrics import check_metrics
from bayesfloor.floor.learned.paired import (
    compare,
    compare_values,
    difference_interval,
    holm,
    paired_p_value,
    sign_flip_p_value,
)
from bayesfloor.floor.learned.regression.summary import level_of
from helpers.one_case import for_each


def plain(n):
    return PlainRows(np.zeros(n, np.int64), np.array([n]))


def wrong(both, first, second, neither):
    """Rows that both, only the first, only the second and none gets wrong."""
    counts = (both, first, second, neither)
    return np.repeat([True, True, False, False], counts), np.repeat([True, False, True, False], counts)


def all_signs(values):
    """The p-value by every choice of signs."""
    observed = abs(sum(values))
    sums = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) for signs in signs_of(values)]
    return np.mean([each >= observed - 1e-9 for each in sums])


def signs_of(values):
    return product((-1, 1), repeat=len(values))


def test_rows_of_one_weight_are_mcnemars_exact_test():
    for b, c in [(0, 0), (1, 0), (6, 0), (5, 5), (12, 3), (40, 61), (0, 30)]:
        expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
        first, second = wrong(3, b, c, 7)
        n = len(first)
        assert paired_p_value(first, second, plain(n), None) == pytest.approx(expected, rel=1e-9)
        assert paired_p_value(first, second, plain(n), np.arange(n)) == pytest.approx(expected, rel=1e-9)


def test_groups_are_flipped_as_a_whole():
    rng = np.random.default_rng(0)
    first, second, clusters = rng.random(40) < 0.5, rng.random(40) < 0.15, rng.integers(0, 11, 40)
    sums = np.bincount(clusters, first.astype(float) - second)
    assert paired_p_value(first, second, plain(40), clusters) == pytest.approx(all_signs(sums[sums != 0]), rel=1e-9)
    assert sign_flip_p_value(np.array([3, -2, 0, 7, 1, 1])) == pytest.approx(all_signs([3, -2, 7, 1, 1]), rel=1e-9)
    # ten rows of one group that agree say no more than one row does
    assert sign_flip_p_value(np.array([10])) == 1.0


def test_the_interval_of_equal_classifiers_has_a_closed_form():
    z = 1.959963984540054
    end = z**2 / (50 + z**2)
    assert difference_interval(0, 0, 50, 0.95) == pytest.approx((-end, end), abs=1e-9)


@for_each(("b", "c", "n"), [(0, 0, 20), (12, 3, 200), (0, 30, 30)])
def test_the_ends_are_where_the_score_test_rejects(b, c, n):
    """Brute force: the largest likelihood on a grid of both proportions, given their difference."""
    z = 1.959963984540054
    low, high = difference_interval(b, c, n, 0.95)

    def score(delta):
        q = np.linspace(max(0.0, -delta), (1 - delta) / 2, 200_001)
        p = q + delta
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = (
                np.where(b > 0, b * np.log(p), 0.0)
                + np.where(c > 0, c * np.log(q), 0.0)
                + np.where(n > b + c, (n - b - c) * np.log(1 - p - q), 0.0)
            )
        best = q[np.nanargmax(likelihood)]
        return (b - c - n * delta) / np.sqrt(n * (2 * best + delta * (1 - delta)))

    assert low <= (b - c) / n <= high
    if low > -1.0:
        assert score(low) == pytest.approx(z, abs=0.01)
    if high < 1.0:
        assert score(high) == pytest.approx(-z, abs=0.01)


def test_the_interval_covers_the_difference():
    rng = np.random.default_rng(0)
    for p, q, n in ((0.03, 0.01, 300), (0.1, 0.02, 100), (0.005, 0.005, 400)):
        drawn, times = np.unique(rng.multinomial(n, [p, q, 1 - p - q], 1000), axis=0, return_counts=True)
        ends = np.array([difference_interval(b, c, n, 0.95) for b, c, _ in drawn])
        covered = np.average((ends[:, 0] <= p - q) & (p - q <= ends[:, 1]), weights=times)
        assert 0.93 <= covered <= 0.995, (p, q, n)


def test_the_interval_covers_where_groups_err_alike():
    """Groups of 10 rows, in which the model is mostly better or mostly worse than the stack."""
    rng = np.random.default_rng(1)
    covered, naive, rejected = [], [], []
    clusters = np.repeat(np.arange(60), 10)
    for _ in range(150):
        share = rng.beta(0.3, 0.9, 60)[clusters]  # a mean of a quarter
        of_model = rng.random(600) < share
        of_stack = rng.random(600) < rng.beta(0.3, 0.9, 60)[clusters]
        for into, groups in ((covered, clusters), (naive, None)):
            found = compare(of_model, of_stack, plain(600), groups, 0.95)
            into.append(found.interval[0] <= 0.0 <= found.interval[1])
            if groups is not None:
                rejected.append(found.p_value < 0.05)
    assert np.mean(covered) >= 0.92
    assert np.mean(naive) < 0.8
    assert np.mean(rejected) <= 0.08


def test_the_interval_holds_0_where_the_test_does_not_reject():
    first, second = wrong(3, 5, 0, 192)
    found = compare(first, second, plain(200), None, 0.95)
    assert found.p_value == pytest.approx(0.0625)
    assert difference_interval(5, 0, 200, 0.95)[0] > 0.0
    assert found.interval[0] == 0.0
    assert (found.n_first, found.n_second) == (5, 0)
    assert (found.first, found.second, found.value) == pytest.approx((0.04, 0.015, 0.025))


def test_rare_rows_that_were_given_more_count_less():
    """A rare class has a hundredth of the rows given and half of those used: its errors count a fiftieth."""
    codes = np.repeat([0, 1], 2000)
    rows = StratifiedRows(codes, np.array([198_000, 2000]), np.array([1.98, 0.02]))
    of_rare = (codes == 1) & (np.arange(4000) % 2 == 0)
    found = compare(of_rare, np.zeros(4000, bool), rows, None, 0.95)
    assert found.value == pytest.approx(0.005)  # half of a hundredth
    # 2000 rows of the other class, none of which differ, leave open what the rare one makes sure
    of_others = 3.84 / 2003.84
    assert 0.0 < found.interval[0] < found.value < found.interval[1] < 0.005 + 2 * of_others
    assert found.interval[1] - found.interval[0] > of_others
    few = slice(1800, 2200)
    found = compare(of_rare[few], np.zeros(400, bool), StratifiedRows(codes[few], *rows_of(rows)), None, 0.95)
    assert found.interval[0] <= 0.0
    assert found.p_value > 0.05


def rows_of(rows):
    return rows.class_counts, rows.class_weights


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(3)
    first, second = rng.random(80) < 0.3, rng.random(80) < 0.2
    clusters, order = rng.integers(0, 9, 80), rng.permutation(80)
    one = compare(first, second, plain(80), clusters, 0.9)
    other = compare(first[order], second[order], plain(80), clusters[order], 0.9)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.interval == pytest.approx(other.interval)


def test_holm():
    """By the definition: of all tests that are at least as far from being rejected, the strictest multiple so far."""
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert len(holm([])) == 0


def test_five_clusters_have_students_interval_with_four_degrees_of_freedom():
    rng = np.random.default_rng(0)
    clusters = np.repeat([0, 2, 3, 5, 9], 40)  # those of some of the rows
    values = 1.0 + 0.1 * rng.normal(size=10)[clusters]
    means = np.array([values[clusters == each].mean() for each in np.unique(clusters)])
    low, high = stats.t.interval(0.95, 4, means.mean(), means.std(ddof=1) / 5**0.5)
    reach = 0.5 * (high - low)
    np.testing.assert_allclose(stats.norm.ppf(0.975) * level_of(values, clusters, 0.95).error, reach)
    found = compare_values(values, np.zeros(200), clusters, 0.95)
    np.testing.assert_allclose(found.interval, (low, high))
    codes = np.arange(200) % 2
    metric = check_metrics("log_loss", None, None, np.array([0, 1]), np.bincount(codes))[0]
    rows = PlainRows(codes, np.bincount(codes))
    proba = np.full((1, 200, 2), 0.5)
    found = sampling_of(values, proba, rows, metric, clusters, 0.95, values.mean(), np.inf, 0.0)
    np.testing.assert_allclose(stats.norm.ppf(0.975) * found.variance**0.5, reach)
