"""Model files are read: what is put together is checked, and none of it is run as code; see `StoredModel`."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from bayesfloor.classify.landmarks import LandmarkClassifier, LandmarkRegressor
from bayesfloor.classify.linear.path_classifiers import SmartSVC
from bayesfloor.classify.model_archive import UNPACKED_MODEL_LIMIT, no_model, unpack
from bayesfloor.classify.stacked import StackedClassifier, StackedRegressor
from bayesfloor.classify.stored_model import FORMAT, Model, StoredModel, check_letters
from bayesfloor.learn.records import read_field, require
from bayesfloor.runtime.text import listed
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tree import ClassTree
from bayesfloor.tree.class_tree import check_classes

#: Estimators by the name that files have for them.
KINDS: dict[str, type[StoredModel]] = {
    kind.stored_as: kind
    for kind in (LandmarkClassifier, LandmarkRegressor, SmartSVC, StackedClassifier, StackedRegressor)
}


def load_model(path: str | Path) -> Any:
    """Read a model that `save` of an estimator, or 'bayesfloor fit', wrote; none of its contents are run as code.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    LandmarkClassifier, LandmarkRegressor, SmartSVC, StackedClassifier or StackedRegressor
        It predicts data frames with the columns that it was fitted to.

    Raises
    ------
    ValueError
        When it is no model file, or names types that are not known; these are listed, and none of their code is run.
    """
    model = read_model(Path(path))
    model.estimator.preparation_ = model.preparation
    return model.estimator


def read_model(path: Path) -> Model:
    """Read a model and its preparation apart from each other; see `load_model`."""
    return _model_of(_load(path), path.name)


def read_any_model(path: Path) -> Any:
    """Read a model that 'bayesfloor fit' wrote, or a fitted scikit-learn classifier that skops wrote.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Model or estimator

    Raises
    ------
    ValueError
        As for `load_model`, and for anything that cannot predict.
    """
    stored = _load(path)
    if isinstance(stored, dict):
        return _model_of(stored, path.name)
    if not hasattr(stored, "predict"):
        raise ValueError(f"{path.name} holds no model: a {type(stored).__name__} cannot predict")
    return stored


def _load(path: Path) -> Any:
    """Return what skops has written, where it is made of known types alone."""
    if path.stat().st_size > UNPACKED_MODEL_LIMIT:
        raise ValueError(f"{path.name} is too large for a model file")
    return unpack(path.read_bytes(), path.name)


def _model_of(stored: Any, name: str) -> Model:
    """Put a model together from its parts."""
    try:
        _check_names(stored, {"format", "kind", "parts", "columns", "preparation"})
        if stored["format"] != FORMAT:
            raise ValueError(f"its format is {stored['format']!r}")
        if stored["kind"] not in KINDS:
            raise ValueError(f"it holds an estimator that is not known, {stored['kind']!r}")
        kind, preparation = KINDS[stored["kind"]], None
        n_columns, names = read_field(stored["columns"], tuple[int, tuple[str, ...] | None])
        if stored["preparation"] is not None:
            preparation = Preparation.from_dict(stored["preparation"])
            if (preparation.task == "classification") != is_classifier(kind()):
                raise ValueError(f"its table is not one of {'classes' if is_classifier(kind()) else 'numbers'}")
        estimator = _put_together(kind, stored["parts"])
        estimator.n_features_in_ = n_columns
        if names is not None:
            require(len(names) == n_columns)
            estimator.feature_names_in_ = np.array(names, object)
        estimator.check_stored(n_columns if preparation is None else len(preparation.feature_names))
        check_letters(estimator)
        return Model(estimator, preparation)
    except Exception as error:
        raise no_model(name, error) from error


def _put_together(kind: type[StoredModel], parts: Any) -> Any:
    """Make an estimator of its attributes."""
    has_tree = kind is SmartSVC
    estimator: Any = kind()
    of_classes = ("tree_" if has_tree else "classes_",) if is_classifier(estimator) else ()
    _check_names(parts, {*kind.stored_parts, *of_classes})
    estimator.preparation_ = None
    if has_tree:
        estimator.tree_ = ClassTree.from_dict(parts["tree_"])
        estimator.classes_ = estimator.tree_.classes
    elif of_classes:
        estimator.classes_ = _sorted_classes(parts["classes_"])
    for name, annotation in kind.stored_parts.items():
        setattr(estimator, name, read_field(parts[name], annotation))
    if has_tree:
        estimator.routing = "hard" if estimator.platt_ is None else "soft"
    return estimator


def _check_names(parts: Any, expected: set[str]) -> None:
    """Refuse parts that are missing, and those that are not known."""
    if not isinstance(parts, dict) or set(parts) != expected:
        raise ValueError(f"its parts are not {listed(sorted(expected))}")


def _sorted_classes(labels: Any) -> NDArray[Any]:
    classes = check_classes(labels)
    if not isinstance(labels, list) or np.any(classes[1:] < classes[:-1]):
        raise ValueError("the classes are not sorted")
    return classes
