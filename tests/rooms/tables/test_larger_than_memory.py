"""Sources: the same rows and the same sample whatever holds them, and however they are cut into files and chunks."""

import gzip
import subprocess
import sys
from itertools import pairwise

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesfloor.tables.columns import DateColumn, NumberColumn, OtherColumn, TextColumn
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import raw_of_frame
from bayesfloor.tables.preparation import decimal_signs, text_columns
from bayesfloor.tables.read import read_table
from bayesfloor.tables.sources import keys_of_rows, sample_of, source_of
from helpers.one_case import for_each

N_ROWS = 1000


@pytest.fixture
def frame():
    """Numbers with gaps, whole numbers, text with line breaks and quotes, dates, truth values, and a target."""
    rng = np.random.default_rng(0)
    texts = np.array(["plain", "two\nlines", 'a "quote"', "a, comma", "é"])[rng.integers(0, 5, N_ROWS)]
    days = pl.Series(rng.integers(0, 1000, N_ROWS)).cast(pl.Int32).cast(pl.Date)
    made = pl.DataFrame(
        {
            "number": rng.normal(size=N_ROWS),
            "whole": rng.integers(0, 50, N_ROWS),
            "text": texts,
            "day": days,
            "truth": rng.random(N_ROWS) < 0.5,
            "y": np.array(["no", "yes"])[rng.integers(0, 2, N_ROWS)],
        }
    )
    gaps = pl.Series(rng.random(N_ROWS) < 0.1)
    return made.with_columns(
        pl.when(gaps).then(None).otherwise(pl.col(name)).alias(name) for name in ("number", "text")
    )


@pytest.fixture
def small_chunks(set_limits):
    set_limits(chunk_rows=77)


def folder_of(frame, folder, starts=(0, 300, 301, N_ROWS)):
    folder.mkdir()
    for number, (first, last) in enumerate(pairwise(starts)):
        frame[first:last].write_parquet(folder / f"part-{number}.parquet", row_group_size=100)
    return folder


def sources_of(frame, tmp_path):
    """Return the same rows in every form but text, by name."""
    frame.write_parquet(tmp_path / "one.parquet", row_group_size=64)
    pandas = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    pandas["day"] = pd.to_datetime(pandas["day"])
    return {
        "file": tmp_path / "one.parquet",
        "folder": folder_of(frame, tmp_path / "folder"),
        "files": sorted((tmp_path / "folder").iterdir()),
        "lazy": frame.lazy(),
        "lazy scan": pl.scan_parquet(tmp_path / "folder" / "*.parquet"),
        "dask": dask.dataframe.from_pandas(pandas, npartitions=7),
    }


def values_of(table):
    """Return the values of each column, whatever is said of it beside them."""
    found = {}
    for column in table.columns:
        if isinstance(column, TextColumn):
            found[column.name] = [None if code < 0 else column.categories[code] for code in column.codes]
        else:
            found[column.name] = [None if value != value else value for value in column.values.tolist()]
    return found


def all_chunks(source, **asked):
    """Return the values of all chunks, one below the other."""
    found: dict = {}
    first = 0
    for chunk in source.chunks(**asked):
        assert 0 < chunk.n_rows <= source.chunk_rows
        assert chunk.lines.tolist() == list(range(first, first + chunk.n_rows))
        first += chunk.n_rows
        for name, values in values_of(chunk).items():
            found.setdefault(name, []).extend(values)
    return found


def test_chunks_hold_all_rows_in_order(frame, tmp_path, small_chunks):
    expected = values_of(raw_of_frame(frame))
    for name, given in sources_of(frame, tmp_path).items():
        source = source_of(given)
        assert source.columns == frame.columns
        assert all_chunks(source) == expected, name
        assert source.n_rows in (None, N_ROWS)


@for_each("packed", [False, True])
def test_chunks_of_a_text(frame, tmp_path, small_chunks, packed):
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    content = frame.write_csv(separator=";").encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    expected = values_of(read_raw(path, target="y"))
    assert "two\nlines" in expected["text"]
    assert all_chunks(source_of(path), target="y") == expected


def test_a_sample_is_the_same_from_everywhere(frame, tmp_path, set_limits):
    keys = keys_of_rows(0, N_ROWS, 5)
    assert len(np.unique(keys)) == N_ROWS
    expected = np.sort(np.argsort(keys)[:200])
    values = values_of(raw_of_frame(frame[expected]))
    counts = dict(frame["y"].value_counts().iter_rows())
    for chunk_rows in (60, 10_000):
        set_limits(chunk_rows=chunk_rows)
        place = tmp_path / str(chunk_rows)
        place.mkdir()
        for name, given in sources_of(frame, place).items():
            found = sample_of(source_of(given), 200, 5, target="y")
            assert found.rows.tolist() == expected.tolist(), name
            assert values_of(found.raw) == values, name
            assert (found.n_rows, found.counts, found.is_sampled) == (N_ROWS, counts, True), name
            fewer = found.fewer(50)
            assert fewer.rows.tolist() == np.sort(np.argsort(keys)[:50]).tolist(), name
            assert values_of(fewer.raw) == values_of(raw_of_frame(frame[fewer.rows])), name


def test_a_text_is_sampled_as_it_is_read(frame, tmp_path, small_chunks):
    """All rows of a sample are typed at once, whatever the chunks hold, and know their lines."""
    text = frame.write_csv()
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="cp1252")
    found = sample_of(source_of(path), 10_000, target="y")
    expected = read_raw(path, target="y")
    assert not found.is_sampled
    assert values_of(found.raw) == values_of(expected)
    assert found.raw.lines.tolist() == expected.lines.tolist()
    assert found.raw.notes == expected.notes
    assert "encoding latin-1" in expected.notes[0]
    some = sample_of(source_of(path), 100, target="y")
    kept = expected.take(some.rows)
    assert values_of(some.raw) == values_of(kept)
    assert some.raw.lines.tolist() == kept.lines.tolist()


def test_a_column_that_turns_into_text(tmp_path, small_chunks):
    """What is read as numbers in some chunks and as text in others is read as one by the preparation."""
    rng = np.random.default_rng(3)
    code = [str(value) for value in rng.integers(0, 5, 500)] + ["x"] * 20
    number = [f"{value:.3f}" for value in rng.normal(size=519)] + ["unknown"]
    label = ["a" if value < 0.5 else "b" for value in rng.random(520)]
    path = tmp_path / "table.csv"
    lines = (",".join(row) for row in zip(code, number, label, strict=True))
    path.write_text("code,number,y\n" + "\n".join(lines) + "\n")
    table = read_table(path, target="y")
    prep = table.preparation
    source = source_of(path)
    chunks = list(source.chunks(text=text_columns(prep), decimals=decimal_signs(prep), target="y"))
    kinds = {type(chunk.column("code")) for chunk in chunks}
    assert kinds == {TextColumn}
    assert {type(chunk.column("number")) for chunk in chunks} == {NumberColumn, TextColumn}
    found = np.concatenate([prep.apply(chunk) for chunk in chunks])
    np.testing.assert_array_equal(found, read_table(path, preparation=prep).X)
    raw = sample_of(source, 10**6, target="y").raw
    assert isinstance(raw.column("number"), TextColumn)


def test_folders_of_keys_and_of_several_types(tmp_path, small_chunks):
    """As `read_raw` reads the folder: keys are columns, and text in one file is text in all."""
    for year, values in (("2020", [1, 2]), ("2021", [3.5, None]), ("__HIVE_DEFAULT_PARTITION__", ["7", "x"])):
        part = tmp_path / "table" / f"year={year}"
        part.mkdir(parents=True)
        when = [0, 1] if year == "2020" else [None, None]
        made = pl.DataFrame(
            {
                "mixed": values,
                "when": pl.Series(when).cast(pl.Int32).cast(pl.Date) if year == "2020" else when,
                "nested": [[1], [2]],
            },
            strict=False,
        )
        made.write_parquet(part / "part.parquet")
    source = source_of(tmp_path / "table")
    expected = read_raw(tmp_path / "table")
    assert source.columns == expected.names == ["year", "mixed", "when", "nested"]
    whole = sample_of(source, 100)
    assert [type(column) for column in whole.raw.columns] == [NumberColumn, TextColumn, DateColumn, OtherColumn]
    for table in (expected, whole.raw):
        table.columns = [column for column in table.columns if not isinstance(column, OtherColumn)]
    assert values_of(whole.raw) == values_of(expected)
    for chunk in source.chunks():
        assert [type(column) for column in chunk.columns] == [NumberColumn, TextColumn, DateColumn, OtherColumn]


def test_damaged_files_are_named(frame, tmp_path, set_limits):
    part = folder_of(frame, tmp_path / "folder") / "part-1.parquet"
    content = bytearray(part.read_bytes())
    content[4:200] = bytes(196)
    part.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as Parquet"):
        list(source_of(tmp_path / "folder").chunks())
    part.write_bytes(bytes(content[:-20]))
    with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as Parquet: no footer"):
        source_of(tmp_path / "folder")
    text = frame.write_csv().encode() + frame.write_csv(include_header=False).encode() * 40
    packed, path = tmp_path / "table.csv.gz", tmp_path / "table.csv"
    packed.write_bytes(gzip.compress(text)[:-100])
    with pytest.raises(ValueError, match=r"table\.csv\.gz: the gzip file is damaged or cut off"):
        list(source_of(packed).chunks())
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"table\.csv, line 3: 1 field, but line 1 has 2"):
        list(source_of(path).chunks())
    set_limits(unpacked_bytes=2**20)
    packed.write_bytes(gzip.compress(b"1,1\n" * 2**20))
    with pytest.raises(ValueError, match=r"table\.csv\.gz unpacks to more than 1\.\d MiB"):
        list(source_of(packed).chunks())


def test_what_is_no_source(tmp_path):
    (tmp_path / "table.json").write_text('[{"a": 1}]')
    files = [tmp_path / "nothing.csv", tmp_path / "table.json"]
    for given in (np.zeros((2, 2)), pd.DataFrame({"a": [1]}), "-", files, *files, 5):
        assert source_of(given) is None
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match="is empty"):
        source_of(tmp_path / "empty.csv")
    with pytest.raises(ValueError, match="the Dask array holds complex128, not numbers"):
        source_of(dask.array.zeros((2, 2), dtype=complex))


def test_objects_of_dask_stay_text(small_chunks):
    """A column of Python's objects may hold numbers alone in some partitions."""
    values = [1, 2, 3, 4, "a", "b"] * 1
    frame = pd.DataFrame({"mixed": pd.Series(values, dtype=object), "n": range(6)})
    parts = [frame[:4], frame[4:]]
    with dask.config.set({"dataframe.convert-string": False}):
        source = source_of(dask.dataframe.from_map(lambda part: part, parts, meta=frame[:0]))
    assert {type(chunk.column("mixed")) for chunk in source.chunks(text=["mixed"])} == {TextColumn}
    assert all_chunks(source, text=["mixed"])["mixed"] == ["1", "2", "3", "4", "a", "b"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_memory_is_flat(tmp_path, kind):
    """Eight times as many rows take no more memory: the process that reads them tells its peak."""
    peaks = []
    for n_files in (4, 32):
        folder = tmp_path / str(n_files)
        folder.mkdir()
        for number in range(n_files):
            rng = np.random.default_rng(number)
            made = pl.DataFrame({f"n{j}": rng.normal(size=50_000) for j in range(9)})
            made = made.with_columns(words=pl.Series(rng.integers(0, 10**9, 50_000)).cast(pl.String) + " of some words")
            getattr(made, f"write_{kind}")(folder / f"{number:03d}.{kind}")
        given = folder if kind == "parquet" else sorted(folder.iterdir())
        code = f"""
import resource
from pathlib import {type(folder).__name__}
from bayesfloor.tables.sources import sample_of, source_of
source = source_of({given!r})
n_rows = sum(chunk.n_rows for chunk in source.chunks(text=["words"]))
found = sample_of(source, 20_000)
assert (n_rows, found.n_rows, found.raw.n_rows) == ({50_000 * n_files}, {50_000 * n_files}, 20_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
        peaks.append(int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout))
    assert peaks[1] < 1.35 * peaks[0], peaks
