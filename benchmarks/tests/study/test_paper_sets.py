"""The study's data sets: from a local folder and from OpenML, as the paper used them."""

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from bayesfloor.tables.columns import NumberColumn, RawTable, TextColumn
from bayesfloor.tables.formats import read_raw
from benchmarks.study.fingerprints import FINGERPRINTS, Fingerprint
from benchmarks.study.paper_sets import check_fingerprint, content_checksum, load_paper_set, table_of_columns
from benchmarks.study.plan import PAPER_SETS, work_of
from benchmarks.study.recipes import RECIPES, Recipe, follow


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Whatever the environment names, these tests name their folders themselves."""
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)


def with_fars_slow(names):
    return [pytest.param(name, marks=pytest.mark.slow) if name == "fars" else name for name in names]


def test_all_sets_of_the_paper_are_known():
    assert {*PAPER_SETS, "mnist"} <= FINGERPRINTS.keys()
    assert FINGERPRINTS.keys() == RECIPES.keys()


@pytest.mark.parametrize("name", with_fars_slow([*PAPER_SETS, "wine_red_noleak", "wine_white_noleak"]))
def test_local_sets(data_dir, name):
    table = load_paper_set(name, data_dir=data_dir, download=False)
    inner = "extra" if "noleak" in name else "paper"
    with np.load(data_dir / inner / f"{name}.npz", allow_pickle=False) as stored:
        np.testing.assert_array_equal(table.X, stored["X"])
        assert table.y.astype(str).tolist() == stored["classes"][stored["y"]].tolist()
    assert work_of(name) == table.X.size * len(table.classes)
    assert (len(table.cautions) == 1) == (name in ("wine_red", "wine_white"))


RAW_TABLES = {
    "abalone": "abalone.csv",
    "flare": "flare.csv",
    "kr-vs-k": "kr-vs-k.csv",
    "nursery": "nursery.csv",
    "wine_red": "winequality-red.csv",
    "wine_white": "winequality-white.csv",
    "wine_red_noleak": "winequality-red.csv",
    "wine_white_noleak": "winequality-white.csv",
    "yeast": "yeast.csv",
    "fars": "fars.csv.gz",
}


@pytest.mark.parametrize("name", with_fars_slow(RAW_TABLES))
def test_recipes_turn_public_tables_into_the_papers_sets(data_dir, name):
    path = data_dir / "tables" / RAW_TABLES[name]
    if not path.is_file():
        pytest.skip(f"no {path}")
    raw = read_raw(path, target=None, categorical=(), dropped=())
    raw = follow(RECIPES[name], raw, raw.names[-1])
    table = table_of_columns(raw)
    expected = load_paper_set(name, data_dir=data_dir, download=False)
    np.testing.assert_array_equal(table.X, expected.X)
    assert table.y.tolist() == expected.y.tolist()
    assert table.feature_names == expected.feature_names


def test_named_classes_are_merged():
    recipe = Recipe(1, merged=[("b", "c")])
    X = NumberColumn("a", np.arange(4.0))
    y = TextColumn("y", ("a", "b", "c"), np.array([0, 1, 2, 1]))
    merged = follow(recipe, RawTable("made", [X, y], 4, np.arange(1, 5)), "y").columns[-1]
    assert merged.categories == ("a", "b+c")
    assert merged.codes.tolist() == [0, 1, 1, 1]


def test_checksum_ignores_the_order_of_rows_and_the_type():
    X = np.arange(12).reshape(4, 3)
    assert content_checksum(X) == content_checksum(X[::-1].astype(np.float32))
    assert content_checksum(X) != content_checksum(X + np.eye(4, 3))
    assert content_checksum(np.zeros((2, 2))) == content_checksum(-np.zeros((2, 2)))


def test_a_fingerprint_must_agree():
    X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 1])
    good = Fingerprint(4, 2, (3, 1), content_checksum(X))
    assert check_fingerprint(X, y, good, "made", strict=True) == ()
    with pytest.raises(ValueError, match="made should have 4 rows and 2 features; this one has 3 and 2"):
        check_fingerprint(X[1:], y[1:], good, "made", strict=False)
    with pytest.raises(ValueError, match=r"made should have \[1, 3\] rows in its classes; this one has \[2, 2\]"):
        check_fingerprint(X, y[[0, 0, 1, 1]], good, "made", strict=False)
    with pytest.raises(ValueError, match="another SHA-256 checksum"):
        check_fingerprint(X + 1, y, good, "made", strict=True)
    (caution,) = check_fingerprint(X + 1, y, good, "made", strict=False)
    assert "may be scaled or coded" in caution


def test_a_local_file_with_other_values_is_refused(tmp_path):
    known = FINGERPRINTS["yeast"]
    y = np.repeat(np.arange(len(known.class_counts)), known.class_counts)
    X = np.random.default_rng(0).normal(size=(known.n_rows, known.n_features))
    np.savez(tmp_path / "yeast.npz", X=X, y=y)
    with pytest.raises(ValueError, match="the values of yeast are not those of the set that the paper used"):
        load_paper_set("yeast", data_dir=tmp_path)


def test_a_set_that_is_nowhere(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"letter is not in the local folder .*\(data_dir=, --data or BAYESFLOOR"
    ):
        load_paper_set("letter", data_dir=tmp_path, download=False)
    with pytest.raises(FileNotFoundError, match=r"letter is in no local folder: none is named by data_dir="):
        load_paper_set("letter", download=False)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_paper_set("letter", data_dir=tmp_path / "nothing")

    def unreachable(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    with pytest.raises(ConnectionError, match=r"OpenML cannot be reached \(no route to host\)") as caught:
        load_paper_set("letter")
    assert "BAYESFLOOR_DATA" in str(caught.value)
    with pytest.raises(ConnectionError, match=r"letter is not in the local folder .*, and OpenML cannot be reached"):
        load_paper_set("letter", data_dir=tmp_path)


def fetched(path, **options):
    """Write a table as fetch_openml(as_frame=False) hands it over: categories as codes, labels as text."""
    raw = read_raw(path, target=None, categorical=(), dropped=(), **options)
    names, columns, categories = [], [], {}
    for column in raw.columns[:-1]:
        names.append(column.name)
        if isinstance(column, TextColumn):
            categories[column.name] = list(column.categories)
            columns.append(column.codes.astype(float))
        else:
            columns.append(column.values)
    labels = raw.columns[-1]
    target = np.array(labels.categories, dtype=object)[labels.codes]
    return SimpleNamespace(data=np.column_stack(columns), feature_names=names, categories=categories, target=target)


@pytest.mark.parametrize("name", ["abalone", "nursery", "kr-vs-k", "wine_white"])
def test_a_set_from_openml(data_dir, tmp_path, monkeypatch, name):
    path = data_dir / "tables" / RAW_TABLES[name]
    if not path.is_file():
        pytest.skip(f"no {path}")
    asked = {}

    def fetch(**options):
        asked.update(options)
        return fetched(path)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    table = load_paper_set(name, data_dir=tmp_path)
    expected = load_paper_set(name, data_dir=data_dir)
    np.testing.assert_array_equal(table.X, expected.X)
    assert table.y.tolist() == expected.y.tolist()
    assert table.groups == expected.groups
    assert table.cautions == expected.cautions
    assert asked["data_id"] == RECIPES[name].openml
    assert any(f"OpenML, number {RECIPES[name].openml}" in note for note in table.notes)


def test_another_set_from_openml_is_refused(data_dir, monkeypatch):
    path = data_dir / "tables" / "winequality-red.csv"
    if not path.is_file():
        pytest.skip(f"no {path}")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fetched(path))
    with pytest.raises(ValueError, match="letter should have 20,000 rows and 16 features; this one has 1,599 and 11"):
        load_paper_set("letter")
