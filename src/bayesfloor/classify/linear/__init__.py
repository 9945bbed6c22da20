"""Linear SVMs with the squared hinge along a rising path of C, many binary problems at once.

`linear_svm` solves them, each solution starting from the one before (kernels in `newton_kernels`), and sparse rows of
many features by scikit-learn's liblinear. `path_classifiers` chooses C by cross-validation: LinearSVCCV (one against
the rest), OneVsOneSVC (all pairs) and SmartSVC (the nodes of a class tree).
"""
