"""Classifiers: from classes and how they overlap to a decision among many of them.

A problem of many classes becomes binary problems. How to divide it is the question, and the floors answer it: classes
that overlap stay together until last, so that most decisions are easy ones::

    X, y ── training ────── checked rows, labels and weights
      │
      ├──── affinity ────── how much every two classes overlap: floors, Gaussians, or given values
      │       tree_growth   ─► the class tree, by the tree room
      │
      ├──── binary_parts ── one estimator for each binary problem, and scikit-learn's protocol
      │
      └──── routing ─────── scores at the nodes ─► a class, margins, or probabilities (Platt)

Each of these divides in its own way:

- `hierarchical`: any binary estimator at the nodes of a class tree, hard or soft routing;
- `dag`: any binary estimator for each pair of classes, met one after the other;
- `smart_svc`: linear SVMs on the tree of the paper, all with one C; `one_vs_one`: the same for all pairs;
- `crammer_singer` and `gensvm`: all classes in one problem, the peers to compare with.

The linear SVMs of this room come from a solver of their own. `linear_svm` walks along rising C, each solution starting
from the one before (kernels in `newton_kernels`, sparse rows in `sparse_newton`); `fold_choice` deals out the folds.
`path_classifier` is what `linear_svm_cv`, `smart_svc` and `one_vs_one` share; `decode_kernels` turns their scores into
decisions. `crammer_singer_solver` and `gensvm_solver`, each with its kernels, walk likewise along C and λ.
"""
