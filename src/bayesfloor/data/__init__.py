"""What callers pass in memory, checked once at the door and trusted inside.

::

    X (array, frame, sparse, list)  --check_points-->  (n, d) float64, C-contiguous, finite
    y (array, series, list)         --check_labels-->  classes (K,), codes (n,) int64
    sample_weight                   --check_weights->  (n,) float64
    cv                              --check_folds--->  fold of each row
    max_rows                        --stratified_rows-> some of the rows, as large a share of each class

Callers' arrays are never written to. Errors name the columns, labels or counts at fault.
"""
