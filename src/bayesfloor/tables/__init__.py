"""From files and data sets by name to X and y.

::

    a file ── unpacking ──── its bytes, unpacked up to a limit
      │
      ├────── read ───────── read_table: the format, from the first bytes, then all steps below
      │         text_tables    CSV and its relatives; `sniffing` finds encoding, separator, decimal sign and header
      │         binary_tables  Parquet and Arrow by polars, after a look at `parquet_sizes`; NPZ
      │         arff, libsvm   the other text formats
      │
      ├────── columns ────── RawTable: columns of numbers and of text, from any of these
      ├────── targets ────── which column holds the labels; y and classes
      └────── encoding ───── Preparation: text encoded, gaps filled, numbers scaled; X
                notes          the same in plain sentences

`datasets` loads data sets by name: those of scikit-learn, and the NPZ files of a folder.

No value is changed silently. What cannot be used is refused with a message that names the columns, labels, lines or
counts at fault; what was assumed is stated in ``Table.notes``. No code in a file is ever run.
"""
