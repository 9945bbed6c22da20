"""Pictures are drawn without a screen."""

import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib")

import matplotlib as mpl

mpl.use("Agg")
