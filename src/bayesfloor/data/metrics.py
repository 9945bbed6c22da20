"""Every metric that models are judged by, once: what it is called, where it lies, and which way is better.

What predictions lose by it, row by row, is in `bayesfloor.floor.learned.metrics`.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.checks import ParameterError, check_int

#: What k is in "top_k_error".
TOP_K = 5


class OfLoss:
    """What is judged by a loss, of which smaller is better: the figure is that loss, or 1 less it."""

    larger_is_better: bool

    def value(self, loss: Any) -> Any:
        """Return the figure for a loss, or the loss for a figure."""
        return 1.0 - loss if self.larger_is_better else loss

    def range(self, low: float, high: float) -> Range:
        """Return the range of the figure for a range of the loss, or the other way round."""
        return (1.0 - high, 1.0 - low) if self.larger_is_better else (low, high)


class MetricInfo(NamedTuple):
    """What there is to know of a metric, whatever the data.

    Attributes
    ----------
    name : str
        What it is asked for by: "roc_auc".
    title : str
        What it is called in a sentence: "ROC AUC".
    meaning : str
        What it is, for those who read a report.
    task : {"classification", "regression"}
        What it judges.
    bounds : (float, float)
        Where its values lie.
    larger_is_better : bool
        Which way is better.
    is_rate : bool
        Whether it is a share, to be written in percent.
    short : str
        What it is, in a few words after its title.
    """

    name: str
    title: str
    meaning: str
    task: str = "classification"
    bounds: Range = (0.0, 1.0)
    larger_is_better: bool = False
    is_rate: bool = False
    short: str = ""


_CLASSES = (
    MetricInfo(
        "error",
        "error",
        "The share of rows whose class is not the one that the model names.",
        is_rate=True,
        short="share of rows predicted wrongly",
    ),
    MetricInfo(
        "balanced_error",
        "balanced error",
        "The mean of the classes' own error rates, by decisions that make it the least. Each class counts the same, "
        "however rare it is.",
        is_rate=True,
        short="mean of the classes' own error rates",
    ),
    MetricInfo(
        "log_loss",
        "log-loss",
        "Minus the mean logarithm of the probability that is given to the true class. 0 is certain and right; a model "
        "that always gives the shares of the classes has what is shown as 'without features'.",
        bounds=(0.0, np.inf),
        short="how far predicted probabilities are from the labels",
    ),
    MetricInfo(
        "brier",
        "Brier score",
        "The mean squared distance of the probabilities from the labels: 0 is certain and right. Of two classes it is "
        "that of one of them, as usual.",
        bounds=(0.0, 2.0),
        short="squared distance of predicted probabilities from the labels",
    ),
    MetricInfo(
        "roc_auc",
        "ROC AUC",
        "The chance that a row of a class is ranked above a row of another: 0.5 is chance, 1 is perfect. Of more than "
        "two classes it is the mean over the classes, each against the rest.",
        larger_is_better=True,
        short="chance that a row of a class is ranked above a row of another",
    ),
    MetricInfo(
        "average_precision",
        "average precision",
        "The area under the curve of precision and recall, which is the share of the class by chance and 1 where all "
        "its rows are ranked first. It says more than the ROC AUC of a rare class.",
        larger_is_better=True,
        short="area under the curve of precision and recall",
    ),
    MetricInfo(
        "f1",
        "F1",
        "The harmonic mean of precision and recall, at the threshold where that is the largest. Of more than two "
        "classes it is the mean over them.",
        larger_is_better=True,
        short="harmonic mean of precision and recall",
    ),
    MetricInfo(
        "top_k_error",
        f"top-{TOP_K} error",
        "The share of rows whose class is not among those that the model holds for the most probable ones.",
        is_rate=True,
        short="share of rows whose class is not among the most probable",
    ),
    MetricInfo(
        "cost",
        "cost per row",
        "What decisions cost per row by the given costs, where each is the one that is expected to cost the least. "
        "It needs probabilities that are right, not labels alone.",
        bounds=(-np.inf, np.inf),
        short="what decisions cost by the given costs",
    ),
)
_NUMBERS = (
    MetricInfo(
        "r2",
        "R²",
        "The share of the variance that is explained: 1 less the mean squared error divided by that of always "
        "predicting the mean. 0% needs no features, 100% is never wrong.",
        "regression",
        larger_is_better=True,
        short="share of the variance explained",
    ),
    MetricInfo(
        "rmse",
        "RMSE",
        "The square root of the mean squared error, in the units of the target. Large errors count most.",
        "regression",
        bounds=(0.0, np.inf),
        short="root of the mean squared error, in units of the target",
    ),
    MetricInfo(
        "mae",
        "MAE",
        "The mean absolute error, in the units of the target; a few large errors count less than in the RMSE.",
        "regression",
        bounds=(0.0, np.inf),
        short="mean absolute error, in units of the target",
    ),
)

#: All metrics, by name.
METRICS = {each.name: each for each in (*_CLASSES, *_NUMBERS)}
#: Names of those of classes and of numbers; the first is the headline where nothing is said.
CLASS_METRICS = tuple(each.name for each in _CLASSES)
NUMBER_METRICS = tuple(each.name for each in _NUMBERS)
#: What other libraries call metrics, or their nearest relative here, where no spelling leads from one to the other.
_OTHER_NAMES = {
    "accuracy": "error",
    "misclassification": "error",
    "zero_one_loss": "error",
    "balanced_accuracy": "balanced_error",
    "cross_entropy": "log_loss",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "top_k_accuracy": "top_k_error",
    "mse": "rmse",
    "mean_squared_error": "rmse",
    "root_mean_squared_error": "rmse",
    "mean_absolute_error": "mae",
    "r_squared": "r2",
    "explained_variance": "r2",
}


def is_metric(name: str) -> bool:
    """Tell whether a name is that of a metric, of classes or of numbers."""
    return name in METRICS or k_of(name) is not None


def k_of(name: str) -> int | None:
    """Return the k of "top_k_error" or "top_3_error"; None for any other metric."""
    parts = name.split("_")
    if len(parts) != 3 or (parts[0], parts[2]) != ("top", "error"):
        return None
    return TOP_K if parts[1] == "k" else check_int("k of top_k_error", int(parts[1]), 1) if parts[1].isdigit() else None


def unknown_metric(name: Any, known: Sequence[str], otherwise: str = "") -> ParameterError:
    """Return the error of what is no metric here: the names that are, and the one that was probably meant.

    Parameters
    ----------
    name : object
        What the caller asked for.
    known : sequence of str
        Names that can be asked for here.
    otherwise : str
        What else can be asked for, to follow the names.

    Returns
    -------
    ParameterError
    """
    meant = close_metric(name) if isinstance(name, str) else None
    hint = "" if meant is None else f"Did you mean {meant!r}?"
    if isinstance(name, str) and is_metric(name):
        hint = f"{name!r} is for {'numbers' if name in NUMBER_METRICS else 'classes'}."
    return ParameterError("metric", f"one of {', '.join(map(repr, known))}{otherwise}", name, hint)


def close_metric(name: str) -> str | None:
    """Return the metric that a name probably means, of classes or of numbers; None where it resembles none."""
    spelled = "_".join(re.findall(r"[a-z]+|\d+", name.lower().replace("²", "2")))
    spelled = re.sub(r"^neg_|_(score|macro|micro|weighted|ovr|ovo)\b", "", spelled)  # scikit-learn's scorers
    names = {"_".join(re.findall(r"[a-z]+|\d+", each)): each for each in METRICS} | _OTHER_NAMES
    close = get_close_matches(spelled, names, n=1, cutoff=0.7)
    return names[close[0]] if close else None


def metric_info(name: str) -> MetricInfo:
    """Return what there is to know of a metric; "top_3_error" is "top_k_error" with another k."""
    if name in METRICS:
        return METRICS[name]
    return METRICS["top_k_error"]._replace(name=name, title=f"top-{k_of(name)} error")
