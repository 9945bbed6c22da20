"""All classes in one problem: the SVM of Crammer and Singer, and GenSVM, which the paper compares SmartSVM with.

`crammer_singer`, `gensvm` and `gensvm_cv` have the classifiers. Their solvers walk along the penalty, each solution
starting from the one before, with kernels in files of their own; `newton` has what both share. `path_scores`
cross-validates along such a path.
"""
