"""Steps of preprocessing: transformers that are compared, and whether they learn from labels."""

import inspect
from typing import Any

from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler
from sklearn.utils import get_tags

from bayesfloor.data.supervised_features import matrix_of
from bayesfloor.runtime.arrays import Floats

#: Coordinates of the larger principal-component and eigenmap steps; the smaller ones have 2.
_N_COMPONENTS = 10
#: Landmarks of the Nystroem approximation of the radial kernel, which are its features.
_N_LANDMARKS = 100


def default_steps(n_rows: int, n_features: int) -> dict[str, Any]:
    """Return steps by name.

    Scalers change which features distances see; principal components and Laplacian eigenmaps reduce the
    dimension; the radial kernel's map leaves the order of distances as it is, up to its approximation. It is there to
    show that a kernel adds no information, whatever it does for linear classifiers.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the data. Maps to more dimensions than that are left out.

    Returns
    -------
    dict
    """
    steps: dict[str, Any] = {
        "as it is": "passthrough",
        "standardised": StandardScaler(),
        "median and quartiles": RobustScaler(),
        "normal scores": QuantileTransformer(n_quantiles=min(1000, n_rows), output_distribution="normal"),
    }
    for n_components in (2, _N_COMPONENTS):
        if n_components < min(n_rows, n_features):
            name = f"{n_components} principal components"
            steps[name] = make_pipeline(StandardScaler(), PCA(n_components, random_state=0))
        if n_components + 1 < n_rows:
            name = f"{n_components} Laplacian eigenmaps"
            steps[name] = make_pipeline(StandardScaler(), SpectralEmbedding(n_components, random_state=0))
    landmarks = min(_N_LANDMARKS, n_rows)
    steps["radial kernel"] = make_pipeline(StandardScaler(), Nystroem(n_components=landmarks, random_state=0))
    return steps


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
