"""The inputs of `compare_transforms`: the default set, what is accepted, and which transforms learn from labels."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler
from sklearn.utils import get_tags

from bayesfloor.data.points import check_points
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, shown

#: Coordinates of the larger principal-component and eigenmap transforms; the smaller ones have 2.
_N_COMPONENTS = 10
#: Landmarks of the Nystroem approximation of the radial kernel, which are its features.
_N_LANDMARKS = 100


def default_transforms(n_rows: int, n_features: int) -> dict[str, Any]:
    """Return transforms by name.

    Scalers change which features distances see; principal components and Laplacian eigenmaps reduce the
    dimension; the radial kernel's map leaves the order of distances as it is, up to its approximation, and with it the
    floor. It is there to show that a kernel adds no information, whatever it does for linear classifiers.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the data. Maps to more dimensions than that are left out.

    Returns
    -------
    dict
    """
    transforms: dict[str, Any] = {
        "as it is": "passthrough",
        "standardised": StandardScaler(),
        "median and quartiles": RobustScaler(),
        "normal scores": QuantileTransformer(n_quantiles=min(1000, n_rows), output_distribution="normal"),
    }
    for n_components in (2, _N_COMPONENTS):
        if n_components < min(n_rows, n_features):
            name = f"{n_components} principal components"
            transforms[name] = make_pipeline(StandardScaler(), PCA(n_components, random_state=0))
        if n_components + 1 < n_rows:
            name = f"{n_components} Laplacian eigenmaps"
            transforms[name] = make_pipeline(StandardScaler(), SpectralEmbedding(n_components, random_state=0))
    landmarks = min(_N_LANDMARKS, n_rows)
    transforms["radial kernel"] = make_pipeline(StandardScaler(), Nystroem(n_components=landmarks, random_state=0))
    return transforms


def check_transforms(transforms: Any, X: Any) -> dict[str, Any]:
    """Return the transforms by name; X has the shape that the default set is made for."""
    if isinstance(transforms, str) and transforms == "default":
        return default_transforms(*check_points(X).shape)
    if not isinstance(transforms, Mapping) or not transforms:
        raise ParameterError("transforms", "a dict of transformers by name, or 'default'", transforms)
    for name, transform in transforms.items():
        if not isinstance(name, str):
            raise TypeError(f"Names of transforms must be text, got {name!r}.")
        _check_transform(name, transform)
    return dict(transforms)


def _check_transform(name: str, transform: Any) -> None:
    if isinstance(transform, str) and transform == "passthrough":
        return
    if isinstance(transform, type) or not (hasattr(transform, "fit_transform") or hasattr(transform, "transform")):
        raise TypeError(f"Transform {shown(name)} must be a transformer or 'passthrough'; got {transform!r}.")
    if needs_labels(transform) and not takes_new_rows(transform):
        raise TypeError(
            f"Transform {shown(name)} learns from the labels and has no transform() for other rows, so its floor could "
            "only be measured on labels that it has seen."
        )


def takes_new_rows(transform: Any) -> bool:
    """Tell whether a transform can be applied to rows that it was not fitted to."""
    return isinstance(transform, str) or hasattr(transform, "transform")


def needs_labels(transform: Any) -> bool:
    """Tell whether a transformer, or any estimator among its parameters, is fitted to labels."""
    if not hasattr(transform, "get_params"):
        return False
    parts = [transform, *transform.get_params(deep=True).values()]
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


def check_halves(learning: list[str], classes: NDArray[Any], codes: Ints) -> None:
    """Refuse to measure on halves of the rows where a class would be missing from one."""
    alone = np.flatnonzero(np.bincount(codes) < 2)
    if len(alone):
        raise ValueError(
            f"Transform {shown(learning[0])} learns from the labels, so floors are measured on halves of the rows. "
            f"That takes two rows of each class; there is one of {listed([shown(classes[k]) for k in alone])}."
        )


def check_group_halves(learning: list[str], classes: NDArray[Any], halves: list[Ints]) -> None:
    """Refuse to measure on halves of the groups where a class is missing from one."""
    missing = sorted({k for half in halves for k in np.setdiff1d(np.arange(len(classes)), half).tolist()})
    if missing:
        few = listed([shown(classes[k]) for k in missing])
        raise ValueError(
            f"Transform {shown(learning[0])} learns from the labels, so floors are measured on halves of the groups. "
            f"That takes groups of each class in both; there are too few of {few}."
        )


def find_in_transforms(by_name: dict[str, Any], n_rows: int, n_samples: int) -> Iterator[Finding]:
    """Say what bears on the comparison."""
    learning = [shown(name) for name, transform in by_name.items() if needs_labels(transform)]
    if learning:
        plural = "transforms learn" if len(learning) > 1 else "transform learns"
        yield Finding(
            "BF031",
            f"{len(learning)} {plural} from the labels: {listed(learning)}. All floors are means over two halves "
            f"of the {n_rows} rows, each measured with what such a transform learned from the other half.",
            "They compare with each other, and are higher than floors of all rows would be.",
        )
    if n_rows < n_samples:
        yield Finding(
            "BF032",
            f"The floors come from {n_rows} of the {n_samples} rows, the same share of each class.",
            "Raise max_rows to use more.",
        )
    fixed = [shown(name) for name, transform in by_name.items() if not takes_new_rows(transform)]
    if fixed:
        plural = "transforms have" if len(fixed) > 1 else "transform has"
        yield Finding(
            "BF033",
            f"{len(fixed)} {plural} no transform() for rows that come later: {listed(fixed)}.",
            "Their floors tell about these rows; a classifier for new ones needs another map.",
        )
