"""`bayesfloor floor` of a large file: all rows are trained on, from disk, and few are held in memory beside them."""

import gc
import json
import sys
import tempfile

import numpy as np
import pytest

N_ROWS, MANY_ROWS = 4000, 1000


@pytest.fixture
def large(tmp_path, set_limits):
    """Have a file of 4000 rows be large."""
    set_limits(disk_rows=MANY_ROWS)
    set_limits(learned_rows=300)
    set_limits(part_rows=800)
    set_limits(part_rounds=5)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N_ROWS, 2))
    label = np.where(x[:, 0] + rng.standard_normal(N_ROWS) > 0, "yes", "no")
    lines = [f"{a:.6f},{b:.6f},{own}" for (a, b), own in zip(x.tolist(), label, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_all_rows_are_trained_on_from_disk(large, run):
    outcome = run("floor rows.csv --json")
    assert outcome.code == 0, outcome.err
    assert "the floor is estimated from the files" in outcome.err
    result = json.loads(outcome.out)["result"]
    assert (result["n_rows"], result["n_samples"]) == (N_ROWS, N_ROWS)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_disk_that_is_full_half_way_leaves_nothing(large, run, monkeypatch, tmp_path):
    import resource

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    try:
        outcome = run("floor rows.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert outcome.code == 3
    assert outcome.out == ""
    assert str(folder) in outcome.err.splitlines()[-1]
    gc.collect()
    assert list(folder.iterdir()) == []
