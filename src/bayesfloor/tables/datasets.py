"""Data sets by name: the paper's, MNIST, and those that come with scikit-learn."""

import hashlib
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import Table
from bayesfloor.runtime.checks import check_random_state_seed
from bayesfloor.runtime.text import counted
from bayesfloor.tables.binary_tables import read_npz
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, text_column
from bayesfloor.tables.dataset_fingerprints import FINGERPRINTS, Fingerprint
from bayesfloor.tables.dataset_recipes import RECIPES, follow
from bayesfloor.tables.encoding import SCALES
from bayesfloor.tables.read import make_table
from bayesfloor.tables.unpacking import read_contents

#: The variable that names a local folder of data sets.
DATA_VARIABLE = "BAYESFLOOR_DATA"

#: Other names of the same sets.
ALIASES = {"chess": "kr-vs-k", "krkopt": "kr-vs-k", "page-blocks": "pageblocks", "breast-cancer": "breast_cancer"}

#: Sets that come with scikit-learn: rows, features and classes.
BUILT_IN = {"breast_cancer": (569, 30, 2), "digits": (1797, 64, 10), "iris": (150, 4, 3), "wine": (178, 13, 3)}

_FOLDERS = ("paper", "extra", "")


@dataclass(frozen=True)
class DatasetInfo:
    """A data set that can be loaded by name.

    Attributes
    ----------
    name : str
        Its name.
    n_rows, n_features, n_classes : int
        Its size.
    origin : str
        Where `load_dataset` takes it from: "built in", "local" or "OpenML".
    """

    name: str
    n_rows: int
    n_features: int
    n_classes: int
    origin: str


def list_datasets(*, data_dir: str | Path | None = None) -> tuple[DatasetInfo, ...]:
    """List the data sets that can be loaded by name.

    Parameters
    ----------
    data_dir : str, path-like or None, default=None
        A local folder of sets; None takes $BAYESFLOOR_DATA.

    Returns
    -------
    tuple of DatasetInfo
        Those of scikit-learn first.

    Examples
    --------
    >>> from bayesfloor.tables.datasets import list_datasets
    >>> list_datasets()[1]
    DatasetInfo(name='digits', n_rows=1797, n_features=64, n_classes=10, origin='built in')
    """
    listed = [DatasetInfo(name, *size, "built in") for name, size in BUILT_IN.items()]
    for name, known in FINGERPRINTS.items():
        origin = "OpenML" if _local_file(name, data_dir) is None else "local"
        listed.append(DatasetInfo(name, known.n_rows, known.n_features, len(known.class_counts), origin))
    return tuple(listed)


def load_dataset(
    name: str,
    *,
    data_dir: str | Path | None = None,
    download: bool = True,
    scale: str = "none",
    max_rows: int | None = None,
    random_state: Any = 0,
) -> Table:
    """Load a data set by name.

    The sets of the paper's Table 1 come prepared as the paper used them: tiny classes merged or left out, categories as
    k - 1 dummies. They are read from a local folder of NPZ files, else fetched from OpenML. iris, wine, digits and
    breast_cancer come with scikit-learn and need neither.

    Parameters
    ----------
    name : str
        See `list_datasets`.
    data_dir : str, path-like or None, default=None
        Folder that holds ``<name>.npz``, or has it in ``paper`` or ``extra``. None takes $BAYESFLOOR_DATA.
    download : bool, default=True
        Whether a set that is not there may be fetched from OpenML.
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
        For an unknown name, and for contents that are not those of the set.
    ConnectionError
        When OpenML cannot be reached.
    FileNotFoundError
        When the set is not in the local folder and `download` is False.

    Notes
    -----
    Each set has a fingerprint: rows, features, rows of each class, and a SHA-256 checksum over its rows in any order
    (`content_checksum`). A local file must agree in all of them. What OpenML sends must agree in size and class counts,
    else it is refused. Its values may be written differently there (scaled, or with other codes for categories), so a
    checksum that differs is no error, but a caution in `Table.cautions`.

    Examples
    --------
    >>> from bayesfloor.tables.datasets import load_dataset
    >>> load_dataset("iris")
    Table('iris': 150 rows, 4 features, 3 classes of 'class')
    """
    known = ALIASES.get(name, name)
    if scale not in SCALES:
        listed = ", ".join(map(repr, SCALES))
        raise ValueError(f"The 'scale' parameter must be one of {listed}. Got {scale!r} instead.")
    seed = check_random_state_seed(random_state)
    if known in BUILT_IN:
        raw = _from_scikit_learn(known)
        return make_table(raw, "class", encode=None, scale=scale, max_rows=max_rows, seed=seed)
    if known not in FINGERPRINTS:
        raise ValueError(_unknown(name))
    file = _local_file(known, data_dir)
    if file is not None:
        raw = read_npz(read_contents(file))
        raw.notes = [f"{known} from the local file {file.name}."]
        for column in raw.columns:
            if isinstance(column, NumberColumn):
                column.is_dummy = "=" in column.name
    elif download:
        raw = _from_openml(known, data_dir)
    else:
        raise FileNotFoundError(_nowhere(known, data_dir))
    assert raw.target is not None
    target = raw.target
    table = make_table(replace(raw, notes=list(raw.notes)), target, encode="onehot", scale="none")
    caution = check_fingerprint(table.X, table.y, FINGERPRINTS[known], known, strict=file is not None)
    if scale != "none" or max_rows is not None:
        table = make_table(raw, target, encode="onehot", scale=scale, max_rows=max_rows, seed=seed)
    if RECIPES[known].label_as_feature:
        caution += (
            f"The last feature of {known} is the label's own number, as in the paper; {known}_noleak is without.",
        )
    groups, group_names = _groups_by_name(table.feature_names)
    return replace(table, source=known, groups=groups, group_names=group_names, cautions=(*table.cautions, *caution))


def content_checksum(X: NDArray[Any]) -> str:
    """Return a SHA-256 checksum of rows of numbers that does not depend on their order.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows; they count as float64.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digests = []
    for start in range(0, len(X), 4096):
        block = np.ascontiguousarray(X[start : start + 4096], dtype="<f8") + 0.0  # -0.0 becomes 0.0
        digests += [hashlib.sha256(row.tobytes()).digest() for row in block]
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def check_fingerprint(X: NDArray[Any], y: Any, known: Fingerprint, name: str, *, strict: bool) -> tuple[str, ...]:
    """Compare a set with what is known of it.

    Parameters
    ----------
    X, y : ndarray
        The set, not scaled.
    known : Fingerprint
        What it should be.
    name : str
        Its name, for messages.
    strict : bool
        Whether other values are an error.

    Returns
    -------
    tuple of str
        A caution when the values are others, and `strict` is False.

    Raises
    ------
    ValueError
        For another size or other class counts; where `strict`, also for other values.
    """
    if X.shape != (known.n_rows, known.n_features):
        raise ValueError(
            f"{name} should have {counted(known.n_rows)} rows and {known.n_features} features; "
            f"this one has {counted(X.shape[0])} and {X.shape[1]}"
        )
    counts = sorted(np.unique(y, return_counts=True)[1].tolist())
    if counts != sorted(known.class_counts):
        raise ValueError(f"{name} should have {sorted(known.class_counts)} rows in its classes; this one has {counts}")
    if content_checksum(X) == known.checksum:
        return ()
    text = f"the values of {name} are not those of the set that the paper used (another SHA-256 checksum)"
    if strict:
        raise ValueError(text)
    return (f"Size and class counts agree, but {text}: they may be scaled or coded in another way.",)


def _unknown(name: str) -> str:
    names = [*BUILT_IN, *FINGERPRINTS, *ALIASES]
    close = get_close_matches(str(name).lower(), names, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known are {', '.join(names)}"
    return f"there is no data set {name!r}; {hint}"


def _folder(data_dir: str | Path | None) -> Path | None:
    if data_dir is not None:
        folder = Path(data_dir)
        if not folder.is_dir():
            raise FileNotFoundError(f"{str(folder)!r}: no such folder")
        return folder
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else None


def _local_file(name: str, data_dir: str | Path | None) -> Path | None:
    folder = _folder(data_dir)
    if folder is None:
        return None
    files = (folder / inner / f"{name}.npz" for inner in _FOLDERS)
    return next((file for file in files if file.is_file()), None)


def _nowhere(name: str, data_dir: str | Path | None) -> str:
    folder = _folder(data_dir)
    if folder is None:
        return f"{name} is in no local folder: none is named by data_dir= (--data) or {DATA_VARIABLE}"
    return f"{name} is not in the local folder {str(folder)!r} (data_dir=, --data or {DATA_VARIABLE})"


def _from_scikit_learn(name: str) -> RawTable:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    columns: list[Column] = [
        NumberColumn(str(label), np.ascontiguousarray(bunch.data[:, j], dtype=np.float64))
        for j, label in enumerate(bunch.feature_names)
    ]
    texts = [str(label) for label in bunch.target_names]
    columns.append(text_column("class", texts, np.asarray(bunch.target, dtype=np.int64), frozenset()))
    n_rows = len(bunch.target)
    notes = [f"{name} comes with scikit-learn."]
    return RawTable(name, columns, n_rows, np.arange(1, n_rows + 1), "class", notes, unit="row")


def _from_openml(name: str, data_dir: str | Path | None) -> RawTable:
    """Fetch a set from OpenML and prepare it as the paper did."""
    from sklearn.datasets import fetch_openml

    recipe = RECIPES[name]
    try:
        with warnings.catch_warnings():  # the error below says more than "retrying"
            warnings.filterwarnings("ignore", message="A network error occurred")
            bunch = fetch_openml(data_id=recipe.openml, as_frame=False, parser="liac-arff", n_retries=1)
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(f"{_nowhere(name, data_dir)}, and OpenML cannot be reached ({reason})") from error
    raw = from_bunch(bunch, name)
    raw.notes = [f"{name} from OpenML, number {recipe.openml}."]
    return follow(recipe, raw, "class")


def from_bunch(bunch: Any, name: str) -> RawTable:
    """Make columns of what scikit-learn's ``fetch_openml(as_frame=False)`` returns; the labels are called "class"."""
    columns: list[Column] = []
    categories = getattr(bunch, "categories", None) or {}
    for j, label in enumerate(bunch.feature_names):
        values = np.asarray(bunch.data[:, j], dtype=np.float64)
        if label in categories:
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            columns.append(text_column(str(label), [str(text) for text in categories[label]], codes))
        else:
            columns.append(NumberColumn(str(label), values))
    distinct, codes = np.unique(np.asarray(bunch.target).astype(str), return_inverse=True)
    columns.append(text_column("class", distinct.tolist(), codes.astype(np.int64), frozenset({""})))
    n_rows = len(bunch.target)
    return RawTable(name, columns, n_rows, np.arange(1, n_rows + 1), "class", unit="row")


def _groups_by_name(names: Sequence[str]) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Group columns called ``column=value`` by their column."""
    members: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        members.setdefault(name.split("=", 1)[0], []).append(position)
    return tuple(tuple(group) for group in members.values()), tuple(members)
