"""The comparison of kinds of columns with those by hand."""

import pytest

from benchmarks.problems.real_tables import half_of
from benchmarks.real import kinds


@pytest.fixture
def table(tmp_path, monkeypatch):
    spec = {"package": "p", "file": "t.csv", "kinds": {"id": ["who"], "category or yes/no": ["colour"]}}
    monkeypatch.setattr(kinds, "SECOND", {"t": spec})
    rows = [f"{k},{'red' if k % 3 else 'blue'},{k % 2},{k * 37 % 101},{k * 0.5}" for k in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["who,colour,ill,age,weight", *rows]) + "\n")
    return path


def test_columns_without_a_kind_are_numbers_or_yes_and_no(table):
    target, expected = kinds.expected_kinds("t", table, "second")
    assert target == "weight"
    assert list(expected) == ["who", "colour", "ill", "age"]
    assert expected["age"] == "number"
    assert "yes/no" in expected["ill"]


def test_wrong_kinds_are_found(table):
    found = kinds.measure(table, "second")
    assert (found["half"], found["columns"], found["wrong"]) == (half_of("t"), 4, [])
    kinds.SECOND["t"]["kinds"]["text"] = ["age"]
    [wrong] = kinds.measure(table, "second")["wrong"]
    assert (wrong["column"], wrong["is"], wrong["taken_for"]) == ("age", "text", "number")
