"""Text tables as people have them: what is detected, what is stated, and what is refused in which words."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesfloor.tables.columns import UnknownColumnError
from bayesfloor.tables.read import read_table
from bayesfloor.tables.sniffing import Dialect, detect_dialect, detect_encoding
from helpers.one_case import for_each
from helpers.table_files import raw

PLAIN = "a,b,class\n1,2.5,x\n3,4.5,y\n5,6,x\n"


def test_a_plain_table(write):
    for separator, name in ((",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")):
        for end in ("\n", "\r\n", "\r"):
            table = raw(write(PLAIN.replace(",", separator).replace("\n", end)))
            assert table.X.tolist() == [[1, 2.5], [3, 4.5], [5, 6]]
            assert table.lines.tolist() == [2, 3, 4]
            assert f"separator {name}" in table.notes[0]
    table = raw(write(PLAIN))
    assert not table.X.flags.writeable
    assert table.y.tolist() == ["x", "y", "x"]
    assert (table.feature_names, table.target, table.n_samples) == (("a", "b"), "class", 3)
    assert repr(table) == "Table('data.csv': 3 rows, 2 features, 2 classes of 'class')"
    assert any("separator comma" in note and "utf-8" in note for note in table.notes)
    assert any("by its name" in note for note in table.notes)
    assert table.cautions == ()
    assert repr(raw(write("a,y\n1,u\n2,v\n"))) == "Table('data.csv': 2 rows, 1 feature, 2 classes of 'y')"


#: What a text is, the names of its features, the lines of its rows, and what its first note says.
DETECTED = {
    "Excel names its separator": ("sep=;\na;b\n1;x\n2;y\n", ("a",), [3, 4], "semicolon"),
    "numbers alone mean no header": ("1,2,0\n3,4,1\n5,6,0\n", ("x1", "x2"), [1, 2, 3], "no header"),
    "values that come again are no names": ("5.1,3.5,u\n4.9,3.0,u\n6.2,2.9,v\n", ("x1", "x2"), [1, 2, 3], "no header"),
    "years are names": ("2019,2020,label\n1,2,a\n3,4,b\n", ("2019", "2020"), [2, 3], "comma"),
    "columns without a name": (",a,label\n0,1,x\n1,2,y\n", ("column_1", "a"), [2, 3], "without a name"),
    "blank lines are counted": ("a,b\n1,x\n\n2,y\n\n\n", ("a",), [2, 4], "1 blank line was skipped"),
    "bytes that Windows does not know": (b"a,b\n1,\x81\n2,\xe9\n", ("a",), [2, 3], "latin-1"),
}


@for_each("content, names, lines, note", DETECTED.values())
def test_what_is_detected_is_stated(write, content, names, lines, note):
    table = raw(write(content))
    assert table.feature_names == names
    assert table.lines.tolist() == lines
    assert any(note in each for each in table.notes)


@for_each("text", ["a;b;c\n1,5;2,25;x\n-0,5;1e2;y\n", "1,5;2,25;x\n-0,5;1e2;y\n3,5;1,0;x\n4,5;1;y\n"])
def test_decimal_comma(write, text):
    table = raw(write(text))
    assert table.X[:2].tolist() == [[1.5, 2.25], [-0.5, 100]]
    assert "decimal comma" in table.notes[0]


#: Names, the two fields of a row, and what stands between them.
TWO_COLUMNS = {
    "a label last": ("x;y", "{};{label}", ";"),
    "a label first": ("y;x", "{label};{}", ";"),
    "no header": ("", "{};{label}", ";"),
    "no header, a label first": ("", "{label};{}", ";"),
    "two numbers": ("x;y", "{};{}", ";"),
    "quoted labels": ("x;y", '{};"{label}"', ";"),
    "all quoted": ('"x";"y"', '"{}";"{label}"', ";"),
    "a comma in a name": ("weight, kg;y", "{};{label}", ";"),
    "tabs": ("x\ty", "{}\t{label}", "\t"),
    "bars": ("x|y", "{}|{label}", "|"),
    "an end of its own": ("x;y;", "{};{label};", ";"),
    "no header, an end of its own": ("", "{};{label};", ";"),
    "dates": ("when;x", "01.02.2020;{}", ";"),
}


@for_each("number", ["{},126", "{}.234,50"])
@for_each("names, row, separator", TWO_COLUMNS.values())
def test_two_columns_with_decimal_commas(names, row, separator, number):
    """The comma too splits every row into two."""
    rows = [row.format(*[number.format(i)] * 2, label=("cat", "dog")[i % 2]) for i in range(1, 21)]
    dialect = detect_dialect([f"{line}\n" for line in [names] * bool(names) + rows])
    assert dialect == Dialect(separator, ",", bool(names))


@for_each("text", ["a,b\n1,p;q\n2,r;s\n", "1,p;q\n2,r;s\n3,p;q\n4,r;s\n", "i,t,y\n0,a;b;c,u\n1,a;b;d,v\n"])
def test_commas_between_fields_with_semicolons(text):
    assert detect_dialect(text.splitlines(keepends=True)).separator == ","


def test_points_between_thousands_are_no_decimal_points(refused):
    lines = ["a;b;y\n", "1.234;0,5;u\n", "2.000;0,7;v\n"]
    assert detect_dialect(lines).decimal == ","
    assert detect_dialect([*lines, "0.125;0,5;u\n"]).decimal == "."
    lines = "".join(f"{i},5;{i % 2}\n" for i in range(3000))
    refused("a;b\n" + lines + "1.234;0\n", "data.csv: column 'a' does not hold numbers alone", prepare=None)


ENCODINGS = {
    "utf-8": ("utf-8", "encoding utf-8,"),
    "utf-8-sig": ("utf-8-sig", "encoding utf-8-sig (told by its byte order mark)"),
    "utf-16": ("utf-16", "encoding utf-16 (told by its byte order mark)"),
    "utf-16-le": ("utf-16-le", "encoding utf-16-le"),
    "utf-16-be": ("utf-16-be", "encoding utf-16-be"),
    "latin-1": ("latin-1", "encoding latin-1 (not UTF-8 from line 2 on)"),
    "cp1252": ("cp1252", "cp1252"),
}


@for_each("encoding, stated", ENCODINGS.values())
def test_encodings_are_detected_and_stated(write, encoding, stated):
    last = "€" if encoding == "cp1252" else "é"
    table = raw(write(f"size,kind\n1,süß\n2,{last}\n", encoding=encoding))
    assert table.feature_names == ("size",)
    assert table.classes.tolist() == ["süß", last]
    assert stated in table.notes[0]


def test_a_character_may_lie_across_two_pieces():
    # UTF-8 is checked in pieces of 4 MiB
    start = b"x" * (2**22 - 1)
    assert detect_encoding(start + "é".encode(), "any.csv") == ("utf-8", "")
    assert detect_encoding(start + b"\xc3\n", "any.csv") == ("latin-1", "not UTF-8 from line 1 on")
    assert detect_encoding(b"\n" * 2**22 + b"a\xe9", "any.csv")[1] == f"not UTF-8 from line {2**22 + 1} on"


def test_what_is_given_is_not_detected(write):
    path = write("a,1;2\na,3;4\nb,3;4\n", name="a.txt")
    table = raw(path, separator=";", header=False, encoding="cp1252", decimal=".", encode="ordinal")
    assert table.X.tolist() == [[0], [1], [2]]
    assert "separator semicolon, encoding cp1252, no header" in table.notes[0]


def test_quoted_fields(write):
    text = 'name,"a, b",class\n"x, ""y""",1,p\n"two\nlines",2,q\nz,3,p\n'
    table = read_table(write(text), encode="ordinal", scale="none")
    assert table.feature_names == ("name", "a, b")
    assert table.preparation.columns[0].categories == ("two\nlines", 'x, "y"', "z")
    assert table.lines.tolist() == [2, 3, 5]
    table = read_table(write('size,class\n5" pipe,a\n6" pipe,b\n5" pipe,a\n'), encode="onehot")
    assert table.feature_names == ('size=6" pipe',)  # a quote inside a field that has none around it


@for_each(
    "labels, classes",
    [
        (["2", "10", "2"], [2, 10]),
        (["1.0", "2.0", "1.0"], [1, 2]),
        (["+1", "-1", "+1"], [-1, 1]),
        (["a", "1", "a"], ["1", "a"]),
        (["1-3", "4", "4"], ["1-3", "4"]),
        (["01", "1", "2"], [1, 2]),
    ],
)
def test_whole_numbers_are_integers(write, labels, classes):
    table = raw(write("v,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate([*labels, labels[0]]))))
    assert table.classes.tolist() == classes


def test_the_target_is_found_by_name_and_position(write, refused):
    path = write("y,a,b\nu,1,2\nv,3,4\nu,5,6\n")
    for target in ("y", 0, -3):
        table = raw(path, target=target)
        assert table.target == "y"
        assert table.feature_names == ("a", "b")
    refused("Rings,Sex\n1,2\n", "no column 'rings'; did you mean 'Rings'?", UnknownColumnError, target="rings")
    refused(PLAIN, "its columns are 'a', 'b', 'class'", UnknownColumnError, target="zzz")
    refused(PLAIN, "has 3 columns; there is no column number 7", UnknownColumnError, target=7)
    refused(PLAIN, "no column 'bb'; did you mean 'b'?", UnknownColumnError, drop="bb")
    refused(PLAIN, "no column 'aa'; did you mean 'a'?", UnknownColumnError, categorical=["aa"])


def test_target_that_cannot_be_classes(refused):
    looks = "this looks like regression"
    classes = {"task": "classification"}
    refused("a,y\n1,0.5\n2,0.7\n3,0.5\n", f"'y' holds numbers with fractions, such as 0.5: {looks}", **classes)
    refused("a;y\n1;0,5\n2;0,7\n3;0,5\n", "'y' holds numbers with fractions, such as 0,5", **classes)
    many = "".join(f"{i % 3},{i}\n" for i in range(40))
    refused("a,y\n" + many, "'y' has 40 different values in 40 rows, like an id or a measured number")
    refused("a,y\n1,x\n2,x\n", "'y' needs two classes, got 1: 'x'")
    refused("a,y\n1,1\n2,1.0\n3,1\n", "'y' needs two classes, got 1: ")


def test_many_classes_are_worth_a_word(write):
    table = raw(write("a,y\n" + "".join(f"{i % 7},{i // 3}\n" for i in range(300))), task="classification")
    assert any("100 classes" in caution for caution in table.cautions)


def test_a_column_may_turn_out_to_be_text_late(write):
    text = "code,y\n" + "1,0\n" * 3000 + "B,1\n" * 1000
    table = read_table(write(text), encode="onehot")
    assert table.feature_names == ("code=B",)
    assert table.X.sum() == 1000
    few = read_table(write("age,y\n" + "1,0\n2,1\n" * 20 + "abc,0\n"), encode="onehot", categorical="age")
    assert few.feature_names == ("age=2", "age=abc")


def test_what_is_no_number(refused, write):
    for value in ("inf", "-Infinity", "1e999"):
        words = "data.csv, line 3, column 'a': there is no finite number"
        refused(f"a,y\n1,0\n{value},1\n3,0\n", words, prepare=None)
    for value in ("1_000", "１２", "0x10", "1 2", "--1"):  # what Python alone calls a number is none
        words = "column 'a' does not hold numbers alone; prepare='auto' of read_table makes numbers of it, and drop="
        refused("a,y\n" + "1,0\n2,1\n" * 20 + f"{value},1\n", words, prepare=None)
    refused(f"a,y\n{2**53 + 1},0\n{2**53},1\n7,0\n", "column 'a' does not hold numbers alone", prepare=None)
    assert raw(write("a,y\n1e300,0\n2,1\n")).cautions == ()


def test_columns_can_be_left_out_and_may_hold_anything(write):
    text = "id,a,y\n" + "".join(f"n{i},{i % 5},{i % 2}\n" for i in range(30))
    table = raw(write(text), drop="id")
    assert table.feature_names == ("a",)
    assert any("'id'" in note for note in table.notes)
    assert raw(write(text), encode="drop").feature_names == ("a",)
    text = "a,b,y\n" + "1,1,0\n2,2,1\n" * 20 + "abc,1,0\n"
    assert raw(write(text), drop=["a"]).feature_names == ("b",)
    assert raw(write(text), drop=["y"], categorical="a", encode="onehot").target == "b"


BROKEN = {
    "short row": ("a,b,y\n1,2,0\n3,1\n", "data.csv, line 3: 2 fields, but line 1 has 3"),
    "extra field": ("a,b,y\n1,2,0\n3,4,1,9\n", "data.csv, line 3: 4 fields, but line 1 has 3"),
    "lines are counted within quotes": ('a,b,y\n"1",2,0\n"x\ny",2,0\n3,4\n', "data.csv, line 5: 2 fields"),
    "header only": ("a,b,y\n", "data.csv has a header and no rows"),
    "empty": ("", "data.csv is empty"),
    "blank": ("\n\n", "data.csv holds no rows"),
    "only a byte order mark": (b"\xef\xbb\xbf", "data.csv holds no rows"),
    "NUL byte": (b"a,y\n1,0\n2\x00,1\n", "data.csv, line 3: a NUL byte"),
    "open quote": ('a,y\n1,0\n"2,1\n3,0\n', "data.csv, line 3: a quote is opened here and never closed"),
    "text after a quote": ('a,y\n1,0\n"2"x,1\n', "data.csv, line 3: text follows a closing quote"),
    "huge field": ("a,y\n1,0\n" + "9" * 200_000 + ",1\n", "data.csv, line 3: a field of more than 131,072 characters"),
    "a separator at the end": ("a,y,\n1,0,\n2,1,\n", "target 'column_3' has no values at all; name another column"),
    "a title": ("# made by me\na,y\n1,0\n2,1\n", "data.csv, line 1: one field only, but the next row has 2"),
    "one column": ("a\n1\n2\n", "data.csv has one column only"),
    "no values": ("a,b,y\n,1,0\n,2,1\n", "data.csv, line 2, column 'a': there is no finite number"),
    "nothing varies": ("s,y\nu,0\nu,1\n", "no column left besides the target 'y' ('s': left out: one value only)"),
    "names that would act on a terminal": ("\x1b[31my,a\nu,1\nu,2\n", r"the target '\x1b[31my' needs two classes"),
    "only the target": ("y,z\n0,1\n1,2\n", "no column left besides the target"),
}


@for_each("content, words", BROKEN.values())
def test_broken_files_are_refused_in_plain_words(refused, content, words):
    options = {"prepare": None} if "no finite number" in words else {}
    if words.startswith("target 'column_3'"):
        options = {"target": "column_3"}
    if words.startswith("the target"):
        options = {"target": 0}
    if words.endswith("besides the target"):
        options = {"target": "y", "drop": "z"}
    refused(content, words, **options)


def test_files_that_cannot_be_opened(refused, write, tmp_path):
    with pytest.raises(ValueError, match="there is no encoding 'nonsense'"):
        read_table(write(PLAIN), encoding="nonsense")
    refused(b"a,y\n1,\xff\n2,b\n", "not utf-8", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv.*no such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path)


def test_missing_values_are_refused_filled_or_left_out(write, refused):
    text = "a,s,y\n1,u,0\n,v,1\n3,?,0\nNA,u,1\n8,u,1\n"
    refused(text, "data.csv, line 3, column 'a': there is no finite number", prepare=None, drop="s")
    table = read_table(write(text), encode="onehot", scale="none", impute="mean")
    assert table.X.tolist() == [[1, 0], [4, 1], [3, 0], [4, 0], [8, 0]]
    assert [each.n_missing for each in table.columns] == [2, 1]
    table = read_table(write(text), encode="onehot", scale="none", drop_missing=True)
    assert table.lines.tolist() == [2, 6]
    assert table.feature_names == ("a",)
    assert table.n_samples == 5
    assert any("3 of 5 rows were left out" in note for note in table.notes)
    assert raw(write("a,y\n1,u\n2,\n3,v\n"), drop_missing=True).y.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="every row has a missing value"):
        raw(write("a,b,y\n,1,u\n2,,v\n"), drop_missing=True)


def test_sample_keeps_classes_and_ignores_the_order_of_rows(write):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.4f},{'abc'[i % 10 // 4]}" for i in range(1000)]
    table = raw(write("v,y\n" + "\n".join(rows)), max_rows=100)
    assert table.X.shape == (100, 1)
    assert np.unique(table.y, return_counts=True)[1].tolist() == [40, 40, 20]
    assert table.n_samples == 1000
    assert any("A sample of 100 of 1,000 rows" in note for note in table.notes)
    other = raw(write("v,y\n" + "\n".join(rows[::-1])), max_rows=100)
    assert sorted(zip(table.X[:, 0], table.y, strict=True)) == sorted(zip(other.X[:, 0], other.y, strict=True))
    third = raw(write("v,y\n" + "\n".join(rows)), max_rows=100, random_state=1)
    assert sorted(third.X[:, 0]) != sorted(table.X[:, 0])
    with pytest.raises(ValueError, match="max_rows=5 is less than two rows for each of the 3 classes"):
        raw(write("v,y\n" + "\n".join(rows)), max_rows=5)


def test_bad_options_are_refused(write):
    path = write(PLAIN)
    for options, words in (
        ({"encode": "hot"}, "'encode' parameter must be one of 'onehot', 'ordinal', 'drop', None"),
        ({"scale": None}, "'scale' parameter must be one of"),
        ({"impute": "zero"}, "'impute' parameter must be one of"),
        ({"separator": ", "}, "'separator' parameter must be one character"),
        ({"decimal": "'"}, "'decimal' parameter must be"),
    ):
        with pytest.raises(ValueError, match=words):
            read_table(path, **options)
    with pytest.raises(TypeError, match="max_rows"):
        read_table(path, max_rows=2.5)
    with pytest.raises(ValueError, match="is the target, and cannot be left out"):
        read_table(path, target="a", drop="a")


def test_zip_files(write, tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("folder/inner.csv", PLAIN)
        archive.writestr("__MACOSX/._inner.csv", "junk")
    table = raw(path)
    assert table.X.tolist() == raw(write(PLAIN)).X.tolist()
    assert "folder/inner.csv" in table.notes[0]
    for names, words in ((("a.csv", "b.csv"), "holds 2: a.csv, b.csv"), ((), "holds 0: none")):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, PLAIN)
        with pytest.raises(ValueError, match=f"data.zip.*exactly one file; it {words}"):
            read_table(path)
    path.write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(ValueError, match="the zip file is damaged"):
        read_table(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="named like a packed file, but it is not one"):
        read_table(path)


def test_bombs_are_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"1,2\n" * 2**20)
    with pytest.raises(ValueError, match=r"bomb.* unpacks to more than 1\.0 MiB, which is the limit"):
        read_table(path, max_bytes=2**20)
    content, size = bytearray(path.read_bytes()), (2**22).to_bytes(4, "little")
    while (place := content.find(size)) >= 0:
        content[place : place + 4] = (100).to_bytes(4, "little")  # it lies about its size
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the zip file is damaged"):
        read_table(path, max_bytes=2**20)
    big = tmp_path / "big.csv"
    big.write_bytes(bytes(5 * 2**20))
    with pytest.raises(ValueError, match=r"big\.csv has 5\.0 MiB; the limit is 1\.0 MiB"):
        read_table(big, max_bytes=2**20)


CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)


@pytest.fixture(scope="module")
def any_file(tmp_path_factory):
    return tmp_path_factory.mktemp("any") / "any.csv"


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=6), st.sampled_from(",;\t|"))
def test_any_text_is_read_or_refused_by_name(any_file, rows, separator):
    any_file.write_text("\n".join(separator.join(row) for row in rows), encoding="utf-8", newline="")
    try:
        table = read_table(any_file, encode="onehot", impute="median")
    except ValueError as error:
        assert "any.csv" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(table.X).all()
        assert len(table.y) == len(table.X)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_name(any_file, content):
    any_file.write_bytes(content)
    try:
        read_table(any_file, encode="ordinal", impute="most_frequent")
    except ValueError as error:
        assert "any.csv" in str(error)  # noqa: PT017


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=4, max_size=20))
def test_numbers_come_back_as_they_were(any_file, rows):
    lines = [f"{a!r},{b!r},{'xy'[i % 2]}" for i, (a, b) in enumerate(rows)]
    any_file.write_text("a,b,y\n" + "\n".join(lines), encoding="utf-8")
    assert raw(any_file).X.tolist() == [list(row) for row in rows]


USER_TABLES = {
    "abalone.csv": ({"target": "Rings", "task": "classification", "encode": "onehot"}, (4177, 9), 28),
    "flare.csv": ({"encode": "onehot"}, (1066, 17), 6),
    "kr-vs-k.csv": ({"encode": "onehot"}, (28056, 20), 18),
    "nursery.csv": ({"encode": "onehot"}, (12960, 19), 5),
    "winequality-red.csv": ({}, (1599, 11), 6),
    "winequality-white.csv": ({}, (4898, 11), 7),
    "yeast.csv": ({"drop": "Sequence_Name"}, (1484, 8), 10),
    "fars.csv.gz": ({}, (100968, 29), 8),
}


@pytest.mark.slow
@for_each("name", USER_TABLES)
def test_tables_as_users_have_them(data_dir, name):
    path = data_dir / "tables" / name
    options, shape, n_classes = USER_TABLES[name]
    table = raw(path, **options)
    frame = pd.read_csv(path)
    assert table.X.shape == shape
    assert len(table.classes) == n_classes == frame.iloc[:, -1].nunique()
    names = [column for column in frame.columns if column in table.feature_names]
    np.testing.assert_array_equal(frame[names], table.X[:, [table.feature_names.index(n) for n in names]])
    assert table.y.astype(str).tolist() == frame.iloc[:, -1].astype(str).tolist()
