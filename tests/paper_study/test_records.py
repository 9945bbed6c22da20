"""Records: whole, or known not to be."""

import json
import os
from pathlib import Path

import pytest

from study.estimate import seconds_left
from study.plan import Cell
from study.records import BadRecordError, read_record, read_records, write_record

from .made_records import made_record, over_budget


def test_round_trip(tmp_path):
    record = made_record("iris", "OvO", 3, ari=0.123456789012345678)
    write_record(tmp_path / "a.json", record)
    assert read_record(tmp_path / "a.json") == record
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def cut_off(text):
    return text[: len(text) // 2]


def emptied(text):
    return ""


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
        (emptied, "cut off"),
        (with_better_ari, "checksum"),
        (of_another_version, "version 99"),
        (without_checksum, "not a record"),
        (some_list, "not a record"),
    ],
)
def test_damage_is_detected(tmp_path, damage, message):
    folder = tmp_path / "records"
    folder.mkdir()
    write_record(folder / "good.json", made_record("iris", "OvO"))
    write_record(folder / "bad.json", made_record("iris", "OvR"))
    (folder / "bad.json").write_text(damage((folder / "bad.json").read_text()))
    with pytest.raises(BadRecordError, match=message):
        read_record(folder / "bad.json")
    records, complaints = read_records(tmp_path)
    assert [record.cell.method for record in records] == ["OvO"]
    assert len(complaints) == 1
    assert "bad.json" in complaints[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_record(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("reading a pipe waits for a writer"))
    os.mkfifo(tmp_path / "cell.json")
    with pytest.raises(BadRecordError, match=r"cell\.json is not a plain file"):
        read_record(tmp_path / "cell.json")


def test_a_record_that_was_only_reindented_is_whole(tmp_path):
    file = tmp_path / "a.json"
    write_record(file, made_record("iris", "OvO"))
    before = read_record(file)
    file.write_text(json.dumps(json.loads(file.read_text()), sort_keys=True))
    assert read_record(file) == before


def test_estimate_of_what_is_left():
    # made records take 2 seconds by the clock for each of the processor
    recorded = [made_record("iris", "OvO", 0, seconds=1.0), made_record("iris", "OvO", 1, seconds=3.0)]
    assert seconds_left([], [Cell("iris", 2, "OvO")]) is None
    assert seconds_left(recorded, [Cell("iris", 2, "OvO")]) == pytest.approx(4.0)
    assert seconds_left(recorded, [Cell("iris", split, "OvO") for split in (2, 3)], n_jobs=2) == pytest.approx(4.0)
    # wine has 178 x 13 x 3 of what iris has 150 x 4 x 3 of, and takes so many times as long
    assert seconds_left(recorded, [Cell("wine", 0, "OvO")]) == pytest.approx(4.0 * 178 * 13 / (150 * 4))
    assert seconds_left([over_budget("iris", "C&S", budget=50.0)], [Cell("iris", 1, "C&S")]) == 50.0
