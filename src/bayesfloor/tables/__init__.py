"""From files and data sets by name to X and y.

::

    a file  --read_contents-->  bytes, unpacked up to a limit            unpacking
            --read_raw------->  RawTable: columns of numbers and text    formats, and one module for each kind
            --read_labels---->  y, classes                               targets
            --(sample)------->  fewer rows, as many of each class        sampling
            --Preparation---->  X: text encoded, gaps filled, scaled     encoding, notes
    and all of it by read_table (read); sets by name by load_dataset (datasets).

Nothing is repaired in silence: what cannot be used is refused with a message that names the columns, labels, lines or
counts at fault, and what was assumed is stated in ``Table.notes``. Nothing in a file is ever run.
"""
