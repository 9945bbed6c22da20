"""The paper's simulation study: sixteen data sets, six methods, and any others beside them.

``python -m benchmarks.study run|table|rank|figures`` (app, run, show).

::

    plan ────────► which cells there are: (data set, split, method); how each is measured: a `Protocol`
      │ methods    a name ─► a classifier of the package or of `joint`, and what it tries
      ▼
    runner ──────► joblib over the cells ──► cell_child ──► cell_process: one cell at a time, can be killed
      │                                                        ├─ paper_sets: from a folder or OpenML (recipes),
      │                                                        │              compared with fingerprints
      │                                                        └─ protocol: split, scale, fit, test once
      ▼
    records ─────► one line for each cell, with a checksum                           (machine: where, with what)
      │
      ├─ summary ──────► means over the splits, cell by cell
      ├─ tables ───────► the paper's Tables 1 to 4, ours beside the paper's (paper_figures)  ─► Markdown, CSV, LaTeX
      ├─ ranks ────────► average ranks, critical differences, paired tests
      └─ figures ──────► pictures of them

A run that was stopped goes on where it was: what is recorded is not measured again. Tables, ranks and pictures are made
from records alone.
"""
