"""From what callers hand in, or have in files, to plain arrays.

::

    X (array, frame, sparse, list)  --check_points-->  (n, d) float64, C-contiguous, finite
    y (array, series, list)         --check_labels-->  classes (K,), codes (n,) int64

    a file  --read_contents-->  bytes, unpacked up to a limit            unpacking
            --read_raw------->  RawTable: columns of numbers and text    formats, and one module for each kind
            --read_labels---->  y, classes                               targets
            --(sample)------->  fewer rows, as many of each class        sampling
            --Preparation---->  X: text encoded, gaps filled, scaled     encoding, table_notes
    and all of it by read_table (tables); sets by name by load_dataset (datasets).

Nothing is repaired in silence: what cannot be used is refused with a message that names the columns, labels, lines or
counts at fault, and what was assumed is stated in ``Table.notes``. Callers' arrays are never written to, and nothing in
a file is ever run.
"""
