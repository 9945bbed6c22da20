"""How many rows until a model reaches a value."""

from dataclasses import replace

import numpy as np
import pytest

from bayesfloor.floor.learned.result import LearnedFloor, LearningCurve, MetricFloor
from bayesfloor.floor.learned.rows_needed import MOST
from bayesfloor.floor.learned.suspicious import doubt_labels, list_rows

from .test_lower_end import codes_found, summary_of

pytestmark = pytest.mark.limits(curve_detail=1.0)
SIZES = np.array([800.0, 400.0, 200.0])


def floor_of(values, estimate, interval, noise=1e-4, larger_is_better=False, **options):
    """Return a floor whose curve has such values. Rows are the same at all sizes, so levels vary together.

    No noise is less than what is always allowed for as the misfit of a curve, 1e-4.
    """
    values = np.array(values)
    covariance = noise**2 * (np.eye(3) + 1.0)
    curve = LearningCurve(SIZES, values, values, values, values, estimate, 0.5, covariance)
    return MetricFloor(
        name="roc_auc" if larger_is_better else "error",
        title="ROC AUC" if larger_is_better else "error",
        estimate=estimate,
        interval=interval,
        reached=values[0],
        reached_interval=(values[0], values[0]),
        baseline=0.5,
        larger_is_better=larger_is_better,
        curve=curve,
        confidence=0.95,
        is_rate=not larger_is_better,
        **options,
    )


def power_law(limit, excess, rate):
    return limit + excess * (SIZES / SIZES[0]) ** -rate


@pytest.mark.parametrize(("limit", "excess", "rate"), [(0.0, 0.1, 0.5), (0.05, 0.1, 0.8), (0.1, 0.04, 1.2)])
@pytest.mark.parametrize("times", [0.5, 3.0, 10.0])
def test_a_power_law_is_read_the_other_way_round(limit, excess, rate, times):
    found = floor_of(power_law(limit, excess, rate), limit, (limit - 1e-4, limit + 1e-4) if limit else (0.0, 1e-4))
    needed = found.rows_for(limit + excess * times**-rate)
    assert needed.rows == pytest.approx(times * SIZES[0], rel=0.15)
    assert needed.interval[0] <= times * SIZES[0] <= needed.interval[1]
    assert needed.verdict == ("reached" if times < 1 else "more rows")
    assert needed.findings == ()


def test_the_further_the_wider():
    found = floor_of(power_law(0.0, 0.1, 0.5), 0.0, (0.0, 1e-4))
    spreads = [np.divide(*found.rows_for(0.1 * times**-0.5).interval[::-1]) for times in (1.5, 3.0, 6.0)]
    assert spreads == sorted(spreads)
    assert spreads[-1] > 4


def test_a_value_that_was_reached_needs_no_more_rows():
    needed = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12), noise=0.01).rows_for(0.15)
    assert needed.verdict == "reached"
    assert needed.rows <= SIZES[0]
    assert needed.interval[0] <= 400.0
    assert "reached already" in needed.sentence()


def test_a_value_beyond_the_better_end_is_below_the_floor():
    needed = floor_of([0.20, 0.21, 0.22], 0.17, (0.15, 0.22), noise=0.005).rows_for(0.1)
    assert needed.verdict == "below the floor"
    assert needed.rows == needed.interval[1] == np.inf
    assert "by models like those tried on these columns, however many rows" in needed.sentence()


def test_a_flat_curve_does_not_get_there():
    found = floor_of([0.2, 0.2, 0.2], 0.19, (0.0, 0.21), noise=0.002)
    needed = found.rows_for(0.1)
    assert needed.verdict == "out of reach"
    assert needed.rows == needed.interval[1] == np.inf
    assert f"within {MOST:g} times the 800 training rows" in needed.sentence()


def test_errors_of_no_row_at_all():
    needed = floor_of([0.0, 0.0, 0.0], 0.0, (0.0, 0.01), noise=0.001).rows_for(0.0)
    assert needed.verdict == "reached"
    assert needed.interval[0] <= 200.0


def test_a_curve_that_rises_is_said_to():
    found = floor_of([0.25, 0.2, 0.21], 0.18, (0.0, 0.3), noise=0.005)
    needed = found.rows_for(0.15)
    assert [finding.code for finding in needed.findings] == ["BF042"]
    assert "0.2000 with 400, 0.2500 with 800" in needed.sentence()
    by_chance = floor_of([0.21, 0.2, 0.21], 0.18, (0.0, 0.3), noise=0.005)
    assert by_chance.rows_for(0.15).findings == ()


def test_a_rise_is_among_the_findings_of_the_floor():
    assert "BF042" in codes_found(*summary_of([0.3, 0.25, 0.25]))
    assert "BF042" not in codes_found(*summary_of([0.25, 0.25, 0.3]))


def test_larger_is_better_is_the_mirror_image():
    losses = np.array([0.10, 0.14, 0.2])
    smaller = floor_of(losses, 0.05, (0.01, 0.12), noise=0.004)
    larger = floor_of(1 - losses, 0.95, (0.88, 0.99), noise=0.004, larger_is_better=True)
    for loss in (0.15, 0.08, 0.04, 0.005):
        one, other = smaller.rows_for(loss), larger.rows_for(1 - loss)
        assert one.verdict == other.verdict
        assert one.rows == pytest.approx(other.rows)
        assert one.interval == pytest.approx(other.interval)


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1, np.inf, "0.1", None, True])
def test_values_that_cannot_be(value):
    found = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12))
    with pytest.raises(ValueError, match=r"'value' parameter.*\[0.0, 1.0\]"):
        found.rows_for(value)
    with pytest.raises(ValueError, match="'value'"):
        replace(found, bounds=(0.0, np.inf)).rows_for(np.inf)


def test_a_curve_without_covariance_cannot_tell():
    found = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12))
    with pytest.raises(ValueError, match="no covariance"):
        replace(found, curve=replace(found.curve, covariance=None)).rows_for(0.05)


def test_the_first_metric_or_one_by_name():
    error = floor_of([0.10, 0.14, 0.2], 0.05, (0.01, 0.12), noise=0.004)
    auc = floor_of([0.95, 0.93, 0.9], 0.98, (0.94, 1.0), noise=0.004, larger_is_better=True)
    both = LearnedFloor(
        metric="error",
        metrics={"error": error, "roc_auc": auc},
        weights={},
        residual_z=0.0,
        n_samples=1000,
        n_rows=1000,
        suspicious=list_rows(
            doubt_labels(np.eye(2), np.arange(2)),
            *(np.arange(2), np.arange(2), np.eye(2), np.arange(2)),
            n_samples=1000,
            confidence=0.95,
            of_suggested=True,
        ),
        classes=np.arange(2),
        class_reached=np.zeros(2),
        pair_reached=np.zeros((2, 2)),
    )
    assert (both.estimate, both.interval, both.curve) == (error.estimate, error.interval, error.curve)
    assert both.rows_for(0.08).rows == error.rows_for(0.08).rows
    assert both.rows_for(0.96, "roc_auc").rows == auc.rows_for(0.96).rows
    with pytest.raises(ValueError, match="'metric'"):
        both.rows_for(0.1, "f1")


def test_how_it_is_shown():
    needed = floor_of(power_law(0.0, 0.1, 0.5), 0.0, (0.0, 1e-4)).rows_for(0.1 * 4**-0.5)
    assert repr(needed).startswith("RowsNeeded(metric 'error', value 0.0500, verdict 'more rows', rows 3")
    assert needed.sentence().startswith("An error of 5.0% takes models like those tried ")
    assert "1,300 training rows to more than 100 times the 800 at hand (95% interval; about 3," in needed.sentence()
    assert "times the 800 at hand" in needed.sentence()
    frame = needed.frame()
    assert len(frame) == 1
    assert frame["rows"][0] == needed.rows
