"""Samples of rows, and keys of rows that only their values decide about."""

import numpy as np
import pytest
from scipy import sparse

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.sampling import (
    class_weights,
    copy_numbers,
    halves,
    keys_of_points,
    keys_of_values,
    stratified_rows,
)
from bayesfloor.runtime.checks import check_max_rows
from bayesfloor.runtime.hash_kernels import add_hashes
from bayesfloor.runtime.kernels import plainly
from helpers.one_case import for_each


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, (400, 2)).astype(float), np.sort(rng.choice(3, 400, p=[0.02, 0.28, 0.7]))


def test_each_class_has_its_share(table):
    X, codes = table
    counts = np.bincount(codes)
    for n_rows in (6, 50, 133, 399):
        rows = stratified_rows(codes, n_rows, keys_of_values(X, codes, 0))
        assert len(rows) == n_rows
        assert (np.diff(rows) > 0).all()
        chosen = np.bincount(codes[rows], minlength=3)
        assert (chosen >= 1).all()
        assert np.abs(chosen - n_rows * counts / 400).max() < 2


def test_all_rows_where_there_are_no_more(table):
    X, codes = table
    for n_rows in (None, 400, 1000):
        assert stratified_rows(codes, n_rows, keys_of_values(X, codes, 0)).tolist() == list(range(400))


def test_the_same_rows_in_any_order_and_others_by_seed(table):
    X, codes = table
    shuffled = np.random.default_rng(1).permutation(400)

    def sample(X, codes, seed):
        rows = stratified_rows(codes, 100, keys_of_values(X, codes, seed))
        return sorted(zip(X[rows].tolist(), codes[rows].tolist(), strict=True))

    assert sample(X, codes, 0) == sample(X[shuffled], codes[shuffled], 0)
    assert sample(X, codes, 0) != sample(X, codes, 1)


def test_copies_are_not_taken_all_or_none():
    X, codes = np.repeat([[0.0], [1.0]], 500, axis=0), np.zeros(1000, np.int64)
    rows = stratified_rows(codes, 200, keys_of_values(X, codes, 0))
    assert 60 < np.count_nonzero(rows < 500) < 140  # 100 on average, six standard deviations


def test_copies_are_numbered_within_their_class():
    hashes, codes = np.array([7, 5, 7, 7, 5, 9], np.uint64), np.array([0, 0, 0, 1, 0, 1])
    assert copy_numbers(hashes, codes).tolist() == [0, 0, 1, 0, 1, 0]
    assert copy_numbers(hashes[[0, 1, 5]], codes[:3]).tolist() == [0, 0, 0]


def test_samples_are_fair():
    """Rows that are hard are chosen as often as chance would have it, over 300 seeds."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, (1000, 6)).astype(float)  # small whole numbers, as pictures of letters have
    codes = rng.choice(3, 1000, p=[0.1, 0.3, 0.6])
    is_hard = (X[:, 0] + X[:, 1] > 20) | (rng.random(1000) < 0.05)
    n_all, hard = np.bincount(codes), np.bincount(codes, is_hard)
    z, of_folds, previous, together = [], [], None, []
    for seed in range(300):
        keys = keys_of_values(X, codes, seed)
        rows = stratified_rows(codes, 250, keys)
        n = np.bincount(codes[rows])
        # hypergeometric within each class
        mean, variance = n * hard / n_all, n * hard / n_all * (1 - hard / n_all) * (n_all - n) / (n_all - 1)
        z.append((is_hard[rows].sum() - mean.sum()) / variance.sum() ** 0.5)
        in_order = rows[np.argsort(keys[rows])]
        folds = stratified_folds(codes[in_order], 5, np.arange(250).astype(np.uint64))
        of_folds.append([is_hard[in_order[folds == fold]].mean() - is_hard[in_order].mean() for fold in range(5)])
        if previous is not None:
            together.append(np.corrcoef(keys.astype(float), previous)[0, 1] * 1000**0.5)
        previous = keys.astype(float)
    for values in (np.array(z), np.array(together)):
        assert abs(values.mean()) < 3.5 / 300**0.5
        assert values.std() == pytest.approx(1.0, abs=0.15)  # 3.5 standard errors
    means = np.mean(of_folds, axis=0) / (np.std(of_folds, axis=0) / 300**0.5)
    assert np.abs(means).max() < 3.5


def test_halves_share_every_class_out():
    codes = np.array([0] * 7 + [1] * 2 + [2] * 5)
    first, second = halves(codes, np.random.default_rng(0).integers(2**64, size=14, dtype=np.uint64))
    assert sorted([*first, *second]) == list(range(14))
    difference = np.bincount(codes[first], minlength=3) - np.bincount(codes[second], minlength=3)
    assert np.abs(difference).max() <= 1
    assert difference[1] == 0


def test_max_rows_is_checked():
    assert check_max_rows(None, 5, 70) == 70
    assert check_max_rows(np.int64(10), 5, 70) == 10
    with pytest.raises(ValueError, match="max_rows=9 is less than two rows for each of the 5 classes"):
        check_max_rows(9, 5, 70)
    for wrong in (True, 10.0, "all"):
        with pytest.raises(TypeError, match="'max_rows' parameter must be an int or None"):
            check_max_rows(wrong, 2, 70)


def test_rare_classes_keep_rows_at_the_expense_of_the_large():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    keys = np.random.default_rng(0).integers(2**64, size=len(codes), dtype=np.uint64)
    for at_least, expected in ((50, [864, 86, 50]), (120, [780, 120, 100]), (10_000, [734, 166, 100])):
        rows = stratified_rows(codes, 1000, keys, at_least)
        assert np.bincount(codes[rows]).tolist() == pytest.approx(expected, abs=1)
        assert len(rows) == 1000
    # no class is short: nothing changes
    two, some = np.repeat([0, 1], [600, 400]), keys[:1000]
    assert stratified_rows(two, 300, some, 100).tolist() == stratified_rows(two, 300, some).tolist()


def test_weights_bring_back_the_shares():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    keys = np.random.default_rng(0).integers(2**64, size=len(codes), dtype=np.uint64)
    sample = codes[stratified_rows(codes, 1000, keys, 150)]
    weights = class_weights(np.bincount(codes), sample)
    assert np.bincount(sample, weights=weights[sample]) == pytest.approx([900, 90, 10])
    assert class_weights(np.bincount(codes), codes[stratified_rows(codes, 1000, keys)]) is None
    assert class_weights(np.bincount(codes), codes) is None


def points(kind):
    rng = np.random.default_rng(0)
    if kind == "numbers":
        return rng.normal(size=(60, 7))
    if kind == "dummies":  # every row has as many ones as any other, and some columns as many
        return np.hstack([np.eye(3)[rng.integers(0, 3, 60)], np.eye(4)[rng.integers(0, 4, 60)]])
    if kind == "factorial":
        return np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T.copy()
    return np.where(rng.random((60, 7)) < 0.7, 0.0, rng.integers(-2, 3, (60, 7)).astype(float))


KINDS = ("numbers", "dummies", "factorial", "zeros")


@for_each("kind", KINDS)
def test_keys_depend_on_values_alone(kind):
    """Not on the order of rows, nor on zeros that are not stored or have a sign; equal rows have equal keys."""
    X = points(kind)
    keys = keys_of_points(X, 0)
    rows = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(keys_of_points(X[rows], 0), keys[rows])
    _, distinct = np.unique(X, axis=0, return_inverse=True)
    np.testing.assert_array_equal(keys[:, None] == keys, distinct.ravel()[:, None] == distinct.ravel())
    assert not set(keys) & set(keys_of_points(X, 1))
    for other in (sparse.csr_array(X), np.where(X == 0, -0.0, X)):
        np.testing.assert_array_equal(keys_of_points(other, 0), keys)


def test_the_plain_version_is_the_kernel():
    X, rng = points("zeros"), np.random.default_rng(2)
    words = rng.integers(0, 2**63, X.shape[1], dtype=np.uint64)
    found = []
    for plain in (False, True):
        keys = np.zeros(len(X), np.uint64)
        with plainly(plain):
            add_hashes(X.view(np.uint64), words, keys)
        found.append(keys)
    np.testing.assert_array_equal(found[0], found[1])
