"""JSON: values whose types are told one by one."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor.tables.columns import NumberColumn, OtherColumn, TextColumn
from bayesfloor.tables.read import read_raw, read_table
from helpers.one_case import for_each

RECORDS = [
    {"a": 1, "b": 0.5, "flag": True, "s": "u", "mixed": 1, "list": [1], "y": "p"},
    {"a": None, "b": 2, "flag": False, "s": " v ", "mixed": "x", "list": {}, "y": "q"},
    {"b": -1e300, "a": 2**60 + 1, "flag": None, "s": None, "mixed": True, "extra": "7", "y": "p"},
]


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.jsonl"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def as_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@for_each(
    "name, text, lines",
    [
        ("t.jsonl", as_lines(RECORDS[:1]) + "\n" + as_lines(RECORDS[1:]), [1, 3, 4]),
        ("t.ndjson", as_lines(RECORDS), [1, 2, 3]),
        ("t.json", as_lines(RECORDS), [1, 2, 3]),
        ("t.json", json.dumps(RECORDS, indent=2), [1, 2, 3]),
        ("t.json", json.dumps(RECORDS).encode("utf-16"), [1, 2, 3]),
        ("t", "\ufeff \n" + json.dumps(RECORDS), [1, 2, 3]),
        ("t", as_lines(RECORDS), [1, 2, 3]),
        ("t.jsonl.gz", gzip.compress(as_lines(RECORDS).encode()), [1, 2, 3]),
    ],
)
def test_records(write, name, text, lines):
    table = read_raw(write(text, name))
    columns = {column.name: column for column in table.columns}
    assert list(columns) == ["a", "b", "flag", "s", "mixed", "list", "y", "extra"]
    np.testing.assert_array_equal(columns["a"].values, [1, np.nan, 2.0**60])
    assert columns["a"].rounded == 1
    assert columns["b"].values.tolist() == [0.5, 2, -1e300]
    np.testing.assert_array_equal(columns["flag"].values, [1, 0, np.nan])
    assert columns["flag"].is_truth
    assert (columns["s"].categories, columns["s"].codes.tolist()) == (("u", "v"), [0, 1, -1])
    assert (columns["mixed"].categories, columns["mixed"].codes.tolist()) == (("1", "True", "x"), [0, 2, 1])
    assert columns["list"] == OtherColumn("list", "lists and objects")
    np.testing.assert_array_equal(columns["extra"].values, [np.nan, np.nan, 7])
    assert table.lines.tolist() == lines


def test_a_key_may_come_late_in_a_long_file(write, monkeypatch):
    monkeypatch.setattr("bayesfloor.tables.value_tables.BLOCK_ROWS", 3)
    records = [{"a": i} for i in range(7)] + [{"b": "u"}, {"a": "x", "b": 5}]
    columns = read_raw(write(as_lines(records))).columns
    assert columns[0].categories == ("0", "1", "2", "3", "4", "5", "6", "x")
    assert columns[0].codes.tolist() == [0, 1, 2, 3, 4, 5, 6, -1, 7]
    assert (columns[1].categories, columns[1].codes.tolist()) == (("5", "u"), [-1] * 7 + [1, 0])


DEEP = 10**6
BROKEN = {
    "no JSON": ('{"a": 1}\n{"a": 1,}\n', r"t\.jsonl, line 2, column \d+: .*; this is no JSON record"),
    "cut off": ('{"a": 1}\n{"a": ', r"t\.jsonl, line 2"),
    "no object": ('{"a": 1}\n[1, 2]\n', r"t\.jsonl, line 2: an array, where an object with named values is needed"),
    "two on a line": ('{"a": 1} {"a": 2}\n', r"t\.jsonl, line 1: '\{\"a\": 2\}' follows the record; a line holds one"),
    "a key twice": ('{"a": 1, "b": 2, "a": 3}\n', r"t\.jsonl, line 1: the key 'a' comes twice"),
    "a deep nest": (
        '{"a": 1}\n{"a": ' + "[" * DEEP + "]" * DEEP + "}\n",
        r"line 2: arrays or objects within each other",
    ),
    "a deep array": ("[" * DEEP, r"t\.jsonl, row 1: arrays or objects within each other, too deep"),
    "many digits": ('{"a": ' + "1" * 5000 + "}\n", r"t\.jsonl, line 1: Exceeds the limit"),
    "no records": ("[]", r"t\.jsonl holds 0 records and 0 keys"),
    "no keys": ("{}\n{}\n", r"t\.jsonl holds 2 records and 0 keys"),
    "open array": ('[{"a": 1}', r"t\.jsonl, row 1: the file ends here"),
    "no comma": ('[{"a": 1} {"a": 2}]', r"t\.jsonl, row 1: '\{' follows the record"),
    "more behind": ('[{"a": 1}] x', r"t\.jsonl: 'x' follows the array"),
    "numbers": ("[1, 2]", r"t\.jsonl, row 1: a number, where an object"),
    "NUL": (b'{"a": 1}\n\0', r"t\.jsonl, line 2: a NUL byte"),
}


@for_each("case", BROKEN)
def test_broken_json(write, case):
    content, words = BROKEN[case]
    with pytest.raises(ValueError, match=words) as caught:
        read_raw(write(content))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_what_holds_no_records(write, tmp_path):
    for value in ("Infinity", "1e999", "1" + "0" * 400):
        text = f'{{"a": 1, "y": "u"}}\n{{"a": {value}, "y": "v"}}\n'
        with pytest.raises(ValueError, match=r"t\.jsonl, line 2, column 'a': there is no finite number"):
            read_table(write(text), prepare=None)
    (tmp_path / "t.db").write_bytes(b"SQLite format 3\0" + bytes(200))
    with pytest.raises(ValueError, match=r"t\.db is a SQLite database; .* with polars\.read_database"):
        read_raw(tmp_path / "t.db")


def test_a_new_key_in_each_record(write, set_limits):
    text = as_lines({str(i): 1} for i in range(2000))
    set_limits(unpacked_bytes=2**20)
    with pytest.raises(ValueError, match=r"unpacks to 2,000 rows of 2,000 columns, 30\.5 MiB; the limit is 1\.0"):
        read_raw(write(text))
    set_limits(unpacked_bytes=2**30)
    set_limits(memory=2**26)
    with pytest.raises(MemoryError, match=r"Reading t\.jsonl would take about 91\.6 MiB"):
        read_raw(write(text))
    set_limits(table_columns=100)
    with pytest.raises(ValueError, match=r"t\.jsonl has 2,000 columns; the limit is 100"):
        read_raw(write(text))


NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False))
VALUES = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=3))


@settings(max_examples=25)
@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), min_size=1, max_size=8))
def test_any_values_come_back(tmp_path_factory, records):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text(as_lines(records), encoding="utf-8")
    for column in read_raw(path).columns:
        values = [record[column.name] for record in records]
        if isinstance(column, NumberColumn):
            for value, number in zip(values, column.values.tolist(), strict=True):
                assert (value in (None, "") and np.isnan(number)) or float(value) == number or np.isnan(float(value))
        else:
            assert isinstance(column, TextColumn)
            for value, code in zip(values, column.codes.tolist(), strict=True):
                if isinstance(value, str):
                    assert column.categories[code] == value.strip() if code >= 0 else not value.strip()
                else:
                    assert (code < 0) == (value is None)
