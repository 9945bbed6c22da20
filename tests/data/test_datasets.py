"""Data sets by name: from scikit-learn, a local folder and OpenML, and what is refused."""

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from bayesfloor.tables import datasets
from bayesfloor.tables.columns import NumberColumn, TextColumn
from bayesfloor.tables.dataset_fingerprints import FINGERPRINTS, Fingerprint
from bayesfloor.tables.dataset_recipes import RECIPES, Recipe, follow
from bayesfloor.tables.datasets import check_fingerprint, content_checksum, list_datasets, load_dataset
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.read import make_table, read_table

PAPER = [
    *("abalone", "fars", "flare", "kr-vs-k", "letter", "nursery", "optdigits", "pageblocks", "pendigits"),
    *("satimage", "segment", "shuttle", "texture", "wine_red", "wine_white", "yeast"),
]


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Whatever the environment names, these tests name their folders themselves."""
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
def test_scikit_learns_sets(name):
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    table = load_dataset(name)
    np.testing.assert_array_equal(table.X, bunch.data)
    assert table.y.tolist() == bunch.target_names[bunch.target].tolist()
    assert table.feature_names == tuple(bunch.feature_names)
    (info,) = (info for info in list_datasets() if info.name == name)
    assert (info.n_rows, info.n_features, info.n_classes) == (*table.X.shape, len(table.classes))
    assert info.origin == "built in"


def test_options_are_those_of_read_table():
    table = load_dataset("iris", scale="standard", max_rows=30, random_state=3)
    assert table.X.shape == (30, 4)
    np.testing.assert_allclose(table.X.mean(axis=0), 0, atol=1e-12)
    with pytest.raises(ValueError, match="'scale' parameter must be one of"):
        load_dataset("iris", scale="big")


def test_all_sets_of_the_paper_are_listed():
    names = [info.name for info in list_datasets()]
    assert set(PAPER) | {"mnist", "iris", "wine", "digits", "breast_cancer"} <= set(names)
    assert len(set(names)) == len(names)
    assert FINGERPRINTS.keys() == RECIPES.keys()


def test_unknown_names():
    with pytest.raises(ValueError, match="there is no data set 'leter'; did you mean 'letter'"):
        load_dataset("leter")
    with pytest.raises(ValueError, match="known are breast_cancer, digits"):
        load_dataset("zzzzzz")


@pytest.mark.parametrize("name", [*PAPER, "wine_red_noleak", "wine_white_noleak"])
def test_local_sets(data_dir, name):
    table = load_dataset(name, data_dir=data_dir, download=False)
    inner = "extra" if "noleak" in name else "paper"
    with np.load(data_dir / inner / f"{name}.npz", allow_pickle=False) as stored:
        np.testing.assert_array_equal(table.X, stored["X"])
        assert table.y.astype(str).tolist() == stored["classes"][stored["y"]].tolist()
    (info,) = (info for info in list_datasets(data_dir=data_dir) if info.name == name)
    assert (info.n_rows, info.n_features, info.n_classes) == (*table.X.shape, len(table.classes))
    assert info.origin == "local"
    assert (len(table.cautions) == 1) == (name in ("wine_red", "wine_white"))


def test_other_names_and_the_variable(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESFLOOR_DATA", str(data_dir))
    table = load_dataset("krkopt", scale="standard")
    assert table.source == "kr-vs-k"
    assert table.group_names[:2] == ("white_king_file", "white_king_rank")
    assert [len(group) for group in table.groups] == [3, 3, 7, 7, 7, 7]
    assert set(np.unique(table.X)) == {0.0, 1.0}  # dummies stay as they are


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


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "fars" else n for n in RAW_TABLES])
def test_recipes_turn_public_tables_into_the_papers_sets(data_dir, name):
    path = data_dir / "tables" / RAW_TABLES[name]
    if not path.is_file():
        pytest.skip(f"no {path}")
    raw = read_raw(path, target=None, categorical=(), dropped=())
    raw = follow(RECIPES[name], raw, raw.names[-1])
    table = make_table(raw, raw.target, encode="onehot", scale="none")
    expected = load_dataset(name, data_dir=data_dir, download=False)
    np.testing.assert_array_equal(table.X, expected.X)
    assert table.y.tolist() == expected.y.tolist()
    assert table.feature_names == expected.feature_names


def test_named_classes_are_merged():
    recipe = Recipe(1, merged=[("b", "c")])
    X = NumberColumn("a", np.arange(4.0))
    y = TextColumn("y", ("a", "b", "c"), np.array([0, 1, 2, 1]))
    raw = read_raw_columns([X, y])
    merged = follow(recipe, raw, "y").columns[-1]
    assert merged.categories == ("a", "b+c")
    assert merged.codes.tolist() == [0, 1, 1, 1]


def read_raw_columns(columns):
    from bayesfloor.tables.columns import RawTable

    return RawTable("made", columns, 4, np.arange(1, 5))


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
        load_dataset("yeast", data_dir=tmp_path)


def test_a_set_that_is_nowhere(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"letter is not in the local folder .*\(data_dir=, --data or BAYESFLOOR"
    ):
        load_dataset("letter", data_dir=tmp_path, download=False)
    with pytest.raises(FileNotFoundError, match=r"letter is in no local folder: none is named by data_dir="):
        load_dataset("letter", download=False)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_dataset("letter", data_dir=tmp_path / "nothing")

    def unreachable(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    with pytest.raises(ConnectionError, match=r"OpenML cannot be reached \(no route to host\)") as caught:
        load_dataset("letter")
    assert "BAYESFLOOR_DATA" in str(caught.value)
    with pytest.raises(ConnectionError, match=r"letter is not in the local folder .*, and OpenML cannot be reached"):
        load_dataset("letter", data_dir=tmp_path)


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
    table = load_dataset(name, data_dir=tmp_path)
    expected = load_dataset(name, data_dir=data_dir)
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
    with pytest.raises(ValueError, match="letter should have 20 000 rows and 16 features; this one has 1 599 and 11"):
        load_dataset("letter")


def test_a_local_set_is_a_file_like_any_other(data_dir):
    path = data_dir / "paper" / "segment.npz"
    if not path.is_file():
        pytest.skip(f"no {path}")
    assert read_table(path, scale="none").X.tolist() == load_dataset("segment", data_dir=data_dir).X.tolist()
    assert datasets.DATA_VARIABLE == "BAYESFLOOR_DATA"
