"""What is known without learning: a rule that knows no features, and rows whose features are all equal."""

import numpy as np
import pytest
from scipy.stats import beta

from bayesfloor import learned_floor
from bayesfloor.data.sampling import class_weights
from bayesfloor.floor.learned.counted_rows import PlainRows, StratifiedRows
from bayesfloor.floor.learned.metrics import check_metrics, one_hot
from bayesfloor.floor.learned.summary import constant_probabilities, shares_in_cells, without_features

QUICK = {"learners": ["neighbours"], "n_jobs": 1}


def noise(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.integers(0, n_classes, n)


def test_which_of_two_rules_is_better_is_told_by_other_rows():
    """Beside brute force, and on noise: the better of two by their own rows would lose less than either does."""
    folds = np.arange(400) % 5
    gains = []
    for seed in range(200):
        stack, constant = np.random.default_rng(seed).integers(0, 2, (2, 400)).astype(float)
        marked = without_features(stack, constant, folds, in_time=False)
        for fold in range(5):
            is_worse = stack[folds != fold].mean() >= constant[folds != fold].mean()
            assert np.all(marked[folds == fold] == is_worse)
        gains.append(0.5 - np.where(marked, constant, stack).mean())
    assert abs(np.mean(gains)) < 3 * np.std(gains) / 200**0.5
    in_time = without_features(np.ones(6), np.array([1.0, 1, 1, 0, 1, 1]), np.arange(6) // 2, in_time=True)
    assert in_time.tolist() == [False] * 2 + [True] * 4  # the first has no past


def test_a_class_of_one_row_in_20_000():
    X, y = noise(20_001, 2)
    y[:] = 0
    y[0] = 1
    floor = learned_floor(X, y, learners=["gaussian"], n_jobs=1)
    assert floor.majority_error == pytest.approx(1 / 20_001)
    assert floor.reached <= floor.majority_error
    assert floor.estimate <= floor.majority_error


def test_a_class_that_keeps_a_row_more_than_its_share_counts_less():
    codes = np.repeat([0, 1], [20_000, 1])
    sample = np.repeat([0, 1], [9_999, 1])
    weights = class_weights(np.bincount(codes), sample)
    assert (weights[sample] @ sample) / len(sample) == pytest.approx(1 / 20_001)
    assert class_weights(np.bincount(codes), codes) is None


def test_probabilities_without_features_do_not_know_the_row_that_they_are_judged_by():
    codes = np.array([0, 0, 0, 1, 2])
    rows = PlainRows(codes, np.bincount(codes))
    (log_loss, *_) = check_metrics("log_loss", None, None, np.arange(3), rows.class_counts)
    q = constant_probabilities(rows, log_loss, None)
    # half a row for each class, and the row itself left out: (3 - 1 + 1/2) / (4 + 3/2), and (1 - 1 + 1/2) / (4 + 3/2)
    assert q[np.arange(5), codes] == pytest.approx([2.5 / 5.5] * 3 + [0.5 / 5.5] * 2)


def test_in_time_the_rule_without_features_knows_the_past_alone():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), np.repeat([0, 1], [110, 90])
    y[::10] = 1 - y[::10]
    floor = learned_floor(X, y, time=np.arange(200.0), **QUICK)
    # the later half is of class 1 by 9 in 10; who knew that would err on a tenth
    assert floor.majority_error < 0.2
    assert floor.reached > floor.majority_error


def test_rows_of_equal_features_and_different_labels_bound_the_error():
    """Of 200 rows 100 are equal, with labels of both classes: no rule errs on fewer than the rarer of these."""
    _, y = noise(200, 2)
    X = np.arange(200.0)[:, np.newaxis]  # whole numbers: equal rows are no copies of one observation
    X[:100] = 0.0
    y[:100] = np.arange(100) % 5 < 2
    floor = learned_floor(X, y, **QUICK)
    # Clopper and Pearson's lower limit of a count that is at most that of the best rule
    assert floor.interval[0] == pytest.approx(beta.ppf(0.025, 40, 161))
    assert floor.estimate >= floor.interval[0]


def test_no_probabilities_lose_less_than_the_shares_in_cells():
    """Beside brute force: a log-loss and a cost for all decisions of three cells."""
    rng = np.random.default_rng(0)
    cells, codes = rng.integers(0, 3, 40), rng.integers(0, 2, 40)
    targets = one_hot(codes, 2)
    metrics = check_metrics(["log_loss", "brier", "balanced_error", "roc_auc", "f1"], None, None, np.arange(2),
                            np.bincount(codes))  # fmt: skip
    q = shares_in_cells(cells, targets)
    for metric in metrics:
        least = metric.losses(targets, q, np.ones(40)).mean()
        for _ in range(200):
            of_cells = rng.dirichlet([0.5, 0.5], 3)
            assert metric.losses(targets, of_cells[cells], np.ones(40)).mean() >= least - 1e-12, metric.name


def test_shares_of_classes_vary_too():
    """The variance of a mean of class means, beside simulation: N rows whose classes are drawn."""
    rng = np.random.default_rng(0)
    counts, sample = np.array([950, 50]), np.repeat([0, 1], [95, 20])
    rows = StratifiedRows(sample, counts, class_weights(np.asarray(counts), sample))
    drawn = rng.binomial(1000, 0.05, 20_000) / 1000  # a value of 0 for one class, 1 for the other
    assert rows.between_classes(sample.astype(float)) == pytest.approx(drawn.var(), rel=0.05)


def test_a_loss_that_is_the_same_for_all_rows_is_known():
    X, y = np.ones((60, 2)), np.arange(60) % 2  # not to decide is best for all of them
    floor = learned_floor(X, y, costs=[[0, 1, 0.3], [1, 0, 0.3]], learners=["gaussian"], n_jobs=1)
    assert floor.reached == pytest.approx(0.3)
    assert floor.reached_interval == pytest.approx((0.3, 0.3), abs=1e-3)
