"""What `floor_gap` says a model attains, beside scikit-learn's own score of the same predictions, by every metric.

    python -m benchmarks.real.gap_scores run        measure what is not recorded yet
    python -m benchmarks.real.gap_scores table      write benchmarks/results/gap_scores.md

Two models of two tables of classes and of two tables of numbers. Each is passed unfitted, with a splitter of
scikit-learn's: the scores of scikit-learn are then those of `cross_val_predict` with the same model and splitter. And
each is passed fitted on a third of the rows, to be judged on the others: the scores are those of its predictions there.

Unfitted models get their training rows in an order of their values, so that the answer does not depend on the order of
the file. A model that does, as a random forest draws its rows by number, is then not quite the one of
`cross_val_predict`; so there is none here. Of numbers, rows that are equal in all columns count once: the table of red
wines is passed without its copies.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import metrics as sk
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bayesfloor import floor_gap
from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, this_machine, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "gap_scores.jsonl"
#: Metrics that judge decisions; all others of classes judge probabilities.
DECIDED = ("error", "balanced_error", "f1")
OF_CLASSES = (*DECIDED, "log_loss", "brier", "roc_auc", "average_precision", "top_2_error")
OF_NUMBERS = ("r2", "rmse", "mae")


class Case(NamedTuple):
    """A table, a model of it, and what it is judged by."""

    table: str
    X: np.ndarray
    y: np.ndarray
    model: Any
    metrics: tuple[str, ...]


def red_wine(*, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the red wine table, of which good wines are told from others, or the quality predicted."""
    frame = pd.read_csv(DATA / "tables" / "winequality-red.csv")
    frame = frame.drop_duplicates() if task == "regression" else frame
    quality = frame.pop("quality").to_numpy()
    grades = np.digitize(quality, [5.5, 6.5])  # poor, middling, good
    return frame.to_numpy(float), grades if task == "classification" else quality.astype(float)


def cases() -> list[Case]:
    """Return what is judged."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    two = load_breast_cancer(return_X_y=True)
    three = red_wine(task="classification")
    lines, steps = make_pipeline(StandardScaler(), Ridge()), DecisionTreeRegressor(max_depth=4, random_state=0)
    numbers = {"diabetes": load_diabetes(return_X_y=True), "red wine quality": red_wine(task="regression")}
    found = [Case("breast cancer, 2 classes", *two, model, OF_CLASSES[:-1]) for model in (logistic, tree)]
    found += [Case("red wine, 3 classes", *three, model, OF_CLASSES) for model in (logistic, tree)]
    found += [Case(name, *rows, model, OF_NUMBERS) for name, rows in numbers.items() for model in (lines, steps)]
    return found


def score(metric: str, y: np.ndarray, decided: np.ndarray, p: np.ndarray | None) -> float:
    """Return scikit-learn's own score; of several classes the mean over them, each against the rest."""
    if p is None:
        of = {"r2": sk.r2_score, "rmse": sk.root_mean_squared_error, "mae": sk.mean_absolute_error}
        return float(of[metric](y, decided))
    two, average = p.shape[1] == 2, "binary" if p.shape[1] == 2 else "macro"
    if metric in ("roc_auc", "average_precision"):
        ranked = sk.roc_auc_score if metric == "roc_auc" else sk.average_precision_score
        return float(ranked(y, p[:, 1]) if two else np.mean([ranked(y == k, p[:, k]) for k in range(p.shape[1])]))
    if metric == "brier":
        return float(
            sk.brier_score_loss(y, p[:, 1]) if two else np.mean(((np.eye(p.shape[1])[y] - p) ** 2).sum(axis=1))
        )
    return {
        "error": lambda: 1.0 - sk.accuracy_score(y, decided),
        "balanced_error": lambda: 1.0 - sk.balanced_accuracy_score(y, decided),
        "f1": lambda: sk.f1_score(y, decided, average=average),
        "log_loss": lambda: sk.log_loss(y, p),
        "top_2_error": lambda: 1.0 - sk.top_k_accuracy_score(y, p, k=2),
    }[metric]()


def off(found: float, expected: float) -> float:
    """Return how far two figures differ."""
    return abs(found - expected) / max(abs(expected), 1.0)


def name_of(model: Any) -> str:
    """Return what a model, or the last step of a pipeline, is called."""
    return type(model[-1] if hasattr(model, "steps") else model).__name__


def measure(number: int, metric: str) -> dict[str, Any]:
    """Judge a model by a metric, unfitted and fitted."""
    case = cases()[number]
    is_number = case.metrics is OF_NUMBERS
    methods = ["predict"] if is_number else ["predict", "predict_proba"]
    folds = (KFold if is_number else StratifiedKFold)(5, shuffle=True, random_state=0)
    cross = {each: cross_val_predict(case.model, case.X, case.y, cv=folds, method=each) for each in methods}
    strata = None if is_number else case.y
    X, X_new, y, y_new = train_test_split(case.X, case.y, train_size=1 / 3, random_state=0, stratify=strata)
    fitted = clone(case.model).fit(X, y)
    known = {each: getattr(fitted, each)(X_new) for each in methods}
    seconds, _, gap = timed(lambda: floor_gap(case.model, case.X, case.y, metric=metric, cv=folds, n_jobs=1))
    quick = ["linear"] if is_number else ["gaussian"]  # the stack has no say in what a model attains
    later = floor_gap(fitted, X_new, y_new, metric=metric, learners=quick, n_jobs=1)
    of_folds, of_new = (
        score(metric, truth, found["predict"], found.get("predict_proba"))
        for truth, found in ((case.y, cross), (y_new, known))
    )
    low, high = gap.sure_gap_interval
    cells = [
        f"{of_folds:.6g}",
        f"{gap.value:.6g}",
        f"{of_new:.6g}",
        f"{later.value:.6g}",
        f"{max(off(gap.value, of_folds), off(later.value, of_new)):.1g}",
        f"{gap.reached:.4g}",
        f"{gap.estimate:.4g}",
        f"{gap.sure_gap:.3g} [{low:.3g}, {high:.3g}]" + " **sure**" * gap.is_sure,
        f"{seconds:.0f}",
    ]
    return {"table": case.table, "model": name_of(case.model), "metric": metric, "cells": cells}


def run() -> None:
    """Measure what was not measured yet."""
    done = {(record["table"], record["model"], record["metric"]) for record in read_records(RECORDS)}
    keys = [
        (number, metric)
        for number, case in enumerate(cases())
        for metric in case.metrics
        if (case.table, name_of(case.model), metric) not in done
    ]
    measure_all(measure, keys, RECORDS, 1)


def write_table(records: list[dict[str, Any]]) -> None:
    """Write the page."""
    found = {(record["table"], record["model"], record["metric"]): record["cells"] for record in records}
    order = [(case.table, name_of(case.model), metric) for case in cases() for metric in case.metrics]
    rows = [[*key, *found[key]] for key in order if key in found]
    largest = max((float(row[7]), row[2]) for row in rows if not row[2].startswith("top_"))
    of_ties = max((float(row[7]) for row in rows if row[2].startswith("top_")), default=0.0)
    header = ["table", "model", "metric", "`cross_val_predict`", "gap", "fitted: scikit-learn", "gap", "off by"]
    write_page(
        "gap_scores",
        "# `gap` beside scikit-learn's scores",
        f"Made by `python -m benchmarks.real.gap_scores run` and `… table`, on {this_machine()}.",
        (__doc__ or "").split("\n\n", 2)[2],
        f"{len(rows)} comparisons of an unfitted model and as many of a fitted one: the largest difference between "
        f"what `floor_gap` says a model attains and scikit-learn's own score is {largest[0]:.1g} ({largest[1]}), as a "
        f"share of the score where that is above 1. Of top_2_error it is {of_ties:.1g}: where a tree gives two classes "
        "the same probability, scikit-learn ranks the last label first, and `floor_gap` the first. The last columns "
        "are of the unfitted model: what the stack reaches on the same folds, the floor or ceiling, what can surely be "
        "won with its 95% interval, and seconds on one thread.",
        as_table([*header, "reached", "best value", "surely more can be won", "s"], rows),
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    if parser.parse_args().what == "run":
        run()
    else:
        write_table(read_records(RECORDS))
