"""The data sets of the study by name: the paper's sixteen, a few beside them, and those of scikit-learn.

A set is read from a local folder, else fetched from OpenML and prepared as the paper did (`study.recipes`). Either way
it is compared with what is known of it (`study.fingerprints`).
"""

import hashlib
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import Table
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, TextColumn, text_column
from bayesfloor.tables.datasets import BUILT_IN, DATA_VARIABLE, load_dataset, local_files
from bayesfloor.tables.options import ReadOptions
from bayesfloor.tables.prepare import make_table
from benchmarks.study.fingerprints import FINGERPRINTS, Fingerprint
from benchmarks.study.plan import find_dataset
from benchmarks.study.recipes import RECIPES, follow


def load_paper_set(name: str, *, data_dir: str | Path | None = None, download: bool = True) -> Table:
    """Load a data set as the paper used it: tiny classes merged or left out, categories as k - 1 dummies.

    Parameters
    ----------
    name : str
        Its name, see `study.plan.find_dataset`.
    data_dir : str, path-like or None, default=None
        Folder of NPZ files, as `bayesfloor.load_dataset` takes it; None takes $BAYESFLOOR_DATA.
    download : bool, default=True
        Whether a set that is not there may be fetched from OpenML.

    Returns
    -------
    Table
        Not scaled.

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
    A local file must agree with all of the fingerprint. What OpenML sends must agree in size and class counts. Its
    values may be written differently there (scaled, or with other codes for categories), so another checksum is a
    caution in `Table.cautions`.
    """
    name = find_dataset(name)
    if name in BUILT_IN:
        return load_dataset(name)
    is_local = name in local_files(data_dir)
    if is_local:
        table = load_dataset(name, data_dir=data_dir)
    elif download:
        table = table_of_columns(_from_openml(name, data_dir))
    else:
        raise FileNotFoundError(_nowhere(name, data_dir))
    cautions = check_fingerprint(table.X, table.y, FINGERPRINTS[name], name, strict=is_local)
    if RECIPES[name].label_as_feature:
        leak = f"The last feature of {name} is the label's own number, as in the paper; {name}_noleak is without."
        cautions = (*cautions, leak)
    return replace(table, cautions=(*table.cautions, *cautions))


def table_of_columns(raw: RawTable) -> Table:
    """Make a table as the paper did: a category becomes a column of 0 and 1 for each value but the first."""
    columns: list[Column] = []
    for column in raw.columns:
        if isinstance(column, TextColumn) and column.name != raw.target and not column.gaps.any():
            values = enumerate(column.categories[1:], start=1)
            columns += [NumberColumn(f"{column.name}={value}", (column.codes == code) * 1.0) for code, value in values]
        else:
            columns.append(column)
    return make_table(replace(raw, columns=columns), ReadOptions(raw.target, as_given=True, scale="none"))


def content_checksum(X: NDArray[Any]) -> str:
    """Return a SHA-256 checksum of rows of numbers, as float64, that does not depend on their order."""
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
    return RawTable(name, columns, n_rows, np.arange(1, n_rows + 1), "class", row_word="row")


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


def _nowhere(name: str, data_dir: str | Path | None) -> str:
    folder = data_dir or os.environ.get(DATA_VARIABLE)
    if not folder:
        return f"{name} is in no local folder: none is named by data_dir= (--data) or {DATA_VARIABLE}"
    return f"{name} is not in the local folder {str(folder)!r} (data_dir=, --data or {DATA_VARIABLE})"
