"""Learners: rows with targets in, predictions for other rows out.

A target is a matrix, of indicators of the classes or of one column of numbers, and rows may have weights. Each learner
is written once for both::

    X, Y ── training_rows ─── standardised rows and their targets: `Train`; spaces, distances, products of matrices,
      │                       categories as the mean targets of other rows
      │     learner ───────── `Learner` fits, `Fitted` predicts; `Rows` to predict
      │       records         what a fitted learner is: arrays that a file can hold, and what is read, checked
      │
      ├──── registry ──────── the learners of classes, of numbers, and of many rows of classes, a line each
      │       linear_cost     those of many rows
      │
      ├──── local_families ── neighbours, Gaussian kernels, decision trees, in several spaces
      │       nearest         the search, means of nearest rows, ridge regression of them  (nearest_kernels)
      │       ridge           ridge regression, its penalty by generalised cross-validation or leave-one-out; Gaussian
      │                       kernels of landmarks
      │       decision_trees  extremely randomised trees  (decision_tree_kernels)
      ├──── boosting ──────── gradient boosting over histograms  (boosting_kernels)
      │       by_parts        learners of rows in parts, of which memory holds some  (boosting_by_parts, parts, storing)
      │
      ├──── additive ──────── of numbers: linear models, the lasso, sums of functions of one or two features
      │
      ├──── discriminants ─── of classes: Gaussians, clusters of them, and logistic regression
      ├──── marginals ─────── of classes: one column at a time, as numbers or as names
      ├──── interactions ──── of classes: pairs and triples of columns
      ├──── network ───────── of classes: a small one, for columns of 0 and 1
      │
      └──── landmarks ─────── Gaussian kernels of landmarks and rules under one multinomial or ridge penalty

What is compiled is in …_kernels.
"""
