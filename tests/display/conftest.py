"""Pictures are drawn without a screen, and closed after each test."""

import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib")

import matplotlib as mpl

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")
