"""What callers pass in memory, checked once on entry.

::

    X (array, frame, sparse, list)  ── points.check_points ────── (n, d) float64, C-contiguous, finite
    y (array, series, list)         ── labels.check_labels ────── classes (K,), codes (n,) int64
    sample_weight                   ── labels.check_weights ───── (n,) float64
    groups, time                    ── row_groups.check_groups ── (n,) int64 from 0; (n,) float64
    cv                              ── folds.check_folds ──────── fold of each row
    points of each class            ── class_means.nearness_of_means: (K, K), how near their means are
    max_rows                        ── sampling.stratified_rows ─ some of the rows, the same share of each class
    Table in place of X and y       ── prepared_table.points_and_labels
    all of these together           ── problem.Problem, made by tables.arguments.check_problem
    features that take labels       ── supervised_features ────── made anew in each training set

Callers' arrays are never written to. Errors name the columns, labels or counts at fault.
"""
