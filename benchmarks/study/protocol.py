"""One cell of the study: split, scale by the training part, tune and fit on it, test once."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.event import install_recorder
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, adjusted_rand_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.study.methods import Method
from benchmarks.study.plan import Protocol

#: A fit that is shorter than this is timed a second time, and the second counts.
_SHORT_S = 0.5

#: Rows of each class in the fit that loads compiled kernels.
_ROWS_TO_WARM_UP = 300


@dataclass(frozen=True)
class Parts:
    """A data set that was split and scaled.

    Attributes
    ----------
    X_train, y_train : ndarray
        What the method may see.
    X_test, y_test : ndarray
        What it is tested on, scaled by the training part.
    scaler : estimator
        What scaled them.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    scaler: Any


def split_and_scale(X: NDArray[np.float64], y: NDArray[Any], split: int, protocol: Protocol) -> Parts:
    """Split a data set, each class in proportion, and scale it by its training part.

    Parameters
    ----------
    X, y : ndarray
        The data set, not scaled.
    split : int
        Number of the split: the seed.
    protocol : Protocol
        How much is held out, and how features are scaled.

    Returns
    -------
    Parts
        A training column that is constant is centred and not stretched.
    """
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=protocol.test_share, stratify=y, random_state=split
    )
    scaler = StandardScaler() if protocol.scale == "standard" else MinMaxScaler((-1, 1))
    scaler.fit(X_train)
    return Parts(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test, scaler)


def measure_cell(
    X: NDArray[np.float64],
    y: NDArray[Any],
    split: int,
    method: Method,
    protocol: Protocol,
    *,
    on_start: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure one method on one split of a data set.

    Parameters
    ----------
    X, y : ndarray
        The data set, not scaled.
    split : int
        Number of the split: the seed of everything random.
    method : Method
        What to fit.
    protocol : Protocol
        How.
    on_start : callable
        Called when the clock starts: after the split and a small fit that loads compiled kernels.

    Returns
    -------
    dict
        ari, accuracy and macro_f1 on the test part; seconds and cpu_seconds of the fit, everything included (floors,
        class tree, cross-validation, final fit); n_configurations that were tried and the parameters chosen; sizes.
    """
    parts = split_and_scale(X, y, split, protocol)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted below, where the method counts it
        _warm_up(method, parts)
        on_start()
        classifier, seconds, cpu_seconds, compiled = _timed_fit(method, split, parts)
        # Compiling a kernel that no fit had needed before must not count; nor loading one, where that would matter.
        if compiled or seconds < _SHORT_S:
            classifier, seconds, cpu_seconds, _ = _timed_fit(method, split, parts)
        predicted = classifier.predict(parts.X_test)
    return {
        "ari": float(adjusted_rand_score(parts.y_test, predicted)),
        "accuracy": float(accuracy_score(parts.y_test, predicted)),
        "macro_f1": float(f1_score(parts.y_test, predicted, average="macro", zero_division=0.0)),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "n_configurations": method.n_configurations,
        "chosen": chosen_parameters(classifier),
        "n_not_converged": _count(classifier, "n_not_converged_"),
        "n_train": len(parts.y_train),
        "n_test": len(parts.y_test),
        "n_features": int(parts.X_train.shape[1]),
        "n_classes": len(np.unique(y)),
    }


def chosen_parameters(classifier: Any) -> dict[str, Any]:
    """Return the parameters that a fitted classifier has chosen for itself."""
    if hasattr(classifier, "best_params_"):
        return dict(classifier.best_params_)
    if hasattr(classifier, "Cs_") and hasattr(classifier, "C_"):
        return {"C": float(classifier.C_)}
    return {}


@contextmanager
def _grid_of_the_protocol() -> Iterator[None]:
    """Have classifiers not warn of the values of C and of the folds: both are those of the protocol."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"The accuracy, |Some of the \d+ folds lack a class")
        yield


def _timed_fit(method: Method, seed: int, parts: Parts) -> tuple[Any, float, float, bool]:
    """Fit; return the classifier, seconds of the clock and of the processor, and whether kernels were compiled."""
    classifier = method.make(seed)
    with _grid_of_the_protocol(), install_recorder("numba:compile") as compilations:
        wall, cpu = time.perf_counter(), time.process_time()
        classifier.fit(parts.X_train, parts.y_train)
        cpu_seconds, seconds = time.process_time() - cpu, time.perf_counter() - wall
    return classifier, seconds, cpu_seconds, bool(compilations.buffer)


def _warm_up(method: Method, parts: Parts) -> None:
    """Fit a few rows, so that compiled kernels are loaded before the clock starts."""
    if method.make_light is None:
        return
    places = [np.flatnonzero(parts.y_train == label)[:_ROWS_TO_WARM_UP] for label in np.unique(parts.y_train)]
    few = np.concatenate(places)
    with _grid_of_the_protocol():
        method.make_light().fit(parts.X_train[few], parts.y_train[few]).predict(parts.X_test[:10])


def _count(classifier: Any, attribute: str) -> int | None:
    value = getattr(classifier, attribute, None)
    return None if value is None else int(value)
