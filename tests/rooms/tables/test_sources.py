"""What may be named in place of one plain file: stdin, several files, a folder of Parquet files, packed files."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zlib

import numpy as np
import polars as pl
import pytest

from bayesfloor.tables import joining
from bayesfloor.tables.columns import DateColumn, NumberColumn, OtherColumn, TextColumn
from bayesfloor.tables.formats import read_raw, split_source
from bayesfloor.tables.read import read_table
from helpers.one_case import for_each

PLAIN = b"a,b,y\n1,2.5,u\n3,4.5,v\n5,6,u\n"


@pytest.fixture
def stdin(monkeypatch):
    def stdin(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    return stdin


def parquet(frame):
    buffer = io.BytesIO()
    pl.DataFrame(frame).write_parquet(buffer)
    return buffer.getvalue()


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, X=[[1, 2.5], [3, 4.5], [5, 6]], y=["u", "v", "u"], feature_names=["a", "b"])
    return buffer.getvalue()


STDIN = {
    "csv": PLAIN,
    "gzip": gzip.compress(PLAIN),
    "xz": lzma.compress(PLAIN),
    "parquet": parquet({"a": [1, 3, 5], "b": [2.5, 4.5, 6], "y": ["u", "v", "u"]}),
    "json": b'{"a": 1, "b": 2.5, "y": "u"}\n{"a": 3, "b": 4.5, "y": "v"}\n{"a": 5, "b": 6, "y": "u"}\n',
    "npz": npz(),
}


@for_each("kind", STDIN)
def test_stdin(stdin, kind):
    table = read_table(stdin(STDIN[kind]), scale="none")
    assert table.X.tolist() == [[1, 2.5], [3, 4.5], [5, 6]]
    assert table.y.tolist() == ["u", "v", "u"]
    assert table.source == "stdin"


def test_stdin_that_cannot_be_read(stdin, monkeypatch):
    with pytest.raises(ValueError, match="stdin is empty"):
        read_raw(stdin(b""))
    with pytest.raises(ValueError, match=r"stdin holds more than 1\.0 MiB, which is the limit; take a part"):
        read_raw(stdin(PLAIN * 2**16), 2**20)
    with pytest.raises(ValueError, match="stdin, line 3: 2 fields, but line 1 has 3"):
        read_raw(stdin(b"a,b,y\n1,2,3\n1,2\n"))
    with pytest.raises(ValueError, match=r"stdin \(-\) is read alone"):
        read_raw([stdin(PLAIN), "other.csv"])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="stdin is closed"):
        read_raw("-")


@pytest.mark.slow
def test_stdin_of_a_process():
    script = "from bayesfloor import read_table; print(read_table('-'))"
    answer = subprocess.run([sys.executable, "-c", script], input=PLAIN, capture_output=True, check=True)
    assert answer.stdout.decode().strip() == "Table('stdin': 3 rows, 2 features, 2 classes of 'y')"


def test_several_files(write):
    first, second = write(PLAIN, "a.csv"), write("y;b;a\nv;1,5;7\nu;2;8\n", "b.csv")
    table = read_table([first, str(second)], target="y", scale="none")
    assert table.X.tolist() == [[1, 2.5], [3, 4.5], [5, 6], [7, 1.5], [8, 2]]
    assert table.y.tolist() == ["u", "v", "u", "v", "u"]
    assert table.lines.tolist() == [2, 3, 4, 2, 3]
    assert table.origin.files == ("a.csv", "b.csv")
    assert table.origin.file_codes.tolist() == [0, 0, 0, 1, 1]
    assert table.source == "a.csv and 1 more"
    assert table.notes[0] == "2 files, one below the other: 'a.csv', 'b.csv'."
    assert "separator comma" in table.notes[1]
    assert "separator semicolon" in table.notes[2]
    assert read_table([first], scale="none").source == "a.csv"
    gaps = [first, write("a,b,y\n1,,u\n2,3,\n", "gaps.csv")]
    assert read_table(gaps, drop_missing=True, prepare=None).origin.file_codes.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=r"gaps\.csv, line 2, column 'b': there is no finite number"):
        read_table(gaps, prepare=None)
    for target in (None, 2, -1):  # by its place in the first file
        other = read_table([first, second], target=target, scale="none")
        assert (other.target, other.X.tolist()) == ("y", table.X.tolist())


def test_files_of_other_columns_are_refused(write):
    a = write(PLAIN, "a.csv")
    for text, words in (
        ("a,y\n1,u\n", "b.csv lacks 'b'$"),
        ("a,b,c,y\n1,2,3,u\n", "a.csv lacks 'c'$"),
        ("a,B,y\n1,2,u\n", "b.csv lacks 'b', and a.csv lacks 'B'$"),
    ):
        with pytest.raises(ValueError, match=f"Several files need the same columns: {words}"):
            read_raw([a, write(text, "b.csv")])
    with pytest.raises(ValueError, match="no file was named"):
        read_raw([])
    with pytest.raises(FileNotFoundError, match=r"c\.csv.*no such file"):
        read_raw([a, a.with_name("c.csv")])
    with pytest.raises(ValueError, match=r"the first 2 files unpack to .*; the limit is"):
        read_raw([a, a], 100)


def test_columns_of_different_kinds_are_joined(write):
    first = write("code,empty,y\n1,,u\n007,,v\n", "a.csv")
    second = write("code,empty,y\nx,z,1\n7,w,2\ny,z,2\n", "b.csv")
    table = read_raw([first, second])
    code, empty, y = table.columns
    assert code.categories == ("007", "1", "7", "x", "y")  # as they are written, not as numbers
    assert code.codes.tolist() == [1, 0, 3, 2, 4]
    assert (empty.categories, empty.codes.tolist()) == (("w", "z"), [-1, -1, 1, 0, 1])
    assert y.categories == ("1", "2", "u", "v")


def test_formats_may_differ(write, tmp_path):
    frame = pl.DataFrame({"d": ["2020-01-01"], "t": ["2020-01-01"], "l": [[1]], "s": ["u"], "n": [1]})
    first = frame.with_columns(pl.col("d").str.to_date(), pl.col("t").str.to_datetime())
    first.write_parquet(tmp_path / "a.parquet")
    first.with_columns(l=pl.lit(1)).write_ipc(tmp_path / "b.arrow")
    write("d,t,l,s,n\n,x,1,v,2\n", "c.csv")
    table = read_raw([tmp_path / "a.parquet", tmp_path / "b.arrow", tmp_path / "c.csv"])
    d, t, lists, s, n = table.columns
    assert isinstance(d, DateColumn)
    np.testing.assert_array_equal(d.values, [18262 * 86400, 18262 * 86400, np.nan])
    assert t == OtherColumn("t", "Datetime(time_unit='us', time_zone=None) and text")
    assert lists == OtherColumn("l", "List(Int64) and numbers")
    assert isinstance(s, TextColumn)
    assert n.categories == ("1", "2")  # the last column of a text table is kept as text
    assert (table.row_word, table.at(2)) == ("row", "c.csv, row 2")


@for_each("pack", [bz2.compress, lzma.compress, gzip.compress])
def test_packed_files(write, pack, set_limits):
    ending = {bz2.compress: "bz2", lzma.compress: "xz", gzip.compress: "gz"}[pack]
    name = {"bz2": "bzip2", "xz": "xz", "gz": "gzip"}[ending]
    table = read_table(write(pack(PLAIN[:9]) + pack(PLAIN[9:]), f"a.csv.{ending}"), scale="none")  # two streams in one
    assert table.X.tolist() == [[1, 2.5], [3, 4.5], [5, 6]]
    assert table.notes[0] == f"The file was packed by {name}."
    with pytest.raises(ValueError, match=rf"cut\.csv\.{ending}: the {name} file is damaged or cut off"):
        read_raw(write(pack(PLAIN * 100)[:-20], f"cut.csv.{ending}"))
    with pytest.raises(ValueError, match=rf"bomb\.{ending} unpacks to more than 1\.0 MiB, which is the limit"):
        read_raw(write(pack(bytes(5 * 2**20)), f"bomb.{ending}"), 2**20)
    with pytest.raises(ValueError, match=rf"e\.{ending} is empty"):
        read_raw(write(pack(b""), f"e.{ending}"))
    with pytest.raises(ValueError, match=rf"n\.{ending} is named like a packed file, but it is not one"):
        read_raw(write(PLAIN, f"n.{ending}"))
    set_limits(memory=8 * 2**20)
    with pytest.raises(MemoryError, match=rf"Unpacking b\.{ending} would take about"):
        read_raw(write(pack(bytes(9 * 2**20)), f"b.{ending}"))


def test_an_xz_file_cannot_ask_for_gigabytes(write):
    content = bytearray(lzma.compress(PLAIN))
    header = slice(12, 12 + 4 * content[12])  # of the first block, without its checksum
    content[content.index(b"\x21\x01", 12) + 2] = 37  # a dictionary of 1.5 GiB
    content[header.stop : header.stop + 4] = zlib.crc32(content[header]).to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"a\.xz: the xz file is damaged or cut off \(Memory usage limit exceeded"):
        read_raw(write(bytes(content), "a.xz"))


def part(a, **more):
    return parquet({"a": a, "y": ["u", "v"]} | more)


def test_a_folder_of_parquet_files(write, tmp_path):
    write(part([3.0, 4.0]), "table/part-1.parquet")
    write(part([1, 2]), "table/part-0.parquet")
    write(b"", "table/_SUCCESS")
    write(b"", "table/.part-0.parquet.crc")
    table = read_raw(tmp_path / "table")
    assert table.columns[0].values.tolist() == [1, 2, 3, 4]
    assert (table.source, table.at(2)) == ("table", "part-1.parquet, row 1")
    assert read_table(f"{tmp_path / 'table'}/", scale="none").X.tolist() == [[1], [2], [3], [4]]


def test_a_folder_partitioned_by_keys(write, tmp_path):
    for place, a in (("year=2020/kind=a%20b", [1, 2]), ("year=2021/kind=c", [3, 4])):
        write(part(a), f"table/{place}/0.parquet")
    write(part([5, 6]), "table/year=__HIVE_DEFAULT_PARTITION__/kind=c/0.parquet")
    year, kind, a, y = read_raw(tmp_path / "table").columns
    assert isinstance(year, NumberColumn)
    expected = pl.read_parquet(tmp_path / "table", hive_partitioning=True)
    np.testing.assert_array_equal(year.values, expected["year"].cast(pl.Float64).to_numpy())
    assert [kind.categories[code] for code in kind.codes] == expected["kind"].to_list()
    assert a.values.tolist() == expected["a"].to_list()
    assert y.name == "y"
    write(part([1, 2], own=[7, 7]), "months/month=01/own=1/0.parquet")
    write(part([3, 4], own=[8, 8]), "months/month=12/own=1/0.parquet")
    table = read_raw(tmp_path / "months")
    assert table.column("month").values.tolist() == [1, 1, 12, 12]
    assert table.column("own").values.tolist() == [7, 7, 8, 8]  # a file's own column counts


def test_folders_that_are_refused(write, tmp_path, monkeypatch):
    def refused(words, error=ValueError):
        with pytest.raises(error, match=words):
            read_raw(tmp_path / "table")

    (tmp_path / "table").mkdir()
    refused(r"table' is a folder; name one file in it", IsADirectoryError)
    write(PLAIN, "table/a.csv")
    refused(r"table' is a folder; name one file in it", IsADirectoryError)
    write(part([1, 2]), "table/b.parquet")
    refused("table: 'a.csv' is no Parquet file")
    (tmp_path / "table" / "a.csv").unlink()
    write(part([1, 2]), "table/deeper/b.parquet")
    refused("table: 'deeper' is a folder that is not named key=value")
    (tmp_path / "table" / "deeper").rename(tmp_path / "table" / "k=1")
    refused("table: its files lie in folders of different keys, no key and k")
    (tmp_path / "table" / "b.parquet").unlink()
    assert read_raw(tmp_path / "table").n_rows == 2
    (tmp_path / "table" / "k=2").symlink_to(tmp_path / "table")
    refused("table: 'k=2' is a link, which is not followed")
    (tmp_path / "table" / "k=2").unlink()
    (tmp_path / "table" / "k=1" / "c.parquet").symlink_to("/dev/zero")
    refused(r"table: 'k=1/c\.parquet' is a link")
    (tmp_path / "table" / "k=1" / "c.parquet").unlink()
    write(b"no parquet", "table/k=1/c.parquet")
    refused(r"c\.parquet is named like a Parquet file, but it is not one")
    write(part([1, 2], more=[1, 2]), "table/k=1/c.parquet")
    refused(r"Several files need the same columns: k=1/b\.parquet lacks 'more'")
    monkeypatch.setattr(joining, "MOST_FILES", 1)
    refused("table holds more than 1 files, which is the limit")
    with pytest.raises(ValueError, match=r"table holds more than 0\.0 MiB"):
        read_raw(tmp_path / "table", 100)


def test_names_with_colons(write, tmp_path):
    assert split_source("a/b.csv") == (split_source("a")[0] / "b.csv", None)
    path = write(PLAIN, "odd::name.csv")
    assert split_source(path) == (path, None)
    assert read_raw(path).n_rows == 3
    assert split_source(f"{path}::x") == (path, "x")
    assert split_source(f"{tmp_path}/no.db::x::y") == (tmp_path / "no.db", "x::y")
    with pytest.raises(FileNotFoundError, match=r"no\.db': no such file"):
        read_raw(f"{tmp_path}/no.db::x")
