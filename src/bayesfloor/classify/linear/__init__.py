"""Linear SVMs with the squared hinge along a rising path of C, many binary problems at once.

`linear_svm` solves them (kernels in `newton_kernels`, sparse rows in `sparse_newton`), each solution starting from the
one before. `path_classifiers` chooses C by cross-validation: LinearSVCCV (one against the rest), OneVsOneSVC (all
pairs) and SmartSVC (the nodes of a class tree).
"""
