"""From files and data sets by name to X and y.

`read_table` in `read` takes all of these steps::

    a file ── unpacking ──── its bytes, unpacked up to a limit; stdin
      │
      ├────── formats ────── read_raw: the format, from the first bytes; parts of files, several files and folders
      │         text_tables    CSV and its relatives; `sniffing` finds encoding, separator, decimal sign and header,
      │                        `text_rows` splits lines into rows
      │         binary_tables  Parquet and Arrow by polars, after a look at the sizes of their pages; NPZ
      │         excel          sheets by fastexcel, after a look at their size
      │         value_tables   JSON: values of any type
      │         arff, libsvm   the other text formats
      │         joining        several tables -> one, those of a folder of Parquet files among them
      │
      ├────── columns ────── RawTable: columns of numbers, of text and of dates, from any of these; `column_builders`
      │                        make them block by block
      ├────── labelled_rows  the rows that have a label, by `targets`, and the columns of groups and time;
      │                        `unlabelled` has the one rule for arrays, frames and files, and says what is left out
      ├────── profiles ───── what each column holds, and how its cells are read: `readings`, by `spellings`;
      │                        `column_evidence` looks at columns beside each other
      └────── prepare ────── Table: text encoded, gaps filled, numbers scaled, all kept in a `preparation`; or the
                             features that a transformer of the caller's own makes
                automatic      what becomes of each column: `treatments` of numbers, dates and text, and
                               `category_features`

What need not fit into memory is a source::

    Parquet files, text tables, lazy frames, Dask ── sources ── chunks of rows in order, or rows drawn at random
                parquet_sources, text_sources, source_kinds   what differs between them
                chunked        rows that are made ready or predicted chunk by chunk

`options` is what the caller says about all that. `arguments` is the door for functions of X and y: arrays, a data frame
(`frames`) or a Table become a `Problem`. `preparer` is the preparation as a scikit-learn transformer.
`datasets` loads data sets by name: those of scikit-learn, and the NPZ files of a folder.

No value is changed silently. What cannot be used is refused with a message that names the columns, labels, lines or
counts at fault; what was assumed is stated in ``Table.notes``. No code in a file is ever run.
"""
