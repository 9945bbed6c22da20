"""Interactions against sums over all cells, and whether the right features are found."""

from collections import Counter
from itertools import combinations, pairwise
from math import log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayesfloor.learn import interactions
from bayesfloor.learn.interactions import (
    Pairs,
    Triples,
    best_sets,
    halves,
    pair_scores,
    quartile_bins,
    single_scores,
    triple_scores,
)
from bayesfloor.learn.learner import Rows, fit_predict
from bayesfloor.learn.training_rows import Train


def information(cells, codes):
    """Sum n log(n / N) over cells and classes, one by one."""
    cells = [tuple(cell) for cell in cells]
    totals = Counter(cells)
    return sum(n * log(n / totals[cell]) for (cell, _), n in Counter(zip(cells, codes, strict=True)).items())


def interaction_z(columns, n_bins, codes):
    """Return the z-score of the interaction of some columns, by inclusion and exclusion over all subsets."""
    order = len(columns)
    total = 0.0
    for size in range(order + 1):
        for subset in combinations(range(order), size):
            cells = np.stack([columns[j] for j in subset], axis=1) if subset else np.zeros((len(codes), 0), int)
            total += (-1) ** (order - size) * information(cells, codes)
    dof = np.prod([n - 1 for n in n_bins]) * (len(np.unique(codes)) - 1)
    return (2 * total - dof) / sqrt(2 * dof) if dof else 0.0


def mixed(n=150, n_classes=4, seed=0):
    """Numbers, few values, a constant; class 2 has no rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.standard_normal((n, 2)), rng.integers(0, 3, n), rng.integers(0, 2, n), np.ones(n), rng.random(n) < 0.1]
    )
    codes = rng.integers(0, n_classes, n)
    return X.astype(float), np.where(codes == 2, 0, codes)


def test_pairs_as_counted_cell_by_cell():
    X, codes = mixed()
    train = Train(X, codes, 4)
    bins = quartile_bins(X)
    assert_array_equal(bins.n_bins, [4, 4, 3, 2, 1, 2])
    expected = [interaction_z(bins.train[list(s)], bins.n_bins[list(s)], codes) for s in combinations(range(6), 2)]
    assert_allclose(pair_scores(bins, train), expected, atol=1e-9)
    alone = [interaction_z(bins.train[[j]], bins.n_bins[[j]], codes) for j in range(6)]
    assert_allclose(single_scores(bins, train), alone, atol=1e-9)


def test_triples_as_counted_cell_by_cell():
    X, codes = mixed()
    bins = halves(X)
    assert_array_equal(bins.features, [0, 1, 2, 3, 5])  # the constant cannot be cut
    expected = [interaction_z(bins.train[list(s)], [2, 2, 2], codes) for s in combinations(range(5), 3)]
    assert_allclose(triple_scores(bins, Train(X, codes, 4)), expected, atol=1e-9)


def test_more_rows_than_a_word_has_bits_in_every_class():
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((500, 4)), rng.integers(0, 2, 500)
    train = Train(X, codes, 2)
    bins = halves(X)
    expected = [interaction_z(bins.train[list(s)], [2, 2, 2], codes) for s in combinations(range(4), 3)]
    assert_allclose(triple_scores(bins, train), expected, atol=1e-9)
    bins = quartile_bins(X)
    expected = [interaction_z(bins.train[list(s)], [4, 4], codes) for s in combinations(range(4), 2)]
    assert_allclose(pair_scores(bins, train), expected, atol=1e-9)


def test_bins_of_other_rows():
    X = np.arange(40.0)[:, None]
    bins = quartile_bins(X)
    assert_array_equal(np.bincount(bins.train[0]), [11, 10, 9, 10])  # numpy rounds a tie of ranks to the even one
    assert all(a <= b for a, b in pairwise(bins.train[0]))
    assert_array_equal(np.searchsorted(bins.cuts[0], [-5.0, 9.6, 100.0]), [0, 0, 3])


def signs(n, d, chosen, noise, seed=0):
    """Labels are the product of the signs of a few features, some of them turned round."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    codes = (np.prod(np.sign(X[:, chosen]), axis=1) > 0) ^ (rng.random(n) < noise)
    return X, codes.astype(np.int64)


@pytest.mark.parametrize(("learner", "chosen", "most"), [(Pairs(), [3, 10], 0.2), (Triples(), [1, 5, 8], 0.2)])
def test_features_that_say_something_only_together(learner, chosen, most):
    d = 12
    X, codes = signs(1600, d, chosen, 0.1)
    train = Train(X[:800], codes[:800], 2)
    found = fit_predict(learner, train, None, 0, Rows(X[800:]))
    error = {name: np.mean(p.argmax(axis=1) != codes[800:]) for name, p in found.items()}
    assert error[f"{learner.name[:-1]} tables"] < most, error
    assert max(error.values()) < 0.4, error
    if len(chosen) == 2:
        scores = pair_scores(quartile_bins(train.X), train)
    else:
        scores = triple_scores(halves(train.X), train)
    assert_array_equal(list(combinations(range(d), len(chosen)))[scores.argmax()], chosen)


def test_scores_do_not_depend_on_the_order_of_rows():
    X, codes = mixed()
    order = np.random.default_rng(5).permutation(len(X))
    for scores, cut in ((pair_scores, quartile_bins), (triple_scores, halves)):
        one, other = (scores(cut(X[rows]), Train(X[rows], codes[rows], 4)) for rows in (slice(None), order))
        assert_array_equal(one, other)


def test_sets_beyond_chance():
    sets = np.arange(10)
    scores = np.array([0.0, 5.0, 1.0, 3.0, 0.5, 0.2, 0.1, 0.3, 0.4, 0.6])
    assert sqrt(2 * log(10)) < 3.0
    assert_array_equal(best_sets(scores, sets, 6, 1), [1, 3])
    assert_array_equal(best_sets(scores, sets, 1, 1), [1])
    assert_array_equal(best_sets(scores, sets, 6, 3), [1, 3, 2])  # so many at the least


def test_of_very_many_features_the_most_informative_are_paired(monkeypatch):
    monkeypatch.setattr(interactions, "MOST_IN_PAIRS", 4)
    monkeypatch.setattr(interactions, "MOST_IN_TRIPLES", 4)
    X, codes = signs(600, 30, [3, 17], 0.05)
    X[:, [3, 17]] += 0.6 * codes[:, None]
    train = Train(X[:300], codes[:300], 2)
    p = fit_predict(Pairs(), train, None, 0, Rows(X[300:]))["pair tables"]
    assert np.mean(p.argmax(axis=1) != codes[300:]) < 0.3
    assert fit_predict(Triples(), train, None, 0, Rows(X[300:]))["triple tables"].shape == (300, 2)
