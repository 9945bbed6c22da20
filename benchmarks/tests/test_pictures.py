"""Small versions of the paper's Chess and MNIST figures, from the programs that draw them."""

import re

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from benchmarks.problems import stored_sets
from benchmarks.real import chess, mnist


@pytest.fixture(autouse=True)
def _data(data_dir, monkeypatch):
    monkeypatch.setattr(stored_sets, "DATA", data_dir)
    for file in ("paper/kr-vs-k.npz", "extra/mnist.npz"):
        if not (data_dir / file).is_file():
            pytest.skip(f"no file {data_dir / file}")


def test_chess(tmp_path, capsys):
    chess.main(["--rows", "700", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert (tmp_path / "chess.png").stat().st_size > 20_000
    assert "all 34 features" in printed
    assert "2 principal components" in printed
    # each class has a row in both tables
    assert len(re.findall(r"^ +fourteen +\d+", printed, flags=re.MULTILINE)) == 2
    # what the page says of the whole set: floors are nearly all at their highest, so that they rank classes by size
    assert "floors at their highest, the share:" in printed
    by_floor = [float(value) for value in re.findall(r"with the floor (-?[\d.]+)", printed)]
    by_share = [float(value) for value in re.findall(r"with the share (-?[\d.]+)", printed)]
    assert by_floor == pytest.approx(by_share, abs=0.1)
    assert len(by_floor) == 4


def test_mnist(tmp_path, capsys):
    mnist.main(["--rows", "1000", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert (tmp_path / "mnist.png").stat().st_size > 20_000
    pairs = re.findall(r"^ +(\d-\d) +([\d.]+)", printed, flags=re.MULTILINE)
    assert len({pair for pair, _ in pairs}) == 45
    floors = [float(floor) for _, floor in pairs]
    assert floors == sorted(floors, reverse=True)
    ranks = dict(re.findall(r"^(\d-\d): floor ([\d.]+)", printed, flags=re.MULTILINE))
    assert max(float(ranks["4-9"]), float(ranks["3-5"]), float(ranks["7-9"])) <= 10
    assert min(float(ranks["0-1"]), float(ranks["6-7"])) >= 30
    assert float(re.search(r"confusion by extra trees: ([\d.]+)", printed).group(1)) > 0.3


def test_confused_share():
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(3, size=(2, 50))
    share = mnist.confused_share(y_true, y_pred)
    counts = confusion_matrix(y_true, y_pred)
    both = np.isin(y_true, [0, 2])
    assert share[0, 2] == share[2, 0] == pytest.approx((counts[0, 2] + counts[2, 0]) / both.sum())


@pytest.mark.parametrize("script", [chess, mnist])
def test_without_data_the_message_names_the_variable(script, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_sets, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="point BAYESFLOOR_DATA"):
        script.main([])
