"""The settings and fixtures of the suite, for the tests of the scripts as well."""

from conftest import _close_figures, data_dir, golden_dir, pytest_xdist_auto_num_workers

__all__ = ["_close_figures", "data_dir", "golden_dir", "pytest_xdist_auto_num_workers"]
