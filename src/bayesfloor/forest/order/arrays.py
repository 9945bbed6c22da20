"""Names for the types of arrays, and the edges that kernels write."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]


class Edges(NamedTuple):
    """Edges between numbered points."""

    u: I32
    v: I32
    d2: F64


class ForestEdges(NamedTuple):
    """Edges of the forests of some numbered points, in the strict order."""

    u: I32
    v: I32
    d2: F64
    tree: I32
