"""Records: whole, or known not to be."""

import json

import pytest

from benchmarks.study.estimate import seconds_left
from benchmarks.study.plan import Cell
from benchmarks.study.records import read_records, records_file, write_record
from benchmarks.tests.study.made_records import made_record, over_budget


def test_round_trip(tmp_path):
    record = made_record("iris", "OvO", 3, ari=0.123456789012345678)
    write_record(tmp_path, record)
    assert read_records(tmp_path) == ([record], [])
    assert [file.name for file in tmp_path.iterdir()] == ["records.jsonl"]


def test_of_one_cell_the_last_counts(tmp_path):
    for record in (over_budget("iris", "OvO"), made_record("iris", "OvR"), made_record("iris", "OvO", ari=0.25)):
        write_record(tmp_path, record)
    records, complaints = read_records(tmp_path)
    assert [(record.cell.method, record.status) for record in records] == [("OvO", "done"), ("OvR", "done")]
    assert complaints == []


def cut_off(text):
    return text[: len(text) // 2]


def with_better_ari(text):
    content = json.loads(text)
    content["result"]["ari"] = 0.99
    return json.dumps(content)


def of_another_version(text):
    return text.replace('"schema": 1', '"schema": 99')


def without_checksum(text):
    content = json.loads(text)
    del content["checksum"]
    return json.dumps(content)


def some_list(text):
    return "[1, 2]"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_off, "cut off"),
        (with_better_ari, "checksum"),
        (of_another_version, "version 99"),
        (without_checksum, "not a record"),
        (some_list, "no record"),
    ],
)
def test_damage_is_detected(tmp_path, damage, message):
    file = records_file(tmp_path)
    for method in ("OvO", "OvR", "DAG"):
        write_record(tmp_path, made_record("iris", method))
    first, second, third = file.read_text().splitlines()
    file.write_text("\n".join([first, damage(second), third]) + "\n")
    records, complaints = read_records(tmp_path)
    assert [record.cell.method for record in records] == ["DAG", "OvO"]
    [complaint] = complaints
    assert message in complaint


@pytest.mark.parametrize("n_bytes", [1, 300])
def test_a_run_that_was_killed_within_a_line_goes_on(tmp_path, n_bytes):
    write_record(tmp_path, made_record("iris", "OvO"))
    write_record(tmp_path, made_record("iris", "OvR"))
    file = records_file(tmp_path)
    first = file.read_bytes().index(b"\n") + 1
    file.write_bytes(file.read_bytes()[: first + n_bytes])
    assert [record.cell.method for record in read_records(tmp_path)[0]] == ["OvO"]
    write_record(tmp_path, made_record("iris", "DAG"))
    records, complaints = read_records(tmp_path)
    assert [record.cell.method for record in records] == ["DAG", "OvO"]
    assert complaints == ["line 2 of records.jsonl is no record: it was cut off or overwritten"]


def test_what_was_measured_again_is_no_complaint(tmp_path):
    write_record(tmp_path, made_record("iris", "OvO"))
    file = records_file(tmp_path)
    file.write_text(with_better_ari(file.read_text()))
    assert "checksum" in read_records(tmp_path)[1][0]
    write_record(tmp_path, made_record("iris", "OvO"))
    assert read_records(tmp_path) == ([made_record("iris", "OvO")], [])


def test_a_record_whose_entries_are_in_another_order_is_whole(tmp_path):
    write_record(tmp_path, made_record("iris", "OvO"))
    file = records_file(tmp_path)
    file.write_text(json.dumps(json.loads(file.read_text()), sort_keys=True))
    assert read_records(tmp_path) == ([made_record("iris", "OvO")], [])


def test_estimate_of_what_is_left():
    # made records take 2 seconds by the clock for each of the processor
    recorded = [made_record("iris", "OvO", 0, seconds=1.0), made_record("iris", "OvO", 1, seconds=3.0)]
    assert seconds_left([], [Cell("iris", 2, "OvO")]) is None
    assert seconds_left(recorded, [Cell("iris", 2, "OvO")]) == pytest.approx(4.0)
    assert seconds_left(recorded, [Cell("iris", split, "OvO") for split in (2, 3)], n_jobs=2) == pytest.approx(4.0)
    # wine has 178 x 13 x 3 of what iris has 150 x 4 x 3 of, and takes so many times as long
    assert seconds_left(recorded, [Cell("wine", 0, "OvO")]) == pytest.approx(4.0 * 178 * 13 / (150 * 4))
    assert seconds_left([over_budget("iris", "C&S", budget=50.0)], [Cell("iris", 1, "C&S")]) == 50.0
