"""Measurements that the claims of the documentation rest on. README.md says which script makes which page.

Scripts run from the root of the repository, as modules: ``python -m benchmarks.truth.truth run``.
"""
