"""Weights of rows in the learned floor of classes: known floors, copies, what does not count, and single rules."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from bayesfloor import learned_floor
from bayesfloor.data.target_encoding import class_shares, out_of_fold_shares
from bayesfloor.floor.learned.counted_rows import PlainRows, WeightedRows, effective_rows
from bayesfloor.floor.learned.stack_errors import confusion_matrix, errors_by_class, errors_of_pairs
from bayesfloor.floor.learned.targets import fit_exponents
from bayesfloor.learn.training_rows import Codes, Train, target_means
from helpers.one_case import for_each

QUICK = {"learners": ["gaussian"], "n_jobs": 1}


def shifted_shares(n_rows, seed):
    """As many rows of each of two normal classes, of which the population has nine of one for one of the other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 2))
    X[:, 0] += 2 * y - 1
    threshold = np.log(9.0) / 2.0
    floor = 0.1 * norm.cdf(threshold - 1.0) + 0.9 * norm.sf(threshold + 1.0)
    return X, y, np.where(y == 1, 0.2, 1.8), floor


def shifted_rows(n_rows, seed):
    """Labels are wrong in 2% of one half of the square and in 40% of the other, of which the population has a fifth."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n_rows, 2))
    is_clear = X[:, 0] > 0
    y = (X[:, 1] > 0) ^ (rng.random(n_rows) < np.where(is_clear, 0.02, 0.4))
    return X, y, np.where(is_clear, 4.0, 1.0) * rng.uniform(0.5, 1.5, n_rows), 0.8 * 0.02 + 0.2 * 0.4


@pytest.mark.parametrize(("make", "learners"), [(shifted_shares, ["gaussian"]), (shifted_rows, ["trees"])])
def test_the_floor_is_that_of_the_population(make, learners):
    X, y, weight, floor = make(600, 3)
    found = learned_floor(X, y, sample_weight=weight, learners=learners, n_jobs=1)
    assert found.reached == pytest.approx(floor, abs=0.03)
    assert learned_floor(X, y, learners=learners, n_jobs=1).interval[0] > floor  # that of the sample is another


def test_what_weights_do_not_change():
    X, y, weight, _ = shifted_shares(200, 0)
    plain = learned_floor(X, y, **QUICK)
    assert learned_floor(X, y, sample_weight=np.full(200, 3.0), **QUICK).estimate == plain.estimate
    one = learned_floor(X, y, sample_weight=weight, metric=["error", "log_loss", "roc_auc"], **QUICK)
    other = learned_floor(X, y, sample_weight=1024 * weight, metric=["error", "log_loss", "roc_auc"], **QUICK)
    for name, metric in one.metrics.items():
        assert other.metrics[name].interval == metric.interval
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, w=weight)
    named = learned_floor(frame, "y", sample_weight="w", **QUICK)
    by_hand = learned_floor(frame[["a", "b", "y"]], "y", sample_weight=weight, **QUICK)
    assert named.interval == by_hand.interval


def test_rows_of_weight_0_are_not_there():
    X, y, weight, _ = shifted_shares(240, 0)
    weight[::6] = 0.0
    kept = weight > 0
    found = learned_floor(X, y, sample_weight=weight, **QUICK)
    alone = learned_floor(X[kept], y[kept], sample_weight=weight[kept], **QUICK)
    assert found.metrics["error"].interval == pytest.approx(alone.metrics["error"].interval)
    assert (found.n_samples, found.n_rows) == (240, 200)
    with pytest.raises(ValueError, match="sample_weight is 0 in all rows of class 1"):
        learned_floor(X, y, sample_weight=1.0 - y, **QUICK)
    with pytest.raises(ValueError, match="sample_weight"):
        learned_floor(X, y, sample_weight=weight[:-1], **QUICK)


@for_each("kind", ["groups", "time", "by", "own learner"])
def test_weights_beside_all_else(kind):
    X, y, weight, floor = shifted_shares(400, 5)
    options = {
        "groups": {"groups": np.arange(400) // 4},
        "time": {"time": np.arange(400)},
        "by": {"by": np.arange(400) % 3},
        "own learner": {"learners": [LogisticRegression(), GaussianNB()]},
    }[kind]
    found = learned_floor(X, y, sample_weight=weight, **(QUICK | options))
    assert found.metrics["error"].reached == pytest.approx(floor, abs=0.08)
    if kind == "by":
        share = found.subgroups.share
        assert share == pytest.approx(np.bincount(np.arange(400) % 3, weight) / weight.sum())
        assert share @ found.subgroups.reached == pytest.approx(found.reached)


def test_many_rows(set_limits):
    """Some rows are tested, more of the rare class than its share, and all others trained on."""
    set_limits(learned_rows=250)
    X, y, weight, floor = shifted_shares(1500, 6)
    keep = (y == 0) | (np.random.default_rng(0).random(1500) < 0.1)
    weight = np.where(y == 1, 10.0 * weight, weight)  # what was left out is made up for
    found = learned_floor(X[keep], y[keep], sample_weight=weight[keep], n_jobs=1)
    assert found.metrics["error"].reached == pytest.approx(floor, abs=0.1)


# --- single rules, beside rows that stand as often as they count


def test_drawn_rows_stand_as_often_as_they_count():
    weight = np.array([2.0, 1.0, 1.0, 0.5, 0.5, 1.0])
    table = Codes(np.arange(6.0)[:, np.newaxis], np.array([False]))
    train = Train(np.arange(6.0)[:, np.newaxis], np.arange(6) % 2, 2, table=table, weight=weight)
    drawn = train.drawn_by_weight()
    assert np.bincount(drawn.X[:, 0].astype(int), minlength=6)[[0, 1, 2, 5]].tolist() == [2, 1, 1, 1]
    assert drawn.weight is None
    assert len(drawn.y) == 6
    assert np.array_equal(drawn.table.values, drawn.X)
    assert np.array_equal(drawn.y, drawn.X[:, 0] % 2)


def weighted_categories(seed, n_rows, is_classes=True):
    """Rows of a category with as many values as rows have room for, the rows' weights, and rows to predict."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 2 * n_rows // 5, n_rows + 500).astype(float)
    score = rng.normal(size=n_rows)[levels.astype(int)] + rng.logistic(size=n_rows + 500)
    y = (score > 0).astype(int) if is_classes else score
    weight, X = rng.exponential(size=n_rows) ** 1.5, rng.normal(size=(n_rows + 500, 3))
    table = Codes(levels[:n_rows, np.newaxis], np.array([True]))
    train = Train(X[:n_rows], y[:n_rows], 2 * is_classes, table=table, weight=weight / weight.mean())
    return train, X[n_rows:], y[n_rows:]


@for_each("is_classes", [True, False])
def test_the_category_of_a_drawn_row_is_not_told_by_its_copies(is_classes):
    drawn = weighted_categories(0, 200, is_classes)[0].drawn_by_weight()
    before, _ = target_means(drawn.table.values[:, 0], drawn)
    _, places, times = np.unique(drawn.X[:, 0], return_inverse=True, return_counts=True)
    copies = places == times.argmax()
    assert copies.sum() > 5
    after, _ = target_means(drawn.table.values[:, 0], drawn._replace(y=np.where(copies, 1 - drawn.y, drawn.y)))
    assert np.array_equal(before[copies], after[copies])
    assert not np.array_equal(before, after)


def test_shares_of_weighted_rows_are_those_of_copies():
    rng = np.random.default_rng(0)
    levels, codes, times = rng.integers(-1, 8, 90), rng.integers(0, 3, 90), rng.integers(1, 4, 90)
    copied, folds, of_all = np.repeat(np.arange(90), times), np.arange(90) % 5, (8, 3, np.arange(3))
    found = class_shares(levels, codes, *of_all, times.astype(float))
    assert found == pytest.approx(class_shares(levels[copied], codes[copied], *of_all))
    found = out_of_fold_shares(levels, codes, *of_all, folds, times.astype(float))[copied]
    assert found == pytest.approx(out_of_fold_shares(levels[copied], codes[copied], *of_all, folds[copied]))
    order, weight = rng.permutation(90), rng.exponential(size=90)
    moved = class_shares(levels[order], codes[order], *of_all, weight[order])
    assert np.array_equal(moved, class_shares(levels, codes, *of_all, weight))


def test_exponents_of_weighted_rows_are_those_of_copies():
    rng = np.random.default_rng(0)
    log_p = log_softmax(rng.normal(size=(4, 60, 3)), axis=2)
    codes, times = rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    copied = np.repeat(np.arange(60), times)
    # the penalty counts rows: as many as the copies are
    weighted = fit_exponents(log_p, codes, len(copied) / 60, times.astype(float))
    expected = fit_exponents(log_p[:, copied], codes[copied])
    for one, other in zip(weighted, expected, strict=True):
        assert one == pytest.approx(other, abs=2e-4)


def weighted_rows(codes, weight, n_classes=2):
    counts = np.bincount(codes, minlength=n_classes)
    return WeightedRows(codes, counts, np.bincount(codes, weight, n_classes), weight, None)


def test_errors_of_classes_are_those_of_copies():
    rng = np.random.default_rng(0)
    codes, times = rng.integers(0, 3, 90), rng.integers(1, 4, 90)
    q = rng.dirichlet(np.ones(3), 90)
    copied = np.repeat(np.arange(90), times)
    expected = errors_by_class(q[np.newaxis, copied], codes[copied], np.ones(len(copied)))
    assert errors_by_class(q[np.newaxis], codes, times / times.mean()) == pytest.approx(expected)


def test_how_many_rows_weighted_ones_are_worth():
    """By drawing samples: the variance of a weighted error is that of so many rows."""
    rng = np.random.default_rng(0)
    errors, worth = [], []
    for _ in range(400):
        weight = rng.gamma(1.0, size=300)
        wrong = rng.random(300) < 0.2
        rows = weighted_rows(np.zeros(300, np.int64), weight, 1)
        errors.append(rows.weighted(wrong.astype(float)).mean())
        worth.append(rows.n_equivalent(wrong))
        assert rows.weighted(wrong.astype(float)).mean() == pytest.approx(np.average(wrong, weights=weight))
    assert np.mean(worth) == pytest.approx(0.16 / np.var(errors), rel=0.15)
    assert np.mean(worth) == pytest.approx(150.0, rel=0.1)  # Kish: n / (1 + the squared variation of the weights)
    even = weighted_rows(np.zeros(300, np.int64), np.ones(300), 1)
    assert even.n_equivalent(wrong) == pytest.approx(300.0)
    assert even.variance(wrong) == pytest.approx(PlainRows(np.zeros(300, np.int64), np.array([300])).variance(wrong))
    assert even.variance(np.zeros(300, bool)) > 0.0


def test_clusters_of_weighted_rows():
    rng = np.random.default_rng(1)
    clusters = np.arange(400) // 8
    errors = (rng.random(50) < 0.2)[clusters].astype(float)
    plain = effective_rows(errors, clusters, 0.95)
    assert effective_rows(errors, clusters, 0.95, np.ones(400)) == pytest.approx(plain)
    heavy = np.where(clusters < 5, 10.0, 1.0)
    assert effective_rows(errors, clusters, 0.95, heavy / heavy.mean()) < plain / 2


# --- errors of classes and of pairs


def test_errors_of_classes_and_pairs_against_plain_loops():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), (2, 200))
    codes = rng.integers(0, 4, 200)
    named, weights = q.argmax(axis=-1), np.ones(200)
    against_rest = errors_by_class(q, codes, weights)
    in_pairs = errors_of_pairs(confusion_matrix(named, codes, weights, 4))
    for a in range(4):
        assert against_rest[a] == pytest.approx(np.mean((named == a) != (codes == a)))
        assert in_pairs[a, a] == 0
        for b in set(range(4)) - {a}:
            wrong = ((codes == a) & (named == b)) | ((codes == b) & (named == a))
            assert in_pairs[a, b] == pytest.approx(wrong.sum() / 2 / np.isin(codes, [a, b]).sum())


def test_a_class_without_rows():
    q, codes = np.array([[[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]]), np.array([0, 1])
    assert errors_by_class(q, codes, np.ones(2)).tolist() == [0, 0, 0]
    confusion = confusion_matrix(q.argmax(axis=-1), codes, np.ones(2), 3)
    assert errors_of_pairs(confusion).tolist() == np.zeros((3, 3)).tolist()
