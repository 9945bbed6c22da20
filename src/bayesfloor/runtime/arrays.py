"""Types of arrays, as signatures name them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: Lower and upper end of an interval.
Range = tuple[float, float]
