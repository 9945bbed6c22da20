"""Which representation of the rows lets models get furthest: columns, embeddings, steps of preprocessing.

::

    {name: features}, y ── representations ── arrays, tables, files, lists and steps, read when they are needed
       │                     steps              transformers, fitted in each training set
       ├────── shared_rows ─── one plan for all: the same rows, folds and groups
       ├────── rounds ──────── a learned floor of each; hopeless ones stop on a part of the rows
       │         differences     every two, row by row: what is reached, the floors, where the curves cross
       ├────── by_trees ────── the same by spanning trees alone, where no models are trained
       │
       └────── compare ─────── `compare_features`: all of it -> FeatureComparison (results)
"""
