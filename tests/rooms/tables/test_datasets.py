"""Data sets by name: from scikit-learn and from a local folder, and what is refused."""

import sys

import numpy as np
import pytest
import sklearn.datasets

from bayesfloor.tables.datasets import BUILT_IN, DATA_VARIABLE, list_datasets, load_dataset
from helpers.one_case import for_each


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Whatever the environment names, these tests name their folders themselves."""
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)


@pytest.fixture
def folder(tmp_path):
    """Pets in the folder itself, birds in paper and extra, and things that are no sets."""
    for inner in ("paper", "extra", "deeper"):
        (tmp_path / inner).mkdir()
    names = ["weight", "kind=cat", "kind=dog"]
    X = np.array([[4.0, 1, 0], [22.0, 0, 1], [3.0, 1, 0], [9.0, 0, 1]])
    y = np.array([1, 0, 1, 0])
    np.savez(tmp_path / "pets.npz", X=X, y=y, feature_names=names, classes=["loud", "quiet"])
    np.savez(tmp_path / "paper" / "birds.npz", X=X[:, :2], y=y)
    np.savez(tmp_path / "extra" / "birds.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "extra" / "one_array.npz", np.column_stack([X, y]))
    np.savez(tmp_path / "deeper" / "fish.npz", X=X, y=y)
    np.savez(tmp_path / "iris.npz", X=X, y=y)
    np.savez(tmp_path / "._pets.npz", X=X, y=y)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "pets.csv").write_text("a,b\n1,u\n")
    (tmp_path / "folder.npz").mkdir()
    return tmp_path


@for_each("name", ["iris", "wine", "digits", "breast_cancer"])
def test_scikit_learns_sets(name):
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    table = load_dataset(name)
    np.testing.assert_array_equal(table.X, bunch.data)
    assert table.y.tolist() == bunch.target_names[bunch.target].tolist()
    assert table.feature_names == tuple(bunch.feature_names)
    assert name in list_datasets()
    assert BUILT_IN[name] == (*table.X.shape, len(table.classes))


def test_options_are_those_of_read_table():
    table = load_dataset("iris", scale="standard", max_rows=30, random_state=3)
    assert table.X.shape == (30, 4)
    np.testing.assert_allclose(table.X.mean(axis=0), 0, atol=1e-12)
    with pytest.raises(ValueError, match="'scale' parameter must be one of"):
        load_dataset("iris", scale="big")


def test_a_local_set(folder, monkeypatch):
    table = load_dataset("pets", data_dir=folder)
    assert table.y.tolist() == ["quiet", "loud", "quiet", "loud"]
    assert (table.source, table.column_names, table.feature_groups) == ("pets", ("weight", "kind"), ((0,), (1, 2)))
    assert table.notes[0] == "pets from the local file pets.npz."
    monkeypatch.setenv(DATA_VARIABLE, str(folder))
    scaled = load_dataset("pets", scale="standard")
    assert scaled.X[:, 0].std() == pytest.approx(1)
    np.testing.assert_array_equal(scaled.X[:, 1:], table.X[:, 1:])  # dummies stay as they are
    assert load_dataset("birds").X.shape == (4, 2)
    assert load_dataset("one_array").X.shape == (4, 3)
    assert len(load_dataset("iris").X) == 150  # no file takes the name of a set of scikit-learn


@for_each("name", ["deeper/fish", "../pets", "paper/birds", "pets.npz", "._pets", "fish", "folder", ""])
def test_a_name_is_no_path(folder, name):
    with pytest.raises(ValueError, match="there is no data set"):
        load_dataset(name, data_dir=folder / "paper" if name == "../pets" else folder)
    with pytest.raises(ValueError, match="there is no data set"):
        load_dataset(str(folder / "pets"), data_dir=folder)


def test_unknown_names_and_files_that_cannot_be_read(folder):
    assert list_datasets(data_dir=folder)[5:] == ("birds", "one_array", "broken", "pets")
    with pytest.raises(ValueError, match=r"broken.npz is no NPZ file, or it is damaged"):
        load_dataset("broken", data_dir=folder)
    with pytest.raises(ValueError, match="there is no data set 'pet'; did you mean 'pets'"):
        load_dataset("pet", data_dir=folder)
    known = "breast_cancer, diabetes, digits, iris, wine, and .* BAYESFLOOR_DATA names"
    with pytest.raises(ValueError, match=f"known are {known}"):
        load_dataset("letter")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_dataset("pets", data_dir=folder / "nothing")


@pytest.mark.parametrize("damage", ["none", "truncated", "no folder"])
def test_copies_of_what_comes_with_scikit_learn(damage, tmp_path, monkeypatch):
    folder = None if damage == "no folder" else tmp_path
    monkeypatch.setattr("bayesfloor.tables.datasets.cache_folder", lambda: folder)
    first = load_dataset("wine")
    if damage == "none":
        monkeypatch.setitem(sys.modules, "sklearn", None)
    elif damage == "truncated":
        (path,) = tmp_path.iterdir()
        path.write_bytes(path.read_bytes()[:-100])
    again = load_dataset("wine")
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert first.feature_names == again.feature_names
    assert first.notes == again.notes


def test_diabetes_has_a_target_of_numbers():
    table, frame = load_dataset("diabetes"), sklearn.datasets.load_diabetes(as_frame=True, scaled=False).frame
    assert (table.task, table.target) == ("regression", "progression")
    np.testing.assert_array_equal(table.y, frame["target"])
    np.testing.assert_array_equal(table.X, frame.drop(columns="target"))
    assert "diabetes" in list_datasets()
    assert BUILT_IN["diabetes"] == (442, 10, None)
