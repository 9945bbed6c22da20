"""The mixing function gives the published first numbers of splitmix64, in arrays and in kernels."""

import numpy as np

from bayesfloor.forest.order.hash_kernels import seed_key
from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime import hash_kernels
from bayesfloor.runtime.hash_kernels import GOLDEN, compiled_mix64, hash_rows, mix64
from bayesfloor.runtime.kernels import plainly

# of the seed 1234567
SEED = 1234567
FIRST = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def test_published_numbers():
    state = np.array([SEED], np.uint64) + np.arange(1, 6, dtype=np.uint64) * GOLDEN
    assert mix64(state).tolist() == FIRST
    assert [int(compiled_mix64(word)) for word in state] == FIRST
    assert int(seed_key(np.uint64(SEED))) == FIRST[0]
    word = np.array([SEED], np.uint64)
    assert [next_random(word) for _ in FIRST] == [(number >> 11) / 2**53 for number in FIRST]


def test_hashes_of_rows_without_compiled_code(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[3, 1] = -0.0
    X[4] = X[3] + 0.0
    compiled, plain = np.zeros((2, 50), np.uint64)
    monkeypatch.setattr(hash_kernels, "BLOCK_ROWS", 7)
    for is_plain, out in ((False, compiled), (True, plain)):
        with plainly(is_plain):
            hash_rows(X.view(np.uint64), 2, 49, out)
    np.testing.assert_array_equal(plain, compiled)
    assert plain[3] == plain[4]
    assert len(np.unique(plain[2:49])) == 46
    assert not plain[[0, 1, 49]].any()
