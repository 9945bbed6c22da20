"""Model files: a trained estimator and the preparation of its table, written by skops.

A pickle runs whatever code its writer put in. What skops writes is a zip file of a description in JSON and of plain
arrays. Only types that skops itself knows to be harmless are ever made; any other is refused before anything is built.

The file holds the parts that predictions need, as plain arrays and lists::

    format        version of this layout
    kind          which estimator it is; a key of `KINDS`
    parts         what that estimator needs, by name
    preparation   how a table becomes rows for it

The estimator is put together again from its parts. Parts that do not go together are refused, and so are parts that
this version does not know: leaving one out would change predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.landmarks import LandmarkClassifier, LandmarkRegressor
from bayesfloor.classify.linear.path_classifiers import SmartSVC
from bayesfloor.classify.stacked import StackedClassifier, StackedEstimator, StackedRegressor
from bayesfloor.cli.model_archive import UNPACKED_MODEL_LIMIT, no_model, pack, unpack
from bayesfloor.data.numbers import LARGEST
from bayesfloor.data.prepared_table import Table
from bayesfloor.floor.learned.stack_model import StackModel
from bayesfloor.learn.landmarks.feature_choice import HEAVIEST, LIGHTEST
from bayesfloor.learn.landmarks.feature_map import FARTHEST, FeatureMap
from bayesfloor.learn.landmarks.fitting import HEAVIEST_ROW, LIGHTEST_ROW
from bayesfloor.learn.landmarks.members import LANDMARKS, Members
from bayesfloor.learn.landmarks.regression import HeldOutRows
from bayesfloor.learn.later import Step
from bayesfloor.learn.stored_steps import from_plain, to_plain
from bayesfloor.runtime.text import counted, listed
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tree import ClassTree
from bayesfloor.tree.class_tree import check_classes

#: Largest coefficient: with features of up to 2000, no score of a million of them exceeds the range of float32.
LARGEST_COEFFICIENT = 1e15
#: Largest centre and scale of a column, as fits allow them, and largest coefficient of an axis.
LARGEST_CENTRE, LARGEST_SCALE, LARGEST_AXIS = 1e154, 1e300, 1e12
#: Largest gamma: that of rows a millionth of a deviation apart is below.
LARGEST_GAMMA = 1e15
#: Largest mean and deviation of a target of numbers: somewhat above the largest number that a fit takes.
LARGEST_TARGET = 10 * LARGEST
#: Largest coefficient of a linear SVM; columns are of order one.
LARGEST_LINEAR = 1e100

#: Letters in the name of a class: in an array of predictions, each row takes as much as the longest name.
MOST_LETTERS = 1000
_FORMAT = "bayesfloor model 8"

Parts = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier or regressor, and how to make rows ready for it."""

    estimator: LandmarkClassifier | SmartSVC | LandmarkRegressor | StackedClassifier | StackedRegressor
    preparation: Preparation

    def rows_for(self, table: Table) -> Any:
        """Return the rows of a table as the estimator takes them: a stack takes codes and gaps beside numbers."""
        return table if isinstance(self.estimator, StackedEstimator) else table.X

    @property
    def takes_steps(self) -> bool:
        """Whether predictions go through steps that were read."""
        members = getattr(self.estimator, "members_", None)
        return isinstance(self.estimator, StackedEstimator) or (members is not None and members.steps is not None)

    def ask(self, method: str, table: Table, **more: Any) -> NDArray[Any]:
        """Ask the estimator for the rows of a table.

        Raises
        ------
        ValueError
            Where the steps of a stack do not go together, which shows when they are gone through.
        """
        ask, rows = getattr(self.estimator, method), self.rows_for(table)
        if not self.takes_steps:
            return np.asarray(ask(rows, **more))
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(ask(rows, **more))
        except Exception as error:
            raise no_model("The model", error) from error
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise no_model("The model", ValueError("it predicts what is no finite number"))
        return found


def pack_model(model: Model) -> bytes:
    """Return the contents of a model file."""
    _check_letters(model.estimator)
    kind = next(name for name, each in KINDS.items() if isinstance(model.estimator, each.estimator))
    return pack(
        {
            "format": _FORMAT,
            "kind": kind,
            "parts": KINDS[kind].take_apart(model.estimator),
            "preparation": model.preparation.to_dict(),
        }
    )


def read_model(path: Path) -> Model:
    """Read a model that 'bayesfloor fit' wrote.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        When it is no model file, or names types that are not known; these are listed, and none of their code is run.
    """
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
        As for `read_model`, and for anything that cannot predict.
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
        _check_names(stored, {"format", "kind", "parts", "preparation"})
        if stored["format"] != _FORMAT:
            raise ValueError(f"its format is {stored['format']!r}")
        if stored["kind"] not in KINDS:
            raise ValueError(f"it holds an estimator that is not known, {stored['kind']!r}")
        preparation, kind = Preparation.from_dict(stored["preparation"]), KINDS[stored["kind"]]
        if preparation.task != kind.task:
            raise ValueError(f"its table is not one of {'classes' if kind.task == 'classification' else 'numbers'}")
        estimator = kind.put_together(stored["parts"], len(preparation.feature_names))
        _check_letters(estimator)
        return Model(estimator, preparation)
    except Exception as error:
        raise no_model(name, error) from error


def _check_letters(estimator: Any) -> None:
    """Refuse names of classes that are too long, when a model is written and when it is read."""
    labels = getattr(estimator, "classes_", np.empty(0)).tolist()
    n_letters = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if n_letters > MOST_LETTERS:
        raise ValueError(f"a class has a name of {counted(n_letters)} letters; {counted(MOST_LETTERS)} are the most")


def _check_names(parts: Any, expected: set[str]) -> None:
    """Refuse parts that are missing, and those that are not known."""
    if not isinstance(parts, dict) or set(parts) != expected:
        raise ValueError(f"its parts are not {listed(sorted(expected))}")


def _array(
    parts: Parts, name: str, dtype: Any, shape: tuple[int | None, ...], least: float, largest: float
) -> NDArray[Any]:
    """Return an array of the dtype and shape that it must have, between two numbers; a length of None may be any."""
    values = parts[name]
    if type(values) is not np.ndarray or values.dtype != dtype or values.ndim != len(shape):
        raise ValueError(f"the array {name!r} has another type than it should have")
    if any(wanted not in (None, length) for wanted, length in zip(shape, values.shape, strict=True)):
        raise ValueError(f"the array {name!r} has another shape than the classes and columns ask for")
    if not ((values >= values.dtype.type(least)) & (values <= values.dtype.type(largest))).all():
        raise ValueError(f"the array {name!r} holds values that no fit gives")
    return np.ascontiguousarray(values)


def _places(parts: Parts, name: str, shape: tuple[int | None, ...], n_places: int) -> NDArray[np.int64]:
    """Return an array of numbers from 0 to n_places - 1; compiled code looks there without asking."""
    return _array(parts, name, np.int64, shape, 0, n_places - 1)


def _smart_svm_parts(classifier: SmartSVC) -> Parts:
    return {
        "tree": classifier.tree_.to_dict(),
        "coef": classifier.coef_,
        "intercept": classifier.intercept_,
        "platt": classifier.platt_,
    }


def _smart_svm_of(parts: Parts, n_features: int) -> SmartSVC:
    """Put linear SVMs and their class tree together."""
    _check_names(parts, {"tree", "coef", "intercept", "platt"})
    tree = ClassTree.from_dict(parts["tree"])
    classifier = SmartSVC(routing="soft")
    classifier.classes_, classifier.tree_, classifier.n_features_in_ = tree.classes, tree, n_features
    within = -LARGEST_LINEAR, LARGEST_LINEAR
    classifier.coef_ = _array(parts, "coef", np.float64, (tree.n_nodes, n_features), *within)
    classifier.intercept_ = _array(parts, "intercept", np.float64, (tree.n_nodes,), *within)
    classifier.platt_ = _array(parts, "platt", np.float64, (tree.n_nodes, 2), *within)
    return classifier


def _landmark_parts(classifier: LandmarkClassifier) -> Parts:
    return {
        "classes": classifier.classes_.tolist(),
        "feature_map": classifier.feature_map_.to_dict(),
        "coef": classifier.coef_,
        "members": None if classifier.members_ is None else _member_parts(classifier.members_),
    }


def _member_parts(members: Members) -> Parts:
    return {
        "weights": members.weights,
        "steps": None if members.steps is None else to_plain(members.steps),
    }


def _landmarks_of(parts: Parts, n_features: int) -> LandmarkClassifier:
    """Put a feature map, the coefficients of its features, and members of its stack together."""
    _check_names(parts, {"classes", "feature_map", "coef", "members"})
    classifier = LandmarkClassifier()
    classifier.preparation_ = None
    classifier.classes_, classifier.n_features_in_ = _sorted_classes(parts["classes"]), n_features
    classifier.feature_map_ = made = _feature_map_of(parts["feature_map"], n_features)
    n_classes = len(classifier.classes_)
    within = -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT
    classifier.coef_ = _array(parts, "coef", np.float32, (n_classes, made.n_features), *within)
    members = parts["members"]
    classifier.members_ = None if members is None else _members_of(members, made.n_axes, n_classes)
    return classifier


#: Modules of functions that members go through, and what they start from.
_MODULES_OF_MEMBERS = {"rows", "boosting", "network", "nearest", "later", "training_rows"}


def _members_of(parts: Parts, n_axes: int, n_classes: int) -> Members:
    """Put members of the stack and their weights together; the landmark model is one. No classes are for numbers."""
    _check_names(parts, {"weights", "steps"})
    steps = None if parts["steps"] is None else from_plain(parts["steps"])
    weights, there = parts["weights"], {LANDMARKS}
    if steps is not None:
        if not {name.partition(".")[0] for name in steps.functions} <= _MODULES_OF_MEMBERS:
            raise ValueError("a member takes steps that none does")
        for found in steps.predict({"rows": np.zeros((1, n_axes))}).values():
            if np.shape(found) != ((1, n_classes) if n_classes else (1,)) or not np.isfinite(found).all():
                raise ValueError("a member predicts something else than its target")
        there |= steps.outputs.keys()
    if not isinstance(weights, dict) or not weights.keys() <= there:
        raise ValueError("the weights are not those of its members")
    for name in weights:
        _number(weights, name, 0.0, LARGEST_COEFFICIENT)
    return Members(weights, steps)


def _regressor_parts(regressor: LandmarkRegressor) -> Parts:
    return {
        "feature_map": regressor.feature_map_.to_dict(),
        "coef": regressor.coef_,
        "members": None if regressor.members_ is None else _member_parts(regressor.members_),
        "target_mean": regressor.target_mean_,
        "target_deviation": regressor.target_deviation_,
        "held_out": regressor.held_out_._asdict(),
    }


def _regressor_of(parts: Parts, n_features: int) -> LandmarkRegressor:
    """Put a feature map, the coefficients of its features, and the rows that intervals are from together."""
    _check_names(parts, {"feature_map", "coef", "members", "target_mean", "target_deviation", "held_out"})
    regressor = LandmarkRegressor()
    regressor.preparation_ = None
    regressor.n_features_in_ = n_features
    regressor.feature_map_ = made = _feature_map_of(parts["feature_map"], n_features)
    within = -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT
    regressor.coef_ = _array(parts, "coef", np.float32, (made.n_features,), *within)
    members = parts["members"]
    regressor.members_ = None if members is None else _members_of(members, made.n_axes, 0)
    regressor.target_mean_ = _number(parts, "target_mean", -LARGEST_TARGET, LARGEST_TARGET)
    regressor.target_deviation_ = _number(parts, "target_deviation", 0.0, LARGEST_TARGET)
    regressor.held_out_ = _held_out_of(parts["held_out"])
    return regressor


def _held_out_of(parts: Parts) -> HeldOutRows:
    """Put rows that intervals are from together."""
    _check_names(parts, set(HeldOutRows._fields))
    within = -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT
    predicted = _array(parts, "predicted", np.float32, (None,), *within)
    if not len(predicted):
        raise ValueError("the array 'predicted' holds no rows")
    return HeldOutRows(
        predicted=predicted,
        target=_array(parts, "target", np.float32, predicted.shape, *within),
        weight=_array(parts, "weight", np.float32, predicted.shape, LIGHTEST_ROW, HEAVIEST_ROW),
        group=_places(parts, "group", predicted.shape, len(predicted)),
    )


def _number(parts: Parts, name: str, least: float, largest: float) -> float:
    """Return a number between two others."""
    value = parts[name]
    if type(value) is not float or not least <= value <= largest:
        raise ValueError(f"{name!r} is no number that a fit gives")
    return value


def _sorted_classes(labels: Any) -> NDArray[Any]:
    classes = check_classes(labels)
    if not isinstance(labels, list) or np.any(classes[1:] < classes[:-1]):
        raise ValueError("the classes are not sorted")
    return classes


def _feature_map_of(parts: Parts, n_features: int) -> FeatureMap:
    _check_names(parts, {each.name for each in fields(FeatureMap)})
    axes = None
    if parts["axes"] is not None:
        axes = _array(parts, "axes", np.float32, (n_features, None), -LARGEST_AXIS, LARGEST_AXIS)
    n_axes = n_features if axes is None else axes.shape[1]
    farthest = FARTHEST * HEAVIEST
    cut_columns = _places(parts, "cut_columns", (None,), n_axes)
    n_cuts = len(cut_columns)
    rule_first = _places(parts, "rule_first", (None,), n_cuts)
    return FeatureMap(
        centre=_array(parts, "centre", np.float64, (n_features,), -LARGEST_CENTRE, LARGEST_CENTRE),
        scale=_array(parts, "scale", np.float64, (n_features,), 0, LARGEST_SCALE),
        axes=axes,
        weights=_array(parts, "weights", np.float32, (n_axes,), LIGHTEST, HEAVIEST),
        landmarks=_array(parts, "landmarks", np.float32, (None, n_axes), -farthest, farthest),
        gamma=_number(parts, "gamma", np.nextafter(0.0, 1.0), LARGEST_GAMMA),
        cut_columns=cut_columns,
        cut_values=_array(parts, "cut_values", np.float32, (n_cuts,), -FARTHEST, FARTHEST),
        rule_first=rule_first,
        rule_second=_places(parts, "rule_second", (len(rule_first),), n_cuts),
    )


#: Parts of a stack, beside the classes.
_STACK_PARTS = {"steps", "weights", "offset", "centre", "scale"}


def _stack_parts(estimator: StackedClassifier | StackedRegressor) -> Parts:
    model = estimator.model_
    parts: Parts = {name: getattr(model, name) for name in _STACK_PARTS} | {"steps": to_plain(model.steps)}
    if isinstance(estimator, StackedClassifier):
        return parts | {"classes": estimator.classes_.tolist()}
    held_out = estimator.held_out_rows_
    return parts | {"offset": float(model.offset), "held_out": None if held_out is None else held_out._asdict()}


def _stack_model_of(parts: Parts, n_features: int, n_classes: int) -> StackModel:
    """Put the members of a stack and their weights together."""
    steps, weights = from_plain(parts["steps"]), parts["weights"]
    if not isinstance(weights, dict) or not weights or weights.keys() != steps.outputs.keys():
        raise ValueError("the weights are not those of its members")
    for name in weights:
        _number(weights, name, 0.0, LARGEST_COEFFICIENT)
    within = -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT
    if n_classes:
        offset = _array(parts, "offset", np.float64, (n_classes,), *within)
    else:
        offset = np.array(_number(parts, "offset", *within))
    for function, arguments in zip(steps.functions, steps.arguments, strict=True):
        if function == "linear_cost.landmark_shares":
            _check_landmark_shares(arguments, n_features, n_classes)
    return StackModel(
        steps=steps,
        weights=weights,
        offset=offset,
        n_columns=n_features,
        centre=_number(parts, "centre", -LARGEST_TARGET, LARGEST_TARGET),
        scale=_number(parts, "scale", 0.0, LARGEST_TARGET),
    )


def _check_landmark_shares(arguments: tuple[Any, ...], n_features: int, n_classes: int) -> None:
    """Refuse a landmark model that is not one of these rows and classes."""
    rows, features, coefficients, classes, n_all = arguments
    made = _feature_map_of(features, n_features)
    known = _places({"classes": classes}, "classes", (None,), n_classes)
    within = -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT
    _array({"coef": coefficients}, "coef", np.float32, (len(known), made.n_features), *within)
    if not isinstance(rows, Step) or n_all != n_classes:
        raise ValueError("a landmark model is of other rows or classes")


def _stacked_classifier_of(parts: Parts, n_features: int) -> StackedClassifier:
    _check_names(parts, _STACK_PARTS | {"classes"})
    classifier = StackedClassifier()
    classifier.classes_, classifier.n_features_in_ = _sorted_classes(parts["classes"]), n_features
    classifier.model_ = _stack_model_of(parts, n_features, len(classifier.classes_))
    classifier.preparation_ = None
    return classifier


def _stacked_regressor_of(parts: Parts, n_features: int) -> StackedRegressor:
    _check_names(parts, _STACK_PARTS | {"held_out"})
    regressor = StackedRegressor()
    regressor.held_out_rows_ = None if parts["held_out"] is None else _held_out_of(parts["held_out"])
    regressor.n_features_in_, regressor.preparation_ = n_features, None
    regressor.model_ = _stack_model_of(parts, n_features, 0)
    return regressor


class Kind(NamedTuple):
    """An estimator that a file can hold, what its table is of, what of it is written, and how it is read."""

    estimator: type
    task: str
    take_apart: Callable[[Any], Parts]
    put_together: Callable[[Parts, int], Any]


#: Estimators by the name that their files have.
KINDS = {
    "landmarks": Kind(LandmarkClassifier, "classification", _landmark_parts, _landmarks_of),
    "smartsvm": Kind(SmartSVC, "classification", _smart_svm_parts, _smart_svm_of),
    "landmarks of numbers": Kind(LandmarkRegressor, "regression", _regressor_parts, _regressor_of),
    "stack": Kind(StackedClassifier, "classification", _stack_parts, _stacked_classifier_of),
    "stack of numbers": Kind(StackedRegressor, "regression", _stack_parts, _stacked_regressor_of),
}
