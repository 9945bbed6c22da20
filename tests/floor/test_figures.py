"""Small versions of the paper's figures 1 and 2, from the examples themselves."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from bayesfloor.floor.known.gaussian import GaussianPair
from bayesfloor.floor.trees import henze_penrose as hp

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figure1_rows():
    return load("figure1_bias_correction").simulate(n_trials=20, distances=(0.0, 1.0, 2.0, 3.0))


@pytest.mark.parametrize("prior", [0.15, 1 / 3])
def test_correction_removes_the_bias_at_zero_separation(figure1_rows, prior):
    row = next(row for row in figure1_rows if row["prior"] == prior and row["distance"] == 0)
    assert row["floor"] == pytest.approx(prior)
    assert row["corrected"] == pytest.approx(prior, abs=0.01)
    assert row["estimate"] > prior + 0.03  # without it the bias shows


def test_estimate_is_closer_to_the_floor_than_bhattacharyya(figure1_rows):
    for row in figure1_rows:
        if row["distance"] > 0:
            assert abs(row["corrected"] - row["floor"]) < row["bhattacharyya"] - row["floor"]
            classes = GaussianPair.with_common_covariance([0.0], [row["distance"]], prior=row["prior"])
            limit = min(hp.estimate(classes.mixture().u()), row["prior"])  # what it tends to as n grows
            assert row["corrected"] == pytest.approx(limit, abs=0.015)


def test_figure1_writes_a_table_and_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    load("figure1_bias_correction").main(["--trials", "1", "--samples", "60", "--output", str(tmp_path)])
    assert len((tmp_path / "figure1.csv").read_text().splitlines()) == 1 + 2 * 17
    assert (tmp_path / "figure1.png").stat().st_size > 10_000
    assert "corrected" in capsys.readouterr().out


def test_variance_falls_with_the_number_of_trees():
    variances = load("figure2_orthogonal_trees").simulate(n_repetitions=60, distances=(1.5, 2.5), most_trees=6)
    # on the same samples, so the fall shows through the noise of 60 repetitions
    assert (variances[:, 5] < 0.85 * variances[:, 0]).all()
    assert (variances[:, 2] < variances[:, 0]).all()
    # and flattens: the first trees gain more than the later ones
    gains = -np.diff(variances, axis=1)
    assert (gains[:, :2].sum(axis=1) > gains[:, 3:].sum(axis=1)).all()


def test_figure2_writes_a_table_and_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    load("figure2_orthogonal_trees").main(["--repetitions", "2", "--samples", "60", "--output", str(tmp_path)])
    assert len((tmp_path / "figure2.csv").read_text().splitlines()) == 1 + 6
    assert (tmp_path / "figure2.png").stat().st_size > 10_000
    assert "variance" in capsys.readouterr().out
