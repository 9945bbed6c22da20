"""Weights of rows, numbers in bins, and what a category's values say of a target, of which no row sees its own."""

import numpy as np
import pytest
from sklearn.preprocessing import TargetEncoder

from bayesfloor.data.numbers import bins_of_numbers, task_of
from bayesfloor.data.problem import MOST_RATIO, check_row_weights
from bayesfloor.data.target_encoding import (
    PRIOR_ROWS,
    class_shares,
    out_of_fold_means,
    out_of_fold_shares,
    value_means,
)
from helpers.one_case import for_each


def test_weights():
    assert check_row_weights(None, 3) is None
    assert check_row_weights([2.0, 2.0, 2.0], 3) is None
    # 1 on average over the rows that count
    np.testing.assert_allclose(check_row_weights([0.0, 1.0, 5.0], 3), [0.0, 1 / 3, 5 / 3])
    np.testing.assert_allclose(check_row_weights([1e308, 1e308, 0.0], 3), [1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="Set their weight to 0"):
        check_row_weights([1.0, 10.0 * MOST_RATIO], 2)


@for_each("other", [["a", "b"], [True, False], [], [[0.5], [1.5]]])
def test_what_is_no_list_of_numbers_is_classes(other):
    assert task_of(other) == "classification"


def test_no_row_has_a_part_in_its_own_shares():
    rng = np.random.default_rng(3)
    levels, codes, folds = rng.integers(-1, 8, 60), rng.integers(0, 2, 60), np.arange(60) % 5
    found = out_of_fold_shares(levels, codes, 8, 2, np.array([1]), folds)
    for row in range(60):
        others = folds != folds[row]
        shares = class_shares(levels[others], codes[others], 8, 2, np.array([1]))
        known = levels[row] < 0 or (levels[others] == levels[row]).any()
        place = (8 if levels[row] < 0 else levels[row]) if known else 9
        assert found[row] == shares[place]


def test_bins_of_numbers_share_the_rows():
    assert np.bincount(bins_of_numbers(np.arange(100.0))).tolist() == [10] * 10
    assert bins_of_numbers(np.array([5.0, 5, 5, 7])).tolist() == [0, 0, 0, 1]


def test_means_are_drawn_towards_the_mean_of_all():
    levels, y = np.array([0, 0, 1, -1]), np.array([1.0, 3.0, 8.0, 4.0])
    means = value_means(levels, y, 3)[:, 0]
    expected = [(4 + PRIOR_ROWS * 4) / (2 + PRIOR_ROWS), (8 + PRIOR_ROWS * 4) / (1 + PRIOR_ROWS), 4.0, 4.0, 4.0]
    np.testing.assert_allclose(means, expected)


def test_means_of_other_folds_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    levels, y, folds = rng.integers(0, 6, 300), rng.normal(size=300), rng.integers(0, 4, 300)
    ours = out_of_fold_means(levels, y, 6, folds)[:, 0]
    theirs = np.empty(300)
    for fold in range(4):
        others = folds != fold
        encoder = TargetEncoder(smooth=PRIOR_ROWS, target_type="continuous").fit(levels[others, None], y[others])
        theirs[~others] = encoder.transform(levels[~others, None])[:, 0]
    np.testing.assert_allclose(ours, theirs)
