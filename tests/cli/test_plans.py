"""A plan says what a command takes before anything is done, and a table that does not fit is refused."""

import json

import numpy as np
import pytest

import bayesfloor
from bayesfloor.cli import cost_model, planning, plans
from bayesfloor.cli.cost_model import Cost, Memory, Messages, Size, memory_of, seconds_of, worker_memory_of
from bayesfloor.floor.learned.from_disk import SETS
from bayesfloor.learn.boosting_by_parts import MOST_ROUNDS, MOST_TREES

from .small_tables import three_classes, write_csv

polars = pytest.importorskip("polars")
N_ROWS = 24_000


@pytest.fixture
def folder(tmp_path):
    """Two Parquet files of 24 000 rows together: two numbers, a patient, a day, three classes."""
    points, labels = three_classes(N_ROWS)
    columns = {"x1": points[:, 0], "x2": points[:, 1], "patient": np.arange(N_ROWS) // 4, "day": np.arange(N_ROWS)}
    frame = polars.DataFrame(columns | {"kind": labels})
    (tmp_path / "visits").mkdir()
    frame[:14_000].write_parquet(tmp_path / "visits" / "a.parquet")
    frame[14_000:].write_parquet(tmp_path / "visits" / "b.parquet")
    return tmp_path / "visits"


@pytest.fixture
def nothing_is_trained(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a plan trains nothing")

    for name in ("learned_floor", "regression_floor", "difficulty_report", "bayes_error", "LandmarkClassifier"):
        monkeypatch.setattr(bayesfloor, name, refuse, raising=False)


def planned(run, call):
    outcome = run(f"{call} --dry-run --json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["result"]


@pytest.mark.parametrize("command", plans.PLANNED)
def test_rows_of_a_folder_are_counted_by_its_footers(run, folder, nothing_is_trained, command, monkeypatch):
    monkeypatch.setattr(planning, "_HEAD_ROWS", 500)
    plan = planned(run, f"{command} visits --target kind")
    assert (plan["n_samples"], plan["is_estimated"], plan["n_columns"]) == (N_ROWS, False, 4)
    assert plan["n_classes"] == 3
    assert plan["disk_bytes"] == sum(file.stat().st_size for file in folder.glob("*"))
    assert list(folder.parent.glob("*-report.html")) == []


def test_what_is_shown(run, folder, nothing_is_trained):
    outcome = run("floor visits --target kind --dry-run --threads 2")
    lines = dict(line.rsplit("  ", 1) for line in outcome.out.splitlines())
    shown = {name.strip(): value for name, value in lines.items()}
    assert outcome.code == 0
    assert (shown["table"], shown["rows"], shown["rows used"], shown["workers"]) == ("visits", "24,000", "24,000", "2")
    assert {"passes over the data", "on disk", "in memory, about", "CPU time, about", "time, about"} <= set(shown)


def text_table(path, n_rows, quoted=False):
    rng = np.random.default_rng(0)
    end = ',"two\nlines"' if quoted else ",plain"
    rows = [f"{a:.6f},{b:.6f}{end},{'xyz'[k % 3]}" for k, (a, b) in enumerate(rng.normal(size=(n_rows, 2)))]
    path.write_text("\n".join(["a,b,note,kind", *rows]) + "\n")


def test_rows_of_a_text_table_are_estimated(run, tmp_path, nothing_is_trained):
    text_table(tmp_path / "long.csv", 150_000)
    plan = planned(run, "floor long.csv --target kind")
    assert plan["is_estimated"]
    assert plan["n_samples"] == pytest.approx(150_000, rel=0.01)
    assert (plan["n_columns"], plan["n_classes"], plan["n_passes"]) == (3, 3, 2)
    assert "about 150,000, by the size of the first ones" in run("floor long.csv --target kind --dry-run").out


def test_a_line_end_in_quotes_does_not_end_the_beginning(run, tmp_path, nothing_is_trained):
    text_table(tmp_path / "long.csv", 120_000, quoted=True)
    plan = planned(run, "floor long.csv --target kind")
    assert plan["n_samples"] == pytest.approx(120_000, rel=0.01)


def test_whole_lines():
    assert planning._whole_lines(b"a,b\n1,2\n3,") == b"a,b\n1,2\n"
    assert planning._whole_lines(b'a,b\n1,"x\ny') == b"a,b\n"
    assert planning._whole_lines(b"no end") == b"no end"


def test_a_small_table_is_read(run, table, nothing_is_trained):
    plan = planned(run, "floor table.csv")
    assert (plan["n_samples"], plan["is_estimated"], plan["n_rows"]) == (60, False, 60)


@pytest.mark.parametrize(
    ("call", "n_rows"),
    [
        ("floor visits --effort fast", 4000),
        ("floor visits --max-rows 7000", 7000),
        ("floor visits --time day", 10_000),
        ("floor visits --fast", N_ROWS),
        ("fit visits", N_ROWS),
        ("fit visits --model stack --effort fast", 4000),
    ],
)
def test_rows_that_are_used(run, folder, nothing_is_trained, call, n_rows):
    assert planned(run, f"{call} --target kind")["n_rows"] == n_rows


def test_rows_of_wide_and_grouped_tables(run, folder, monkeypatch):
    monkeypatch.setattr("bayesfloor.data.sampling.LEARNED_VALUES", 64 * 20_000)
    monkeypatch.setattr("bayesfloor.data.sampling.REPORT_VALUES", 64 * 16_000)
    assert planned(run, "floor visits --target kind")["n_rows"] == 20_000
    assert planned(run, "report visits --target kind")["n_rows"] == 16_000
    assert planned(run, "floor visits --target kind --groups patient")["n_rows"] == 10_000


@pytest.mark.usefixtures("coarse_curves", "few_learners")
def test_as_many_rows_are_used_as_planned(run, folder):
    call = "floor visits --target kind --effort fast"
    found = json.loads(run(f"{call} --json --quiet").out)["result"]
    assert found["n_rows"] == planned(run, call)["n_rows"]
    assert found["n_samples"] == N_ROWS


def test_too_little_memory(run, folder, monkeypatch, nothing_is_trained):
    monkeypatch.setattr("bayesfloor.runtime.limits.available_memory", lambda: 2**20)
    monkeypatch.setattr(planning, "_LARGE_BYTES", 1)
    for command in ("floor visits", "report visits", "fit visits --out model.skops"):
        outcome = run(f"{command} --target kind")
        assert outcome.code == 3
        assert "24,000 rows of 4 columns would take about" in outcome.err
        assert "1.0 MiB are available" in outcome.err
    outcome = run("floor visits --target kind --dry-run")  # a plan may be of what does not fit
    assert outcome.code == 0
    assert "1.0 MiB are available" in outcome.err


@pytest.mark.usefixtures("coarse_curves", "few_learners")
def test_a_large_table_is_announced(run, folder, monkeypatch):
    call = "floor visits --target kind --effort fast"
    assert "needs about" not in run(call).err
    monkeypatch.setattr(planning, "_LARGE_BYTES", 1)
    assert "visits: 24,000 rows of 4 columns, of which 4,000 are used; needs about" in run(call).err
    assert run(f"{call} --quiet").err == ""


def test_workers_of_a_plan(run, folder, nothing_is_trained):
    plan = planned(run, "floor visits --target kind --cluster 5")
    assert plan["n_workers"] == 5
    assert plan["worker_bytes"] < plan["memory_bytes"]
    assert plan["worker_available_bytes"] <= plan["available_bytes"]
    alone = planned(run, "floor visits --target kind --threads 1")
    assert alone["worker_bytes"] is None
    assert plan["cpu_seconds"] == pytest.approx(alone["cpu_seconds"])
    assert plan["wall_seconds"] < alone["wall_seconds"]


def test_errors_are_those_of_the_command(run, folder, tmp_path):
    outcome = run("floor visits --target kinds --dry-run")
    assert outcome.code == 2
    assert "'kinds'" in outcome.err
    assert run("floor nowhere.csv --dry-run").code == 2
    (tmp_path / "visits" / "b.parquet").write_bytes(b"PAR1 damaged PAR1")
    outcome = run("floor visits --target kind --dry-run")
    assert outcome.code == 3
    assert "b.parquet cannot be read as Parquet" in outcome.err


def test_fit_without_a_plan_needs_a_place(run, table):
    outcome = run("fit table.csv")
    assert outcome.code == 2
    assert "--out is missing" in outcome.err


def test_the_model_of_cost(monkeypatch):
    monkeypatch.setattr(cost_model, "COSTS", {"floor": Cost(7.0, 0.002, 0.0005)})
    monkeypatch.setattr(cost_model, "READ_S", {"binary": 0.0001, "text": 0.0002})
    monkeypatch.setattr(cost_model, "MEMORY", Memory(1000.0, 60.0))
    monkeypatch.setattr(cost_model, "READ_BYTES", {"binary": 30.0, "text": 15.0})
    # 100 000 rows of 5 columns are read, 40 000 used, seven classes cost twice what three do
    size = Size(100_000, 5, 40_000, 7)
    seconds = seconds_of("floor", size)
    assert seconds.alone == pytest.approx(7 + 0.0001 * 500_000)
    assert seconds.shared == pytest.approx(2 * 5 * (0.002 * 10_000 + 0.0005 * 30_000))
    assert seconds.by_the_clock(10) == pytest.approx(seconds.alone + seconds.shared / 10)
    assert seconds_of("floor", size, "fast").shared == pytest.approx(0.5 * seconds.shared)
    assert seconds_of("floor", size._replace(form="text")).alone == pytest.approx(7 + 0.0002 * 500_000)
    assert seconds_of("floor", size._replace(n_classes=None)).shared == pytest.approx(seconds.shared / 2)
    assert memory_of(size) == 1000 + 5 * (30 * 100_000 + 60 * 40_000)
    assert memory_of(size._replace(form="text")) == 1000 + 5 * (15 * 100_000 + 60 * 40_000)
    assert worker_memory_of(size) == 1000 + 5 * 60 * 40_000
    monkeypatch.setattr(cost_model, "HELD_VALUES", 1000)
    assert memory_of(size) == worker_memory_of(size) + 30 * 1000


def test_the_model_of_cost_of_rows_on_disk(monkeypatch):
    monkeypatch.setattr(cost_model, "MESSAGES", Messages(0.5, 0.1))
    monkeypatch.setattr(cost_model, "DISK_WORKER_BYTES", 7.0)
    size = Size(10**7, 20, 10**7, 3)
    seconds = seconds_of("disk", size)
    # all training sets are boosted for as many rounds as three classes take
    assert seconds.n_rounds == len(SETS) * MOST_ROUNDS
    assert seconds.by_the_clock(4) == pytest.approx(seconds.alone + seconds.shared / 4)
    assert seconds.by_the_clock(4, is_cluster=True) == pytest.approx(seconds.by_the_clock(4) + 750 * (0.5 + 4 * 0.1))
    assert seconds_of("floor", size).n_rounds == 0
    assert seconds == seconds_of("disk", size._replace(n_classes=None))
    # trees of all classes together are more for more than three classes, and as many for any more than five
    more = MOST_TREES / (3 * MOST_ROUNDS)
    for n_classes in (6, 7, 100):
        own = seconds_of("disk", size._replace(n_classes=n_classes))
        assert own.shared == pytest.approx(more * seconds.shared, rel=0.05)
    assert seconds_of("disk", size._replace(n_classes=2)).shared == pytest.approx(0.75 * seconds.shared)
    assert worker_memory_of(size, "disk") == worker_memory_of(size._replace(n_rows=10**9, n_used=10**9), "disk") == 7.0


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0 s"), (0.46, "0.5 s"), (4.26, "4.3 s"), (118.0, "120 s"), (150.0, "2.5 min")]
)
def test_seconds_in_words(seconds, text):
    assert plans.shown_seconds(seconds) == text


def test_hours_in_words():
    assert plans.shown_seconds(3600 * 12.34) == "12 h"
    assert plans.shown_seconds(3600 * 1234) == "1200 h"


def test_several_text_tables(run, tmp_path, nothing_is_trained):
    for name in ("one.csv", "two.csv"):
        text_table(tmp_path / name, 90_000)
    assert planned(run, "floor one.csv two.csv --target kind")["n_samples"] == pytest.approx(180_000, rel=0.01)


def test_columns_named_by_folders(run, tmp_path, nothing_is_trained, monkeypatch):
    monkeypatch.setattr(planning, "_HEAD_ROWS", 50)
    points, labels = three_classes(120)
    for year in (2001, 2002):
        place = tmp_path / "by_year" / f"year={year}"
        place.mkdir(parents=True)
        polars.DataFrame({"x1": points[:, 0], "x2": points[:, 1], "kind": labels}).write_parquet(place / "a.parquet")
    plan = planned(run, "floor by_year --target kind --categorical year")
    assert (plan["n_samples"], plan["n_columns"]) == (240, 3)


def test_a_table_with_few_rows_is_written_as_it_is(tmp_path):
    write_csv(tmp_path / "t.csv", *three_classes())
    with planning._beginning((str(tmp_path / "t.csv"),)) as looked_at:
        assert looked_at == ((str(tmp_path / "t.csv"),), "text", None, 1.0, "")


@pytest.mark.usefixtures("coarse_curves", "few_learners")
def test_a_table_that_is_sorted_by_class(run, tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "_HEAD_ROWS", 50)
    monkeypatch.setattr(planning, "_LARGE_BYTES", 1)
    points, labels = three_classes(300)
    order = np.argsort(labels)
    frame = polars.DataFrame({"x1": points[order, 0], "x2": points[order, 1], "kind": labels[order]})
    frame.write_parquet(tmp_path / "sorted.parquet")
    plan = planned(run, "floor sorted.parquet --target kind")
    assert (plan["n_samples"], plan["n_columns"], plan["n_rows"]) == (300, 2, 300)
    outcome = run("floor sorted.parquet --target kind --json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["data"]["classes"] == ["a", "b", "c"]
