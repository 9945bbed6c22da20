"""Hashes of rows, by the mixing function of splitmix64 (Steele, Lea and Flood 2014), for arrays and for kernels."""

from typing import Any

import numpy as np

from bayesfloor.runtime.kernels import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # what splitmix64 adds from one word to the next
MIX_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_FACTOR_2 = np.uint64(0x94D049BB133111EB)
SHIFT_27, SHIFT_30, SHIFT_31, SHIFT_32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
ROW_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
MINUS_ZERO = np.uint64(1) << np.uint64(63)
#: Rows that are hashed at a time without compiled code.
BLOCK_ROWS = 4096
#: Seconds for each number that is hashed without compiled code.
PLAIN_NUMBER_S = 2e-8


def mix64(z: Any) -> Any:
    """Scramble 64 bits so that every input bit reaches every output bit."""
    z = (z ^ (z >> SHIFT_30)) * MIX_FACTOR_1
    z = (z ^ (z >> SHIFT_27)) * MIX_FACTOR_2
    return z ^ (z >> SHIFT_31)


#: The same, to be called by kernels.
compiled_mix64 = kernel(inline="always")(mix64)


def _hash_rows(bits: Any, start: int, stop: int, out: Any) -> None:
    for first in range(start, stop, BLOCK_ROWS):
        rows = slice(first, min(first + BLOCK_ROWS, stop))
        h = np.full(rows.stop - rows.start, GOLDEN)
        for column in np.where(bits[rows] == MINUS_ZERO, np.uint64(0), bits[rows]).T:
            h = (h ^ column) * ROW_FACTOR
            h ^= h >> SHIFT_32
        out[rows] = mix64(h)


def _seconds_to_hash(bits: Any, start: int, stop: int, out: Any) -> float:
    return PLAIN_NUMBER_S * (stop - start) * bits.shape[1]


@kernel(plain=_hash_rows, plain_seconds=_seconds_to_hash)
def hash_rows(bits: Any, start: int, stop: int, out: Any) -> None:
    """Hash rows start..stop of the float64 bit patterns of X, reading -0.0 as 0.0."""
    for i in range(start, stop):
        h = GOLDEN
        for f in range(bits.shape[1]):
            b = bits[i, f]
            if b == MINUS_ZERO:
                b = np.uint64(0)
            h = (h ^ b) * ROW_FACTOR
            h ^= h >> SHIFT_32
        out[i] = compiled_mix64(h)


def _add_hashes(bits: Any, column_words: Any, of_rows: Any) -> None:
    for first in range(0, len(bits), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        hashes = mix64(bits[rows] ^ column_words)
        hashes[(bits[rows] == 0) | (bits[rows] == MINUS_ZERO)] = 0
        of_rows[rows] += hashes.sum(axis=1, dtype=np.uint64)


def _seconds_to_add(bits: Any, column_words: Any, of_rows: Any) -> float:
    return PLAIN_NUMBER_S * bits.size


@kernel(plain=_add_hashes, plain_seconds=_seconds_to_add)
def add_hashes(bits: Any, column_words: Any, of_rows: Any) -> None:
    """Add the hash of each value other than zero, given as the bits of a float64, to that of its row."""
    zero = np.uint64(0)
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            b = bits[i, j]
            if b != zero and b != MINUS_ZERO:
                of_rows[i] += compiled_mix64(b ^ column_words[j])


def sums_of_hashes(hashes: Any, parts: Any, n_parts: int) -> Any:
    """Return for each part the sum of its hashes, which does not depend on their order."""
    sums = np.zeros(n_parts, np.uint64)
    np.add.at(sums, parts, hashes)
    return sums
