"""From what callers hand in to plain arrays.

::

    X (array, frame, sparse, list)  --check_points-->  (n, d) float64, C-contiguous, finite
    y (array, series, list)         --check_labels-->  classes (K,), codes (n,) int64

Nothing is repaired in silence: what cannot be used is refused with a message that names the
columns, labels or counts at fault. Callers' arrays are never written to.
"""
