"""Large tables of known floor, how their cost is measured, and the model that is fitted to it."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from bayesfloor.cli import cost_model
from bayesfloor.cli.cost_model import Cost, Size, seconds_of
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


def made_up_records():
    """Records of work whose costs are known: those of `COSTS`, without noise."""
    costs = {what: Cost(2.0 + place, 1e-4, 3e-5) for place, what in enumerate(large_tables_page.METHODS)}
    reading = {"binary": 2e-7, "text": 9e-7}
    records = []
    for what in (*costs, "read"):
        for n_rows, n_columns, table in ((3000, 20, "made"), (10_000, 8, "made"), (50_000, 20, "made")):
            for name in (table, "numbers") if what == "read" else (table,):
                record = RECORD | {"what": what, "table": name, "n_rows": n_rows, "n_columns": n_columns}
                record |= {"n_rows_used": n_rows, "n_classes": 3, "estimate": 0.1, "interval": [0.0, 0.2]}
                record |= {"truth": 0.15, "reached": 0.19, "seconds": 9.0, "all_mib": 100}
                size = large_tables_page.size_of(record)
                own = reading[size.form] * n_rows * n_columns
                if what == "read":
                    own += 1.0
                else:
                    small, many = cost_model.values_trained(size, what)
                    own += costs[what].start_s + costs[what].small_s * small + costs[what].many_s * many
                values = n_columns * ({"binary": 20, "text": 9}[size.form] * n_rows + 50 * size.n_used)
                records.append(record | {"cpu_seconds": own, "peak_mib": (3e8 + values) / 2**20})
    on_cluster = {"what": "rounds", "table": "bins", "peak_mib": 0, "cpu_seconds": 1.0}
    for cluster in (1, 2, 4):
        record = records[0] | on_cluster | {"cluster": cluster, "seconds_a_round": 0.3 + 0.05 * cluster}
        records.append(record)
    of_worker = {"what": "disk", "cluster": 2, "largest_other_mib": 700, "cpu_seconds": 1e6}
    return [*records, records[0] | of_worker], costs, reading


def test_the_model_is_found_again(tmp_path, monkeypatch):
    file = tmp_path / "cost_model.py"
    file.write_text(large_tables_page.MODEL.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(large_tables_page, "MODEL", file)
    records, costs, reading = made_up_records()
    large_tables_page.fit(records)
    found = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), found)
    for what, cost in costs.items():
        assert found["COSTS"][what] == pytest.approx(cost, rel=0.02)
    assert found["READ_S"] == pytest.approx(reading, rel=0.02)
    assert found["READ_BYTES"] == pytest.approx({"binary": 20, "text": 9}, rel=0.02)
    assert found["MEMORY"] == pytest.approx((3e8, 50), rel=0.02)
    assert found["MESSAGES"] == pytest.approx((0.3, 0.05), rel=0.02)
    assert found["DISK_WORKER_BYTES"] == pytest.approx(700 * 2**20, rel=0.01)


def test_what_is_too_little_to_fit():
    with pytest.raises(SystemExit, match="needs two measurements"):
        large_tables_page.fit([])
    with pytest.raises(SystemExit, match="messages need"):
        large_tables_page.fit([record for record in made_up_records()[0] if record["cluster"] != 2])


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    guide = tmp_path / "scale.md"
    guide.write_text("before\n<!-- large tables: begin -->\nold\n<!-- large tables: end -->\nafter\n")
    monkeypatch.setattr(large_tables_page, "GUIDE", guide)
    records, _, _ = made_up_records()
    killed = {"cluster": 2, "memory_limit": "1.5GiB", "killed": True, "truth": 0.3, "largest_other_mib": 700}
    large_tables_page.write_table([*records, records[0] | killed])
    page = (tmp_path / "large_tables.md").read_text(encoding="utf-8")
    assert "| made, 20 columns | 50 000 | 50 000 | 1 thread |" in page
    line = next(line for line in page.splitlines() if "2 workers of 1.5GiB, one killed" in line)
    assert "| 0.3000 | 0.1000 | 0.0000 to 0.2000 | no | 0.1900 |" in line
    text = guide.read_text(encoding="utf-8")
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- large tables: end -->\nafter\n")
    at_most = seconds_of("disk", Size(10**9, 20, 10**9, 3)).by_the_clock(100, is_cluster=True)
    assert large_tables_page.shown_seconds(at_most) in text
    assert "from 1 to 4 of them" in text
    assert "Measured: 3 000 rows of 20 columns on 2 workers, took 9 s" in text
    assert "| 4 workers | 500 |" in page


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
