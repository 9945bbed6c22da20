"""Six problems and what the product says of them by its defaults: all learners, all repeats, nothing made small.

Whatever reads a result is tested with these. ``python tests/prepare.py`` makes them before the suite, and keeps them
under a name that changes with the sources; a test that comes without is the one that makes its own.
"""

import hashlib
import importlib.metadata
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesfloor
from bayesfloor.runtime.settings import Limits

ROOT = Path(__file__).resolve().parents[1]
#: What an answer depends on beside this package.
VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "polars", "pandas")


def gaussians(n: int, d: int, n_classes: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes of equal size around points of a sphere; two of them lie `apart` from each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    if n_classes == 2:
        centres = np.zeros((2, d))
        centres[1, 0] = apart
    else:
        centres = rng.normal(size=(n_classes, d))
        centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)
    return rng.normal(size=(n, d)) + centres[y], y


def mixed_table(n: int = 240) -> pd.DataFrame:
    """Make a table as a user has it: gaps, numbers in text, few and many levels, yes and no, dates, text, row ids."""
    rng = np.random.default_rng(2)
    age, weight = rng.integers(20, 80, n), rng.normal(75, 12, n)
    site, smoker = rng.choice(["Rome", "Oslo", "Bonn"], n, p=[0.5, 0.3, 0.2]), rng.random(n) < 0.3
    ill = rng.random(n) < 1.0 / (1.0 + np.exp(-(0.08 * (age - 50) + 1.5 * smoker - 0.5)))
    words = np.array(["short of breath", "no complaints", "headache at night", "sleeps well", "coughs"])
    return pd.DataFrame(
        {
            "patient": [f"P{1000 + k}" for k in range(n)],
            "age": age,
            "weight": np.where(rng.random(n) < 0.15, np.nan, weight.round(1)),
            "dose": [f"{value:.1f} mg" for value in rng.gamma(4, 5, n)],
            "site": site,
            "doctor": [f"d{k}" for k in rng.integers(0, 40, n)],
            "smoker": np.where(smoker, "yes", "no"),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "notes": [" and ".join(rng.choice(words, 3)) for _ in range(n)],
            "ill": np.where(ill, "ill", "well"),
        }
    )


def prices(n: int = 240) -> pd.DataFrame:
    """Draw numbers of which four columns explain a half, and one row whose target is far off."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["size", "rooms", "garden", "year"])
    frame["price"] = 10.0 + frame["size"] + np.abs(frame["rooms"]) + rng.normal(size=n)
    frame.loc[17, "price"] += 12.0
    return frame


def patients() -> pd.DataFrame:
    """Draw 25 patients of 8 rows each, whose label hangs on the patient."""
    rng = np.random.default_rng(4)
    patient = np.repeat(np.arange(25), 8)
    own = rng.normal(size=(25, 3))
    label = rng.random(25) < 0.5
    frame = pd.DataFrame(own[patient] + 0.1 * rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame["d"] = rng.normal(size=200) + 0.5 * label[patient]
    return frame.assign(patient=patient, label=label[patient])


def days() -> pd.DataFrame:
    """Draw 240 days, over which what tells the classes apart turns round."""
    rng = np.random.default_rng(5)
    moment = np.arange(240)
    X = rng.normal(size=(240, 2))
    angle = np.pi * moment / 240
    y = X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) + 0.3 * rng.normal(size=240) > 0
    return pd.DataFrame(X, columns=["u", "v"]).assign(
        day=pd.Timestamp("2025-01-01") + pd.to_timedelta(moment, "D"), y=y
    )


def _model(numbers: bool = False) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline

    if numbers:
        return LinearRegression()
    return make_pipeline(bayesfloor.TablePreparer(), LogisticRegression(max_iter=1000))


def _two() -> dict[str, Any]:
    X, y = gaussians(160, 4, 2, apart=2.0, seed=0)  # floor Φ(-1) = .1587
    return {
        "report": bayesfloor.difficulty_report(X, y),
        "floor": bayesfloor.learned_floor(X, y),
        "trees": bayesfloor.bayes_error(X, y),
    }


def _ten() -> dict[str, Any]:
    """Ten classes, of which every fiftieth row has the label of another; a model beside them."""
    from sklearn.naive_bayes import GaussianNB

    X, y = gaussians(300, 6, 10, apart=5.0, seed=1)
    y[7::50] = (y[7::50] + 3) % 10
    pairs = bayesfloor.pairwise_bayes_error(X, y)
    return {
        "report": bayesfloor.difficulty_report(X, y, model=GaussianNB()),
        "pairs": pairs,
        "tree": bayesfloor.build_class_tree(pairs.normalized),
    }


def _mixed() -> dict[str, Any]:
    asked = {"metric": ["roc_auc", "log_loss", "f1"], "by": "site", "target_value": 0.8}
    return {"report": bayesfloor.difficulty_report(mixed_table(), "ill", model=_model(), **asked)}


def _numbers() -> dict[str, Any]:
    frame = prices()
    report = bayesfloor.difficulty_report(frame, "price", target_value=0.9, model=_model(numbers=True))
    return {"report": report, "floor": bayesfloor.regression_floor(frame, "price")}


def _grouped() -> dict[str, Any]:
    bare = patients().drop(columns="patient")
    return {
        "report": bayesfloor.difficulty_report(patients(), "label", groups="patient"),
        "bare": bayesfloor.difficulty_report(bare, "label"),
    }


def _in_time() -> dict[str, Any]:
    return {
        "report": bayesfloor.difficulty_report(days(), "y", time="day"),
        "bare": bayesfloor.difficulty_report(days().drop(columns="day"), "y"),
    }


ANSWERS: dict[str, Callable[[], dict[str, Any]]] = {
    "numbers": _numbers,
    "two": _two,
    "grouped": _grouped,
    "mixed": _mixed,
    "ten": _ten,
    "in_time": _in_time,
}


@cache
def folder() -> Path:
    """Where answers are kept: its name is a hash of the sources, of this file and of the libraries."""
    digest = hashlib.sha256(repr((sys.version, [importlib.metadata.version(name) for name in VERSIONS])).encode())
    for path in [*sorted((ROOT / "src").rglob("*.py*")), Path(__file__)]:
        if path.suffix in (".py", ".pyi"):
            digest.update(path.read_bytes())
    return ROOT / ".canonical" / digest.hexdigest()[:16]


@cache
def answers(name: str) -> dict[str, Any]:
    """Return what the product says of a problem; made on the first call where `prepare` did not."""
    file = folder() / f"{name}.pickle"
    if not file.is_file():
        with bayesfloor.settings(n_jobs=1, limits=Limits()):
            made = ANSWERS[name]()
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_suffix(f".{os.getpid()}")
        aside.write_bytes(pickle.dumps(made))
        aside.replace(file)
    return dict(pickle.loads(file.read_bytes()))
