"""Linear SVMs with the squared hinge along a rising path of C, many binary problems at once.

`linear_svm` solves them (kernels in `newton_kernels`, sparse rows in `sparse_newton`), each solution starting from the
one before. `path_classifier` chooses C by cross-validation for its three classifiers: `linear_svm_cv` (one against the
rest), `one_vs_one` (all pairs) and `smart_svc` (the nodes of a class tree).
"""
