"""Rare classes: how high their rows are ranked, samples that keep them, and figures weighted back to their share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.counted_rows import PlainRows, StratifiedRows, is_rare, leads_with_ranking
from bayesfloor.floor.learned.estimate import learned_floor
from bayesfloor.floor.learned.ranking import _rank, auc_interval, rank_classes
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.stacking import Stack
from helpers.one_case import for_each

#: Learners that take milliseconds.
QUICK = ["gaussian", "logistic"]


def stack_of(q):
    return Stack(np.log(q)[np.newaxis, np.newaxis], np.zeros((1, 1)))


@for_each("is_weighted", [False, True])
def test_figures_are_those_of_scikit_learn(is_weighted):
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.zeros(300, int), np.ones(60, int), np.full(12, 2)])
    q = rng.dirichlet(np.ones(3), len(codes)).round(2) + 0.01  # ties
    q[np.arange(len(codes)), codes] += 0.2
    q /= q.sum(axis=1, keepdims=True)
    rows = PlainRows(codes, np.bincount(codes))
    if is_weighted:
        counts = np.array([5000, 200, 12])
        rows = StratifiedRows(codes, counts, len(codes) * counts / counts.sum() / np.bincount(codes))
    weights = rows.class_weights[codes]
    for code, found in enumerate(rank_classes(stack_of(q), rows, np.array(["a", "b", "c"]), 0.95)):
        label, score = codes == code, np.log(q[:, code])
        assert (found.label, found.n_rows) == ("abc"[code], np.count_nonzero(label))
        assert found.share == pytest.approx(weights[label].sum() / weights.sum())
        assert found.auc == pytest.approx(roc_auc_score(label, score, sample_weight=weights))
        assert found.average_precision == pytest.approx(average_precision_score(label, score, sample_weight=weights))
        precision, recall, _ = precision_recall_curve(label, score, sample_weight=weights)
        assert found.recall_at_precision == pytest.approx(recall[precision >= 0.5].max())
        low, high = found.auc_interval
        assert 0 <= low < found.auc < high <= 1


def test_recall_among_the_rows_ranked_highest():
    codes = np.zeros(1000, int)
    codes[[0, 3, 500, 700]] = 1
    score = np.linspace(0.999, 0.001, 1000)
    found = rank_classes(
        stack_of(np.column_stack([1 - score, score])), PlainRows(codes, np.bincount(codes)), np.array([0, 1]), 0.95
    )[1]
    assert found.recall_at_top == pytest.approx(2 / 4)  # the ten rows that are 1% hold the first two


def test_all_ranked_on_top_is_no_certainty():
    for n_rare, below in ((1, 0.2), (5, 0.75), (50, 0.98)):
        is_class = np.arange(500) < n_rare
        ranks = _rank(is_class.astype(float), is_class, np.ones(500))
        low, high = auc_interval(ranks, is_class, np.ones(500), 0.95)
        assert low < below
        assert high == pytest.approx(1.0)


def test_equal_scores_rank_nothing():
    is_class = np.arange(50) < 5
    assert auc_interval(_rank(np.zeros(50), is_class, np.ones(50)), is_class, np.ones(50), 0.95) == (0.5, 0.5)


def test_what_is_rare():
    assert is_rare(np.array([95, 5])).tolist() == [False, False]
    assert is_rare(np.array([96, 4])).tolist() == [False, True]
    assert is_rare(np.full(300, 7)).tolist() == [False] * 300
    assert leads_with_ranking(np.array([9700, 200, 100]))
    assert not leads_with_ranking(np.array([5000, 4900, 100]))  # the error says something here


def strata():
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    counts = np.array([9000, 900, 100])
    return StratifiedRows(codes, counts, 100 * counts / 10_000 / np.bincount(codes)), counts / 10_000


def test_weighted_values_have_the_mean_and_variance_of_a_stratified_sample():
    rows, share = strata()
    values = np.random.default_rng(0).random(100)
    weighted = rows.weighted(values)
    of_class = [values[rows.codes == k] for k in range(3)]
    assert weighted.mean() == pytest.approx(sum(share[k] * of_class[k].mean() for k in range(3)))
    assert weighted.var() / 100 == pytest.approx(
        sum(share[k] ** 2 * of_class[k].var() / len(of_class[k]) for k in range(3))
    )
    assert np.bincount(rows.codes, weights=rows.class_weights[rows.codes]) / 100 == pytest.approx(share)


def test_variance_of_a_weighted_error_by_simulation():
    rows, share = strata()
    error = np.array([0.05, 0.4, 0.8])
    rng = np.random.default_rng(1)
    drawn = np.array([rows.weighted((rng.random(100) < error[rows.codes]).astype(float)).mean() for _ in range(4000)])
    estimated = np.mean([rows.variance(rng.random(100) < error[rows.codes]) for _ in range(400)])
    assert drawn.mean() == pytest.approx(share @ error, abs=0.003)
    assert estimated == pytest.approx(drawn.var(), rel=0.25)
    assert rows.variance(np.zeros(100, bool)) > 0


def test_probabilities_move_to_the_shares_of_all_rows():
    """Bayes' theorem for two Gaussians whose prior changes from a half to 1%."""
    x = np.linspace(-3, 5, 50)
    density = norm.pdf(x[:, None], [0.0, 2.0])

    def posterior(prior):
        joint = density * prior
        return joint / joint.sum(axis=1, keepdims=True)

    codes = np.repeat([0, 1], 25)
    rows = StratifiedRows(codes, np.array([9900, 100]), 50 * np.array([0.99, 0.01]) / 25)
    moved = np.exp(rows.at_shares_of_all(np.log(posterior(np.array([0.5, 0.5])))))
    assert_allclose(moved, posterior(np.array([0.99, 0.01])))


def rare_gaussians(n, share, distance, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 2))
    X[:, 0] += distance * y
    return X, y


def test_a_sample_that_keeps_the_rare_class_gives_the_figures_of_all_rows():
    share, distance = 0.01, 3.0
    floor = minimize_scalar(
        lambda cut: (1 - share) * norm.sf(cut) + share * norm.cdf(cut - distance), bounds=(0, 8), method="bounded"
    ).fun
    X, y = rare_gaussians(20_000, share, distance, 0)
    some = learned_floor(X, y, max_rows=2000, learners=QUICK)
    assert some.n_rows == 2000
    assert some.ranking[1].n_rows == min(200, y.sum())
    assert "of 1" in some.findings[0].sentence
    assert some.majority_error == pytest.approx(y.mean())
    assert some.reached == pytest.approx(floor, abs=3 * np.diff(some.reached_interval)[0] / 4)
    assert some.class_reached[1] == pytest.approx(some.reached)
    assert some.pair_reached[0, 1] == pytest.approx(some.reached)
    auc = some.ranking[1]
    assert auc.auc == pytest.approx(norm.cdf(distance / np.sqrt(2)), abs=0.02)
    everything = learned_floor(X, y, max_rows=20_000, learners=QUICK)
    error = np.diff(some.reached_interval)[0] / 4 + np.diff(everything.reached_interval)[0] / 4
    assert abs(some.reached - everything.reached) < 3 * error
    assert abs(some.ranking[1].auc - everything.ranking[1].auc) < 0.03


def test_classes_of_one_and_two_rows_are_kept_apart_in_a_finding():
    X, y = rare_gaussians(400, 0.5, 2.0, 0)
    y[0], y[1:3] = 7, 8
    for max_rows in (None, 100):
        floor = learned_floor(X, y, max_rows=max_rows, learners=QUICK)
        assert 0 <= floor.interval[0] <= floor.estimate <= floor.interval[1] <= 1
        assert "7 (1), 8 (2)" in str([each for each in floor.findings if each.code == "BF022"])
        assert "BF026" not in {each.code for each in floor.findings}
        assert np.isfinite([value for each in floor.ranking for value in (each.auc, *each.auc_interval)]).all()


def test_a_rare_class_is_found():
    X, y = rare_gaussians(1000, 0.02, 3.0, 0)
    floor = learned_floor(X, y, learners=QUICK)
    assert f"1 ({y.sum()} rows)" in str([each for each in floor.findings if each.code == "BF026"])
    assert "BF021" not in {each.code for each in floor.findings}


def test_ranking_counts_the_rows_given_and_the_rows_tested():
    rng = np.random.default_rng(0)
    n = 400
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > np.linspace(-1, 1, n)).astype(int)  # classes change with the time
    few = {"learners": ["gaussian"], "n_jobs": 1}
    for found in (
        learned_floor(X, y, time=np.arange(n), **few),
        learned_floor(X, y, groups=np.arange(n) // 5, max_rows=200, **few),
    ):
        assert [each.n_samples for each in found.ranking] == np.bincount(y).tolist()
        np.testing.assert_allclose([each.share for each in found.ranking], np.bincount(y) / n)
        assert sum(each.n_rows for each in found.ranking) < n


def test_numbers_drawn_from_a_larger_table_count_all_of_its_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    problem = Problem.of_numbers(X, X[:, 0] + rng.normal(size=300), n_drawn_from=10_000)
    found, _ = regression_floor_of(problem, learners=["linear"], n_jobs=1)
    assert found.n_samples == found.noise.n_samples == found.suspicious.n_samples == 10_000
    assert found.suspicious.n_drawn == 300
