"""Steps of preprocessing: transformers that are compared, and whether they learn from labels."""

import inspect
from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from bayesfloor.data.supervised_features import matrix_of
from bayesfloor.runtime.arrays import Floats


def is_step(value: Any) -> bool:
    """Tell whether a value is a transformer."""
    return (
        not isinstance(value, type)
        and hasattr(value, "fit")
        and (hasattr(value, "fit_transform") or hasattr(value, "transform"))
    )


def takes_new_rows(step: Any) -> bool:
    """Tell whether a step can be applied to rows that it was not fitted to."""
    return hasattr(step, "transform")


def needs_labels(step: Any) -> bool:
    """Tell whether a transformer, or any estimator among its parameters, is fitted to labels."""
    if not hasattr(step, "get_params"):
        return False
    parts = [step, *step.get_params(deep=True).values()]
    return any(hasattr(part, "fit") and not isinstance(part, type) and _is_supervised(part) for part in parts)


def _is_supervised(estimator: Any) -> bool:
    """Tell by the tag, or by the arguments: not all that need labels are tagged, such as SelectKBest and PLS."""
    try:
        tagged = bool(get_tags(estimator).target_tags.required)
    except (AttributeError, TypeError):  # an estimator of another library that has no tags
        tagged = False
    return tagged or _requires_y(estimator.fit) or _requires_y(getattr(estimator, "score_func", None))


def _requires_y(function: Any) -> bool:
    if not callable(function):
        return False
    argument = inspect.signature(function).parameters.get("y")
    return argument is not None and argument.default is inspect.Parameter.empty


def fitted_rows(step: Any, X: Any, n_rows: int) -> Floats:
    """Fit a step to rows without their labels, and return their features."""
    step = clone(step)
    made = step.fit_transform(X) if hasattr(step, "fit_transform") else step.fit(X).transform(X)
    return matrix_of(made, n_rows, step)
