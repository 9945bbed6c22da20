"""A ready set of transforms, those that make sense for the shape of the data."""

from typing import Any

from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler

#: Coordinates of the larger maps.
_MANY = 10
#: Rows in the middle of a feature's kernel.
_LANDMARKS = 100


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
    for n_components in (2, _MANY):
        if n_components < min(n_rows, n_features):
            name = f"{n_components} principal components"
            transforms[name] = make_pipeline(StandardScaler(), PCA(n_components, random_state=0))
        if n_components + 1 < n_rows:
            name = f"{n_components} Laplacian eigenmaps"
            transforms[name] = make_pipeline(StandardScaler(), SpectralEmbedding(n_components, random_state=0))
    landmarks = min(_LANDMARKS, n_rows)
    transforms["radial kernel"] = make_pipeline(StandardScaler(), Nystroem(n_components=landmarks, random_state=0))
    return transforms
