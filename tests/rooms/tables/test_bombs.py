"""Small files that would fill the memory or take minutes are refused before they do."""

import gzip
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesfloor import read_table
from bayesfloor.tables.binary_tables import unpacked_sizes
from bayesfloor.tables.formats import read_raw
from helpers.one_case import for_each

MIB = 2**20


@pytest.fixture
def small_machine(set_limits):
    set_limits(memory=8 * MIB)


@pytest.fixture
def frames_read(monkeypatch):
    """Collect the columns of the frames that polars unpacks."""
    columns = []
    collect = pl.LazyFrame.collect

    def spy(*arguments, **options):
        frame = collect(*arguments, **options)
        columns.append(frame.columns)
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", spy)
    return columns


def test_a_parquet_file_of_long_text(tmp_path, small_machine, frames_read):
    file = tmp_path / "text.parquet"
    # statistics hold the longest text once more, and not packed, in files by polars before 1.22
    pl.DataFrame({"a": ["x" * 4 * MIB, "b"], "y": ["u", "v"]}).write_parquet(file, statistics=False)
    assert file.stat().st_size < 10_000
    with pytest.raises(MemoryError, match=r"Reading text\.parquet would take about 16\.0 MiB of memory; 8\.0 MiB are"):
        read_table(file)
    assert frames_read == []


def test_a_parquet_file_beyond_the_limit(tmp_path, frames_read, set_limits):
    set_limits(unpacked_bytes=MIB)
    file = tmp_path / "text.parquet"
    pl.DataFrame({"a": ["x" * 4 * MIB, "b"], "y": ["u", "v"]}).write_parquet(file)
    with pytest.raises(ValueError, match=r"text\.parquet unpacks to 4\.0 MiB; the limit is 1\.0 MiB"):
        read_table(file)
    assert frames_read == []


@for_each("kind", ["parquet", "arrow"])
def test_lists_are_refused_unread(tmp_path, kind, frames_read):
    file = tmp_path / f"lists.{kind}"
    frame = pl.DataFrame({"a": [[0.0] * 100_000] * 4, "b": [1.0, 2.0, 3.0, 4.0], "y": list("uvuv")})
    (frame.write_parquet if kind == "parquet" else frame.write_ipc)(file)
    with pytest.raises(ValueError, match=r"column 'a' does not hold numbers alone"):
        read_table(file, prepare=None)
    assert ["b", "y"] in frames_read
    assert not any("a" in columns for columns in frames_read)
    assert read_table(file, drop="a", prepare=None).feature_names == ("b",)


@for_each("version", ["1.0", "2.0"])
@for_each("codec", ["none", "snappy", "gzip", "zstd"])
def test_sizes_of_pages_are_those_that_pyarrow_tells(tmp_path, version, codec):
    file = tmp_path / "t.parquet"
    table = pa.table({"s": [f"text {i % 700}" for i in range(5000)], "x": np.arange(5000.0), "l": [[1, 2]] * 5000})
    pq.write_table(table, file, compression=codec, data_page_version=version, row_group_size=2000, data_page_size=4096)
    n_rows, n_columns, n_text, n_other = unpacked_sizes(file.read_bytes())
    about = pq.read_metadata(file)
    chunks = [about.row_group(g).column(c) for g in range(about.num_row_groups) for c in range(2)]
    expected = {
        kind: sum(chunk.total_uncompressed_size for chunk in chunks if chunk.physical_type == kind)
        for kind in ("BYTE_ARRAY", "DOUBLE")
    }
    assert (n_rows, n_columns) == (5000, 3)
    # pyarrow counts the headers of pages too, some tens of bytes each
    assert n_text == pytest.approx(expected["BYTE_ARRAY"], rel=0.05)
    assert n_other == pytest.approx(expected["DOUBLE"], rel=0.05)


def test_damaged_headers_are_refused(tmp_path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]}).write_parquet(file)
    good = file.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(good)
        for place in rng.integers(4, len(good) - 4, 3):
            bad[place] = rng.integers(256)
        try:
            sizes = unpacked_sizes(bytes(bad))
        except ValueError:
            continue
        assert min(sizes) >= 0


def test_unpacking_stops_where_memory_ends(tmp_path, small_machine):
    text = b"a,y\n" + b"1,u\n2,v\n" * (2 * MIB)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text))
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
    for packed in ("gz", "zip"):
        words = rf"Unpacking t\.csv\.{packed} would take about 16\.0 MiB of memory; 8\.0 MiB are"
        with pytest.raises(MemoryError, match=words):
            read_table(tmp_path / f"t.csv.{packed}")


WIDE = {
    "wide.csv": lambda path: path.write_text("a,b,c,d,y\n1,2,3,4,u\n1,2,3,4,v\n"),
    "wide.parquet": lambda path: pl.DataFrame({name: [1, 2] for name in "abcde"}).write_parquet(path),
    "wide.arrow": lambda path: pl.DataFrame({name: [1, 2] for name in "abcde"}).write_ipc(path),
    "wide.feather": lambda path: pl.DataFrame({name: [1, 2] for name in "abcde"}).write_ipc_stream(path),
    "wide.npz": lambda path: np.savez(path, X=np.ones((2, 5)), y=np.array([0, 1])),
    "wide.libsvm": lambda path: path.write_text("1 1:2 5:3\n2 1:4 2:1\n"),
    "wide.arff": lambda path: path.write_text(
        "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in "abcde") + "@data\n1,2,3,4,0\n1,2,3,4,1\n"
    ),
}


@for_each("name", WIDE)
def test_too_many_columns(tmp_path, name, set_limits):
    set_limits(table_columns=4)
    WIDE[name](tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} has 5 columns; the limit is 4\. Are rows and columns exchanged\?"):
        read_table(tmp_path / name)


#: Of Parquet, rows are drawn where it lies.
LONG = {
    "long.csv": lambda path: path.write_text("a,y\n" + "1,u\n2,v\n" * 5),
    "long.json": lambda path: path.write_text('{"a": 1, "y": "u"}\n' * 10),
    "long.arrow": lambda path: pl.DataFrame({"a": range(10), "y": list("uv") * 5}).write_ipc(path),
    "long.feather": lambda path: pl.DataFrame({"a": range(10), "y": list("uv") * 5}).write_ipc_stream(path),
    "long.npz": lambda path: np.savez(path, X=np.ones((10, 2)), y=np.arange(10)),
    "long.libsvm": lambda path: path.write_text("1 1:2\n2 1:4\n" * 5),
    "long.arff": lambda path: path.write_text(
        "@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n" + "1,u\n" * 10
    ),
}


@for_each("name", LONG)
def test_too_many_rows(tmp_path, name, set_limits):
    set_limits(table_rows=9)
    LONG[name](tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} has 10 rows or more; the limit is 9\. Draw a sample of them first"):
        read_table(tmp_path / name)


def test_a_small_parquet_file_of_many_rows(tmp_path, frames_read):
    """Its footer tells before anything is unpacked."""
    file = tmp_path / "long.parquet"
    part = pa.table({"x": pa.array(np.zeros(2_000_000, np.int8)), "y": pa.array(np.zeros(2_000_000, bool))})
    with pq.ParquetWriter(file, part.schema, compression="zstd") as writer:
        for _ in range(11):
            writer.write_table(part)
    assert file.stat().st_size < 10**6
    with pytest.raises(ValueError, match=r"long\.parquet has 22,000,000 rows or more; the limit is 20,000,000"):
        read_raw(file)
    assert frames_read == []


def test_unpacking_stops_at_too_many_lines(tmp_path, set_limits):
    set_limits(table_rows=50)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"1,1\n" * 101))
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("t.csv", b"1,1\n" * 101)
    for packed in ("gz", "zip"):
        with pytest.raises(ValueError, match=r"unpacks to more than 100 lines, which is the limit"):
            read_table(tmp_path / f"t.csv.{packed}")


def test_a_line_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesfloor.tables.text_rows.LONGEST_LINE", 2 * MIB)
    file = tmp_path / "t.csv"
    file.write_bytes(b"1," * 3 * MIB)
    with pytest.raises(ValueError, match=r"t\.csv, line 1: more than 2\.0 MiB without an end; this is no table"):
        read_table(file)
