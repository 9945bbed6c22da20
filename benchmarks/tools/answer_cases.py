"""The inputs of `benchmarks.tools.answers`: 40 and more of arrays, frames and files, and 14 reports.

A case yields labels and calls; each call is made by itself, so that one that fails, or whose function is gone, takes
nothing else along. Nothing inside the package is read but by `inside`.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from json import loads
from pathlib import Path
from re import findall, split, sub
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.runtime.settings import Limits
from benchmarks.tools.answer_figures import Figures, figures_of

# --- what is read inside the package: the one place to change where rooms are rebuilt

#: Where the stack is trained: a function that returns the rows chosen, their folds and what was predicted.
TRAINERS = ("bayesfloor.floor.learned.estimate", "bayesfloor.floor.learned.regression.estimate")
#: What makes a table large, lowered so that one of 3,000 rows is.
SMALL_IS_LARGE = Limits(disk_rows=3000, learned_rows=400, part_rows=800, part_rounds=20)


@contextmanager
def inside() -> Iterator[list[dict[str, Any]]]:
    """Watch each run of the stack: the rows that it uses, their folds, its predictions at each size, its weights."""
    runs: list[dict[str, Any]] = []

    def watched(train: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            learned = train(*args, **options)
            runs.append(
                {
                    "rows": learned.plan.given,
                    "tested": learned.plan.tested,
                    "folds": learned.folds,
                    "sizes": learned.sizes,
                    "predicted": [stack.predicted for stack in learned.stacks],
                    "weights": learned.weights(),
                }
            )
            return learned

        return wrapped

    with _patched({module: {"learn": watched(import_module(module).learn)} for module in TRAINERS}):
        yield runs


@contextmanager
def _patched(values: dict[str, dict[str, Any]]) -> Iterator[None]:
    before = [
        (module, name, getattr(module, name)) for of in values for module in [import_module(of)] for name in values[of]
    ]
    for module, name, _ in before:
        setattr(module, name, values[module.__name__][name])
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


# --- how cases are made and run

#: Learners that are trained in an instant, where what a stack reaches is not the subject.
QUICK = {"learners": ["gaussian"], "n_jobs": 1}
QUICK_NUMBERS = {"learners": ["linear"], "n_jobs": 1}

Calls = Iterator[tuple[str, Callable[[], Any]]]


class Case(NamedTuple):
    """What yields the calls of an input, whether it is of the quick part, and about how many seconds it takes."""

    calls: Callable[[], Calls]
    is_quick: bool
    seconds: float


CASES: dict[str, Case] = {}


def case(seconds: float, *, quick: bool = False) -> Callable[[Callable[[], Calls]], Callable[[], Calls]]:
    """Enter a generator of calls under its name."""

    def entered(calls: Callable[[], Calls]) -> Callable[[], Calls]:
        CASES[calls.__name__.replace("_", " ")] = Case(calls, quick, seconds)
        return calls

    return entered


class GoneError(Exception):
    """A public name is not there in this state."""


class Public:
    """The public names of the package, each looked up when it is used."""

    def __getattr__(self, name: str) -> Any:
        package = import_module("bayesfloor")
        if name not in package.__all__:
            raise GoneError(f"bayesfloor.{name}")
        return getattr(package, name)


bf = Public()


def figures_of_case(name: str) -> tuple[Figures, float]:
    """Make the calls of a case in a folder of its own; return the figures of all, and how long it took."""
    started, found = perf_counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            calls = CASES[name].calls()
            while True:
                try:
                    label, call = next(calls)
                except StopIteration:
                    break
                except Exception as error:  # the input could not be made
                    found["input.raised"] = f"{type(error).__name__}: {error}"
                    break
                found |= _figures_of_call(label, call)
        finally:
            os.chdir(before)
    return found, perf_counter() - started


def _figures_of_call(label: str, call: Callable[[], Any]) -> Figures:
    with inside() as runs, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = figures_of(call(), label)
        except GoneError as error:
            return {f"{label}.gone": str(error)}
        except Exception as error:  # an error is an answer too, and is compared
            found = {f"{label}.raised": f"{type(error).__name__}: {error}"}
    own = {f"{each.category.__name__}: {each.message}" for each in warned if _is_own(each.category)}
    if own:
        found |= figures_of(own, f"{label}.warnings")
    for number, run in enumerate(runs):
        found |= figures_of(run, f"{label}.stack[{number}]")
    return found


def _is_own(category: type[Warning]) -> bool:
    return category.__module__.startswith("bayesfloor") or category is UserWarning


def fitted(model: Any, X: Any, y: Any, X_new: Any, **fit: Any) -> dict[str, Any]:
    """Fit an estimator, and return all that it says of other rows."""
    model.fit(X, y, **fit)
    ways = ("predict", "predict_proba", "decision_function", "predict_interval", "transform", "get_support")
    said: dict[str, Any] = {"fitted": model}
    for way in ways:
        if hasattr(model, way):
            said[way] = getattr(model, way)(*(() if way == "get_support" else (X_new,)))
    return said


def commanded(line: str, page: str | None = None) -> dict[str, Any]:
    """Run a command in a process of its own: exit code, JSON, words of each section of what it wrote."""
    arguments = [sys.executable, "-m", "bayesfloor", *shlex.split(line)]
    ran = subprocess.run(arguments, capture_output=True, text=True, encoding="utf-8", check=False)
    is_json = "--json" in arguments and ran.stdout.startswith("{")
    said: dict[str, Any] = {"exit": ran.returncode, "stderr": words(ran.stderr)}
    said |= {"json": loads(ran.stdout)} if is_json else {"stdout": words(ran.stdout)}
    if page is not None and Path(page).exists():
        said["sections"] = words_of_sections(Path(page).read_text(encoding="utf-8"))
    return said


def words(text: str) -> set[str]:
    """Return the words of a text, without figures: these are compared as JSON."""
    return set(findall(r"[^\W\d_][\w'’-]*", sub(r"\d[\d.,]* ?(?:ms|s|seconds?|minutes?)\b", "", text)))


def words_of_sections(text: str) -> dict[str, set[str]]:
    """Return the words of each section of a Markdown page."""
    parts = [part.partition("\n") for part in split(r"(?m)^#+ ", text) if part.strip()]
    return {title.strip(): words(body) for title, _, body in parts}


# --- points, numbers and tables


def points(n: int = 300, d: int = 5, k: int = 3, seed: int = 0, apart: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Draw points of k overlapping classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return apart * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d)), y


def numbers(n: int = 300, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw points, and a number that depends on two of their columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.standard_normal(n)


def columns(n: int = 300, seed: int = 0) -> dict[str, Any]:
    """Draw columns of every kind: numbers with gaps, names, dates, text, and what belongs together."""
    rng = np.random.default_rng(seed)
    X, y = points(n, 3, 3, seed)
    words_of_text = np.array(["blue", "green", "late", "early", "broken", "new", "left", "right"])
    place = rng.integers(0, 30, n)
    return {
        "height": np.where(rng.random(n) < 0.1, np.nan, X[:, 0]),
        "width": X[:, 1].round(2),
        "depth": X[:, 2],
        "colour": np.array(["red", "green", "blue"])[np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))],
        "place": np.char.add("town ", place.astype(str)),
        "when": (np.datetime64("2024-01-01") + rng.integers(0, 700, n)).astype(str),
        "note": [" ".join(rng.choice(words_of_text, 6)) for _ in range(n)],
        "is_new": rng.random(n) < 0.5,
        "kind": np.array(["a", "b", "c"])[y],
        "price": X[:, 0] + 0.3 * y + rng.standard_normal(n),
        "patient": np.arange(n) // 4,
        "weight": rng.integers(1, 4, n).astype(float),
    }


def csv(path: str, of: dict[str, Any], *leave_out: str) -> str:
    """Write columns as a CSV file, and return its name."""
    import pandas as pd

    pd.DataFrame({name: values for name, values in of.items() if name not in leave_out}).to_csv(path, index=False)
    return path


def table(X: np.ndarray, y: np.ndarray, **beside: Any) -> dict[str, Any]:
    """Name the columns of an array, and its labels."""
    return {f"x{j}": X[:, j].round(4) for j in range(X.shape[1])} | beside | {"kind": np.char.add("c", y.astype(str))}


# --- learned floors of classes


@case(7, quick=True)
def two_classes_by_every_metric() -> Calls:
    X, y = points(240, 4, 2)
    names = ["error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision", "f1"]
    yield "floor", lambda: bf.learned_floor(X, y, metric=names, positive=0, n_jobs=1)


@case(5)
def iris_bare() -> Calls:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)

    def floor_and_model() -> dict[str, Any]:
        floor, model = bf.learned_floor(X, y, return_model=True, n_jobs=1)
        return {"floor": floor, "said": str(floor), "table": floor.frame(), "probabilities": model.predict_proba(X)}

    yield "", floor_and_model


@case(4)
def eighty_classes() -> Calls:
    X, y = points(1200, 6, 80, apart=3)
    yield "floor", lambda: bf.learned_floor(X, y, metric=["error", "log_loss", "top_5_error"], **QUICK)


@case(21)
def two_hundred_classes() -> Calls:
    X, y = points(2000, 8, 200, apart=3)
    yield "floor", lambda: bf.learned_floor(X, y, **QUICK)


@case(8)
def frame_of_pandas() -> Calls:
    import pandas as pd

    frame = pd.DataFrame(columns()).drop(columns=["price", "patient", "weight"])
    yield "floor", lambda: bf.learned_floor(frame, "kind", effort="fast", n_jobs=1)
    yield "table", lambda: bf.learned_floor(frame, "kind", **QUICK).frame()


@case(2, quick=True)
def frame_of_polars() -> Calls:
    import polars as pl

    frame = pl.DataFrame({name: each for name, each in columns(seed=1).items() if name not in ("price", "patient")})
    yield "floor", lambda: bf.learned_floor(frame, "kind", sample_weight="weight", **QUICK)
    yield "frame", lambda: bf.learned_floor(frame, "kind", **QUICK).metrics["error"].frame()


@case(4)
def sparse_rows() -> Calls:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = csr_array((rng.random((300, 400)) < 0.02 + 0.05 * (np.arange(400) % 3 == y[:, None])).astype(float))
    yield "floor", lambda: bf.learned_floor(X, y, effort="fast", n_jobs=1)
    yield "linear", lambda: fitted(bf.LinearSVCCV(C=1.0), X, y, X)


@case(5)
def files_of_every_format() -> Calls:
    import pandas as pd

    frame = pd.DataFrame(columns(120, seed=2))
    frame.to_csv("a.csv", index=False)
    frame.to_csv("a.csv.gz", index=False)
    frame.to_csv("a.tsv", index=False, sep="\t")
    frame.to_parquet("a.parquet")
    frame.to_json("a.jsonl", orient="records", lines=True)
    numeric = frame[["width", "depth"]].to_numpy()
    np.savez("a.npz", X=numeric, y=frame["patient"].to_numpy() % 3)
    rows = [f"{a},{b},{kind}" for (a, b), kind in zip(numeric.tolist(), frame["kind"], strict=True)]
    head = "@relation r\n@attribute width numeric\n@attribute depth numeric\n@attribute kind {a,b,c}\n@data\n"
    Path("a.arff").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    for name in ("a.csv", "a.csv.gz", "a.tsv", "a.parquet", "a.jsonl"):
        yield name, lambda name=name: _read(bf.read_table(name, target="kind"))
    for name in ("a.npz", "a.arff"):
        yield name, lambda name=name: _read(bf.read_table(name))
    yield "numbers", lambda: _read(bf.read_table("a.csv", target="price", drop=["kind"], groups="patient"))
    yield "preparer", lambda: _prepared(bf.TablePreparer(), frame.drop(columns=["kind"]))


def _prepared(preparer: Any, frame: Any) -> dict[str, Any]:
    return {"rows": preparer.fit(frame).transform(frame[:20]), "names": preparer.get_feature_names_out()}


def _read(found: Any) -> dict[str, Any]:
    """Return what a table has for everyone: rows and names, and not how it was read."""
    names = ("X", "y", "feature_names", "groups", "time", "classes", "n_samples", "notes", "lines")
    return {name: getattr(found, name) for name in names if hasattr(found, name)}


@case(3, quick=True)
def a_csv_file_and_parts_of_it() -> Calls:
    import pandas as pd

    csv("a.csv", columns(seed=3), "price", "weight")
    frame = pd.read_csv("a.csv")
    frame[:130].to_csv("b.csv", index=False)
    frame[130:].to_parquet("c.parquet")
    yield "file", lambda: bf.learned_floor("a.csv", "kind", groups="patient", **QUICK)
    yield "path", lambda: bf.learned_floor(Path("c.parquet"), "kind", **QUICK)
    yield "trees", lambda: bf.bayes_error(bf.read_table("a.csv", target="kind", drop=["note"]), n_jobs=1)


@case(5, quick=True)
def groups() -> Calls:
    X, y = points(320, 4, 3, seed=4)
    X = X + np.random.default_rng(0).standard_normal((40, 4))[np.arange(320) // 8]
    yield "floor", lambda: bf.learned_floor(X, y, groups=np.arange(320) // 8, effort="fast", n_jobs=1)
    yield "trees", lambda: bf.bayes_error(X, y, groups=np.arange(320) // 8, n_jobs=1)


@case(1)
def time() -> Calls:
    X, y = points(400, 4, 3, seed=5)
    X[:, 0] += np.linspace(0, 2, 400)
    when = np.datetime64("2024-01-01") + np.arange(400)
    yield "floor", lambda: bf.learned_floor(X, y, time=when, effort="fast", n_jobs=1)


@case(4)
def groups_and_time() -> Calls:
    X, y = points(480, 4, 3, seed=6)
    yield "floor", lambda: bf.learned_floor(X, y, groups=np.arange(480) % 40, time=np.arange(480), **QUICK)


@case(3)
def weights() -> Calls:
    X, y = points(300, 4, 3, seed=7)
    weight = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    yield "floor", lambda: bf.learned_floor(X, y, sample_weight=weight, metric=["error", "log_loss"], **QUICK)


@case(4, quick=True)
def a_rare_class_sampled() -> Calls:
    X, _ = points(3000, 4, 3, seed=8)
    y = np.where(np.arange(3000) < 60, 2, np.arange(3000) % 2)
    X[:60] += 1.5
    names = ["error", "balanced_error", "roc_auc", "f1"]
    yield "floor", lambda: bf.learned_floor(X, y, max_rows=700, metric=names, random_state=3, **QUICK)


@case(4)
def copies() -> Calls:
    X, y = points(260, 4, 3, seed=9)
    rng = np.random.default_rng(0)
    twice = rng.integers(0, 260, 80)
    X, y = np.vstack([X, X[twice]]), np.append(y, np.where(rng.random(80) < 0.1, (y[twice] + 1) % 3, y[twice]))
    yield "copies", lambda: bf.learned_floor(X, y, **QUICK)
    near = X + 1e-7 * rng.standard_normal(X.shape)
    yield "near copies", lambda: bf.learned_floor(near, y, **QUICK)


@case(4)
def a_splitter_and_learners_of_the_caller() -> Calls:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    X, y = points(240, 4, 3, seed=10)
    cv = StratifiedKFold(6, shuffle=True, random_state=1)
    own = {"lines": LogisticRegression(), "bayes": GaussianNB(), "known": "gaussian"}
    yield "floor", lambda: bf.learned_floor(X, y, cv=cv, learners=own, n_jobs=1)


@case(3, quick=True)
def costs() -> Calls:
    X, y = points(300, 4, 3, seed=11)
    cost = [[0, 1, 5, 0.4], [2, 0, 1, 0.4], [10, 1, 0, 0.4]]
    yield "floor", lambda: bf.learned_floor(X, y, costs=cost, metric=["cost", "error"], **QUICK)
    yield "matrix", lambda: bf.bayes_cost_matrix(X, y, n_jobs=1)
    yield "weights", lambda: bf.bayes_class_weight(X, y, n_jobs=1)


@case(3)
def by_subgroups() -> Calls:
    X, y = points(400, 4, 3, seed=12)
    by = np.array(["north", "south", "east", ""])[np.random.default_rng(0).choice(4, 400, p=[0.5, 0.3, 0.15, 0.05])]
    yield "floor", lambda: bf.learned_floor(X, y, by=by, **QUICK)
    yield "numbers", lambda: bf.learned_floor(X, y, by=X[:, 0], **QUICK)


@case(12)
def more_than_ten_thousand_rows() -> Calls:
    X, y = points(12_000, 3, 2, seed=13, apart=0.8)
    yield "floor", lambda: bf.learned_floor(X, y, effort="fast", max_rows=12_000, n_jobs=1)


@case(11)
def rows_on_disk() -> Calls:
    import polars as pl

    of = {name: each for name, each in columns(6000, seed=14).items() if name not in ("patient", "weight", "note")}
    pl.DataFrame(of).write_parquet("large.parquet")

    def large(call: Callable[[], Any]) -> Any:
        of_sizes = {"bayesfloor.floor.learned.from_disk": {"FEWEST_ROWS": 80}}
        with bf.settings(limits=SMALL_IS_LARGE), _patched(of_sizes):
            return call()

    yield "classes", lambda: large(lambda: bf.learned_floor("large.parquet", "kind", n_jobs=1))
    lazy = pl.scan_parquet("large.parquet").drop("kind")
    yield "numbers", lambda: large(lambda: bf.regression_floor(lazy, "price", n_jobs=1))


@case(7)
def a_dask_client() -> Calls:
    from distributed import Client, LocalCluster

    X, y = points(300, 4, 3, seed=15)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield "forests", lambda: bf.spanning_forests(X, client=client)
        yield "trees", lambda: bf.bayes_error(X, y, client=client)
        yield "floor", lambda: bf.learned_floor(X, y, client=client, learners=["gaussian"])
        yield "landmarks", lambda: bf.LandmarkClassifier(n_jobs=1).fit(X, y).predict_proba(X)


@case(4, quick=True)
def a_column_that_gives_the_target_away() -> Calls:
    import pandas as pd

    frame = pd.DataFrame(columns(seed=16)).drop(columns=["price", "patient", "weight", "note"])
    frame["outcome_code"] = pd.factorize(frame["kind"])[0] * 10
    yield "floor", lambda: bf.learned_floor(frame, "kind", **QUICK)


# --- floors of numbers


@case(6, quick=True)
def numbers_bare() -> Calls:
    X, y = numbers()
    yield "floor", lambda: bf.regression_floor(X, y, metric=["r2", "rmse", "mae"], n_jobs=1)


@case(4)
def numbers_of_groups_and_in_time() -> Calls:
    X, y = numbers(400, seed=1)
    yield "groups", lambda: bf.regression_floor(X, y, groups=np.arange(400) // 8, effort="fast", n_jobs=1)
    yield "time", lambda: bf.regression_floor(X, y, time=np.arange(400), **QUICK_NUMBERS)
    yield "both", lambda: bf.regression_floor(X, y, groups=np.arange(400) % 40, time=np.arange(400), **QUICK_NUMBERS)


@case(4)
def numbers_with_weights_in_a_frame() -> Calls:
    import pandas as pd

    frame = pd.DataFrame(columns(seed=17)).drop(columns=["patient", "note"])
    yield "floor", lambda: bf.regression_floor(frame, "price", sample_weight="weight", **QUICK_NUMBERS)
    X, y = numbers(300, seed=2)
    yield "heavy tails", lambda: bf.regression_floor(X, np.exp(2 * y), metric=["mae", "r2"], **QUICK_NUMBERS)


# --- models beside floors


@case(5)
def gaps_of_models() -> Calls:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    X, y = points(300, 4, 3, seed=18)
    yield "model", lambda: bf.floor_gap(LogisticRegression(), X, y, **QUICK)
    guess = np.where(np.arange(300) % 5 == 0, (y + 1) % 3, y)
    yield "predictions", lambda: bf.floor_gap(None, X, y, predictions=guess, task="classification", **QUICK)
    Z, z = numbers(seed=3)
    yield "numbers", lambda: bf.floor_gap(LinearRegression(), Z, z, metric="rmse", **QUICK_NUMBERS)


# --- spanning trees


def _point_sets() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "two columns": rng.standard_normal((2000, 2)),
        "sixty-four columns": rng.standard_normal((600, 64)),
        "lattice": np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float),
        "copies": rng.integers(0, 4, (300, 3)).astype(float),
        "one column": rng.standard_normal((500, 1)),
        "of all sizes": rng.standard_normal((300, 4)) * [1e-9, 1.0, 1e3, 1e6],
    }


@case(1, quick=True)
def forests_of_points() -> Calls:
    for name, X in _point_sets().items():
        yield name, lambda X=X: bf.spanning_forests(X, n_jobs=1)
    X = _point_sets()["lattice"]
    yield "another seed", lambda: bf.spanning_forests(X, n_trees=2, random_state=5, n_jobs=1)
    Z, y = points(400, 4, 6)
    yield "classes", lambda: _of_classes(bf.class_forests(Z, y, n_jobs=1))


def _of_classes(forests: Any) -> dict[str, Any]:
    pairs = {f"{a}-{b}": forests.pair(a, b) for a, b in ((0, 1), (2, 5))}
    return {"counts": forests.pair_cross_counts, "whole": forests.whole, "class counts": forests.class_counts, **pairs}


@case(3)
def forests_of_tensors() -> Calls:
    import torch

    for name, X in _point_sets().items():
        if X.shape[1] > 1:
            yield name, lambda X=X: bf.spanning_forests(torch.from_numpy(X), device="cpu", n_jobs=1)
    Z, y = points(400, 4, 6)
    yield "classes", lambda: _of_classes(bf.class_forests(torch.from_numpy(Z), y, device="cpu", n_jobs=1))


@case(3, quick=True)
def floors_from_trees() -> Calls:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    yield "whole", lambda: bf.bayes_error(X, y, n_jobs=1)
    yield "pairs", lambda: bf.pairwise_bayes_error(X, y, n_jobs=1)
    yield "rest", lambda: bf.one_vs_rest_bayes_error(X, y, n_jobs=1)
    yield "divergence", lambda: bf.henze_penrose_divergence(X, y, n_jobs=1)
    yield "one tree", lambda: bf.bayes_error(X, y, n_trees=1, bias_correction=False, random_state=2, n_jobs=1)
    yield "estimator", lambda: bf.BayesErrorEstimator(n_jobs=1).fit(X, y)
    for affinity in ("henze-penrose", "bhattacharyya", "class-means"):
        yield affinity, lambda affinity=affinity: bf.class_affinity(X, y, affinity=affinity, n_jobs=1)
    yield "command", lambda: commanded("pairs wine --json --quiet --threads 1")


@case(2)
def floors_from_trees_of_many_classes() -> Calls:
    for k, n in ((80, 1600), (200, 2400)):
        X, y = points(n, 6, k, apart=2)
        yield f"whole {k}", lambda X=X, y=y: bf.bayes_error(X, y, n_jobs=1)
        yield f"pairs {k}", lambda X=X, y=y: bf.pairwise_bayes_error(X, y, n_jobs=1)
        yield f"rest {k}", lambda X=X, y=y: bf.one_vs_rest_bayes_error(X, y, n_jobs=1)


@case(3, quick=True)
def class_trees_of_floors_with_zeros() -> Calls:
    rng = np.random.default_rng(0)
    for k in (3, 12, 40):
        weight = np.triu(rng.random((k, k)) * (rng.random((k, k)) < 0.3), 1)
        weight = weight + weight.T
        for cut in ("min-cut", "average-linkage"):
            yield f"{cut} {k}", lambda weight=weight, cut=cut: _tree(bf.build_class_tree(weight, cut=cut))
    second = np.abs(np.subtract.outer(np.arange(12), np.arange(12))).astype(float)
    yield "second weights", lambda: _tree(bf.build_class_tree(np.zeros((12, 12)), tie_weights=1 / (1 + second)))
    yield "lists", lambda: _tree(bf.build_class_tree(None, cut=["a", ["b", ["c", "d"]]]))


def _tree(tree: Any) -> dict[str, Any]:
    return {"tree": tree, "nested": repr(tree.to_nested()), "text": str(tree)}


# --- votes, features, tables beside each other


@case(4, quick=True)
def votes() -> Calls:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    counts = np.array(
        [np.bincount(np.where(rng.random(5) < 0.75, t, rng.integers(0, 3, 5)), minlength=3) for t in truth]
    )
    yield "votes", lambda: bf.vote_floor(counts)
    soft = rng.dirichlet([0.5, 0.3, 0.2], 300)
    drawn = np.array([rng.choice(3, p=p) for p in soft])
    yield "soft labels", lambda: bf.soft_label_floor(soft)
    yield "soft labels and drawn ones", lambda: bf.soft_label_floor(soft, drawn)


@case(5)
def features_that_leave_low_floors() -> Calls:
    X, y = points(300, 8, 3, seed=19)
    X[:, 4:] = np.random.default_rng(0).standard_normal((300, 4))
    yield "classes", lambda: fitted(bf.FloorSelector(n_features_to_select=3, n_jobs=1), X, y, X[:50])
    yield "auto", lambda: fitted(bf.FloorSelector(n_jobs=1), X, y, X[:50])
    Z, z = numbers(300, 6, seed=4)
    yield "numbers", lambda: fitted(bf.FloorSelector(n_features_to_select=2, task="regression", n_jobs=1), Z, z, Z[:50])


@case(5)
def representations_side_by_side() -> Calls:
    X, y = points(300, 6, 3, seed=20)
    parts = {"first": X[:, :3], "second": X[:, 3:], "both": ["first", "second"]}
    yield "classes", lambda: bf.compare_features(parts, y, **QUICK)
    yield "trees", lambda: bf.compare_features(parts, y, learners=None, n_jobs=1)
    Z, z = numbers(300, 6, seed=5)
    halves = {"first": Z[:, :1], "second": Z[:, 1:]}
    yield "numbers", lambda: bf.compare_features(halves, z, task="regression", **QUICK_NUMBERS)


@case(25)
def two_tables_beside_each_other() -> Calls:
    import pandas as pd

    old = pd.DataFrame(columns(200, seed=21)).drop(columns=["weight", "price", "note"])
    new = pd.DataFrame(columns(160, seed=22)).drop(columns=["weight", "price", "note"])
    new["width"] += 0.5
    yield "moved", lambda: bf.drift(old, new, y="kind", effort="fast", n_jobs=1)
    yield "alike", lambda: bf.drift(old[:100], old[100:], y="kind", groups="patient", learners=["gaussian"], n_jobs=1)
    yield "arrays", lambda: bf.drift(*(points(n, 4, 3, seed=23)[0] for n in (200, 150)), learners=None, n_jobs=1)


# --- estimators


def _linear(n: int, k: int) -> Calls:
    X, y = points(n, 6, k, seed=24, apart=3)
    train, test = np.arange(n) // k % 3 > 0, np.arange(n) // k % 3 == 0
    given = X[train], y[train], X[test]
    C = {"C": 1.0} if k > 3 else {"Cs": 5, "cv": 5}
    yield "SmartSVC", lambda: fitted(bf.SmartSVC(n_jobs=1, **C), *given)
    yield "SmartSVC soft", lambda: fitted(bf.SmartSVC(C=1.0, routing="soft", n_jobs=1), *given)
    yield "LinearSVCCV", lambda: fitted(bf.LinearSVCCV(n_jobs=1, class_weight="balanced", **C), *given)
    yield "OneVsOneSVC", lambda: fitted(bf.OneVsOneSVC(n_jobs=1, **C), *given)
    yield "OneVsOneSVC by a DAG", lambda: fitted(bf.OneVsOneSVC(C=1.0, decision="dag", n_jobs=1), *given)
    binary = {} if k == 3 else {"estimator": bf.LinearSVCCV(C=1.0)}
    yield "Hierarchical", lambda: fitted(bf.HierarchicalClassifier(n_jobs=1, **binary), *given)


@case(1, quick=True)
def linear_classifiers_of_3_classes() -> Calls:
    yield from _linear(300, 3)


@case(1)
def linear_classifiers_of_80_classes() -> Calls:
    yield from _linear(1600, 80)


@case(6)
def linear_classifiers_of_200_classes() -> Calls:
    yield from _linear(3000, 200)


def _trained(n: int, k: int, **learners: Any) -> Calls:
    X, y = points(n, 6, k, seed=25, apart=3)
    train, test = np.arange(n) // k % 3 > 0, np.arange(n) // k % 3 == 0
    given = X[train], np.char.add("c", y[train].astype(str)), X[test]
    yield "landmarks", lambda: fitted(bf.LandmarkClassifier(n_jobs=1), *given)
    yield "stack", lambda: fitted(bf.StackedClassifier(n_jobs=1, **learners), *given)


@case(1, quick=True)
def trained_classifiers_of_3_classes() -> Calls:
    yield from _trained(240, 3, effort="fast")


@case(4)
def trained_classifiers_of_80_classes() -> Calls:
    yield from _trained(1200, 80, learners=["gaussian"])


@case(13)
def trained_classifiers_of_200_classes() -> Calls:
    yield from _trained(2400, 200, learners=["gaussian"])


@case(4)
def trained_models_of_numbers_and_frames() -> Calls:
    import pandas as pd

    X, y = numbers(300, seed=6)
    yield "landmarks", lambda: fitted(bf.LandmarkRegressor(n_jobs=1), X[:200], y[:200], X[200:])
    yield "stack", lambda: fitted(bf.StackedRegressor(effort="fast", n_jobs=1), X[:200], y[:200], X[200:])
    frame = pd.DataFrame(columns(seed=26)).drop(columns=["price", "patient", "weight"])
    kind = frame.pop("kind")
    yield (
        "frame",
        lambda: fitted(
            bf.StackedClassifier(n_jobs=1, learners=["gaussian", "trees"]), frame[:200], kind[:200], frame[200:]
        ),
    )


# --- commands


@case(14, quick=True)
def exit_codes() -> Calls:
    csv("a.csv", table(*points(90, 2, 3)))
    csv("b.csv", table(*points(90, 2, 3, seed=1)))
    Path("broken.csv").write_text("a,b\n1,2,3,4\n", encoding="utf-8")
    lines = {
        "floor": "floor a.csv --target kind --fast --json --quiet",
        "above the limit": "floor a.csv --target kind --fast --fail-above 0.001 --quiet",
        "no such option": "floor a.csv --no-such-option",
        "no such column": "floor a.csv --target nothing --quiet",
        "no such file": "report nothing.csv",
        "broken file": "report broken.csv --quiet",
        "explain": "explain BF008",
    }
    for label, line in lines.items():
        yield label, lambda line=line: commanded(line)


@case(43)
def models_and_tables_in_files() -> Calls:
    csv("a.csv", table(*points(90, 2, 3)))
    csv("b.csv", table(*points(90, 2, 3, seed=1)))
    lines = {
        "drift": "drift a.csv b.csv --target kind --json --quiet --effort fast",
        "fit": "fit a.csv --target kind --model smartsvm --out m.skops --quiet",
        "predict": "predict m.skops b.csv --quiet",
        "gap": "gap b.csv --target kind --model m.skops --json --quiet",
    }
    for label, line in lines.items():
        yield label, lambda line=line: commanded(line)


# --- reports


def report(name: str, seconds: float, *, quick: bool = False) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Enter a report: a function that writes its file, and returns the arguments of the command."""

    def entered(arguments: Callable[[], str]) -> Callable[[], str]:
        def calls() -> Calls:
            line = f"report {arguments()} --json --quiet --threads 1 --out page.md"
            yield "report", lambda: commanded(line, "page.md")

        CASES[f"report: {name}"] = Case(calls, quick, seconds)
        return arguments

    return entered


@report("two classes", 18, quick=True)
def _() -> str:
    return csv("a.csv", table(*points(200, 3, 2))) + " --metric roc_auc --metric log_loss"


@report("three classes", 11)
def _() -> str:
    return "wine"


@report("200 classes", 2)
def _() -> str:
    return csv("a.csv", table(*points(1400, 5, 200, apart=3))) + " --target kind --effort fast"


@report("numbers", 13, quick=True)
def _() -> str:
    X, y = numbers(220)
    return csv("a.csv", {f"x{j}": X[:, j].round(4) for j in range(4)} | {"price": y.round(4)})


@report("leak", 6)
def _() -> str:
    X, y = points(200, 3, 3, apart=1)
    return csv("a.csv", table(X, y, code=10 * y)) + " --effort fast"


@report("groups", 7)
def _() -> str:
    X, y = points(240, 3, 3)
    return csv("a.csv", table(X, y, patient=np.arange(240) // 6)) + " --groups patient --effort fast"


@report("time", 6)
def _() -> str:
    X, y = points(240, 3, 3)
    when = (np.datetime64("2024-01-01") + np.arange(240)).astype(str)
    return csv("a.csv", table(X, y, day=when)) + " --time day --effort fast"


@report("costs", 7)
def _() -> str:
    Path("costs.csv").write_text(",c0,c1,c2\nc0,0,1,5\nc1,2,0,1\nc2,9,1,0\n", encoding="utf-8")
    return csv("a.csv", table(*points(210, 3, 3))) + " --costs costs.csv --effort fast"


@report("subgroups", 12)
def _() -> str:
    X, y = points(240, 3, 3)
    return (
        csv("a.csv", table(X, y, region=np.array(["n", "s"])[np.arange(240) // 3 % 2])) + " --by region --effort fast"
    )


@report("a rare class", 11)
def _() -> str:
    X, _ = points(400, 3, 2)
    return csv("a.csv", table(X, (np.arange(400) < 12).astype(int))) + " --metric average_precision --effort fast"


@report("a model", 7)
def _() -> str:
    X, y = points(210, 3, 3)
    csv("a.csv", table(X, y, id=np.arange(210)))
    guess = np.char.add("c", np.where(np.arange(210) % 6 == 0, (y + 1) % 3, y).astype(str))
    csv("guess.csv", {"id": np.arange(210), "guess": guess})
    return "a.csv --predictions guess.csv --key id --effort fast"


@report("a target value", 11)
def _() -> str:
    return csv("a.csv", table(*points(210, 3, 3, apart=0.8))) + " --target-value 0.05 --effort fast"


@report("long names", 11)
def _() -> str:
    X, y = points(210, 3, 3)
    of = {f"column number {j} of a table whose names are long" * 3: X[:, j].round(4) for j in range(3)}
    kinds = np.array([f"the class with the number {k} and a name of many letters" for k in range(3)])
    return csv("a.csv", of | {"what kind of thing it is after all" * 2: kinds[y]}) + " --effort fast"


@report("markup", 8)
def _() -> str:
    X, y = points(210, 2, 3)
    of = {"<b>bold</b>": X[:, 0].round(4), "a|b*c_d`e": X[:, 1].round(4)}
    return csv("a.csv", of | {"<script>": np.array(["<i>", "&amp;", '"quoted", |'])[y]}) + " --effort fast"
