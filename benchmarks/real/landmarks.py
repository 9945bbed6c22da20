"""LandmarkClassifier beside what people would take instead: how well, how fast, and how both grow.

    python -m venv .venv-landmarks && .venv-landmarks/bin/pip install -e . -r benchmarks/requirements/landmarks.txt
    . .venv-landmarks/bin/activate
    python -m benchmarks.real.landmarks peers     --version NAME   the paper's 16 sets, splits 0 to 4
    python -m benchmarks.real.landmarks further   --version NAME --tables FOLDER   further real sets
    python -m benchmarks.real.landmarks classes   --version NAME   26 to 1000 classes, 50 000 rows
    python -m benchmarks.real.landmarks covertype --version NAME   all rows of covertype
    python -m benchmarks.real.landmarks growth    --version NAME   time by rows, columns and classes
    python -m benchmarks.real.landmarks table   [--version NAME]   write results/landmarks.md
    python -m benchmarks.real.landmarks verdict [--version NAME]   beside the six linear SVMs, in lines

`--only`, `--models` and `--splits` take a part of it. Each cell (part, set, split, model, version) is recorded in
benchmarks/results/landmarks.jsonl as soon as it is measured; one that is there is not measured again. `--version`
names the state of LandmarkClassifier, so that records of an older one are never mixed in; for all others it is the
version of their package. `table` and `verdict` take the version that was recorded last. `verdict` reads the records of
benchmarks/study as well, made by ``python -m benchmarks.study run --profile paper --methods Landmarks``.

One thread. Sets are split 80/20, stratified, and scaled by the training part's mean and deviation, for all models
alike. Seconds are CPU seconds of the fit, tuning included; a fit below half a second, or one that compiled a kernel,
is timed a second time. A fit over `--limit` CPU seconds is ended, and recorded as such; later splits of that set are
then not tried. Data sets are read from $BAYESFLOOR_DATA, or from shared/data beside the repository; FOLDER is what
``python -m benchmarks.real.tables fetch --to FOLDER`` wrote.
"""

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from importlib.metadata import version as version_of
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.event import install_recorder
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, adjusted_rand_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import bayesfloor
from benchmarks.problems.landmark_sets import DISTANCES, FURTHER_SETS, best_error, load_further, make_blobs
from benchmarks.problems.stored_sets import DATA
from benchmarks.study.paper_sets import load_paper_set
from benchmarks.study.plan import PAPER_SETS, Protocol
from benchmarks.study.protocol import split_and_scale
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "landmarks.jsonl"
STUDY = RESULTS / "study"

EFFORTS = {"Landmarks-fast": "fast", "Landmarks": "default"}
LINEAR = ("LinearSVCCV", "SmartSVC")
PEERS = ("RBF-SVM", "HistGradientBoosting", "LightGBM", "ExtraTrees", "xRFM")
MODELS = (*EFFORTS, *LINEAR, *PEERS)

#: Rows that the kernel SVM is tuned on at the most, and what it tries; gamma as a multiple of 1 / columns.
_SVM_ROWS = 4000
SVM_GRID = {"C": (1.0, 10.0, 100.0), "times": (0.25, 1.0, 4.0)}

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: Training rows above which xRFM is not tried: its time grows with their cube.
_XRFM_ROWS = 11_000
#: A fit that is shorter than this is timed a second time, and the second counts.
_SHORT_S = 0.5
#: Memory of a process that measures: a model that needs more fails, and the machine goes on.
_MOST_BYTES = 12 * 2**30

GROWTH = (
    *(f"n={n}" for n in (1000, 3000, 10_000, 30_000, 100_000, 300_000)),
    *(f"d={d}" for d in (5, 15, 50, 150, 500)),
    *(f"K={k}" for k in (2, 10, 30, 100, 300, 1000)),
)
#: What does not grow.
_ROWS, _COLUMNS, _CLASSES = 20_000, 30, 10


@dataclass(frozen=True)
class Part:
    """One of the comparisons: its sets, models and splits, and CPU seconds after which a fit is ended."""

    sets: Sequence[str]
    models: Sequence[str]
    splits: Sequence[int] = (0,)
    limit: float = 150.0
    own_process: bool = False


PARTS = {
    "peers": Part(PAPER_SETS, (*EFFORTS, *PEERS), range(5)),
    "further": Part(FURTHER_SETS, MODELS, range(3)),
    "classes": Part(
        [str(k) for k in DISTANCES], (*EFFORTS, "LinearSVCCV", "HistGradientBoosting"), limit=600.0, own_process=True
    ),
    "covertype": Part(["covertype"], (*EFFORTS,), limit=600.0, own_process=True),
    "growth": Part(GROWTH, (*EFFORTS, "LinearSVCCV"), limit=300.0),
}


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    part: str
    set: str
    split: int
    model: str
    version: str


@dataclass(frozen=True)
class Data:
    """A set that was split and scaled; labels are 0 to K - 1. `facts` go into the record."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """A cell, and what it takes to measure it."""

    cell: Cell
    limit: float
    tables: str
    data: str


# Data


@lru_cache(maxsize=1)
def load(part: str, name: str, split: int, tables: str, data: str) -> Data:
    """Return a set of a part, split and scaled."""
    if part in ("peers", "covertype"):
        table = load_paper_set(name, data_dir=data)
        assert table.y is not None
        return scaled(table.X, np.unique(table.y, return_inverse=True)[1], split)
    if part == "further":
        return scaled(*load_further(name, tables, data), split, test_share=1 / 3 if name == "mnist" else 0.2)
    if part == "classes":
        n_classes = int(name)
        X, y, centres = make_blobs(60_000, 30, n_classes, DISTANCES[n_classes])
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=10_000, stratify=y, random_state=split)
        return Data(X_train, y_train, X_test, y_test, {"best_error": best_error(X_test, y_test, centres)})
    letter, number = name.split("=")
    sizes = {"n": _ROWS, "d": _COLUMNS, "K": _CLASSES, letter: int(number)}
    X, y, _ = make_blobs(sizes["n"] + 2000, sizes["d"], sizes["K"], 6.0)
    return Data(X[:-2000], y[:-2000], X[-2000:], y[-2000:])


def scaled(X: NDArray[np.float64], y: NDArray[np.int64], split: int, test_share: float = 0.2) -> Data:
    """Split and scale as the study does."""
    parts = split_and_scale(X, y, split, Protocol(test_share=test_share))
    return Data(parts.X_train, parts.y_train, parts.X_test, parts.y_test)


# Models


class TunedSVC(ClassifierMixin, BaseEstimator):
    """A kernel machine as people tune it: 3-fold grid search on at most 4000 rows, then a fit to all."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> "TunedSVC":
        """Tune and train."""
        some, y_some = X, y
        if len(y) > _SVM_ROWS:
            some, _, y_some, _ = train_test_split(X, y, train_size=_SVM_ROWS, stratify=y, random_state=0)
        grid = {"C": SVM_GRID["C"], "gamma": [times / X.shape[1] for times in SVM_GRID["times"]]}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            search = GridSearchCV(SVC(cache_size=500), grid, cv=3, refit=False).fit(some, y_some)
        self.best_params_ = search.best_params_
        self.svc_ = SVC(cache_size=500, **search.best_params_).fit(X, y)
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return labels."""
        return np.asarray(self.svc_.predict(X))


class XRFM(ClassifierMixin, BaseEstimator):
    """xRFM with its defaults; a fifth of the training rows is for its own validation."""

    def __init__(self, random_state: int = 0):
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> "XRFM":
        """Train."""
        import torch
        from xrfm import xRFM

        torch.set_num_threads(1)
        self.classes_ = np.unique(y)
        parts = train_test_split(X.astype(np.float32), y, test_size=0.2, stratify=y, random_state=self.random_state)
        X_train, X_val, y_train, y_val = map(torch.as_tensor, parts)
        self.model_ = xRFM(device="cpu", n_threads=1, verbose=False, random_state=self.random_state)
        self.model_.fit(X_train, y_train, X_val, y_val)
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities."""
        import torch

        return np.asarray(self.model_.predict_proba(torch.as_tensor(X.astype(np.float32))), np.float64)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return labels."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def make_model(name: str, seed: int) -> Any:
    """Return a classifier that has not been trained."""
    if name in EFFORTS:
        return bayesfloor.LandmarkClassifier(EFFORTS[name], n_jobs=1, random_state=seed)
    if name in LINEAR:
        return getattr(bayesfloor, name)(n_jobs=1, random_state=seed)
    if name == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed)
    makers: dict[str, Callable[[], Any]] = {
        "RBF-SVM": TunedSVC,
        "HistGradientBoosting": partial(HistGradientBoostingClassifier, random_state=seed),
        "ExtraTrees": partial(ExtraTreesClassifier, 200, n_jobs=1, random_state=seed),
        "xRFM": partial(XRFM, random_state=seed),
    }
    return makers[name]()


def version_of_model(name: str, own_version: str | None) -> str:
    """Return the version that a record of a model is kept under."""
    if name in EFFORTS:
        if own_version is None:
            raise SystemExit(f"--version: name the state of LandmarkClassifier that {name} is measured in")
        return own_version
    package = {"LightGBM": "lightgbm", "xRFM": "xrfm"}.get(name, "bayesfloor" if name in LINEAR else "scikit-learn")
    return f"{package} {version_of(package)}"


# Measuring


def calibration_error(probabilities: NDArray[np.float64], y: NDArray[np.int64], n_bins: int = 15) -> float:
    """Return how far confidence is from accuracy: of the likeliest label, in bins of equal width, weighted by rows."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, confidence, n_bins) - np.bincount(bins, right, n_bins)
    return float(np.abs(gaps).sum() / len(y))


def measure(request: Request) -> dict[str, Any]:
    """Fit and test a model; the process is ended by a signal when the fit is over its limit."""
    cell = request.cell
    data = load(cell.part, cell.set, cell.split, request.tables, request.data)
    n_classes = int(data.y_train.max()) + 1
    if cell.model == "xRFM" and len(data.y_train) > _XRFM_ROWS:
        return {"status": "not tried", "because": f"more than {_XRFM_ROWS} training rows"}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        if cell.model not in ("RBF-SVM", "HistGradientBoosting", "ExtraTrees"):  # imports, and loads compiled kernels
            n_each = 300 if cell.model in (*EFFORTS, *LINEAR) else 20
            few = np.concatenate([np.flatnonzero(data.y_train == label)[:n_each] for label in range(n_classes)][:10])
            make_model(cell.model, cell.split).fit(data.X_train[few], data.y_train[few]).predict(data.X_test[:10])
        signal.setitimer(signal.ITIMER_PROF, request.limit)
        model, seconds, compiled = timed_fit(cell, data)
        if compiled or seconds < _SHORT_S:
            signal.setitimer(signal.ITIMER_PROF, request.limit)
            model, seconds, _ = timed_fit(cell, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        started = time.process_time()
        predicted = np.asarray(model.predict(data.X_test))
        predict_seconds = time.process_time() - started
        found = {
            "ari": float(adjusted_rand_score(data.y_test, predicted)),
            "accuracy": float(accuracy_score(data.y_test, predicted)),
            "cpu_seconds": seconds,
            "predict_cpu_seconds": predict_seconds,
        }
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(data.X_test), np.float64)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            found["log_loss"] = float(log_loss(data.y_test, probabilities, labels=np.arange(n_classes)))
            found["calibration_error"] = calibration_error(probabilities, data.y_test)
    return {
        "status": "done",
        **found,
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
        "n_columns": data.X_train.shape[1],
        "n_classes": n_classes,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20),
        **data.facts,
    }


def timed_fit(cell: Cell, data: Data) -> tuple[Any, float, bool]:
    """Fit; return the model, CPU seconds, and whether a kernel was compiled."""
    model = make_model(cell.model, cell.split)
    with install_recorder("numba:compile") as compilations:
        started = time.process_time()
        model.fit(data.X_train, data.y_train)
        seconds = time.process_time() - started
    return model, seconds, bool(compilations.buffer)


def serve(channel: Connection) -> None:
    """Measure one cell after the other in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    while (request := channel.recv()) is not None:
        try:
            found = measure(request)
        except Exception as error:  # whatever a package raises is recorded as what it did on this set
            signal.setitimer(signal.ITIMER_PROF, 0)
            found = {"status": "failed", "error": f"{type(error).__name__}: {error}"[:300]}
        channel.send(found)


class Worker:
    """A process that measures, until it is over a limit."""

    def __init__(self) -> None:
        os.environ.update(_ONE_THREAD)  # is inherited, and must be there before NumPy is
        context = multiprocessing.get_context("spawn")
        self._channel, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def is_alive(self) -> bool:
        """Whether it can measure another cell."""
        return self._process.is_alive()

    def measure(self, request: Request) -> dict[str, Any]:
        """Return what a record says of a cell, whatever becomes of the process."""
        self._channel.send(request)
        try:
            return dict(self._channel.recv())
        except EOFError:
            self._process.join()
            if self._process.exitcode == -signal.SIGPROF:
                return {"status": "over limit", "limit": request.limit}
            return {"status": "failed", "error": f"its process ended with code {self._process.exitcode}"}

    def end(self) -> None:
        """End the process, which waits for a request or is gone."""
        if self.is_alive:
            self._channel.send(None)
        self._process.join()


def run(cells: Iterator[Cell], limit: float, own_process: bool, tables: str) -> None:
    """Measure the cells that are not recorded."""
    recorded = {cell_of(record): record for record in read_records(RECORDS)}
    worker: Worker | None = None
    try:
        for cell in cells:
            if cell in recorded:
                continue
            first = recorded.get(Cell(**{**asdict(cell), "split": 0}), {"status": "done"})
            if first["status"] != "done":
                found = {"status": "not tried", "because": f"{first['status']} on split 0"}
            else:
                if worker is not None and (own_process or not worker.is_alive):
                    worker.end()
                    worker = None
                worker = worker or Worker()
                found = worker.measure(Request(cell, limit, tables, str(DATA)))
            recorded[cell] = {**asdict(cell), **found}
            keep(recorded[cell])
    finally:
        if worker is not None:
            worker.end()


def keep(record: dict[str, Any]) -> None:
    """Append a record, and say so."""
    append_record(RECORDS, record)
    shown = [f"{record[key]:.4f}" for key in ("ari", "log_loss", "cpu_seconds") if key in record]
    place = f"{record['part']} {record['set']} {record['split']} {record['model']}"
    print(place, record["status"], *shown, record.get("error", ""), flush=True)


def cell_of(record: dict[str, Any]) -> Cell:
    """Return the cell that a record is of."""
    return Cell(*(record[key] for key in ("part", "set", "split", "model", "version")))


def cells_of(chosen: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells that the command line names, all models of a split one after the other."""
    part = PARTS[chosen.what]
    for split in chosen.splits or part.splits:
        for name in chosen.only or part.sets:
            for model in chosen.models or part.models:
                yield Cell(chosen.what, name, split, model, version_of_model(model, chosen.version))


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out what the command line says."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=[*PARTS, "table", "verdict"])
    parser.add_argument("--version", help="state of LandmarkClassifier, under which its records are kept")
    parser.add_argument("--only", nargs="+", default=None, help="names of sets")
    parser.add_argument("--models", nargs="+", default=None, choices=MODELS)
    parser.add_argument("--splits", nargs="+", type=int, default=None)
    parser.add_argument("--limit", type=float, default=None, help="CPU seconds for one fit")
    parser.add_argument("--tables", default="", help="folder that benchmarks.real.tables wrote, for 'further'")
    parser.add_argument(
        "--times", type=Path, default=STUDY / "quiet", help="a study's folder, for CPU seconds beside the six"
    )
    chosen = parser.parse_args(arguments)
    if chosen.what in PARTS:
        part = PARTS[chosen.what]
        if chosen.only and (unknown := set(chosen.only) - set(part.sets)):
            parser.error(f"--only: {chosen.what} has no {', '.join(sorted(unknown))}")
        if chosen.what == "further" and not Path(chosen.tables, "packages").is_dir():
            parser.error("further: --tables names the folder that benchmarks.real.tables wrote")
        run(cells_of(chosen), chosen.limit or part.limit, part.own_process, chosen.tables)
        return
    from benchmarks.real.landmarks_page import verdict, write_landmarks

    if chosen.what == "table":
        write_landmarks(read_records(RECORDS), chosen.version, chosen.times)
    else:
        print("\n".join(verdict(read_records(RECORDS), chosen.version, chosen.times)))


if __name__ == "__main__":
    main()
