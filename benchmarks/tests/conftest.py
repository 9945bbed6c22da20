"""The settings and fixtures of the suite, for the tests of the scripts as well."""

from pathlib import Path

import pytest

from conftest import SHARED, _close_figures, _folder, data_dir, pytest_xdist_auto_num_workers

__all__ = ["_close_figures", "data_dir", "golden_dir", "pytest_xdist_auto_num_workers"]


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """Folder of GenSVM's golden values: $BAYESFLOOR_GOLDEN, else ../shared/golden."""
    return _folder("BAYESFLOOR_GOLDEN", SHARED / "golden")
