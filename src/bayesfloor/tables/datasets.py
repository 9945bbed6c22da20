"""Data sets by name: those that come with scikit-learn, and the NPZ files of a local folder."""

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import Table
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_random_state_seed
from bayesfloor.runtime.kernel_cache import cache_folder, keep, kept
from bayesfloor.tables.binary_tables import read_npz
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, text_column
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.prepare import make_table
from bayesfloor.tables.unpacking import read_contents

#: The variable that names a local folder of data sets.
DATA_VARIABLE = "BAYESFLOOR_DATA"

#: Sets that come with scikit-learn: rows, features and classes, None where the target is a number.
BUILT_IN: dict[str, tuple[int, int, int | None]] = {
    "breast_cancer": (569, 30, 2),
    "diabetes": (442, 10, None),
    "digits": (1797, 64, 10),
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
}

#: Subfolders to search, in this order; the first file of a name wins.
_FOLDERS = ("paper", "extra", "")


def list_datasets(*, data_dir: str | Path | None = None) -> tuple[str, ...]:
    """List the names of the data sets that can be loaded.

    Parameters
    ----------
    data_dir : str, path-like or None, default=None
        A local folder of sets; None takes $BAYESFLOOR_DATA.

    Returns
    -------
    tuple of str
        Those of scikit-learn first.

    Examples
    --------
    >>> from bayesfloor.tables.datasets import list_datasets
    >>> list_datasets()[2]
    'digits'
    """
    return (*BUILT_IN, *local_files(data_dir))


def local_files(data_dir: str | Path | None = None) -> dict[str, Path]:
    """Find the NPZ files of a folder of data sets, by the name of each set.

    Parameters
    ----------
    data_dir : str, path-like or None, default=None
        The folder; None takes $BAYESFLOOR_DATA. Its subfolders ``paper`` and ``extra`` are searched first.

    Returns
    -------
    dict of str to Path
        None of them has the name of a set of scikit-learn.
    """
    folder = _folder(data_dir)
    found: dict[str, Path] = {}
    if folder is not None:
        for inner in _FOLDERS:
            for file in sorted((folder / inner).glob("[!.]*.npz")):
                if file.is_file() and file.stem not in BUILT_IN:
                    found.setdefault(file.stem, file)
    return found


def load_dataset(
    name: str,
    *,
    data_dir: str | Path | None = None,
    scale: str = "none",
    max_rows: int | None = None,
    random_state: Any = 0,
) -> Table:
    """Load a data set by name.

    breast_cancer, diabetes, digits, iris and wine come with scikit-learn. Any other name is that of an NPZ file in a
    local folder, with arrays as `read_table` takes them. Features called ``column=value`` count as dummies of one
    column.

    Parameters
    ----------
    name : str
        See `list_datasets`.
    data_dir : str, path-like or None, default=None
        Folder that holds ``<name>.npz``, or has it in ``paper`` or ``extra``. None takes $BAYESFLOOR_DATA.
    scale : {"standard", "minmax", "none"}, default="none"
        As in `read_table`.
    max_rows, random_state
        As in `read_table`.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        For an unknown name, and for a file that cannot be used.
    FileNotFoundError
        When there is no folder `data_dir`.

    Examples
    --------
    >>> from bayesfloor.tables.datasets import load_dataset
    >>> load_dataset("iris")
    Table('iris': 150 rows, 4 features, 3 classes of 'class')
    """
    seed = check_random_state_seed(random_state)
    if name in BUILT_IN:
        raw = _from_scikit_learn(name)
        options = ReadOptions(raw.target, as_given=True, scale=scale, max_rows=max_rows, seed=seed)
        return _without_target_note(make_table(raw, options))
    # The name is looked up among the files found, never joined to a path: no name leads out of the folder.
    files = local_files(data_dir)
    if name not in files:
        raise ValueError(_unknown(name, [*BUILT_IN, *files]))
    raw = read_npz(read_contents(files[name]))
    raw.notes = [f"{name} from the local file {files[name].name}."]
    assert raw.target is not None
    options = ReadOptions(raw.target, as_given=True, scale=scale, max_rows=max_rows, seed=seed)
    table = _without_target_note(make_table(raw, options))
    feature_groups, column_names = _groups_by_name(table.feature_names)
    origin = replace(table.origin, source=name)
    return replace(table, origin=origin, feature_groups=feature_groups, column_names=column_names)


def _without_target_note(table: Table) -> Table:
    """Leave out what goes without saying: a set that is known by name has one target."""
    return replace(table, notes=tuple(note for note in table.notes if not note.startswith("Target:")))


def _unknown(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(str(name).lower(), names, n=3)
    if close:
        return f"there is no data set {name!r}; did you mean {' or '.join(map(repr, close))}?"
    return (
        f"there is no data set {name!r}; known are {', '.join(names)}, and the NPZ files of a folder that data_dir= "
        f"or {DATA_VARIABLE} names"
    )


def _folder(data_dir: str | Path | None) -> Path | None:
    if data_dir is not None:
        folder = Path(data_dir)
        if not folder.is_dir():
            raise FileNotFoundError(f"{str(folder)!r}: no such folder")
        return folder
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else None


def _from_scikit_learn(name: str) -> RawTable:
    X, y, feature_names, texts = _arrays_from_scikit_learn(name)
    columns: list[Column] = [
        NumberColumn(label, np.ascontiguousarray(X[:, j])) for j, label in enumerate(feature_names)
    ]
    is_number = BUILT_IN[name][2] is None
    target: Column = NumberColumn("progression", y) if is_number else text_column("class", texts, y, frozenset())
    columns.append(target)
    n_rows = len(y)
    notes = [f"{name} comes with scikit-learn."]
    return RawTable(name, columns, n_rows, np.arange(1, n_rows + 1), target.name, notes, row_word="row")


def _arrays_from_scikit_learn(name: str) -> tuple[Floats, NDArray[Any], list[str], list[str]]:
    """Return X, y, the names of the columns and of the classes.

    A copy is kept beside compiled kernels: to load scikit-learn takes longer than many an answer.
    """
    folder = cache_folder()
    path = None if folder is None else folder / f"{name}-of-scikit-learn-{version('scikit-learn')}.npz"
    if path is not None and (content := kept(path)) is not None:
        copy = np.load(io.BytesIO(content), allow_pickle=False)
        return copy["X"], copy["y"], copy["feature_names"].tolist(), copy["classes"].tolist()
    from sklearn import datasets

    is_number = BUILT_IN[name][2] is None
    bunch = getattr(datasets, f"load_{name}")(**({"scaled": False} if is_number else {}))
    X, y = np.asarray(bunch.data, np.float64), np.asarray(bunch.target, np.float64 if is_number else np.int64)
    feature_names, classes = list(map(str, bunch.feature_names)), list(map(str, bunch.get("target_names", [])))
    if path is not None:
        file = io.BytesIO()
        np.savez(file, X=X, y=y, feature_names=feature_names, classes=classes)
        keep(path, file.getvalue())
    return X, y, feature_names, classes


def _groups_by_name(names: Sequence[str]) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Group columns called ``column=value`` by their column."""
    members: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        members.setdefault(name.split("=", 1)[0], []).append(position)
    return tuple(tuple(group) for group in members.values()), tuple(members)
