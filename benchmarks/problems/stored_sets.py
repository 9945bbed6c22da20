"""Real data sets from a folder: $BAYESFLOOR_DATA, or shared/data beside the repository."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tools.pages import ROOT

DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data"))


def stored_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Return all arrays of a set such as "paper/letter"."""
    path = DATA / f"{name}.npz"
    if not path.is_file():
        raise SystemExit(f"no file {path}; point BAYESFLOOR_DATA to the folder of data sets")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def stored_set(
    name: str, rows: int | None = None, standardize: bool = False
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return points and labels of the first rows of a set, scaled to mean 0 and deviation 1 where asked for."""
    arrays = stored_arrays(name)
    X, y = arrays["X"][:rows].astype(np.float64), arrays["y"][:rows]
    if standardize:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, y
