"""Classifiers for many classes, most of them made of binary ones along a tree of the classes.

How X, y become a prediction::

    X, y ─► training.check_training        checked rows, class codes and weights
         ─► affinity.cut_class_tree        floors or Gaussian overlap of all pairs ─► the class tree (room `tree`)
         ─► linear.linear_svm              one linear SVM for each node, along rising C, with and without each fold
            or binary_parts                a clone of any classifier for each node
         ─► linear.path_classifiers        the best C by cross-validation
    rows ─► linear.path_classifiers        scores, by decode_kernels.linear_scores
         ─► routing                        from the root to one class, or probabilities of all classes (Platt)

- `landmarks`: LandmarkClassifier and LandmarkRegressor, on the models of `learn.landmarks`.
- `stacked`: StackedClassifier and StackedRegressor, the stack of `floor.learned`; `stack_figures`: what it reached.
- `linear`: LinearSVCCV (one class against the rest), OneVsOneSVC (all pairs), SmartSVC (the class tree).
- `hierarchical`: any classifier at the nodes of a class tree.
- `stored_model`: what writes an estimator to a file; `model_file` reads it, from a checked `model_archive`.
"""
