"""What to subtract from numbers, to divide them by, and to put where one is missing.

Sums are taken over sorted values, so that the order of the rows changes no bit of them: hashes of rows, and with them
folds, would follow.
"""

import math

import numpy as np

from bayesfloor.runtime.arrays import Floats


def learn_scale(values: Floats, scale: str) -> tuple[float, float]:
    """Return what to subtract and what to divide by; a constant column is only moved to 0."""
    lowest, highest = float(values.min()), float(values.max())
    if scale == "none":
        return 0.0, 1.0
    if lowest == highest:
        return lowest, 1.0
    if scale == "minmax":
        if not math.isfinite(highest - lowest):
            raise ValueError(f"the range from {lowest:g} to {highest:g} is too large for scale='minmax'")
        return lowest, highest - lowest
    exponent = _exponent_of(values)  # squares must neither overflow nor vanish
    moderate = np.ldexp(np.sort(values), -exponent)
    return float(np.ldexp(moderate.mean(), exponent)), float(np.ldexp(moderate.std(), exponent))


def fill_number(values: Floats, impute: str) -> float:
    """Return what stands in for missing numbers."""
    known = np.sort(values[np.isfinite(values)])
    if impute == "median":
        return float(np.median(known))
    if impute == "mean":
        exponent = _exponent_of(known)
        return float(np.ldexp(np.ldexp(known, -exponent).mean(), exponent))
    distinct, counts = np.unique(known, return_counts=True)
    return float(distinct[counts.argmax()])


def scaled(values: Floats, center: float, spread: float) -> Floats:
    """Return ``(values - center) / spread``."""
    if center == 0.0 and spread == 1.0:
        return values
    far = np.abs(values) > 1e300
    if far.any():  # a difference of two such numbers may overflow
        return np.where(far, (values / 4 - center / 4) / (spread / 4), (np.where(far, 0.0, values) - center) / spread)
    return (values - center) / spread


def _exponent_of(values: Floats) -> int:
    """Return the exponent of the largest number."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])
