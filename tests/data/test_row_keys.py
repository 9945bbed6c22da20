"""Keys of rows that only their values decide about."""

import numpy as np
import pytest
from scipy import sparse

from bayesfloor.data.sampling import keys_of_points
from bayesfloor.runtime.hash_kernels import add_hashes
from bayesfloor.runtime.kernels import plainly


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_matter(kind):
    X = points(kind)
    rows = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(keys_of_points(X[rows], 0), keys_of_points(X, 0)[rows])


@pytest.mark.parametrize("kind", KINDS)
def test_different_rows_have_different_keys_and_equal_ones_equal_keys(kind):
    X = points(kind)
    keys = keys_of_points(X, 0)
    _, rows = np.unique(X, axis=0, return_inverse=True)
    np.testing.assert_array_equal(keys[:, None] == keys, rows.ravel()[:, None] == rows.ravel())
    assert not set(keys) & set(keys_of_points(X, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_zeros_need_not_be_stored_and_have_no_sign(kind):
    X = points(kind)
    expected = keys_of_points(X, 5)
    for other in (sparse.csr_array(X), np.where(X == 0, -0.0, X)):
        np.testing.assert_array_equal(keys_of_points(other, 5), expected)


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
