"""Two inner loops in vectors of float32: the gap between two boxes, and a point against sixteen others.

LLVM finds vectors in long loops over points, not in short ones over axes, which is what a point against a box is. So
these two are written in its own language, in `vector_overloads`, for vectors of four and sixteen numbers, which it cuts
into those that the processor has. Kernels call them like any function; in the interpreter they run as they stand here.
"""

import numpy as np

from bayesfloor.runtime.kernels import overloaded_in

overloaded_in("bayesfloor.forest.sweep.vector_overloads")

# Points that are compared with one point at a time; tiles are padded to a multiple of it.
VECTOR = 16
# Axes of a box that are compared at a time; its sides are padded to a multiple of it.
LANES = 4
# Axes after which a point is compared with a limit, and perhaps not along the others: the first ones vary most.
LEADING = 8


def box_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes):
    """Return the squared distance between two boxes, or a point and a box, in float32.

    The sides of a box lie one after the other in flat arrays, from a place on. n_axes is a multiple of LANES.
    """
    below = low_b[at_b : at_b + n_axes] - high_a[at_a : at_a + n_axes]
    above = low_a[at_a : at_a + n_axes] - high_b[at_b : at_b + n_axes]
    gaps = np.maximum(np.maximum(below, above), np.float32(0.0))
    return np.float32(np.sum(gaps * gaps))


def sixteen_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out):
    """Write the squared distances between a point and VECTOR others, in float32, and return the least.

    Their coordinates lie axis by axis, `width` apart. Where all are beyond the limit along the LEADING axes already,
    the others are left out.
    """
    total = np.zeros(VECTOR, np.float32)
    for first, last in ((0, min(n_axes, LEADING)), (LEADING, n_axes)):
        for f in range(first, last):
            difference = local[at_local + f * width : at_local + f * width + VECTOR] - point[at_point + f]
            total += difference * difference
        if total.min() > limit:
            break
    out[at_out : at_out + VECTOR] = total
    return total.min()
