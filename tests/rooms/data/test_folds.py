"""Folds of whole groups, blocks of time, and splitters that keep groups together."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from bayesfloor.data.folds import check_folds, grouped_folds, stratified_folds, time_blocks
from helpers.one_case import for_each


def made_groups(n=600, n_groups=40, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.choice(n_groups, n, p=rng.dirichlet(np.full(n_groups, 2.0)))
    keys = rng.integers(2**64, size=n, dtype=np.uint64)
    return rng.integers(0, n_classes, n), groups, keys


def folds_of_group(folds, groups):
    return [np.unique(folds[groups == group]) for group in np.unique(groups)]


@for_each("n", [600, 4])
def test_folds_differ_by_a_row_in_all_and_in_each_class(n):
    codes, _, keys = made_groups(n)
    folds = stratified_folds(codes, 5, keys)
    assert sorted(np.unique(folds)) == [*range(min(n, 5))]
    for rows in (codes >= 0, *(codes == code for code in range(3))):
        assert np.ptp(np.bincount(folds[rows], minlength=min(n, 5))) <= 1


def test_whole_groups_and_even_folds():
    codes, groups, keys = made_groups()
    folds = grouped_folds(codes, groups, 5, keys)
    assert all(len(found) == 1 for found in folds_of_group(folds, groups))
    sizes = np.bincount(folds, minlength=5)
    assert np.ptp(sizes) <= np.bincount(groups).max()


def test_neither_order_nor_names_matter():
    codes, groups, keys = made_groups()
    folds = grouped_folds(codes, groups, 5, keys)
    order = np.random.default_rng(1).permutation(len(codes))
    assert_array_equal(grouped_folds(codes[order], groups[order], 5, keys[order]), folds[order])
    renamed = np.random.default_rng(2).permutation(1000)[groups]
    assert_array_equal(grouped_folds(codes, renamed, 5, keys), folds)
    equal = np.repeat(np.arange(40), 15)  # of one size each: the keys decide
    assert np.any(grouped_folds(codes, equal, 5, keys) != grouped_folds(codes, equal, 5, keys[::-1]))


def test_a_class_in_few_groups_is_spread():
    codes, groups, keys = made_groups(n_classes=2)
    for seed in range(5):
        few = np.random.default_rng(seed).choice(40, 4, replace=False)
        labels = np.where(np.isin(groups, few), 2, codes)
        folds = grouped_folds(labels, groups, 5, keys)
        assert len(np.unique(folds[labels == 2])) == len(np.unique(groups[labels == 2]))


def test_classes_are_spread_on_request():
    codes, groups, keys = made_groups()
    counts = [
        np.array([np.bincount(codes[folds == fold], minlength=3) for fold in range(2)])
        for folds in (
            grouped_folds(codes, groups, 2, keys, spread_classes=True),
            grouped_folds(np.zeros_like(codes), groups, 2, keys),
        )
    ]
    assert np.ptp(counts[0], axis=0).sum() < np.ptp(counts[1], axis=0).sum()


def test_no_more_folds_than_groups():
    codes, _, keys = made_groups(60)
    assert grouped_folds(codes, np.arange(60) % 3, 5, keys).max() == 2


def test_blocks_of_time():
    time = np.random.default_rng(0).permutation(100).astype(float)
    blocks = time_blocks(time, 10)
    assert_array_equal(blocks, time // 10)
    many = np.repeat([1.0, 2.0, 3.0, 9.0], [50, 1, 9, 40])
    blocks = time_blocks(many, 10)
    assert_array_equal([len(np.unique(blocks[many == moment])) for moment in np.unique(many)], 1)
    assert np.all(np.diff(blocks) >= 0)  # time rises, and so do the blocks
    assert blocks[0] == 2  # the middle of the first half
    assert blocks[-1] == 8


def check(cv, groups=None, codes=None):
    codes = np.arange(40) % 2 if codes is None else codes
    keys = np.arange(40).astype(np.uint64)
    return check_folds(cv, codes, keys, codes, np.arange(40), groups)


def test_splitters_get_the_groups():
    groups = np.arange(40) // 4
    folds = check(GroupKFold(5), groups)
    assert all(len(found) == 1 for found in folds_of_group(folds, groups))
    assert all(len(found) == 1 for found in folds_of_group(check(5, groups), groups))


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_splitters_that_tear_groups_apart():
    with pytest.raises(ValueError, match=r"keeps the rows of a group together, .* \(8 groups are on both sides"):
        check(KFold(5), np.arange(40) % 8)
    assert check(KFold(5), np.arange(40) // 8).max() == 4


def test_splitters_in_time_are_told_where_to_go():
    with pytest.raises(ValueError, match=r"tests each row once .* learned_floor\(time=...\)"):
        check(TimeSeriesSplit(5))
