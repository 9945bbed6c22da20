"""Sources: the same rows and the same sample whatever holds them, and however they are cut into files and chunks."""

import gzip
from itertools import pairwise

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesfloor.tables import source_kinds
from bayesfloor.tables.columns import TextColumn
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import raw_of_frame
from bayesfloor.tables.sources import keys_of_rows, sample_of, source_of

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
def small_chunks(monkeypatch):
    monkeypatch.setattr(source_kinds, "CHUNK_ROWS", 77)


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


@pytest.mark.parametrize("packed", [False, True])
def test_chunks_of_a_text(frame, tmp_path, small_chunks, packed):
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    content = frame.write_csv(separator=";").encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    expected = values_of(read_raw(path, strays="text", target="y"))
    assert "two\nlines" in expected["text"]
    assert all_chunks(source_of(path), target="y") == expected


def test_a_sample_is_the_same_from_everywhere(frame, tmp_path, monkeypatch):
    keys = keys_of_rows(0, N_ROWS, 5)
    assert len(np.unique(keys)) == N_ROWS
    expected = np.sort(np.argsort(keys)[:200])
    values = values_of(raw_of_frame(frame[expected]))
    gaps = {
        name: int(column.gaps.sum()) for name, column in zip(frame.columns, raw_of_frame(frame).columns, strict=True)
    }
    counts = dict(frame["y"].value_counts().iter_rows())
    for chunk_rows in (10, 500, 10_000):
        monkeypatch.setattr(source_kinds, "CHUNK_ROWS", chunk_rows)
        place = tmp_path / str(chunk_rows)
        place.mkdir()
        for name, given in sources_of(frame, place).items():
            found = sample_of(source_of(given), 200, 5, target="y")
            assert found.rows.tolist() == expected.tolist(), name
            assert values_of(found.raw) == values, name
            assert (found.n_rows, found.n_gaps, found.counts, found.is_sampled) == (N_ROWS, gaps, counts, True), name
