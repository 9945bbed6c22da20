"""Model files: a trained classifier and the preparation of its table, written by skops.

A pickle runs whatever code its writer put in. What skops writes is a zip file of a description in JSON and of plain
arrays. Of the types named there only those below, and those that skops itself knows to be harmless, are ever made; any
other is refused before anything is built.
"""

import io
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.classify.linear.smart_svc import SmartSVC
from bayesfloor.runtime.text import visible
from bayesfloor.tables.encoding import Preparation

#: Types of this library that a model is made of.
TRUSTED = (
    "bayesfloor.classify.linear.smart_svc.SmartSVC",
    "bayesfloor.tree.class_tree.ClassNode",
    "bayesfloor.tree.class_tree.ClassTree",
)

#: What a model file may unpack to.
UNPACKED_MODEL_LIMIT = 2**30

_FORMAT = "bayesfloor model 1"


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier, and how to make rows ready for it."""

    classifier: SmartSVC
    preparation: Preparation


def pack_model(model: Model) -> bytes:
    """Return the contents of a model file."""
    from skops import io as skops_io  # type: ignore[import-untyped]

    stored = {
        "format": _FORMAT,
        "classifier": model.classifier,
        "preparation": model.preparation.to_dict(),
    }
    return bytes(skops_io.dumps(stored))


def unpack_model(contents: bytes, name: str) -> Model:
    """Take a model from the contents of a file.

    Parameters
    ----------
    contents : bytes
        What the file holds.
    name : str
        Its name, for messages.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        When it is no model file, or names types that are not known; these are listed, and none of their code is run.
    """
    from skops import io as skops_io

    _check_archive(contents, name)
    try:
        unknown = sorted(set(skops_io.get_untrusted_types(data=contents)) - set(TRUSTED))
    except Exception as error:  # whatever a damaged description makes skops stumble over
        raise _no_model(name, error) from error
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise ValueError(f"{name} holds types that are not known, and is refused: {', '.join(unknown[:5])}{more}")
    try:
        stored = skops_io.loads(contents, trusted=list(TRUSTED))
        if stored["format"] != _FORMAT:
            raise ValueError(f"its format is {visible(stored['format'])!r}")
        model = Model(stored["classifier"], Preparation.from_dict(stored["preparation"]))
        _check_model(model)
    except Exception as error:
        raise _no_model(name, error) from error
    return model


def _check_archive(contents: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ValueError(f"{name} is not a model that 'bayesfloor fit' wrote") from error
    if size > UNPACKED_MODEL_LIMIT:
        raise ValueError(f"{name} unpacks to more than {UNPACKED_MODEL_LIMIT / 2**30:g} GiB; no model is that large")


def _check_model(model: Model) -> None:
    """Refuse parts that do not belong together."""
    classifier: Any = model.classifier
    if not isinstance(classifier, SmartSVC):
        raise ValueError(f"it holds a {type(classifier).__name__}")
    n_classes, n_features = len(classifier.classes_), classifier.n_features_in_
    if n_features != len(model.preparation.feature_names):
        raise ValueError("the classifier and the table that it goes with have different numbers of columns")
    shapes = [np.shape(each) for each in (classifier.coef_, classifier.intercept_, classifier.platt_)]
    if shapes != [(n_classes - 1, n_features), (n_classes - 1,), (n_classes - 1, 2)]:
        raise ValueError("the classifier's coefficients have other shapes than its classes and columns ask for")


def _no_model(name: str, error: Exception) -> ValueError:
    return ValueError(
        f"{name} is not a model that 'bayesfloor fit' wrote, or it is damaged ({type(error).__name__}: {error})"
    )
