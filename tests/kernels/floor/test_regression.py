"""The floor for numbers: what is known is found, whatever the order of the rows, and what was noticed is said."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from bayesfloor import regression_floor
from bayesfloor.floor.learned.regression.noise_profile import profile_of_residuals
from bayesfloor.tables.arguments import check_problem
from helpers.agreement import codes_of
from helpers.one_case import for_each
from helpers.plans import floor_and_predictions
from helpers.refusals import options_not_refused

QUICK = ["linear"]


def linear_rows(n=300, d=3, noise=0.5, seed=0):
    """y = x1 - x2 + noise: a variance of 2, and the noise beside it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] - X[:, 1] + noise * rng.standard_normal(n)


@cache
def floor_of(n=300):
    """The floor of such rows, for tests that hold another beside it."""
    return regression_floor(*linear_rows(n), learners=QUICK)


def same(a, b):
    """Whether two results are equal to the last bit."""
    assert a.estimate == b.estimate
    assert a.interval == b.interval
    assert a.reached_interval == b.reached_interval
    assert a.noise_variance_interval == b.noise_variance_interval
    assert a.weights == b.weights
    assert np.array_equal(a.noise.sd, b.noise.sd)
    assert a.findings == b.findings


# --- what is known


def test_a_linear_problem():
    floor = regression_floor(*linear_rows(600, noise=1.0), learners=QUICK)
    assert floor.noise_variance == pytest.approx(1.0, abs=0.12)  # two standard errors
    assert floor.estimate == pytest.approx(2 / 3, abs=0.05)
    rmse, mae = floor.metrics["rmse"], floor.metrics["mae"]
    assert mae.estimate == pytest.approx((2 / np.pi) ** 0.5, abs=0.07)
    assert rmse.estimate**2 == pytest.approx(floor.noise_variance)
    assert floor.estimate == pytest.approx(1 - floor.noise_variance / rmse.baseline**2)
    assert codes_of(floor) == []


def test_figures_agree_with_each_other():
    X, y = linear_rows()
    floor, predicted = floor_and_predictions(X, y, metric=["mae", "r2"], learners=QUICK)
    assert floor.metric == "mae"
    assert list(floor.metrics) == ["mae", "r2", "rmse"]
    assert floor.estimate == floor.metrics["mae"].estimate
    residuals = y - predicted
    assert floor.metrics["rmse"].reached == pytest.approx(np.mean(residuals**2) ** 0.5, rel=1e-5)
    assert floor.metrics["mae"].reached == pytest.approx(np.mean(np.abs(residuals - np.median(residuals))), rel=1e-3)
    assert floor.metrics["r2"].reached == pytest.approx(1 - np.mean(residuals**2) / y.var(), rel=1e-5)
    assert floor.metrics["mae"].baseline == pytest.approx(np.mean(np.abs(y - np.median(y))), rel=0.02)
    assert floor.metrics["rmse"].baseline == pytest.approx(y.std())
    for each in floor.metrics.values():
        ends = (each.interval[0], *sorted([each.reached, each.estimate]), each.interval[1])
        assert ends == tuple(sorted(ends)), each.name
        assert np.all(np.linalg.eigvalsh(each.curve.covariance) > 0)
        assert each.rows_for(each.reached).verdict == "reached"


def test_the_absolute_error_of_skewed_noise_is_that_of_its_median():
    """Exponential noise: its median is log 2, and the mean distance from that log 2 too; from the mean it is 2 / e."""
    X, _ = linear_rows(1500)
    noise = np.random.default_rng(1).standard_exponential(1500)
    floor = regression_floor(X, X[:, 0] + noise, metric="mae", learners=["linear"])
    assert floor.reached == pytest.approx(np.mean(np.abs(noise - np.log(2))), rel=0.02)  # 2 / e is 6% more


def test_the_absolute_error_of_few_values_is_that_of_their_median():
    """It is one of the values: a mean with a constant beside it is never near."""
    rng = np.random.default_rng(2)
    X, _ = linear_rows(1200, seed=5)
    chance = 1 / (1 + np.exp(-2.0 * X[:, 0]))
    y, of_all = rng.binomial(4, chance), rng.binomial(4, chance, (401, 1200))
    exact = np.abs(of_all - np.median(of_all, axis=0)).mean()
    floor = regression_floor(X, y.astype(float), metric="mae", learners=["linear", "neighbours"], checks=False)
    assert exact < 1.03 * floor.reached < 1.09 * exact


def test_medians_are_those_of_other_rows_and_other_groups():
    """Numbers that are those of their group, which no prediction tells, have no median that knows them."""
    rng = np.random.default_rng(0)
    X, groups = np.repeat(rng.standard_normal((40, 2)), 10, axis=0), np.repeat(np.arange(40), 10)
    y = np.repeat(rng.standard_normal(40), 10) + 1e-3 * rng.standard_normal(400)
    mae = regression_floor(X, y, groups=groups, learners=QUICK, checks=False).metrics["mae"]
    assert mae.reached > 0.9 * mae.baseline


def test_the_unit_of_y_does_not_matter():
    X, y = linear_rows()
    floor, other = floor_of(), regression_floor(X, 1e9 + 1000 * y, learners=QUICK)
    # rows are dealt out to folds by their values, so that figures differ a little
    assert other.estimate == pytest.approx(floor.estimate, abs=0.02)
    # the same difference, beside a noise of 1 - .89
    assert other.noise_variance == pytest.approx(1e6 * floor.noise_variance, rel=0.02 / 0.11)


def test_measurements_repeated_at_each_place_tell_the_noise():
    """Nothing that is tried can learn this function; equal rows give its noise away.

    How much of it depends on how places are dealt out to folds, so the median of three samples is compared.
    """
    ratios = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.standard_normal((150, 3)), 4, axis=0)
        y = np.repeat(rng.standard_normal(150), 4) + 0.5 * rng.standard_normal(600)
        floor = regression_floor(X, y, learners=["linear", "additive"])
        assert {"BF037", "BF056"} <= set(codes_of(floor))
        assert floor.reached < 0.1
        ratios.append(floor.noise_variance / y.reshape(150, 4).var(axis=1, ddof=1).mean())
    # three standard errors of a variance of 150 degrees of freedom, one for each place
    assert np.median(ratios) == pytest.approx(1.0, rel=3 * (2 / 150) ** 0.5)


def test_repeated_rows_of_rounded_columns_are_used_once():
    """Every second row comes twice, y and all: the noise is not what equal rows differ by."""
    rng = np.random.default_rng(9)
    X = np.round(rng.standard_normal((400, 4)), 1)
    y = np.round(X[:, 0] + rng.standard_normal(400), 2)
    doubled = np.append(np.arange(400), np.arange(0, 400, 2))
    floor = regression_floor(X[doubled], y[doubled], learners=QUICK)
    assert floor.n_rows == 400
    assert "BF037" in codes_of(floor)
    assert "BF056" not in codes_of(floor)
    assert floor.noise_variance == pytest.approx(1.0, abs=0.3)


def test_noise_alone():
    rng = np.random.default_rng(1)
    floor = regression_floor(rng.standard_normal((200, 4)), rng.standard_normal(200), learners=QUICK)
    assert "BF048" in codes_of(floor)
    assert floor.interval[1] == 1.0
    assert floor.interval[0] <= 0.0
    assert "Nothing in these rows rules out" in floor.sentence()


def test_neighbours_whose_residuals_are_alike():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(600, 1))
    y = np.sin(20 * X[:, 0]) + 0.1 * rng.standard_normal(600)
    floor = regression_floor(X, y, learners=["linear"])
    assert "BF049" in codes_of(floor)
    assert floor.residual_z > 5
    # from residuals of neighbours alone: almost all of the squared error is what a straight line misses
    assert floor.noise_variance < 0.1 < 0.3 < floor.metrics["rmse"].reached ** 2


# --- rows in any order, groups, time, weights


def test_groups_are_never_cut():
    """What rows of a group have in common can be learned within it alone: R² of new groups is that of x."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(60), 6)
    centre = rng.standard_normal((60, 3))
    X = np.column_stack([rng.standard_normal(360), centre[groups] + 0.01 * rng.standard_normal((360, 3))])
    y = X[:, 0] + rng.standard_normal(60)[groups] + 0.1 * rng.standard_normal(360)
    mixed = regression_floor(X, y, learners=["linear", "neighbours"], cv=KFold(5, shuffle=True, random_state=0))
    grouped = regression_floor(X, y, groups=groups, learners=["linear", "neighbours"])
    assert grouped.reached < 0.6 < mixed.reached
    renamed = regression_floor(X, y, groups=[f"p{99 - g}" for g in groups], learners=["linear", "neighbours"])
    assert renamed.estimate == grouped.estimate
    few = regression_floor(X, y, groups=groups // 6, learners=QUICK)
    assert "BF027" in codes_of(few)


def test_the_past_predicts_the_future():
    X, y = linear_rows(300)
    time = np.arange(300)
    _, predicted = floor_and_predictions(X, y, time=time, learners=QUICK)
    assert np.isnan(predicted[:140]).all()
    assert np.isfinite(predicted[150:]).all()


@for_each(("learners", "seed"), [([LinearRegression()], 2), (["linear", "neighbours", "trees"], 3)])
def test_levels_that_move_are_followed(learners, seed):
    """A random walk is predicted from its last steps as well as least squares on the past predict it."""
    walk = np.cumsum(np.random.default_rng(seed).normal(size=405))
    X, y, period = np.column_stack([walk[4 - lag : -1 - lag] for lag in range(5)]), walk[5:], np.arange(400) // 40
    floor = regression_floor(X, y, time=np.arange(400), metric="rmse", learners=learners, checks=False)
    by_hand = [
        y[period == now] - LinearRegression().fit(X[period < now], y[period < now]).predict(X[period == now])
        for now in range(5, 10)
    ]
    assert floor.reached < 1.1 * np.square(by_hand).mean() ** 0.5


def test_rows_of_no_weight_do_not_count():
    X, y = linear_rows(300)
    rng = np.random.default_rng(0)
    wrong = 10 * rng.standard_normal(100)
    floor, predicted = floor_and_predictions(
        np.vstack([X, X[:100]]),
        np.append(y, wrong),
        sample_weight=np.repeat([3.0, 0.0], [300, 100]),
        learners=QUICK,
    )
    assert floor.n_rows == 300
    assert floor.estimate == pytest.approx(floor_of().estimate, abs=0.03)
    assert np.isnan(predicted[300:]).all()


def test_weights_move_the_figures_to_what_they_stand_for():
    """Half of the rows have noise of variance 1, half of 9; weights of 9 and 1 make the mean 1.8."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((800, 2))
    is_loud = np.arange(800) % 2 == 1
    y = X[:, 0] + np.where(is_loud, 3.0, 1.0) * rng.standard_normal(800)
    floor = regression_floor(X, y, sample_weight=np.where(is_loud, 1.0, 9.0), learners=["linear"])
    assert floor.noise_variance == pytest.approx(1.8, rel=0.2)


def test_frames_with_categories_and_named_columns():
    rng = np.random.default_rng(6)
    n = 300
    frame = pd.DataFrame({"kind": rng.choice(list("abcdef"), n), "size": rng.standard_normal(n)})
    effect = frame["kind"].map({"a": 0, "b": 2, "c": 1, "d": 4, "e": 3, "f": 0})
    frame["price"] = effect + frame["size"] + 0.5 * rng.standard_normal(n)
    frame["w"] = 1.0 + (np.arange(n) % 3)
    floor = regression_floor(frame, "price", sample_weight="w", learners=["additive", "boosting"])
    assert "w" not in floor.feature_names
    assert floor.reached > 0.8
    apart = regression_floor(
        frame[["kind", "size"]], frame["price"], sample_weight=frame["w"], learners=["additive", "boosting"]
    )
    assert apart.estimate == floor.estimate
    with pytest.raises(ValueError, match="no such column"):
        regression_floor(frame, "price", sample_weight="weight")


@pytest.mark.slow
def test_a_cluster_gives_the_same():
    distributed = pytest.importorskip("distributed")
    X, y = linear_rows(60)
    with distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
        remote = regression_floor(X, y, learners=["linear", "boosting"], client=client)
    same(remote, regression_floor(X, y, learners=["linear", "boosting"]))


# --- many rows


@pytest.fixture
def few_are_many(set_limits):
    """Hold rows out from 301 rows on, and try few learners."""
    set_limits(learned_rows=300, learners=tuple(QUICK))


@pytest.mark.parametrize("n", [500, 2000])
def test_many_rows_are_held_out(few_are_many, n):
    X, y = linear_rows(n, noise=1.0)
    floor, predicted = floor_and_predictions(X, y)
    assert floor.n_rows == n
    n_tested = np.isfinite(predicted).sum()
    assert 300 <= n_tested <= 420
    assert floor.curve.size[0] == pytest.approx(0.8 * n if n == 500 else n - n_tested, rel=0.05)
    assert floor.estimate == pytest.approx(2 / 3, abs=0.15)


def test_many_rows_in_another_order_and_groups(few_are_many):
    X, y = linear_rows(500)
    order = np.random.default_rng(0).permutation(500)
    same(regression_floor(X, y), regression_floor(X[order], y[order]))
    grouped = regression_floor(X, y, groups=np.arange(500) % 50)
    assert grouped.estimate == pytest.approx(8 / 9, abs=0.06)


def test_a_sample_is_said_to_be_one():
    X, y = linear_rows(300)
    floor = regression_floor(X, y, max_rows=200, learners=QUICK)
    assert floor.n_rows == 200
    assert "BF047" in codes_of(floor)


# --- where the noise is, and rows that do not fit


@pytest.mark.limits(curve_detail=1.0)
def test_noise_that_grows():
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(1000, 2))
    y = 4 * X[:, 0] + (0.2 + 2 * X[:, 0]) * rng.standard_normal(1000)
    floor, predicted = floor_and_predictions(X, y, learners=QUICK)
    assert "BF054" in codes_of(floor)
    bins = np.array_split(np.argsort(predicted), len(floor.noise.sd))
    known = np.array([np.mean((0.2 + 2 * X[rows, 0]) ** 2) ** 0.5 for rows in bins])
    inside = (floor.noise.sd_interval[:, 0] < known) & (known < floor.noise.sd_interval[:, 1])
    assert inside.sum() >= 8
    assert floor.noise.n_rows.sum() == 1000
    assert np.all(np.diff(floor.noise.low) >= 0)
    assert (floor.noise.low[0], floor.noise.high[-1]) == pytest.approx((predicted.min(), predicted.max()))
    even = regression_floor(*linear_rows(600), learners=QUICK)
    assert "BF054" not in codes_of(even)
    assert even.noise.p_value > 0.001


@for_each(("draw", "n_predicted"), [("standard_exponential", 3), ("standard_cauchy", 400)])
def test_even_noise_of_any_shape_is_called_even(draw, n_predicted):
    rng = np.random.default_rng(0)
    p_values = np.empty(200)
    for place in range(200):
        noise = getattr(rng, draw)(size=400)
        predicted = rng.integers(0, n_predicted, 400).astype(float)
        p_values[place] = profile_of_residuals(predicted, noise - np.median(noise), np.ones(400)).p_value
    assert (p_values < 0.001).sum() <= 2
    assert 0.005 < (p_values < 0.05).mean() < 0.1


def test_what_models_miss_is_no_uneven_noise():
    """Skewed noise of one size, about predictions that are too low in one half and too high in the other."""
    rng = np.random.default_rng(0)
    predicted = rng.uniform(-1.0, 1.0, 400)
    for _ in range(20):
        residuals = rng.standard_exponential(400) - 1.0 - 0.3 * np.sign(predicted)
        assert profile_of_residuals(predicted, residuals, np.ones(400)).p_value > 0.001


def test_the_median_is_a_model_too():
    """Three quarters of zeros: a mean plus a constant has a larger absolute error than always 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = np.where(rng.random(300) < 0.75, 0.0, rng.lognormal(0.5, 0.8, 300))
    mae = regression_floor(X, y, learners=QUICK).metrics["mae"]
    assert mae.baseline == pytest.approx(np.abs(y).mean())
    assert mae.estimate <= mae.reached == mae.baseline
    assert mae.estimate <= mae.interval[1]


def test_a_few_rows_that_rule_the_variance():
    X, y = linear_rows(400)
    y[:3] += [200.0, -150.0, 120.0]
    floor = regression_floor(X, y, learners=QUICK)
    assert "BF053" in codes_of(floor)
    rmse, mae = floor.metrics["rmse"], floor.metrics["mae"]
    assert mae.reached < 0.3 * rmse.reached


def test_kinds_of_targets_are_said():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((300, 2))
    counts = rng.poisson(np.exp(2 + X[:, 0])).astype(float)
    assert "BF055" in codes_of(regression_floor(X, counts, learners=["linear"]))


# --- what it looks like, and what is refused


def test_it_can_be_read():
    floor = regression_floor(*linear_rows(noise=1.0), learners=QUICK)
    assert re.fullmatch(
        r"RegressionFloor\(r2 0\.\d{4}, 95% interval 0\.\d{4} to [01]\.\d{4}, reached 0\.\d{4}, 300 of 300 samples\)",
        repr(floor),
    )
    assert floor.sentence().startswith("About ")
    assert "The noise has a standard deviation of about" in floor.sentence()
    assert list(floor.frame()["metric"]) == ["r2", "rmse", "mae"]
    assert len(floor.noise.frame()) == len(floor.noise.sd)
    assert repr(floor.noise).startswith("NoiseProfile(sd 0.")
    assert floor.rows_for(floor.reached - 0.01, "r2").verdict == "reached"
    assert floor.rows_for(0.01, "rmse").verdict == "below the floor"
    assert floor.plot().frame()["estimate"].iloc[0] == floor.estimate


def test_what_is_refused():
    X, y = linear_rows(100)
    table = [
        ({"metric": "error"}, "'metric' parameter must be one of 'r2', 'rmse', 'mae'"),
        ({"metric": ["r2", "rsme"]}, "Did you mean 'rmse'"),
        ({"metric": []}, "or a list of them"),
        ({"confidence": 1.0}, "'confidence' parameter"),
        ({"cv": 4}, r"int in the range \[5"),
        ({"cv": 30}, "needs at least 120 rows"),
        ({"cv": KFold(3)}, "at least 5 folds"),
        ({"cv": KFold(5), "time": np.arange(100)}, "an int with time"),
        ({"groups": np.arange(100) % 3}, "at least 5"),
        ({"learners": "logistic"}, "'learners' parameter must be made of"),
        ({"learners": []}, "at least one learner"),
        ({"learners": [LogisticRegression()]}, "must be a regressor"),
        ({"learners": {"ridge": LinearRegression(), "b": "linear"}}, "two learners called 'ridge'"),
        ({"sample_weight": -np.ones(100)}, "not below zero"),
        ({"prepare": "no"}, "'prepare' parameter"),
        ({"max_rows": 2.5}, "'max_rows' parameter"),
        ({"y": np.ones(100)}, "is 1 everywhere"),
        ({"y": None}, "requires y"),
        ({"X": X[:19], "y": y[:19]}, "needs at least 20 rows"),
    ]
    frame = pd.DataFrame(X, columns=list("abc"))
    assert options_not_refused(lambda **given: regression_floor(**{"X": frame, "y": y, **given}), table) == []


def test_rows_are_told_by_their_bits():
    """-0 and 0 are equal: rows that hold them have to be dealt out alike."""
    X, y = linear_rows(40)
    y[3] = 0.0
    negative = y.copy()
    negative[3] = -0.0
    assert np.array_equal(*(check_problem(X, each, task="regression").y.view(np.uint64) for each in (y, negative)))


def test_numbers_that_are_learned_to_the_last_digit():
    """The lower end of what is left over may be 0 where the mean is a rounding error."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    for noise in (0.0, 1e-9):
        y = X[:, 0] + noise * rng.standard_normal(60)
        floor = regression_floor(X, y, learners=["linear"], checks=False, n_jobs=1)
        for metric in floor.metrics.values():
            assert np.isfinite([metric.estimate, *metric.interval]).all()
