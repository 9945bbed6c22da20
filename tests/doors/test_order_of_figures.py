"""What needs no features, what was reached, the floor and the ends of its range are in their order for every metric."""

import numpy as np

from bayesfloor import learned_floor, regression_floor
from helpers.one_case import for_each

#: Metrics of classes, and what classes drawn evenly by chance have of two of them.
METRICS = ("error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision", "f1")
CHANCE = {"error": 0.5, "balanced_error": 0.5, "log_loss": np.log(2.0), "brier": 0.25, "roc_auc": 0.5}
QUICK = {"effort": "fast", "checks": False, "n_jobs": 1}


def in_batches(seed):
    """Labels that hold for a whole batch, half of the time."""
    rng = np.random.default_rng(seed)
    batch = np.repeat(np.arange(10), 8)
    X = rng.standard_normal((80, 2)) + rng.standard_normal((10, 2))[batch]
    of_batch = rng.permutation(np.arange(10) % 2)[batch]
    return X, np.where(rng.random(80) < 0.5, of_batch, rng.permutation(np.arange(80) % 2)), {"groups": batch}


def rare(seed):
    rng = np.random.default_rng(seed)
    y = (np.arange(200) % 20 == 0).astype(np.int64)
    return rng.standard_normal((200, 3)) + 0.5 * y[:, np.newaxis], y, {}


def in_time(seed):
    rng = np.random.default_rng(seed)
    score = np.linspace(-1.0, 1.0, 120) + rng.standard_normal(120)
    return rng.standard_normal((120, 2)), (score > 0.0).astype(np.int64), {"time": np.arange(120)}


@for_each("draw", [in_batches, rare, in_time])
def test_figures_of_classes_are_in_order(draw):
    for seed in range(2):
        X, y, beside = draw(seed)
        floor = learned_floor(X, y, metric=METRICS, learners=["gaussian", "logistic"], **QUICK, **beside)
        for name, figures in floor.metrics.items():
            sign = -1.0 if figures.larger_is_better else 1.0
            reached, baseline, estimate = sign * figures.reached, sign * figures.baseline, sign * figures.estimate
            assert estimate <= min(reached, baseline) + 1e-12, (name, seed)
            assert sign * figures.best <= estimate <= sign * figures.measured, (name, seed)
            assert sign * figures.measured >= min(reached, baseline) - 1e-12, (name, seed)
            if name in CHANCE:  # shares of classes without the row that they are for may lose more than chance
                assert sign * figures.measured <= max(sign * CHANCE[name], baseline) + 1e-9, (name, seed)
            if name == "average_precision" and draw is rare:
                assert figures.measured >= 0.02, seed  # 10 of 200 are .024 at the least


def test_figures_of_numbers_are_in_order():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((90, 2))
        y = 0.2 * X[:, 0] + rng.standard_t(2, 90)
        for figures in regression_floor(X, y, learners=["linear"], **QUICK).metrics.values():
            sign = -1.0 if figures.larger_is_better else 1.0
            reached, baseline, estimate = sign * figures.reached, sign * figures.baseline, sign * figures.estimate
            assert estimate <= min(reached, baseline) + 1e-12
            assert sign * figures.best <= estimate <= sign * figures.measured


def test_the_absolute_error_reaches_to_what_was_attained():
    """In time, where models lose more squares than the mean, a range that is scaled to squares ended below them."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(60, 120))
        y = np.linspace(-1.0, 1.0, n) + rng.standard_normal(n)
        floor = regression_floor(
            rng.standard_normal((n, 3)), y, learners=["linear", "neighbours"], time=np.arange(n), **QUICK
        )
        figures = floor.metrics["mae"]
        assert figures.measured >= min(figures.reached, figures.baseline) - 1e-12, seed


def test_the_range_of_a_subgroup_ends_where_classes_are_even():
    X, y, beside = in_batches(0)
    floor = learned_floor(X, y, by=beside["groups"] % 2, learners=["gaussian"], **QUICK, **beside)
    assert floor.subgroups.interval[:, 1].max() <= 0.5
    assert (floor.subgroups.estimate <= floor.subgroups.interval[:, 1]).all()
