"""A small version of the comparison of class weights."""

import numpy as np
import pytest

from benchmarks.problems import stored_sets
from benchmarks.real import class_weights


def test_class_weights_in_small(tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [150, 40, 10])
    X = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[y] + rng.standard_normal((200, 2))
    rows = class_weights.measure("three classes", X, y, n_folds=2)
    by_weights = {row["weights"]: row for row in rows}
    assert by_weights.keys() == class_weights.WEIGHTINGS.keys()
    assert by_weights["balanced"]["gain"] == 0
    assert by_weights["none"]["ratio"] == 15
    for name in ("balanced", "by classes", "by pairs"):
        assert by_weights[name]["balanced_accuracy"] > by_weights["none"]["balanced_accuracy"]
    class_weights.write(rows, tmp_path)
    assert len((tmp_path / "class_weights.csv").read_text().splitlines()) == 1 + len(rows)
    assert (tmp_path / "class_weights.png").stat().st_size > 10_000


def test_class_weights_names_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stored_sets, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="point BAYESFLOOR_DATA to the folder"):
        class_weights.main(["abalone"])
    with pytest.raises(SystemExit):
        class_weights.main(["nothing"])
    assert "unknown set 'nothing'" in capsys.readouterr().err
