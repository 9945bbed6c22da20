"""Hashes of rows, by the mixing function of splitmix64 (Steele, Lea and Flood 2014), for arrays and for kernels."""

from typing import Any

import numpy as np

from bayesfloor.runtime.kernels import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # what splitmix64 adds from one word to the next
MIX_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_FACTOR_2 = np.uint64(0x94D049BB133111EB)
SHIFT_27, SHIFT_30, SHIFT_31, SHIFT_32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
ROW_FACTOR = np.uint64(0xFF51AFD7ED558CCD)


def mix64(z: Any) -> Any:
    """Scramble 64 bits so that every input bit reaches every output bit."""
    z = (z ^ (z >> SHIFT_30)) * MIX_FACTOR_1
    z = (z ^ (z >> SHIFT_27)) * MIX_FACTOR_2
    return z ^ (z >> SHIFT_31)


#: The same, to be called by kernels.
compiled_mix64 = kernel(inline="always")(mix64)


def _hash_rows(bits: Any, start: int, stop: int, out: Any) -> None:
    words = np.where(bits[start:stop] == np.uint64(1) << np.uint64(63), np.uint64(0), bits[start:stop])
    h = np.full(stop - start, GOLDEN)
    for column in words.T:
        h = (h ^ column) * ROW_FACTOR
        h ^= h >> SHIFT_32
    out[start:stop] = mix64(h)


@kernel(plain=_hash_rows)
def hash_rows(bits: Any, start: int, stop: int, out: Any) -> None:
    """Hash rows start..stop of the float64 bit patterns of X, reading -0.0 as 0.0."""
    minus_zero = np.uint64(1) << np.uint64(63)
    for i in range(start, stop):
        h = GOLDEN
        for f in range(bits.shape[1]):
            b = bits[i, f]
            if b == minus_zero:
                b = np.uint64(0)
            h = (h ^ b) * ROW_FACTOR
            h ^= h >> SHIFT_32
        out[i] = compiled_mix64(h)


def sums_of_hashes(hashes: Any, parts: Any, n_parts: int) -> Any:
    """Return for each part the sum of its hashes, which does not depend on their order."""
    sums = np.zeros(n_parts, np.uint64)
    np.add.at(sums, parts, hashes)
    return sums
