"""What a caller's model predicts for the rows that the stack was judged on, or what the caller has predicted already.

::

    predictions= ────────────── labels, probabilities of the classes, or numbers, of every row given
    a fitted model ──────────── predicts the tested rows, which it must not have seen
    an unfitted model ───────── a clone is fitted on each training set of the stack, and predicts what that did

Models get rows in the form in which the caller has them, so that a pipeline finds its columns. Of a `Table` they get
the numbers that it was made into, standardised in each training set.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayesfloor.data.labels import as_array, is_missing
from bayesfloor.data.numbers import check_finite_numbers
from bayesfloor.data.points import host_array
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.held_out import HeldOut, HeldOutClasses
from bayesfloor.learn.training_rows import Train, safe
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.frames import check_same_index, column_named, column_texts, with_text_names
from bayesfloor.runtime.text import listed, shown
from bayesfloor.tables.frames import is_eager_frame

#: How far the probabilities of a row may be from a sum of 1: they may have been rounded to two digits.
NOT_ONE = 0.05


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model predicts for the tested rows.

    Attributes
    ----------
    codes : ndarray of shape (n_tested,)
        The classes that it names, as positions in `labels`; empty for numbers.
    labels : tuple
        The classes of the problem, and after them others that the model knows.
    origin : {"cross-fitted", "fitted", "predictions"}
        Whether clones were fitted on other rows, a fitted model was asked, or the caller has predicted.
    name : str
        What the model is called; empty for predictions.
    never_named : ndarray
        Codes of classes that a fitted model does not know.
    values : ndarray of shape (n_tested, n_classes) or (n_tested,), or None
        Probabilities of the classes, where they are known and asked for; or numbers.
    """

    codes: Ints
    labels: tuple[Any, ...]
    origin: str
    name: str = ""
    never_named: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    values: Floats | None = None


class OwnRows(NamedTuple):
    """Rows as the caller has them.

    Attributes
    ----------
    X : object
        An array, a sparse matrix, a data frame or a Table.
    places : ndarray of shape (n_samples,)
        Which of its rows each row of the problem is.
    named : tuple of str
        Columns of a data frame that are labels, groups or times, and no features, as `column_texts` calls them.
    """

    X: Any
    places: Ints
    named: tuple[str, ...] = ()

    def for_model(self, model: Any = None) -> "OwnRows":
        """Return rows as a model gets them: without labels, and with the columns that a fitted one knows."""
        X = self.X
        if hasattr(X, "tocsr"):
            return self._replace(X=X.tocsr())
        if not is_eager_frame(X):
            return self if isinstance(X, np.ndarray | Table) else self._replace(X=host_array(X))
        if not hasattr(X, "iloc") and not hasattr(X, "lazy"):  # neither pandas nor polars: scikit-learn knows no others
            X = X.to_pandas()
        X = with_text_names(X, only_copies=True)  # which scikit-learn refuses
        names = getattr(model, "feature_names_in_", None)
        columns = list(X.columns)
        if names is not None and set(names) <= set(columns) and len(set(names)) == len(names):
            return self._replace(X=X[list(names)])
        kept = [place for place, text in enumerate(column_texts(X)) if text not in self.named]
        X = X.iloc[:, kept] if hasattr(X, "iloc") else X[:, kept]
        is_of_arrays = names is None and hasattr(model, "n_features_in_")
        return self._replace(X=X.to_numpy() if is_of_arrays else X)

    def take(self, rows: Ints) -> Any:
        """Return some rows, by their places in the problem."""
        from sklearn.utils import _safe_indexing

        X = self.X.X if isinstance(self.X, Table) else self.X
        return _safe_indexing(X, self.places[rows])


def columns_named(X: Any, *given: Any) -> tuple[str, ...]:
    """Return the columns of a data frame that a caller names in place of values."""
    return tuple(name for each in given if (name := column_named(X, each)) is not None)


def check_model(model: Any, predictions: Any) -> str:
    """Refuse what predicts neither classes nor numbers, and a model beside predictions; return the task of the model.

    Parameters
    ----------
    model : estimator or None
        What the caller passes.
    predictions : array-like, data frame or None
        The same.

    Returns
    -------
    {"auto", "classification", "regression"}
        "auto" where the target has to tell.
    """
    if (model is None) == (predictions is None):
        raise ValueError("A model or predictions can be compared: pass one of them.")
    if model is None:
        return "auto"
    from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor

    if isinstance(model, type):
        raise TypeError(f"model must be an estimator, not a class: pass {model.__name__}().")
    if not hasattr(model, "predict"):
        raise TypeError(f"model must be a classifier or a regressor with fit and predict. Got {model!r} instead.")
    if not hasattr(model, "get_params"):
        return "auto"
    if is_clusterer(model) or is_outlier_detector(model):
        raise TypeError(f"{type(model).__name__} learns no labels, and classifiers and regressors are compared here.")
    return "regression" if is_regressor(model) else "classification" if is_classifier(model) else "auto"


def is_fitted(model: Any) -> bool:
    """Tell whether a model has been fitted, by scikit-learn's rules."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "fit"):
        return True  # it can but predict
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


#: Metrics that judge decisions, and those that judge in which order rows are put; all others judge probabilities.
DECIDED, RANKED = ("error", "balanced_error", "f1", "cost"), ("roc_auc", "average_precision")


class Compared(NamedTuple):
    """What is to be compared: a model, or what was predicted for all rows that the caller has.

    Attributes
    ----------
    model : estimator or None
        The model.
    labels : ndarray of shape (n_given,) or None
        Labels, or numbers, that were predicted.
    probabilities : ndarray of shape (n_given, n_classes) or None
        Probabilities that were predicted.
    own : OwnRows
        The rows as the caller has them.
    metric : str
        What predictions are judged by.
    """

    model: Any
    labels: NDArray[Any] | None
    probabilities: Floats | None
    own: OwnRows
    metric: str

    def predict(self, held_out: HeldOut) -> Predicted:
        """Return what is predicted for the tested rows.

        Parameters
        ----------
        held_out : HeldOut
            Who is tested, and trained on what.

        Returns
        -------
        Predicted
        """
        used = held_out.used
        tested = held_out.learned.plan.given[held_out.tested]
        if self.labels is not None:
            places = self.own.places[tested]
            if used.task == "regression":
                return _numbers(self.labels[places], "predictions")
            codes, _ = codes_of(self.labels[places], used.classes)
            probabilities = None if self.probabilities is None else self.probabilities[places]
            return Predicted(codes, tuple(used.classes), "predictions", values=probabilities)
        if not is_fitted(self.model):
            return _by_clones(self, held_out)
        if used.task == "regression":
            found = _answers(self.model, "predict", self.own.take(tested))
            return _numbers(_as_numbers(found, len(tested), type(self.model).__name__), "fitted", self.model)
        return _by_fitted(self, tested, used.classes)


def check_compared(model: Any, predictions: Any, own: OwnRows, problem: Problem, metric: str = "error") -> Compared:
    """Check what is to be compared, before anything is trained.

    Parameters
    ----------
    model : estimator or None
        A classifier or a regressor; it is not changed.
    predictions : array-like, data frame or None
        Labels, probabilities or numbers, of all rows that the caller has.
    own : OwnRows
        The rows as the caller has them.
    problem : Problem
        The same rows, checked.
    metric : str, default="error"
        What predictions are judged by.

    Returns
    -------
    Compared
    """
    task = check_model(model, predictions)
    if task not in ("auto", problem.task):
        noun = "numbers" if task == "regression" else "classes"
        other = "classes" if task == "regression" else "numbers"
        raise TypeError(f"{type(model).__name__} predicts {noun}, and y holds {other}.")
    if model is None:
        check_same_index({"X": own.X, "predictions": predictions})
        n_rows = _n_rows(own.X)
        if problem.task == "regression":
            if is_eager_frame(predictions) and len(predictions.columns) == 1:
                predictions = predictions[predictions.columns[0]]
            return Compared(None, check_finite_numbers(predictions, n_rows, "predictions"), None, own, metric)
        labels, probabilities = check_predictions(predictions, n_rows, problem.classes, metric)
        _, unknown = codes_of(labels, problem.classes)
        if unknown:
            raise ValueError(
                f"predictions has {_named(unknown)}, and y has no such label. Its labels are {_named(problem.classes)}."
            )
        return Compared(None, labels, probabilities, own, metric)
    asked = Compared(model, None, None, own.for_model(model if is_fitted(model) else None), metric)
    if problem.task == "classification":
        _check_has_scores(model, metric)
    if is_fitted(model):
        _answers(model, "predict", asked.own.take(np.arange(1)))  # refused before anything is trained
    return asked


def _check_has_scores(model: Any, metric: str) -> None:
    """Refuse a model that names classes only where probabilities are judged."""
    if (
        metric in DECIDED
        or hasattr(model, "predict_proba")
        or (metric in RANKED and hasattr(model, "decision_function"))
    ):
        return
    raise ValueError(
        f"metric={metric!r} judges probabilities, and {type(model).__name__} has no predict_proba. Calibrate it, as "
        "CalibratedClassifierCV does, or compare decisions, by metric='error'."
    )


def _n_rows(X: Any) -> int:
    return len(X.X) if isinstance(X, Table) else int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _named(labels: Any) -> str:
    return listed([shown(label) for label in labels])


def _answers(model: Any, method: str, rows: Any) -> NDArray[Any]:
    """Ask a fitted model."""
    try:
        return as_array(getattr(model, method)(rows))
    except Exception as error:
        name = type(model).__name__
        raise ValueError(f"{name} could not predict these rows ({type(error).__name__}: {error})") from error


def _as_numbers(found: NDArray[Any], n_rows: int, name: str) -> Floats:
    numbers = np.asarray(_one_each(found, n_rows, name, "number"), np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} predicts {np.count_nonzero(~np.isfinite(numbers))} numbers that are not finite.")
    return numbers


def _numbers(values: Floats, origin: str, model: Any = None) -> Predicted:
    name = "" if model is None else type(model).__name__
    return Predicted(np.empty(0, np.int64), (), origin, name, values=np.asarray(values, np.float64))


def _probabilities(model: Any, rows: Any, classes: NDArray[Any]) -> Floats:
    """Return what a fitted model holds of each class: probabilities, or scores that rank rows, squeezed into (0, 1)."""
    if hasattr(model, "predict_proba"):
        found = np.asarray(_answers(model, "predict_proba", rows), np.float64)
    else:
        found = expit(np.asarray(_answers(model, "decision_function", rows), np.float64))
        found = np.column_stack([1.0 - found, found]) if found.ndim == 1 else found
    codes, _ = codes_of(as_array(model.classes_), classes)
    of_all = np.zeros((len(found), len(classes)))
    is_known = codes < len(classes)
    of_all[:, codes[is_known]] = found[:, is_known]
    return of_all


def _has_scores(model: Any, metric: str) -> bool:
    """Tell whether probabilities are asked for, and there."""
    return metric != "error" and (hasattr(model, "predict_proba") or metric in RANKED)


def _by_fitted(asked: Compared, tested: Ints, classes: NDArray[Any]) -> Predicted:
    """Ask a fitted model for the tested rows, and which classes it knows."""
    model, own = asked.model, asked.own
    name = type(model).__name__
    rows = own.take(tested)
    found = _one_each(_answers(model, "predict", rows), len(tested), name, "label")
    codes, unknown = codes_of(found, classes)
    known = getattr(model, "classes_", None)
    never = np.empty(0, np.int64)
    if known is not None and np.ndim(known) == 1:
        of_known, _ = codes_of(as_array(known), classes)
        never = np.setdiff1d(np.arange(len(classes)), of_known)
    if np.all(codes >= len(classes)):
        raise ValueError(
            f"{name} predicts {_named(unknown)}, and y holds {_named(classes)}: was it fitted on labels of another "
            "form?"
        )
    if unknown and asked.metric != "error":
        raise ValueError(
            f"{name} names {_named(unknown)}, which y does not hold: only metric='error' can count that as an error."
        )
    values = None
    if _has_scores(model, asked.metric):
        values = _probabilities(model, rows, classes)
    return Predicted(codes, (*classes, *unknown), "fitted", name, never, values)


def _by_clones(asked: Compared, held_out: HeldOut) -> Predicted:
    """Fit a clone on each training set of the stack, and let it predict what the stack has predicted from there."""
    from sklearn.base import clone

    model, own = asked.model, asked.own
    name, used, plan = type(model).__name__, held_out.used, held_out.learned.plan
    given, is_numbers = plan.given, used.task == "regression"
    targets = held_out.learned.problem.y[plan.rows] if is_numbers else used.classes[used.codes]
    n_tested, classes = len(held_out.tested), used.classes
    codes, numbers = np.empty(n_tested, np.int64), np.empty(n_tested)
    # where rows were sampled with more of the rare classes, decisions are moved back to the shares of all rows
    is_moved = not is_numbers and _is_uneven(held_out) and hasattr(model, "predict_proba")
    values = np.zeros((n_tested, len(classes))) if is_moved or _has_scores(model, asked.metric) else None
    prepared = held_out.training_sets() if isinstance(own.X, Table) else None
    for train, places in held_out.splits:
        if prepared is not None:
            each = next(prepared)
            rows, others = (side.copy() for side in (each.train.X, each.others))
        else:
            rows, others = (own.take(given[some]) for some in (train, held_out.tested[places]))
        if not is_numbers and len(of_known := np.unique(used.codes[train])) == 1:
            codes[places] = of_known[0]  # in an order of time, the past may have one class only
            if values is not None:
                values[places, of_known[0]] = 1.0
            continue
        weight = None if used.sample_weight is None else used.sample_weight[train]
        try:
            fitted = clone(model).fit(rows, targets[train], **_weight_for(model, weight))
        except Exception as error:
            raise ValueError(
                f"{name} could not be fitted on {len(train)} rows ({type(error).__name__}: {error})"
            ) from error
        found = as_array(fitted.predict(others))
        if is_numbers:
            numbers[places] = _as_numbers(found, len(places), name)
            continue
        if values is not None:
            values[places] = _probabilities(fitted, others, classes)
        codes[places], unknown = codes_of(_one_each(found, len(places), name, "label"), classes)
        if len(unknown):
            raise ValueError(f"{name} predicts {_named(unknown)}, which y does not hold.")
    if is_numbers:
        return _numbers(numbers, "cross-fitted", model)
    if is_moved:
        assert isinstance(held_out, HeldOutClasses)
        assert values is not None
        known = Train(np.empty((len(used.codes), 0)), used.codes, len(classes), weight=used.sample_weight)
        values = np.exp(held_out.at_shares_of_all(np.log(safe(values, known))))
        codes = values.argmax(axis=1)
    return Predicted(codes, tuple(classes), "cross-fitted", name, values=values)


def _weight_for(model: Any, weight: Floats | None) -> dict[str, Floats]:
    """Return what a model, or the last step of a pipeline, is fitted with, where it takes weights."""
    from sklearn.utils.validation import has_fit_parameter

    if weight is None:
        return {}
    if has_fit_parameter(model, "sample_weight"):
        return {"sample_weight": weight}
    steps = getattr(model, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return {f"{steps[-1][0]}__sample_weight": weight}
    return {}


def _is_uneven(held_out: HeldOut) -> bool:
    """Tell whether classes have other shares among the rows trained on than among all, by more than a row or two."""
    used, problem = held_out.used, held_out.learned.problem
    if used.groups is not None or used.time is not None:
        return False
    in_proportion = problem.class_counts * (len(used.X) / len(problem.X))
    return bool(np.any(np.abs(used.class_counts - in_proportion) > 2))


def _one_each(found: NDArray[Any], n_rows: int, name: str, what: str) -> NDArray[Any]:
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.shape != (n_rows,):
        raise ValueError(f"{name} must predict one {what} for each row: got shape {found.shape} for {n_rows} rows.")
    return found


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> tuple[Ints, list[Any]]:
    """Return the position of each label among the classes, and after them among the others, which come second."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    found = labels.tolist()
    others = sorted({label for label in found if label not in code_of}, key=str)
    code_of |= {label: len(classes) + code for code, label in enumerate(others)}
    return np.fromiter((code_of[label] for label in found), np.int64, len(found)), others


def check_predictions(
    predictions: Any, n_rows: int, classes: NDArray[Any], metric: str = "error"
) -> tuple[NDArray[Any], Floats | None]:
    """Return a label for each row, and probabilities of the classes where they were given.

    Parameters
    ----------
    predictions : array-like of shape (n_rows,) or (n_rows, n_classes), or data frame
        Labels, or probabilities of the sorted classes. Columns of a data frame name the classes, as "label" or as
        "p(label)"; of a frame with one column, this holds labels. Where `metric` judges probabilities, a single column
        of numbers is that of the last of two classes.
    n_rows : int
        Number of rows that X has.
    classes : ndarray of shape (n_classes,)
        The labels of y.
    metric : str, default="error"
        What predictions are judged by.

    Returns
    -------
    labels : ndarray of shape (n_rows,)
    probabilities : ndarray of shape (n_rows, n_classes) or None
    """
    order = np.arange(len(classes))
    if is_eager_frame(predictions):
        columns = [str(name) for name in predictions.columns]
        if len(columns) == 1:
            predictions = predictions[predictions.columns[0]]
        else:
            order = classes_of_columns(columns, classes)
            predictions = np.column_stack([np.asarray(predictions[name], np.float64) for name in predictions.columns])
    given = as_array(predictions)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim not in (1, 2):
        raise ValueError(f"predictions must be labels or probabilities of each row, got shape {given.shape}.")
    if len(given) != n_rows:
        raise ValueError(f"predictions has {len(given)} rows, and X has {n_rows}: one is needed for each row.")
    if given.ndim == 1 and metric not in DECIDED:
        given = _of_last_class(given, len(classes), metric)
    if given.ndim == 1:
        missing = sum(map(is_missing, given.tolist()))
        if missing:
            raise ValueError(f"predictions has {missing} missing label{'s' * (missing > 1)}.")
        return given, None
    probabilities = np.empty((n_rows, len(classes)))
    probabilities[:, order] = check_probabilities(given, len(classes))
    return classes[probabilities.argmax(axis=1)], probabilities


def _of_last_class(given: NDArray[Any], n_classes: int, metric: str) -> Floats:
    """Return probabilities of two classes from those of the last; scores that only rank rows are squeezed into them."""
    wanted = (
        f"metric={metric!r} judges probabilities: pass a column for each class, or that of the last of two classes."
    )
    if n_classes != 2 or given.dtype.kind not in "fiu":
        raise ValueError(wanted)
    of_last = np.asarray(given, np.float64)
    if not np.isfinite(of_last).all():
        raise ValueError(f"{wanted} Got numbers that are not finite.")
    if of_last.min() < 0.0 or of_last.max() > 1.0:
        if metric not in RANKED:
            raise ValueError(f"{wanted} Got numbers from {of_last.min():g} to {of_last.max():g}.")
        of_last = expit(of_last - np.median(of_last))
    return np.column_stack([1.0 - of_last, of_last])


def check_probabilities(values: Any, n_classes: int) -> Floats:
    """Return probabilities of classes, or say what is wrong with them."""
    if values.shape[1] != n_classes:
        raise ValueError(
            f"predictions has {values.shape[1]} columns, and y has {n_classes} classes: one each is needed."
        )
    try:
        p = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"predictions of shape {values.shape} must be numbers ({error})") from error
    if not np.isfinite(p).all() or p.min() < 0.0 or np.any(np.abs(p.sum(axis=1) - 1.0) > NOT_ONE):
        raise ValueError(
            "predictions of several columns must be probabilities: from 0 to 1, with a sum of 1 in each row. Pass "
            "labels where all that is known are scores."
        )
    return p


def classes_of_columns(columns: list[str], classes: NDArray[Any]) -> Ints:
    """Return the class that each column names."""
    names = [str(label) for label in classes.tolist()]
    bare = [
        name[2:-1] if name.startswith("p(") and name.endswith(")") and name not in names else name for name in columns
    ]
    if sorted(bare) != sorted(names):
        missing = [shown(name) for name in names if name not in bare]
        strange = [shown(name) for name in bare if name not in names]
        parts = [f"has no column for {listed(missing)}" if missing else "", f"has {listed(strange)}" if strange else ""]
        raise ValueError(
            f"predictions must have a column for each class, named after it; it {' and '.join(filter(None, parts))}."
        )
    return np.array([names.index(name) for name in bare])
