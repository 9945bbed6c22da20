"""The mixing function of splitmix64 (Steele, Lea and Flood 2014), for arrays and, compiled, for kernels."""

from typing import Any

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # what splitmix64 adds from one word to the next
MIX_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_FACTOR_2 = np.uint64(0x94D049BB133111EB)
SHIFT_27, SHIFT_30, SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mix64(z: Any) -> Any:
    """Scramble 64 bits so that every input bit reaches every output bit."""
    z = (z ^ (z >> SHIFT_30)) * MIX_FACTOR_1
    z = (z ^ (z >> SHIFT_27)) * MIX_FACTOR_2
    return z ^ (z >> SHIFT_31)
