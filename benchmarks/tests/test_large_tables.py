"""Large tables of known floor, and how their cost is measured."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from benchmarks.problems import large_table
from benchmarks.problems.large_table import GAPS, LEVELS, TARGET, Made, floors_of, part_of, write_folder
from benchmarks.speed import large_tables, large_tables_page
from benchmarks.tools import pages
from benchmarks.tools.measuring import watched


@pytest.fixture(scope="module")
def part():
    return part_of(Made(), 0)


def test_columns(part):
    frame = part.frame
    assert frame.width == 21
    assert [frame[f"x{place}"].dtype for place in range(12)] == [pl.Float32] * 12
    assert {name: frame[name].n_unique() for name in LEVELS} == LEVELS
    assert frame["day"].dtype == pl.Date
    assert sorted(frame[TARGET].unique()) == sorted(Made.classes)
    for place in range(12):
        assert frame[f"x{place}"].is_null().mean() == pytest.approx(GAPS.get(place, 0.0), abs=0.005)


def test_labels_are_drawn_from_the_known_probabilities(part):
    codes = part.frame[TARGET].replace_strict({name: code for code, name in enumerate(Made.classes)}).to_numpy()
    drawn = np.eye(3)[codes]
    np.testing.assert_allclose(part.shares.sum(axis=1), 1.0)
    z_scores = (drawn - part.shares).sum(axis=0) / np.sqrt((part.shares * (1 - part.shares)).sum(axis=0))
    assert np.abs(z_scores).max() < 4.5
    # in tenths of the rows by the probability of the first class, too
    for tenth in np.array_split(np.argsort(part.shares[:, 0]), 10):
        p = part.shares[tenth, 0]
        assert abs((drawn[tenth, 0] - p).sum()) < 4.5 * np.sqrt((p * (1 - p)).sum())
    # the best rule errs as often as the floor says
    wrong = part.shares.argmax(axis=1) != codes
    error = floors_of(part.shares)[0] / len(codes)
    assert wrong.mean() == pytest.approx(error, abs=4.5 * (error / len(codes)) ** 0.5)


def test_what_a_gap_hides_changes_nothing():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((12, 500))
    codes = {name: rng.integers(0, n, 500) for name, n in LEVELS.items()}
    days = rng.integers(0, 2000, 500)
    is_gap = {place: rng.random(500) < 0.5 for place in GAPS}
    other = z.copy()
    for place, gaps in is_gap.items():
        other[place, gaps] = rng.standard_normal(int(gaps.sum()))
    expected, found = (Made().shares(each, codes, days, is_gap) for each in (z, other))
    np.testing.assert_array_equal(found, expected)


def test_a_small_table_is_the_beginning_of_a_large_one(tmp_path, monkeypatch):
    monkeypatch.setattr(large_table, "FILE_ROWS", 400)
    truth = write_folder(Made(), 1000, tmp_path / "large")
    write_folder(Made(), 500, tmp_path / "small")
    large, small = (pl.read_parquet(tmp_path / name) for name in ("large", "small"))
    assert (len(large), len(small)) == (1000, 500)
    assert small.equals(large[:500])
    assert len(list((tmp_path / "large").iterdir())) == truth["n_files"] == 3
    parts = [large_table.part_of(Made(), number, rows) for number, rows in enumerate((400, 400, 200))]
    shares = np.concatenate([each.shares for each in parts])
    assert truth["error"] == pytest.approx(1 - shares.max(axis=1).mean())
    assert truth["log_loss"] == pytest.approx(-(shares * np.log(shares)).sum(axis=1).mean())
    assert write_folder(Made(), 1000, tmp_path / "large") == truth  # as it is kept beside the folder
    fresh = next(large_table.fresh_parts(Made(), 100)).frame
    assert not fresh.equals(large[:100])


def test_rows_of_the_real_table_are_in_a_folder_or_fresh(monkeypatch):
    n = 900
    stored = {
        "X": np.arange(n * 54.0).reshape(n, 54),
        "y": np.arange(n) % 7,
        "feature_names": np.arange(54).astype(str),
    }
    monkeypatch.setattr(large_table, "stored_arrays", lambda name: stored)
    monkeypatch.setattr(large_table, "MOST_OF_COVERTYPE", 700)
    monkeypatch.setattr(large_table, "FILE_ROWS", 400)
    table = large_table.Covertype()
    parts = [part_of(table, 0, 400), part_of(table, 1, 300), *large_table.fresh_parts(table, 10_000)]
    rows = np.concatenate([part.frame["0"].to_numpy() / 54 for part in parts])
    assert sorted(rows) == list(range(n))
    labels = np.concatenate([part.frame[TARGET].to_list() for part in parts])
    assert all(label == f"cover{int(row) % 7}" for label, row in zip(labels, rows, strict=True))
    with pytest.raises(ValueError, match="700 rows"):
        part_of(table, 1, 400)


def test_memory_and_output_of_a_process():
    code = "import time; held = bytearray(150 * 2**20); time.sleep(0.6); print('done')"
    found = watched([sys.executable, "-c", code], every_s=0.05)
    assert found.output == "done\n"
    assert 150 < found.peak_mib < 400
    assert found.largest_other_mib == 0
    assert found.seconds > 0.6


def test_memory_of_processes_that_a_process_starts():
    inner = "import time; held = bytearray(150 * 2**20); time.sleep(0.6)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    found = watched([sys.executable, "-c", code], every_s=0.05)
    assert found.peak_mib < 100
    assert found.largest_other_mib > 150
    assert found.all_mib > found.largest_other_mib


def test_a_process_that_fails_is_told():
    with pytest.raises(SystemExit, match="failed with 3"):
        watched([sys.executable, "-c", "raise SystemExit(3)"])


RECORD = {"cluster": 0, "effort": "default", "threads": 1, "memory_limit": None, "kill": None, "largest_other_mib": 0}


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    record = RECORD | {"n_columns": 20, "table": "made", "seconds": 9.0, "cpu_seconds": 8.0, "peak_mib": 300}
    record |= {"all_mib": 1000, "n_classes": 3, "estimate": 0.1, "interval": [0.0, 0.2], "reached": 0.19, "truth": 0.15}
    floors = [record | {"what": "floor", "n_rows": n_rows, "n_rows_used": n_rows} for n_rows in (3000, 50_000)]
    others = [record | {"what": what, "n_rows": 3000} for what in ("read", "landmarks", "report")]
    killed = {"cluster": 2, "memory_limit": "1.5GiB", "killed": True, "truth": 0.3, "largest_other_mib": 700}
    rounds = record | {"what": "rounds", "cluster": 4, "n_rows": 64_000, "seconds_a_round": 0.5}
    large_tables_page.write_table([*floors, *others, rounds, floors[0] | killed])
    page = (tmp_path / "large_tables.md").read_text(encoding="utf-8")
    assert "| made, 20 columns | 50 000 | 50 000 | 1 thread |" in page
    line = next(line for line in page.splitlines() if "2 workers of 1.5GiB, one killed" in line)
    assert "| 0.3000 | 0.1000 | 0.0000 to 0.2000 | no | 0.1900 |" in line
    assert "| 4 workers | 500 |" in page
    assert "| landmarks | made, 20 columns | 3 000 | 1 thread |" in page
    assert "| made, 20 columns | 3 000 | 1 thread | 9.0 | 8.0 | 2666.7 | 300 | 0.5 | 655.4 |" in page


def test_what_is_recorded_is_not_measured_again(tmp_path, monkeypatch):
    calls = []

    def measured(command, **options):
        calls.append(json.loads(command[-1]))
        return _Found()

    class _Found:
        output = '{"estimate": 0.5}\n'

        def _asdict(self):
            return {"seconds": 1.0, "cpu_seconds": 2.0, "output": self.output}

    monkeypatch.setattr(large_tables, "watched", measured)
    monkeypatch.setattr(large_tables, "FOLDER", tmp_path)
    command = ["large_tables", "report", "--rows", "2000", "--records", str(tmp_path / "records.jsonl")]
    for more in ([], [], ["--again"]):
        monkeypatch.setattr(sys, "argv", [*command, *more])
        large_tables.main()
    assert len(calls) == 2
    assert calls[0]["n_columns"] == 10
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert [json.loads(line)["estimate"] for line in lines] == [0.5, 0.5]
    assert pl.read_csv(tmp_path / "numbers-2000x10.csv").shape == (2000, 10)


def test_of_what_was_measured_again_the_last_record_counts():
    first = RECORD | {"what": "floor", "table": "made", "n_rows": 3000, "n_columns": 20, "seconds": 9.0}
    other, again = first | {"n_rows": 10_000}, first | {"seconds": 5.0}
    assert large_tables.newest([first, other, again]) == [again, other]
