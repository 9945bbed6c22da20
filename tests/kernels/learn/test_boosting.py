"""Boosting against sums over all splits, and scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from tests.helpers.learners import of_classes, predicted
from threadpoolctl import threadpool_limits

from bayesfloor.learn.boosting import Boosting, bins_by, cuts_of
from bayesfloor.learn.boosting_by_parts import BoostingOfParts
from bayesfloor.learn.boosting_kernels import (
    COUNT_BITS,
    MOST_SEEN,
    UNCOUNTED,
    Columns,
    Trees,
    best_column,
    best_cut,
    best_levels,
    boost,
    goes_left,
    packed,
    unpacked,
    write_bits,
)
from bayesfloor.learn.training_rows import Codes, Train


@pytest.mark.interpreted
def test_sums_of_words():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(-1, 1, 300), rng.uniform(0.01, 0.25, 300)
    total = sum(packed(g, h, COUNT_BITS, 0.5) for g, h in zip(first, second, strict=True))
    g, h, count = unpacked(total, COUNT_BITS)
    assert count == 300
    assert_allclose([g, h], [first.sum(), second.sum()], atol=300 * 2.0**-11)
    most = 2**24 - 1
    for extreme in (-1.0, 1.0):
        assert unpacked(most * packed(extreme, 0.25, UNCOUNTED, 0.5), UNCOUNTED) == (
            most * extreme,
            most * 0.25,
            most,
        )
        assert unpacked(MOST_SEEN * packed(extreme, 0.25, COUNT_BITS, 0.5), COUNT_BITS) == (
            MOST_SEEN * extreme,
            MOST_SEEN * 0.25,
            MOST_SEEN,
        )
    assert_allclose(
        unpacked(total - packed(first[0], second[0], COUNT_BITS, 0.5), COUNT_BITS)[0],
        first[1:].sum(),
        atol=300 * 2.0**-17,
    )


@pytest.mark.interpreted
def test_words_that_count_no_rows_are_right_in_the_mean_and_tell_fewer_rows():
    up = (np.arange(1000) + 0.5) / 1000
    total = sum(packed(-0.3333, 0.0123, UNCOUNTED, each) for each in up)
    g, h, count = unpacked(total, UNCOUNTED)
    assert_allclose([g, h], [-333.3, 12.3], rtol=1e-3)
    assert count == int(4 * h) < 1000


def gain_of(is_left, first, second, ridge):
    def part(rows):
        return first[rows].sum() ** 2 / (second[rows].sum() + ridge)

    return part(is_left) + part(~is_left) - part(np.ones(len(first), bool))


@pytest.mark.interpreted
def test_levels_of_a_leaf_whose_second_derivatives_round_to_0():
    # rows that are almost sure: first derivatives of -1, 0 or 1, second ones of 0
    first, ridge, min_rows = [0.0, -1.0, 1.0, -1.0], 1.0, 0
    cells = np.array([10 * packed(g, 0.0, UNCOUNTED, 0.5) for g in first])
    gain, left, of_left = best_levels(cells, cells.sum(), ridge, min_rows, UNCOUNTED)
    assert of_left == cells[[goes_left(left, b, True) for b in range(4)]].sum()
    rows, levels = np.repeat(first, 10), np.repeat(np.arange(4), 10)
    lefts = [np.isin(levels, [b for b in range(4) if word >> b & 1]) for word in range(1, 15)]
    best = max(gain_of(is_left, rows, np.zeros(40), ridge) for is_left in lefts)
    assert gain == pytest.approx(best) == pytest.approx(20.0**2 + 10.0**2 - 10.0**2)
    assert gain_of(np.array([goes_left(left, b, True) for b in levels]), rows, np.zeros(40), ridge) == best


@pytest.mark.interpreted
@pytest.mark.parametrize("has_gaps", [False, True])
def test_best_split_of_numbers_as_by_trying_all(has_gaps):
    rng = np.random.default_rng(2)
    n, ridge, min_rows = 60, 1.0, 5
    bins = rng.integers(0 if has_gaps else 1, 7, (3, n)).astype(np.uint8)
    first, second = rng.uniform(-1, 1, n), np.full(n, 0.25)
    words = np.array([packed(g, h, COUNT_BITS, 0.5) for g, h in zip(first, second, strict=True)])
    sums = np.zeros((1, 3, 64), np.int64)
    for j in range(3):
        np.add.at(sums[0, j], bins[j], words)
    of_columns = np.arange(3), np.full(3, 7), np.zeros(3, bool)
    gain, column, left, of_left = best_column(sums[0], *of_columns, ridge, min_rows, COUNT_BITS)
    best = {}
    for j in range(3):
        for cut in range(7):
            for gaps_left in (True, False):
                is_left = np.where(bins[j] == 0, gaps_left, bins[j] <= cut)
                if min_rows <= is_left.sum() <= n - min_rows:
                    best[j, tuple(is_left)] = gain_of(is_left, first, second, ridge)
    assert gain == pytest.approx(max(best.values()), abs=1e-3)
    is_left = [bool(goes_left(left, b, False)) for b in bins[column]]
    assert of_left == words[is_left].sum()
    assert best[column, tuple(is_left)] == pytest.approx(max(best.values()), abs=1e-3)


@pytest.mark.interpreted
def test_bins_without_rows_go_with_the_nearer_side():
    """Rows to predict may be in them; they all went to the right once."""
    sums = np.zeros((1, 64), np.int64)
    sums[0, [1, 9]] = 10 * packed(-0.5, 0.25, COUNT_BITS, 0.5), 10 * packed(0.5, 0.25, COUNT_BITS, 0.5)
    gain, _, left, _ = best_column(sums, np.arange(1), np.full(1, 11), np.zeros(1, bool), 1.0, 5, COUNT_BITS)
    assert gain > 0
    assert [b for b in range(1, 11) if goes_left(left, b, False)] == [1, 2, 3, 4]


@pytest.mark.interpreted
@pytest.mark.parametrize("count_bits", [COUNT_BITS, UNCOUNTED])
def test_gaps_alone_on_one_side(count_bits):
    """Machine code would look for the next number behind the bins; the interpreter raises there."""
    rng = np.random.default_rng(0)
    ridge, min_rows, n_right = 1.0, 5, 0
    for _ in range(40):
        bins = np.where(rng.random(80) < 0.4, 0, rng.integers(1, 5, 80))
        first, second = np.where(bins == 0, 0.5, -0.3) + 0.1 * rng.standard_normal(80), np.full(80, 0.25)
        words = [packed(g, h, count_bits, 0.5) for g, h in zip(first, second, strict=True)]
        cells = np.zeros(7, np.int64)
        np.add.at(cells, bins, words)
        arguments = cells, cells.sum(), ridge, min_rows, count_bits
        gain, left, of_left = getattr(best_cut, "py_func", best_cut)(*arguments)
        assert best_cut(*arguments) == (gain, left, of_left)
        assert gain == pytest.approx(gain_of(bins == 0, first, second, ridge), rel=0.02)
        are_left = [bool(goes_left(left, b, False)) for b in range(256)]
        assert set(are_left[1:]) == {not are_left[0]}  # numbers that no row of the leaf has as well
        assert of_left == (cells[0] if are_left[0] else cells[1:].sum())
        n_right += not are_left[0]
    assert 0 < n_right < 40


@pytest.mark.interpreted
@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("learner", [Boosting(), BoostingOfParts()])
def test_tables_whose_gaps_tell(learner, n_classes):
    rng = np.random.default_rng(0)
    values = np.where(rng.random(150) < 0.4, np.nan, rng.integers(0, 6, 150))[:, np.newaxis]
    is_gap = np.isnan(values[:, 0])
    table, codes = Codes(values, np.array([False])), np.array([[np.nan], [0.0], [5.0], [50.0]])
    y = is_gap.astype(np.int64) if n_classes else (is_gap - is_gap.mean()) / is_gap.std()
    train = Train(np.zeros((150, 1)), y, n_classes, table=table)
    (found,) = predicted(learner, train, np.zeros((4, 1)), codes=codes).values()
    gap, *numbers = found[:, 1] if n_classes else found
    assert gap > 0.8
    assert max(numbers) < 0.2
    assert numbers[2] == numbers[1]  # what is larger than all numbers known


@pytest.mark.interpreted
def test_one_round_of_all_rows_adds_the_newton_step_of_each_leaf():
    """Two leaves of one column: steps from the sums of derivatives."""
    y = np.repeat([0.0, 1.0, 3.0, 4.0], 10)
    bins = np.repeat([1, 1, 2, 2], 10)[np.newaxis].astype(np.uint8)
    weight = np.tile([1.0, 2.0], 20)
    scores, state, trees = np.zeros((40, 1)), (np.array([1], np.uint64), np.arange(1)), Trees.unsplit(1, 1, 2)
    columns = Columns(bins.T.copy(), bins, np.full(1, 3), np.zeros(1, bool))
    boost(columns, y, weight, 0, 0.5, 1.0, 5, 1, 40, *state, scores, trees)
    for b in (1, 2):
        own = bins[0] == b
        step = 0.5 * (weight * y)[own].sum() / (weight[own].sum() + 1.0)
        assert_allclose(scores[own], step, rtol=1e-3)
        assert_allclose(trees.value[0, 0, b], step, rtol=1e-3)


@pytest.mark.interpreted
def test_rows_that_a_tree_was_not_grown_to_have_the_values_of_its_leaves():
    bins = np.random.default_rng(0).integers(0, 20, (3, 200)).astype(np.uint8)
    bins[2] %= 4
    y, is_category = bins[0] + 5.0 * (bins[2] % 2), np.array([False, False, True])
    columns = Columns(bins.T.copy(), bins, np.full(3, 20), is_category)
    scores, state, trees = np.zeros((200, 1)), (np.array([1], np.uint64), np.arange(3)), Trees.unsplit(4, 1, 6)
    boost(columns, y, np.ones(200), 0, 0.5, 1.0, 5, 3, 100, *state, scores, trees)
    expected = np.zeros(200)
    for column, left, child, value in zip(*(each[:, 0] for each in trees), strict=True):
        for row in range(200):
            node = 0
            while column[node] >= 0:
                goes_right = not goes_left(left[node], bins[column[node], row], is_category[column[node]])
                node = child[node] + goes_right
            expected[row] += value[node]
    assert_array_equal(scores[:, 0], expected)
    assert (trees.column == 0).any()
    assert (trees.column == 2).any()


@pytest.mark.interpreted
@pytest.mark.parametrize("is_category", [False, True])
def test_bits_of_a_split_are_what_goes_left(is_category):
    bits, n_bins = np.empty(4, np.uint64), 64 if is_category else 256
    numbers = [gaps | cut for gaps in (0, 256) for cut in (0, 1, 62, 63, 64, 127, 128, 200, 255)]
    for word in np.array([0b1011, 2**63 + 2] if is_category else numbers, np.uint64):
        write_bits(word, is_category, bits)
        expected = [goes_left(word, b, is_category) for b in range(n_bins)]
        assert_array_equal(np.unpackbits(bits.view(np.uint8), bitorder="little")[:n_bins], expected)


@pytest.mark.interpreted
def test_a_few_rounds_at_a_time_are_the_same_rounds():
    rng = np.random.default_rng(0)
    bins, codes = rng.integers(1, 20, (5, 200)).astype(np.uint8), rng.integers(0, 3, 200).astype(float)
    columns = Columns(bins.T.copy(), bins, np.full(5, 20), np.zeros(5, bool))

    def run(parts):
        scores, state, features = np.zeros((200, 3)), np.array([7], np.uint64), np.arange(5)
        for rounds in parts:
            trees = Trees.unsplit(rounds, 3, 6)
            boost(columns, codes, np.ones(200), 3, 0.1, 1.0, 5, 3, 120, state, features, scores, trees)
        return scores

    assert_array_equal(run([6]), run([2, 2, 2]))


@pytest.mark.interpreted
def test_boosting_does_as_well_as_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5))
    codes = ((X[:, 0] > 0) ^ (rng.random(3000) < 0.1)) | (X[:, 1] * X[:, 2] > 1)
    train, test, labels = Train(X[:1500], codes[:1500].astype(np.int64), 2), X[1500:], codes[1500:]
    ours = np.mean(of_classes("boosting", train, test, 0)["boosting"].argmax(axis=1) != labels)
    model = HistGradientBoostingClassifier(max_iter=80, max_leaf_nodes=15, early_stopping=False, random_state=0)
    with threadpool_limits(1):
        error = 1.0 - model.fit(train.X, train.codes).score(test, labels)
    assert ours - error < 3 * np.sqrt(2 * error * (1 - error) / len(test))


def test_many_rows_have_fine_bins(monkeypatch):
    """A class that is one in a hundred values of a number in the middle: 62 bins do not show it."""
    rng = np.random.default_rng(0)
    X = rng.random((14_000, 2))
    codes = (np.abs(X[:, 0] - 0.5) < 0.005).astype(np.int64)
    train, test, labels = Train(X[:12_000], codes[:12_000], 2), X[12_000:], codes[12_000:]
    error = np.mean(of_classes("boosting", train, test, 0)["boosting"].argmax(axis=1) != labels)
    monkeypatch.setattr("bayesfloor.learn.boosting.MOST_BINS", 62)
    coarse = np.mean(of_classes("boosting", train, test, 0)["boosting"].argmax(axis=1) != labels)
    assert error < 0.6 * labels.mean() < 0.9 * labels.mean() < coarse


@pytest.mark.interpreted
def test_categories_have_no_order():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.integers(0, 40, 900), rng.standard_normal(900)])
    codes = (rng.permutation(40) % 2)[values[:, 0].astype(int)]
    train = Train(np.zeros((600, 1)), codes[:600], 2, table=Codes(values[:600], np.array([True, False])))
    p = of_classes("boosting", train, np.zeros((300, 1)), codes=values[600:])["boosting"]
    assert np.mean(p.argmax(axis=1) != codes[600:]) < 0.02


def bins_of(known, others, is_category):
    values = np.concatenate([known, others])[:, np.newaxis]
    return bins_by(values, (cuts_of(known, is_category),), np.array([is_category]))[0]


def test_bins():
    gap = np.nan
    known, others = np.array([3.0, 1.0, gap, 3.0]), np.array([0.0, 2.0, 9.0, gap])
    assert_array_equal(bins_of(known, others, False), [2, 1, 0, 2, 1, 1, 2, 0])
    assert_array_equal(bins_of(np.array([0.0, 2.0, gap]), np.array([1.0, 80.0]), True), [0, 2, 63, 1, 63])
    many = bins_of(np.arange(1000.0), np.arange(10.0), False)[:1000]
    assert many.min() == 1
    assert np.bincount(many)[1:].max() <= 1000 / 62 + 1
