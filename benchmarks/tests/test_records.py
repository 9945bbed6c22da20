"""Records that outlast a kill, and what is measured again."""

import json
import os

import pytest

from benchmarks.tools.records import append_record, measure_all, read_records, write_records


def test_there_are_none_without_a_file(tmp_path):
    assert read_records(tmp_path / "none.jsonl") == []


def test_appended_records_are_read(tmp_path):
    path = tmp_path / "new" / "r.jsonl"
    records = [{"a": 1}, {"b": [0.1, None], "text": "Gödel\nline"}]
    for record in records:
        append_record(path, record)
    assert read_records(path) == records
    assert path.read_text().count("\n") == 2


def test_a_line_that_was_cut_off_is_said_and_left_out(tmp_path):
    path, said = tmp_path / "r.jsonl", []
    append_record(path, {"a": 1})
    path.write_bytes(path.read_bytes() + b'{"a": 2, "b"')
    assert read_records(path, said.append) == [{"a": 1}]
    append_record(path, {"a": 3})
    assert read_records(path, said.append) == [{"a": 1}, {"a": 3}]
    assert said == ["line 2 of r.jsonl is no record: it was cut off or overwritten"] * 2


def test_a_whole_last_line_without_its_end_counts(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"a": 1}))
    append_record(path, {"a": 2})
    assert read_records(path) == [{"a": 1}, {"a": 2}]


def test_all_records_are_replaced(tmp_path):
    path = tmp_path / "r.jsonl"
    append_record(path, {"a": 1})
    write_records(path, [{"a": 2}])
    assert read_records(path) == [{"a": 2}]
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


class NotSentError(Exception):
    """An exception that cannot be made again from its message, and so breaks what carries it between processes."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def twice(number):
    if number == 2:
        raise NotSentError("two", "refused")
    if number == 5:
        os._exit(1)
    return [{"number": number}, {"number": 2 * number}] if number == 3 else {"number": number}


def test_measured_in_processes(tmp_path, capsys):
    path = tmp_path / "r.jsonl"
    measure_all(twice, [(1,), (3,)], path, workers=1)
    assert [record["number"] for record in read_records(path)] == [1, 3, 6]
    assert "2 of 2: 3 " in capsys.readouterr().out


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_is_named_at_the_end_and_the_others_are_measured(tmp_path, capsys, workers):
    path = tmp_path / "r.jsonl"
    with pytest.raises(SystemExit) as end:
        measure_all(twice, [(1,), (2,), (5,), (3,), (4,), (6,)], path, workers)
    assert sorted(record["number"] for record in read_records(path)) == [1, 3, 4, 6, 6]
    first, *failures = str(end.value).split("\n")
    assert first == "2 of 6 failed:"
    assert sorted(failures) == ["2: NotSentError: two and refused", "5: its process died"]
    assert "line " in capsys.readouterr().out  # the traceback
