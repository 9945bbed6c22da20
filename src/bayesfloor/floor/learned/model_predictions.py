"""What a caller's model predicts for the rows that the stack was judged on, or what the caller has predicted already.

::

    predictions= ────────────── labels, or probabilities of the classes, of every row given
    a fitted model ──────────── predicts the tested rows, which it must not have seen
    an unfitted model ───────── a clone is fitted on each training set of the stack, and predicts what that did

Models get rows in the form in which the caller has them, so that a pipeline finds its columns. Of a `Table` they get
the numbers that it was made into, standardised in each training set.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import as_array, check_weights, is_missing
from bayesfloor.data.points import host_array
from bayesfloor.data.prepared_table import Table
from bayesfloor.floor.learned.held_out import HeldOut, log_of_known
from bayesfloor.learn.training_rows import Train, as_given
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.frames import column_named, column_texts, with_text_names
from bayesfloor.runtime.text import listed, shown
from bayesfloor.tables.frames import is_eager_frame

#: How far the probabilities of a row may be from a sum of 1: they may have been rounded to two digits.
NOT_ONE = 0.05


@dataclass(frozen=True, eq=False)
class Predicted:
    """Classes that a model names for the tested rows.

    Attributes
    ----------
    codes : ndarray of shape (n_tested,)
        Positions in `labels`.
    labels : tuple
        The classes of the problem, and after them others that the model knows.
    origin : {"cross-fitted", "fitted", "predictions"}
        Whether clones were fitted on other rows, a fitted model was asked, or the caller has predicted.
    name : str
        What the model is called; empty for predictions.
    never_named : ndarray
        Codes of classes that a fitted model does not know.
    """

    codes: Ints
    labels: tuple[Any, ...]
    origin: str
    name: str = ""
    never_named: Ints = field(default_factory=lambda: np.empty(0, np.int64))


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


def check_model(model: Any, predictions: Any) -> None:
    """Refuse what is no classifier, and a model beside predictions."""
    if (model is None) == (predictions is None):
        raise ValueError("A model or predictions can be compared: pass one of them.")
    if model is None:
        return
    from sklearn.base import is_clusterer, is_outlier_detector, is_regressor

    if isinstance(model, type):
        raise TypeError(f"model must be an estimator, not a class: pass {model.__name__}().")
    if not hasattr(model, "predict"):
        raise TypeError(f"model must be a classifier with fit and predict. Got {model!r} instead.")
    if hasattr(model, "get_params") and is_regressor(model):
        raise TypeError(
            f"{type(model).__name__} predicts numbers, and classifiers are compared here; for numbers, see what "
            "regression_floor reaches."
        )
    if hasattr(model, "get_params") and (is_clusterer(model) or is_outlier_detector(model)):
        raise TypeError(f"{type(model).__name__} learns no labels, and classifiers are compared here.")


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


class Compared(NamedTuple):
    """What is to be compared: a model, or labels that were predicted for all rows that the caller has."""

    model: Any
    labels: NDArray[Any] | None
    own: OwnRows
    sample_weight: Floats | None = None

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
        classes = held_out.used.classes
        tested = held_out.learned.plan.given[held_out.tested]
        if self.labels is not None:
            codes, _ = codes_of(self.labels[self.own.places[tested]], classes)
            return Predicted(codes, tuple(classes), "predictions")
        if is_fitted(self.model):
            return _by_fitted(self.model, self.own, tested, classes)
        return _by_clones(self.model, self.own, held_out, self.sample_weight)


def check_compared(
    model: Any, predictions: Any, own: OwnRows, classes: NDArray[Any], sample_weight: Any = None
) -> Compared:
    """Check what is to be compared, before anything is trained.

    Parameters
    ----------
    model : estimator or None
        A classifier; it is not changed.
    predictions : array-like, data frame or None
        Labels, or probabilities, of all rows that the caller has.
    own : OwnRows
        The rows as the caller has them.
    classes : ndarray of shape (n_classes,)
        The labels of y.
    sample_weight : array-like of shape (n_given,) or None, default=None
        What each row counts in the fits of an unfitted model.

    Returns
    -------
    Compared
    """
    check_model(model, predictions)
    n_rows = _n_rows(own.X)
    weight = None if sample_weight is None else check_weights(sample_weight, n_rows)[own.places]
    if model is None:
        if weight is not None:
            raise ValueError("sample_weight is for fitting a model: leave it out with predictions.")
        labels = check_predictions(predictions, n_rows, classes)
        _, unknown = codes_of(labels, classes)
        if unknown:
            raise ValueError(
                f"predictions has {_named(unknown)}, and y has no such label. Its labels are {_named(classes)}."
            )
        return Compared(None, labels, own)
    if not is_fitted(model):
        return Compared(model, None, own.for_model(), weight)
    if weight is not None:
        raise ValueError("sample_weight is for fitting, and the model is fitted already: leave it out.")
    own = own.for_model(model)
    _predictions_of(model, own, np.arange(1))  # a model of other columns is refused before anything is trained
    return Compared(model, None, own)


def _n_rows(X: Any) -> int:
    return len(X.X) if isinstance(X, Table) else int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _named(labels: Any) -> str:
    return listed([shown(label) for label in labels])


def _predictions_of(model: Any, own: OwnRows, rows: Ints) -> NDArray[Any]:
    """Ask a fitted model."""
    name = type(model).__name__
    try:
        found = as_array(model.predict(own.take(rows)))
    except Exception as error:
        raise ValueError(f"{name} could not predict these rows ({type(error).__name__}: {error})") from error
    return _one_label_each(found, len(rows), name)


def _by_fitted(model: Any, own: OwnRows, tested: Ints, classes: NDArray[Any]) -> Predicted:
    """Ask a fitted model for the tested rows, and which classes it knows."""
    name = type(model).__name__
    codes, unknown = codes_of(_predictions_of(model, own, tested), classes)
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
    return Predicted(codes, (*classes, *unknown), "fitted", name, never)


def _by_clones(model: Any, own: OwnRows, held_out: HeldOut, sample_weight: Floats | None) -> Predicted:
    """Fit a clone on each training set of the stack, and let it predict what the stack has predicted from there."""
    from sklearn.base import clone

    name, used, given = type(model).__name__, held_out.used, held_out.learned.plan.given
    classes, labels = used.classes, used.classes[used.codes]
    codes = np.empty(len(held_out.tested), np.int64)
    # where rows were sampled with more of the rare classes, decisions are moved back to the shares of all rows
    log_p = np.zeros((len(codes), len(classes))) if _is_uneven(held_out) and _has_probabilities(model) else None
    prepared = held_out.training_sets() if isinstance(own.X, Table) else None
    for train, places in held_out.splits:
        if prepared is not None:
            each = next(prepared)
            rows, others = (as_given(side, each.train.given_columns) for side in (each.train.X, each.others))
        else:
            rows, others = (own.take(given[some]) for some in (train, held_out.tested[places]))
        known = Train(np.empty((len(train), 0)), used.codes[train], len(classes))
        of_known = np.flatnonzero(known.counts)
        if len(of_known) == 1:  # in an order of time, the past may have one class only
            codes[places] = of_known[0]
            if log_p is not None:
                log_p[places] = log_of_known(np.ones((len(places), 1)), of_known, known)
            continue
        weight = {} if sample_weight is None else {"sample_weight": sample_weight[given[train]]}
        try:
            fitted = clone(model).fit(rows, labels[train], **weight)
        except Exception as error:
            raise ValueError(
                f"{name} could not be fitted on {len(train)} rows ({type(error).__name__}: {error})"
            ) from error
        if log_p is not None:
            of_fitted, _ = codes_of(as_array(fitted.classes_), classes)
            log_p[places] = log_of_known(fitted.predict_proba(others), of_fitted, known)
        found = _one_label_each(as_array(fitted.predict(others)), len(places), name)
        codes[places], unknown = codes_of(found, classes)
        if len(unknown):
            raise ValueError(f"{name} predicts {_named(unknown)}, which y does not hold.")
    if log_p is not None:
        codes = held_out.at_shares_of_all(log_p).argmax(axis=1)
    return Predicted(codes, tuple(classes), "cross-fitted", name)


def _is_uneven(held_out: HeldOut) -> bool:
    """Tell whether classes have other shares among the rows trained on than among all, by more than a row or two."""
    used, problem = held_out.used, held_out.learned.problem
    if used.groups is not None or used.time is not None:
        return False
    in_proportion = problem.class_counts * (len(used.X) / len(problem.X))
    return bool(np.any(np.abs(used.class_counts - in_proportion) > 2))


def _has_probabilities(model: Any) -> bool:
    return hasattr(model, "predict_proba")


def _one_label_each(found: NDArray[Any], n_rows: int, name: str) -> NDArray[Any]:
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.shape != (n_rows,):
        raise ValueError(f"{name} must predict one label for each row: got shape {found.shape} for {n_rows} rows.")
    return found


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> tuple[Ints, list[Any]]:
    """Return the position of each label among the classes, and after them among the others, which come second."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    found = labels.tolist()
    others = sorted({label for label in found if label not in code_of}, key=str)
    code_of |= {label: len(classes) + code for code, label in enumerate(others)}
    return np.fromiter((code_of[label] for label in found), np.int64, len(found)), others


def check_predictions(predictions: Any, n_rows: int, classes: NDArray[Any]) -> NDArray[Any]:
    """Return a label for each row.

    Parameters
    ----------
    predictions : array-like of shape (n_rows,) or (n_rows, n_classes), or data frame
        Labels, or probabilities of the sorted classes. Columns of a data frame name the classes, as "label" or as
        "p(label)"; of a frame with one column, this holds labels.
    n_rows : int
        Number of rows that X has.
    classes : ndarray of shape (n_classes,)
        The labels of y.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    order = classes
    if is_eager_frame(predictions):
        columns = [str(name) for name in predictions.columns]
        if len(columns) == 1:
            predictions = predictions[predictions.columns[0]]
        else:
            order = classes[classes_of_columns(columns, classes)]
            predictions = np.column_stack([np.asarray(predictions[name], np.float64) for name in predictions.columns])
    labels = as_array(predictions)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim not in (1, 2):
        raise ValueError(f"predictions must be labels or probabilities of each row, got shape {labels.shape}.")
    if len(labels) != n_rows:
        raise ValueError(f"predictions has {len(labels)} rows, and X has {n_rows}: one is needed for each row.")
    if labels.ndim == 1:
        missing = sum(map(is_missing, labels.tolist()))
        if missing:
            raise ValueError(f"predictions has {missing} missing label{'s' * (missing > 1)}.")
        return labels
    return order[check_probabilities(labels, len(classes)).argmax(axis=1)]


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
