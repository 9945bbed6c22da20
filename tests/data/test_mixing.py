"""The mixing function gives the published first numbers of splitmix64, in arrays and in kernels."""

import numpy as np

from bayesfloor.data import mixing
from bayesfloor.floor.tree_kernels import next_random
from bayesfloor.forest import hashing

# of the seed 1234567, as in https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64
SEED = 1234567
FIRST = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def test_published_numbers():
    state = np.array([SEED], np.uint64) + np.arange(1, 6, dtype=np.uint64) * mixing.GOLDEN
    assert mixing.mix64(state).tolist() == FIRST
    assert [int(hashing.mix64(word)) for word in state] == FIRST
    assert int(hashing.seed_key(np.uint64(SEED))) == FIRST[0]
    word = np.array([SEED], np.uint64)
    assert [next_random(word) for _ in FIRST] == [(number >> 11) / 2**53 for number in FIRST]
