"""All classes in one problem: the SVMs of Crammer and Singer, and GenSVM.

Each has a solver that walks along its penalty, warm, with kernels of its own: `crammer_singer`,
`crammer_singer_solver`, `crammer_singer_kernels`; `gensvm` and `gensvm_cv`, `gensvm_solver`, `gensvm_kernels`.
"""
