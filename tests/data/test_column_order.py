"""An order of columns and keys of rows that only values decide about."""

import numpy as np
import pytest
from scipy import sparse

from bayesfloor.data.column_order import add_hashes, order_of_values
from bayesfloor.runtime.kernels import plainly


def points(kind):
    rng = np.random.default_rng(0)
    if kind == "numbers":
        return rng.normal(size=(60, 7))
    if kind == "dummies":  # every row has as many ones as any other, and some columns as many
        return np.hstack([np.eye(3)[rng.integers(0, 3, 60)], np.eye(4)[rng.integers(0, 4, 60)]])
    return np.where(rng.random((60, 7)) < 0.7, 0.0, rng.integers(-2, 3, (60, 7)).astype(float))


KINDS = ("numbers", "dummies", "zeros")


@pytest.mark.parametrize("kind", KINDS)
def test_neither_the_order_of_rows_nor_that_of_columns_matters(kind):
    X, rng = points(kind), np.random.default_rng(1)
    columns, keys = order_of_values(X, 0)
    assert sorted(columns.tolist()) == list(range(7))
    for _ in range(5):
        rows, places = rng.permutation(60), rng.permutation(7)
        other_columns, other_keys = order_of_values(np.ascontiguousarray(X[np.ix_(rows, places)]), 0)
        np.testing.assert_array_equal(other_keys, keys[rows])
        np.testing.assert_array_equal(X[:, places[other_columns]], X[:, columns])


@pytest.mark.parametrize("kind", KINDS)
def test_different_rows_have_different_keys_and_equal_ones_equal_keys(kind):
    X = points(kind)
    keys = order_of_values(X, 0)[1]
    _, rows = np.unique(X, axis=0, return_inverse=True)
    np.testing.assert_array_equal(keys[:, None] == keys, rows.ravel()[:, None] == rows.ravel())
    assert not set(keys) & set(order_of_values(X, 1)[1])


def test_columns_that_nothing_tells_apart_keep_their_places():
    """All rows of a factorial design: still, no two rows have the same key."""
    X = np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T.copy()
    columns, keys = order_of_values(X, 0)
    assert columns.tolist() == [0, 1, 2, 3]
    assert len(set(keys.tolist())) == 16
    np.testing.assert_array_equal(order_of_values(X[::-1].copy(), 0)[1], keys[::-1])


@pytest.mark.parametrize("kind", KINDS)
def test_zeros_need_not_be_stored_and_have_no_sign(kind):
    X = points(kind)
    expected = order_of_values(X, 5)
    for other in (sparse.csr_array(X), np.where(X == 0, -0.0, X)):
        for found, wanted in zip(order_of_values(other, 5), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_the_plain_version_is_the_kernel():
    X, rng = points("zeros"), np.random.default_rng(2)
    words = [rng.integers(0, 2**63, size, dtype=np.uint64) for size in X.shape]
    found = []
    for plain in (False, True):
        sums = [np.zeros(size, np.uint64) for size in X.shape]
        with plainly(plain):
            add_hashes(X.view(np.uint64), *words, *sums)
        found.append(sums)
    np.testing.assert_array_equal(np.concatenate(found[0]), np.concatenate(found[1]))
