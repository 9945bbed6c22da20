"""Where the range of the learned floor begins: what the errors at three training sizes allow to be said."""

import numpy as np
import pytest

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.findings import find_in_learned
from bayesfloor.floor.learned.metrics import check_metrics
from bayesfloor.floor.learned.rules import AS_FAST, Lead, fall_as_fast, growth_of_lead, surely_as_fast
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.summary import GROWTH, N_DOUBLINGS, summarise
from bayesfloor.tables.arguments import check_problem

N = 2000
SIZES = np.array([1600.0, 800.0, 400.0])


def stack_with(error, codes, n_views):
    """Predictions of two classes that are wrong so often, the same rows at all sizes first, and say so."""
    wrong = np.arange(len(codes)) < round(error * len(codes))
    named = np.where(wrong, 1 - codes, codes)
    q = np.where(np.arange(2) == named[:, None], 1 - error, error)
    return Stack(np.tile(np.log(q), (1, n_views, 1, 1)), np.ones((5, 1)))


def summary_of(errors, n=N, **options):
    codes = np.random.default_rng(0).permutation(np.arange(n) % 2)
    stacks = [stack_with(error, codes, n_views) for error, n_views in zip(errors, (1, 2, 4), strict=True)]
    rows = PlainRows(codes, np.bincount(codes, minlength=2))
    (error,) = check_metrics("error", None, None, np.arange(2), rows.class_counts)
    return summarise(stacks, SIZES * n / N, rows, error, residual_z=0.0, confidence=0.95, **options), codes


def codes_found(summary, codes):
    problem = check_problem(np.arange(len(codes))[:, None], codes)
    return [finding.code for finding in find_in_learned(summary, 0.0, problem, codes, 5)]


def test_a_flat_curve_has_a_lower_end_near_what_was_reached():
    summary, codes = summary_of([0.2, 0.202, 0.205])
    assert 0.12 < summary.interval[0] < 0.2
    assert codes_found(summary, codes) == []


def test_at_chance_nothing_is_known_of_the_lower_end():
    summary, codes = summary_of([0.495, 0.497, 0.5])
    assert summary.interval[0] == 0.0
    assert summary.interval[1] == 0.5  # without features
    assert "BF023" in codes_found(summary, codes)


@pytest.mark.parametrize("errors", [[0.2, 0.3, 0.4], [0.3, 0.32, 0.36]])
def test_a_lead_that_still_grows(errors):
    summary, codes = summary_of(errors)
    growth = (0.5 - errors[0]) / (0.5 - errors[2])
    assert summary.growth == pytest.approx(growth)
    assert growth > GROWTH[0]
    assert "BF039" in codes_found(summary, codes)
    assert "BF040" not in codes_found(summary, codes)
    if growth >= GROWTH[1]:
        assert summary.interval[0] == 0.0


def test_the_lower_end_falls_with_the_growth():
    ends = [summary_of([0.3, 0.3 + d, 0.3 + 3 * d])[0].interval[0] for d in (0.0, 0.01, 0.014, 0.018, 0.03)]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.2
    assert ends[-1] == 0.0


def test_no_end_in_sight():
    summary, codes = summary_of([0.1, 0.13, 0.16])
    assert summary.steady_fall == pytest.approx(0.03)
    assert summary.growth < GROWTH[0]
    assert summary.interval[0] == 0.0
    assert "BF040" in codes_found(summary, codes)
    little, _ = summary_of([0.3, 0.306, 0.313])
    assert 0.0 < little.interval[0] <= 0.3 - N_DOUBLINGS * little.steady_fall < 0.3
    slower, codes = summary_of([0.14, 0.15, 0.18])
    assert slower.steady_fall == 0.0
    assert "BF040" not in codes_found(slower, codes)


def test_growth_and_fall_by_hand():
    rng = np.random.default_rng(1)
    errors = [(rng.random(4000) < share).astype(float) for share in (0.1, 0.21, 0.3)]
    of_largest = (rng.random(4000) < 0.5).astype(float)

    def standard_error(values):
        return values.std() / len(values) ** 0.5

    lead = [of_largest.mean() - error.mean() for error in errors]
    assert growth_of_lead(errors, of_largest, standard_error) == pytest.approx(lead[0] / lead[2])
    # a lead of less than a standard error counts as one
    at_chance = growth_of_lead([errors[0], errors[1], of_largest], of_largest, lambda values: 0.02)
    assert at_chance == pytest.approx(lead[0] / 0.02)
    falls = [errors[1].mean() - errors[0].mean(), errors[2].mean() - errors[1].mean()]
    assert falls[0] > AS_FAST * falls[1]
    assert fall_as_fast(errors, standard_error) == pytest.approx(falls[0])
    assert fall_as_fast(errors, lambda values: 1.0) == 0.0  # not surely
    assert fall_as_fast(errors[::-1], standard_error) == 0.0
    assert fall_as_fast([errors[0], errors[1], 2.0 * errors[2]], standard_error) == 0.0  # slower than before


@pytest.mark.parametrize(("kept", "fall", "least", "most"), [(0.6, 4.0, 0.0, 0.03), (1.0, 10.0, 0.7, 1.0)])
def test_falls_are_not_called_steady_by_chance(kept, fall, least, most):
    """The last fall has so many standard errors, and is a share of the one before: .6 on plain problems."""
    rng = np.random.default_rng(0)
    n, n_draws, found = 300, 400, 0
    for _ in range(n_draws):
        last, before = rng.normal([fall, fall / kept], n**0.5, (n, 2)).T
        found += surely_as_fast([np.zeros(n), last, last + before], lambda values: values.std() / n**0.5)
    assert least <= found / n_draws <= most
    risen = np.zeros(n), np.ones(n) + last - last.mean(), np.full(n, 0.5)
    assert not surely_as_fast(risen, lambda values: values.std() / n**0.5)


def test_never_above_what_sampling_allows():
    """Clopper and Pearson's lower limit of what was reached."""
    for error in (0.02, 0.1, 0.3):
        summary, _ = summary_of([error] * 3, n=500)
        assert summary.interval[0] <= proportion_interval(round(error * 500), 500, 0.95)[0]


def test_in_time_smaller_training_sets_are_no_earlier_stage():
    """They are more recent: a lead that grows with them says nothing of what is still to come."""
    assert summary_of([0.2, 0.3, 0.4], in_time=True)[0].growth == 1.0


@pytest.mark.parametrize("n", [1e10, 1e16, 1e18, 1e27])
def test_a_proportion_that_hardly_varies(n):
    """A loss with next to no variance stands for more rows than quantiles of the beta distribution can take."""
    low, high = proportion_interval(0.06 * n, n, 0.95)
    # the normal interval of a proportion, for 1e10 rows
    reach = 1.96 * (0.06 * 0.94 / 1e10) ** 0.5
    assert low == pytest.approx(0.06 - reach, abs=1e-9)
    assert high == pytest.approx(0.06 + reach, abs=1e-9)


def test_a_lead_is_judged_by_the_largest_three_sizes():
    rng = np.random.default_rng(0)
    losses = [(rng.random(1000) < error).astype(float) for error in (0.2, 0.24, 0.27, 0.33, 0.45)]
    nothing = (rng.random(1000) < 0.5).astype(float)

    def error_of(values):
        return values.std() / len(values) ** 0.5

    assert Lead.of(losses, nothing, error_of, in_time=False) == Lead.of(losses[:3], nothing, error_of, in_time=False)


def test_a_curve_over_decades_is_not_drawn_to_0_for_a_lead_that_grows():
    lead = Lead(0.2, 0.01, 1.0, growth=2.0)
    assert lead.drawn_to_zero(0.1, GROWTH) == 0.0
    assert lead.drawn_to_zero(0.1, GROWTH, over_decades=True) == 0.1
    assert lead._replace(surely=0.9).drawn_to_zero(0.1, GROWTH, over_decades=True) == 0.0
