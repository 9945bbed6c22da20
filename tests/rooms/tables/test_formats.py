"""Formats other than CSV: read alike, and refused where they hold something else."""

import gzip
import io
import math
import pickle
import zipfile
from datetime import datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff
from sklearn.datasets import dump_svmlight_file

from bayesfloor.tables.columns import DateColumn
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.read import read_table
from helpers.one_case import for_each
from helpers.table_files import raw

FRAME = pd.DataFrame(
    {"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5], "s": ["u", "v", "u", "w"], "y": ["p", "q", "p", "q"]}
)

EXPECTED = [[1, 0.5, 0, 0], [2, 1.5, 1, 0], [3, 2.5, 0, 0], [4, 3.5, 0, 1]]


def write_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "pandas.parquet": lambda frame, path: frame.to_parquet(path),
    "polars.pq": lambda frame, path: pl.from_pandas(frame).write_parquet(path),
    "categories.parquet": lambda frame, path: frame.astype({"s": "category", "y": "category"}).to_parquet(path),
    "polars.arrow": lambda frame, path: pl.from_pandas(frame).write_ipc(path),
    "pandas.feather": lambda frame, path: frame.to_feather(path),
    "lz4.feather": lambda frame, path: pa.feather.write_feather(pa.Table.from_pandas(frame), str(path), "lz4"),
    "stream.arrow": write_stream,
    "no-suffix": lambda frame, path: frame.to_parquet(path),
}


@for_each("name", WRITERS)
@for_each("packed", [False, True])
def test_parquet_and_arrow(tmp_path, name, packed):
    path = tmp_path / name
    WRITERS[name](FRAME, path)
    if packed:
        path = path.with_name(name + ".gz")
        path.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    table = raw(path, encode="onehot")
    assert table.X.tolist() == EXPECTED
    assert table.feature_names == ("a", "b", "s=v", "s=w")
    assert table.y.tolist() == ["p", "q", "p", "q"]
    assert table.lines.tolist() == [1, 2, 3, 4]


def test_types_of_columns(tmp_path):
    frame = pl.DataFrame(
        {
            "flag": [True, False, True, False],
            "small": pl.Series([1, 2, 3, 4], dtype=pl.UInt8),
            "money": pl.Series(["1.5", "2.5", "3.5", "4.5"]).cast(pl.Decimal(10, 2)),
            "large": [2**60, 2**60 + 1, 5, 6],
            "label": [True, False, True, False],
        }
    )
    path = tmp_path / "types.parquet"
    frame.write_parquet(path)
    table = raw(path)
    assert table.X[:, :3].tolist() == [[1, 1, 1.5], [0, 2, 2.5], [1, 3, 3.5], [0, 4, 4.5]]
    assert table.classes.tolist() == [False, True]
    assert any("'large' has 1 integer beyond 2**53" in caution for caution in table.cautions)


TIMES = [datetime(2020, 1, 1, 12), None, datetime(1969, 12, 31, 23, 59, 59)]
DATES = {
    "date": (pl.Series([t and t.date() for t in TIMES]), [18262 * 86400, None, -86400]),
    "ms": (pl.Series(TIMES, dtype=pl.Datetime("ms")), [18262.5 * 86400, None, -1]),
    "ns": (pl.Series(TIMES, dtype=pl.Datetime("ns")), [18262.5 * 86400, None, -1]),
    "zone": (pl.Series(TIMES).dt.replace_time_zone("Asia/Tokyo"), [18262.5 * 86400 - 32400, None, -1 - 32400]),
    "time": (pl.Series([time(6, 30), None, time(0, 0, 1)]), [23400, None, 1]),
    "duration": (pl.Series([timedelta(days=1), None, timedelta(microseconds=-1500)]), [86400, None, -0.0015]),
}


@for_each("kind", ["parquet", "ipc"])
def test_dates_are_seconds(tmp_path, kind):
    frame = pl.DataFrame({name: series for name, (series, _) in DATES.items()} | {"y": ["u", "v", "u"]})
    getattr(frame, f"write_{kind}")(tmp_path / "dates.bin")
    table = read_raw(tmp_path / "dates.bin")
    for column in table.columns[:-1]:
        expected = np.array([math.nan if value is None else value for value in DATES[column.name][1]], float)
        assert isinstance(column, DateColumn)
        np.testing.assert_array_equal(column.values, expected)
        assert column.type_name == str(DATES[column.name][0].dtype)
        assert column.gaps.tolist() == [False, True, False]
    assert table.take(np.array([2])).columns[0].values.tolist() == [-86400]
    with pytest.raises(ValueError, match="column 'date' does not hold numbers alone"):
        raw(tmp_path / "dates.bin")
    with pytest.raises(ValueError, match=r"the target 'time' holds Time; labels are text or whole numbers"):
        read_table(write_without_gaps(frame, tmp_path / "d.parquet"), target="time")


def write_without_gaps(frame, path):
    frame.drop_nulls().write_parquet(path)
    return path


def test_missing_values_in_parquet(tmp_path):
    path = tmp_path / "gaps.parquet"
    pl.DataFrame({"a": [1.0, None, float("nan"), 4.0], "s": ["NA", None, "u", "u"], "y": [0, 1, 0, 1]}).write_parquet(
        path
    )
    with pytest.raises(ValueError, match=r"gaps\.parquet, row 2, column 'a': there is no finite number"):
        raw(path, drop="s")
    table = raw(path, encode="onehot", impute="most_frequent")
    assert table.feature_names == ("a",)
    assert table.X.tolist() == [[1], [1], [1], [4]]
    assert read_raw(path).columns[1].categories == ("NA", "u")  # here "NA" is text like any other


def test_broken_binary_files(refused, tmp_path):
    FRAME.to_parquet(tmp_path / "good.parquet")
    good = (tmp_path / "good.parquet").read_bytes()
    refused(good[: len(good) // 2], "cut.parquet cannot be read as Parquet", name="cut.parquet")
    refused(b"a,b\n1,2\n", "named like a Parquet file, but it is not one", name="text.parquet")
    refused(b"FEA1....", "a Feather file of version 1", name="old.feather")
    refused(b"ARROW1\0\0 nonsense", "bad.arrow cannot be read as Arrow", name="bad.arrow")
    pl.DataFrame({"a": [], "y": []}).write_parquet(tmp_path / "none.parquet")
    refused((tmp_path / "none.parquet").read_bytes(), "holds 0 rows and 2 columns", name="none.parquet")


ARFF = """% a comment
@RELATION 'my data'
@attribute 'the size' numeric
@attribute b REAL
@attribute s {u, 'v w', x}
@attribute class {p,q}

@data
1, 0.5, u, p
2, 1.5, 'v w', q
% another
3, 2.5, u, p
4, 3.5, x, q
"""


def test_arff(write):
    path = write(ARFF, "data.arff")
    table = raw(path, encode="onehot")
    assert table.X.tolist() == EXPECTED
    assert table.feature_names == ("the size", "b", "s=v w", "s=x")
    assert table.lines.tolist() == [9, 10, 12, 13]
    records, _ = scipy_arff.loadarff(io.StringIO(ARFF.replace("'v w'", "v_w")))
    assert table.X[:, :2].tolist() == [[record[0], record[1]] for record in records]
    assert table.y.tolist() == [record[3].decode() for record in records]


def test_arff_with_an_order_and_with_gaps(write):
    text = "@relation r\n@attribute size {small,medium,large}\n@attribute y {1,2}\n@data\nlarge,1\nsmall,2\nmedium,1\n"
    table = raw(write(text, "a.arff"), encode="ordinal")
    assert table.X[:, 0].tolist() == [2, 0, 1]
    assert table.classes.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"data\.arff, line 9, column 'the size': there is no finite number"):
        raw(write(ARFF.replace("1, 0.5", "?, 0.5"), "data.arff"), drop="s")
    assert raw(write(ARFF.replace("u, p", "u, ?", 1), "data.arff"), drop="s").lines.tolist() == [10, 12, 13]


KEEL = """@relation texture
@attribute A1 real [0.0, 1.0]
@attribute Kind{M, F}
@attribute Class {2,3}
@attribute A2 integer [0, 9]
@inputs A1, Kind, A2
@outputs Class
@data
0.5, M, 2, 1
0.25, F, 3, 2
0.75, M, 2, 3
"""


def test_keel_names_its_target(write):
    table = raw(write(KEEL, "texture.dat"), encode="onehot")
    assert table.target == "Class"
    assert table.X.tolist() == [[0.5, 0, 1], [0.25, 1, 2], [0.75, 0, 3]]
    assert table.y.tolist() == [2, 3, 2]
    assert any("as the file says" in note for note in table.notes)


BROKEN_ARFF = {
    "a value not declared": (ARFF.replace("4, 3.5, x", "4, 3.5, z"), "line 13, column 's': 'z' is not among"),
    "no number": (ARFF.replace("2, 1.5", "two, 1.5"), "line 10, column 'the size': 'two' is not a number"),
    "short row": (ARFF.replace("3, 2.5, u, p", "3, 2.5, u"), "line 12: 3 values, but 4 attributes are declared"),
    "open quote": (ARFF.replace("'v w', q", "'v w, q"), "line 10: a quote is not closed"),
    "no data": (ARFF[: ARFF.index("@data")], "ends before @data"),
    "no rows": (ARFF[: ARFF.index("1, 0.5")], "has a header and no rows"),
    "no attributes": ("@relation r\n@data\n1,2\n", "line 2: @data before any @attribute"),
    "junk in the header": ("@relation r\nhello\n@data\n", "line 2: 'hello' is no part of an ARFF header"),
    "no type": ("@relation r\n@attribute a\n@data\n", "line 2: '@attribute a' is no attribute with a name and a type"),
    "same name": ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "have the same name, 'a'"),
    "open list": ("@relation r\n@attribute a {x,y\n@data\n", "line 2: the values of attribute 'a' are not closed"),
    "sparse row": (
        "@relation r\n@attribute a real\n@attribute b real\n@data\n{0 1}\n",
        "line 5: sparse rows are not read",
    ),
}


@for_each("content, words", BROKEN_ARFF.values())
def test_broken_arff_is_refused_with_its_line(refused, content, words):
    refused(content, words, name="data.arff", encode="onehot")


def test_libsvm(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(30, 5)), 3) * (rng.random((30, 5)) < 0.5)
    X[0] = 1.0
    y = np.tile([-1, 1, 3], 10)
    for zero_based, name in ((True, "data.libsvm"), (False, "data.txt")):
        path = tmp_path / name
        dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="made by a test")
        table = raw(path)
        np.testing.assert_array_equal(table.X, X)
        assert table.y.tolist() == y.tolist()
        assert table.feature_names[0] == ("x0" if zero_based else "x1")
        assert f"indices from {0 if zero_based else 1}" in table.notes[0]


BROKEN_LIBSVM = {
    "no pair": ("1 1:2\n1 1:2 x\n", "cannot be read as libsvm"),
    "no number": ("1 1:2\n1 1:a\n", "cannot be read as libsvm"),
    "not rising": ("1 1:2\n1 2:2 2:3\n", "should be sorted and unique"),
    "several labels": ("1,2 1:2\n", "cannot be read as libsvm"),
    "no number as label": ("u 1:2\nv 1:3\n", "cannot be read as libsvm"),
    "infinite": ("1 1:2\n2 1:inf\n", "values that are not finite"),
    "too wide": ("1 1:2\n2 1000000000:1\n", "take 14.9 GiB as a dense table; the limit is 2.0 GiB"),
    "too wide for an index": ("1 1:2\n2 90000000000000000000:1\n", "cannot be read as libsvm"),
    "no rows": ("# nothing\n", "holds no rows"),
    "no values": ("1\n2\n", "has labels and no values"),
}


@for_each("content, words", BROKEN_LIBSVM.values())
def test_broken_libsvm_is_refused(refused, content, words):
    refused(content, words, name="data.svm")


def saved(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


X4 = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])


def test_npz(write):
    table = raw(write(saved(X=X4, y=[0, 1, 0, 1]), "a.npz"))
    assert table.X.tolist() == X4.tolist()
    assert table.target == "y"
    assert table.feature_names == ("x1", "x2")
    content = saved(X=X4, y=[0, 1, 0, 1], feature_names=["p", "q"], classes=["no", "yes"], split=[0, 0, 1, 1])
    table = raw(write(content, "b.npz"))
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.feature_names == ("p", "q")
    assert any("'split'" in note for note in table.notes)
    for content in (saved(table=X4 % 4), saved(X=X4 % 4)):
        table = raw(write(content, "c.npz"))
        assert table.X.tolist() == [[1], [3], [1], [3]]
        assert table.y.tolist() == [2, 0, 2, 0]
    table = raw(
        write(saved(X=[["u", "1"], ["v", "1"], ["u", "2"]], y=["a", "b", "a"]), "d.npz"),
        encode="ordinal",
        categorical="x2",
    )
    assert table.X.tolist() == [[0, 0], [1, 0], [0, 1]]


class Harmful:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


OBJECTS = np.array([Harmful(), 1], dtype=object)

BROKEN_NPZ = {
    "objects": (saved(X=X4, y=[0, 1, 0, 1], extra=OBJECTS), "'extra' of type object hold pickles"),
    "lengths": (saved(X=X4, y=[0, 1]), "X has 4 rows, but y has shape (2,)"),
    "one dimension": (saved(X=[1, 2, 3], y=[0, 1, 0]), "X has shape (3,); rows and columns are needed"),
    "complex": (saved(X=X4 * 1j, y=[0, 1, 0, 1]), "X holds complex128, not numbers"),
    "no X": (saved(a=X4, b=X4), "has no array X; it has 'a', 'b'"),
    "empty": (saved(X=np.empty((0, 3)), y=[]), "X has shape (0, 3): it is empty"),
    "names": (saved(X=X4, y=[0, 1, 0, 1], feature_names=["a"]), "feature_names has 1 names for 2 columns"),
    "same names": (saved(X=X4, y=[0, 1, 0, 1], feature_names=["a", "a"]), "have the same name, 'a'"),
    "codes": (saved(X=X4, y=[0, 1, 0, 2], classes=["a", "b"]), "y goes from 0 to 2, but classes has 2 labels"),
    "dates": (saved(X=X4, y=np.array(["2020"] * 4, "M8[Y]")), "y holds datetime64[Y], not labels"),
    "no npz": (b"hello", "is no NPZ file, or it is damaged"),
    "cut": (saved(X=X4, y=[0, 1, 0, 1])[:200], "is no NPZ file, or it is damaged"),
    "an infinite y": (saved(X=X4, y=[0.5, 1, np.inf, 1]), "the target 'y' is infinite in 1 row"),
}


@for_each("content, words", BROKEN_NPZ.values())
def test_broken_npz_is_refused(refused, content, words):
    refused(content, words, name="data.npz")


def test_an_npz_that_says_it_is_large_is_refused(write):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**4)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(8))
    with pytest.raises(ValueError, match=r"large\.npz unpacks to 74\.5 GiB; the limit is 4\.0 GiB"):
        read_table(write(buffer.getvalue(), "large.npz"))


def test_pickles_and_other_programs_are_refused(refused):
    refused(pickle.dumps(Harmful()), "is a pickle, and reading one can run code", name="model.bin")
    refused(pickle.dumps(FRAME), "is a pickle, and reading one can run code", name="frame.pkl")
    refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel workbook in the old format, or locked", name="book.xls")
    refused(b"ORC", "is an ORC file, which polars does not read; save the table as Parquet", name="table.orc")
    refused(b"\x93NUMPY\x01\x00", "is a single NumPy array; save it with numpy.savez", name="single.npy")
    refused(gzip.compress(b"x"), "is an archive; unpack it", name="data.tar.gz")
    refused(b"\x28\xb5\x2f\xfd", "is packed by zstd; unpack it, or pack it with gzip, bzip2 or xz", name="data.csv")


HEADERS = [b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n"]


@pytest.fixture(scope="module")
def any_file(tmp_path_factory):
    return tmp_path_factory.mktemp("any") / "any"


@given(st.sampled_from(HEADERS), st.binary(max_size=60))
def test_any_bytes_behind_a_header_are_refused_by_name(any_file, header, rest):
    any_file.write_bytes(header + rest)
    with pytest.raises(ValueError, match="any"):
        read_table(any_file)
