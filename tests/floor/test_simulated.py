"""What simulated problems tell of the end of a learning curve."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesfloor import learned_floor, regression_floor
from bayesfloor.floor.learned import simulated
from bayesfloor.floor.learned.rules import Lead
from bayesfloor.floor.learned.simulated import LEAST, OF_LOWER, Signs, Simulated, shares_of_kinds, with_simulated

SURE = Lead(mean=0.6, error=0.05, surely=1.0, growth=1.3)
SIGNS = Signs(800.0, 10, np.array([0.2, 0.24, 0.3]), 0.2, 0.5, 0.5, np.array([0.2, 0.5, 0.1]))


def test_signs_are_shares_that_do_not_depend_on_the_unit():
    values = SIGNS.values(growth=1.3, upper=0.23)
    expected = [np.log(800), np.log(10), 0.4, 0.2, 0.3, np.log(1.3), 0.5, 0.2, 0.5, 0.1, 1.15]
    np.testing.assert_allclose(values, expected)
    scaled = SIGNS._replace(losses=3 * SIGNS.losses, reached=0.6, baseline=1.5)
    np.testing.assert_allclose(scaled.values(growth=1.3, upper=0.69), values)


def test_learners_are_told_apart_by_their_names():
    weights = {"kernel ridge, scaled": 1.0, "deep trees": 2.0, "15 neighbours, scaled": 3.0, "logistic": 2.0}
    np.testing.assert_allclose(shares_of_kinds(weights), [1 / 8, 2 / 8, 3 / 8])
    np.testing.assert_array_equal(shares_of_kinds({}), np.zeros(3))


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_curve_and_simulated_problems_are_averaged(task):
    found = Simulated(mean=0.5, lower=0.2, upper=0.8)
    estimate, (low, high) = found.averaged(task, 0.18, (0.1, 0.22), SIGNS, SURE, 0.95)
    assert estimate == pytest.approx((0.18 + 0.2 * 0.5) / 2)
    part = OF_LOWER[task]
    assert low == pytest.approx(part * 0.2 * 0.2 + (1 - part) * 0.1)
    assert high == pytest.approx(0.2)  # never below what was reached, though half of 0.22 and 0.16 is
    half_begun, _ = found.averaged(task, 0.18, (0.1, 0.22), SIGNS, SURE._replace(growth=1.05), 0.95)
    assert half_begun == pytest.approx(0.75 * 0.18 + 0.25 * 0.1)
    flat, _ = found.averaged(task, 0.18, (0.1, 0.22), SIGNS, SURE._replace(growth=1.0), 0.95)
    assert flat == pytest.approx(0.18)


def test_a_higher_level_has_a_wider_range():
    found = Simulated(mean=0.7, lower=0.5, upper=1.2)
    ranges = [found.averaged("classes", 0.16, (0.1, 0.24), SIGNS, SURE, level)[1] for level in (0.8, 0.95, 0.99)]
    lows, highs = np.transpose(ranges)
    assert (np.diff(lows) < 0).all()
    assert (np.diff(highs) > 0).all()


def test_where_nothing_was_seen_the_curve_stays():
    assert with_simulated("classes", 0.4, (0.0, 0.5), SIGNS, SURE._replace(surely=0.9), 0.95) == (0.4, (0.0, 0.5))


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_any_signs_give_a_range_in_order(task):
    rng = np.random.default_rng(0)
    for _ in range(300):
        baseline = rng.uniform(0.01, 1.0)
        losses = baseline * rng.uniform(0.0, 1.3, 3)
        kinds = rng.dirichlet(np.ones(4))[:3]
        signs = Signs(10 ** rng.uniform(1, 7), rng.integers(1, 10**5), losses, losses[0], baseline, 9.0, kinds)
        estimate = losses[0] * rng.random()
        interval = estimate * rng.random(), losses[0] * rng.uniform(1, 2)
        lead = Lead(0.1, 0.01, 1.0, growth=rng.uniform(-50, 50))
        found, (low, high) = with_simulated(task, estimate, interval, signs, lead, 0.95)
        assert 0.0 <= low <= found <= high
        assert high >= losses[0]
        assert found <= max(losses[0], LEAST * baseline)


def test_each_function_has_a_coefficient_for_every_sign():
    n_signs = len(SIGNS.values(1.0, 0.3))
    found = json.loads(Path(simulated.__file__).with_suffix(".json").read_text(encoding="utf-8"))
    assert set(found) == set(OF_LOWER)
    for of_task in found.values():
        assert (np.array(of_task["low"]) < of_task["high"]).all()
        assert {len(of_task[name]) for name in Simulated._fields} == {n_signs + 1}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_other_learners_groups_and_time_are_judged_by_their_curve_alone(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(200) > 0).astype(int) if kind == "classes" else X[:, 0] + X[:, 1] ** 2
    calls = []

    def record(task, estimate, interval, *rest):
        calls.append(task)
        return estimate, interval

    where = "summary" if kind == "classes" else "regression.summary"
    monkeypatch.setattr(f"bayesfloor.floor.learned.{where}.with_simulated", record)
    floor = learned_floor if kind == "classes" else regression_floor
    own = "logistic" if kind == "classes" else "linear"
    floor(X, y, learners=own)
    floor(X, y, groups=np.arange(200) // 4)
    floor(X, y, time=np.arange(200))
    assert calls == []
    floor(X, y)
    assert calls == [kind]
