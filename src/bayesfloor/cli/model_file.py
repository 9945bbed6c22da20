"""Model files: a trained classifier and the preparation of its table, written by skops.

A pickle runs whatever code its writer put in. What skops writes is a zip file of a description in JSON and of plain
arrays. Only types that skops itself knows to be harmless are ever made; any other is refused before anything is built.

The file holds the parts that predictions need, as plain arrays and lists. The classifier is put together again from
them, and parts that do not go together are refused.
"""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesfloor.classify.linear.smart_svc import SmartSVC
from bayesfloor.runtime.text import listed, visible
from bayesfloor.tables.encoding import Preparation
from bayesfloor.tables.unpacking import UNPACKED_LIMIT
from bayesfloor.tree import ClassTree

#: Bytes that a model file may unpack to; a linear model of 1000 classes and 100 000 columns takes 0.8 GB.
UNPACKED_MODEL_LIMIT = 2**30

_FORMAT = "bayesfloor model 2"


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier, and how to make rows ready for it."""

    classifier: SmartSVC
    preparation: Preparation


def pack_model(model: Model) -> bytes:
    """Return the contents of a model file."""
    from skops import io as skops_io  # type: ignore[import-untyped]

    classifier = model.classifier
    stored = {
        "format": _FORMAT,
        "tree": classifier.tree_.to_dict(),
        "coef": classifier.coef_,
        "intercept": classifier.intercept_,
        "platt": classifier.platt_,
        "preparation": model.preparation.to_dict(),
    }
    return bytes(skops_io.dumps(stored))


def read_model(path: Path) -> Model:
    """Read a model from a file.

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
    from skops import io as skops_io

    name = path.name
    if path.stat().st_size > UNPACKED_LIMIT:
        raise ValueError(f"{name} is too large for a model file")
    contents = path.read_bytes()
    _check_archive(contents, name)
    try:
        unknown = sorted(skops_io.get_untrusted_types(data=contents))
    except Exception as error:  # whatever a damaged description makes skops stumble over
        raise _no_model(name, error) from error
    if unknown:
        raise ValueError(f"{name} holds types that are not known, and is refused: {listed(unknown)}")
    try:
        stored = skops_io.loads(contents)
        if stored["format"] != _FORMAT:
            raise ValueError(f"its format is {visible(stored['format'])!r}")
        preparation = Preparation.from_dict(stored["preparation"])
        model = Model(_classifier_of(stored, len(preparation.feature_names)), preparation)
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


def _classifier_of(stored: dict[str, Any], n_features: int) -> SmartSVC:
    """Put a classifier together from its parts; refuse those that do not belong together."""
    tree = ClassTree.from_dict(stored["tree"])
    classifier = SmartSVC(routing="soft")
    classifier.classes_, classifier.tree_, classifier.n_features_in_ = tree.classes, tree, n_features
    for name, shape in (("coef", (n_features,)), ("intercept", ()), ("platt", (2,))):
        values = stored[name]
        if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != (tree.n_nodes, *shape):
            raise ValueError(f"the array {name!r} has another shape than the classes and columns ask for")
        if not np.isfinite(values).all():
            raise ValueError(f"the array {name!r} holds values that are no finite numbers")
        setattr(classifier, f"{name}_", values)
    return classifier


def _no_model(name: str, error: Exception) -> ValueError:
    return ValueError(
        f"{name} is not a model that 'bayesfloor fit' wrote, or it is damaged ({type(error).__name__}: {error})"
    )
