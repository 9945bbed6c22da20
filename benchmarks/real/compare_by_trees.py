"""Do spanning trees rank representations as models do? MNIST as principal components and as random convolutions.

    python -m benchmarks.real.compare_by_trees

5000 training images as 50 principal components, and as 512 random convolutions: 32 filters of 5 × 5, normal weights,
their positive parts averaged over 4 × 4 fields. `compare_features(learners=None)` has the 5000 images; logistic
regression on standardised features is fitted to them as well, and tested on 10 000 others, of the official test part.
"""

import numpy as np
from scipy.signal import fftconvolve
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import compare_features
from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import as_table

N_ROWS = 5000


def convolved(images: np.ndarray) -> np.ndarray:
    """Return 512 features of images, (n, 28, 28)."""
    filters = np.random.default_rng(0).standard_normal((32, 5, 5))
    fields = [np.maximum(fftconvolve(images, each[None], mode="valid", axes=(1, 2)), 0.0) for each in filters]
    return np.concatenate([each.reshape(-1, 4, 6, 4, 6).mean(axis=(2, 4)).reshape(-1, 16) for each in fields], axis=1)


def main() -> None:
    arrays = stored_arrays("extra/mnist")
    train = np.random.default_rng(0).permutation(np.flatnonzero(arrays["split"] == 0))[:N_ROWS]
    parts = [train, np.flatnonzero(arrays["split"] == 1)]
    pixels = [arrays["X"][rows] / 255.0 for rows in parts]
    labels = [arrays["y"][rows] for rows in parts]
    components = PCA(50, random_state=0).fit(pixels[0])
    features = {
        "50 principal components": [components.transform(each) for each in pixels],
        "512 random convolutions": [convolved(each.reshape(-1, 28, 28)) for each in pixels],
    }
    compared = compare_features({name: each[0] for name, each in features.items()}, labels[0], learners=None, n_jobs=1)
    rows = []
    for each in compared.features:
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(features[each.name][0], labels[0])
        error = 1.0 - model.score(features[each.name][1], labels[1])
        low, high = each.interval
        rows.append([each.name, f"{each.estimate:.3f} ({low:.3f} to {high:.3f})", f"{error:.3f}"])
    print(as_table(["representation", "floor by spanning trees", "error of logistic regression"], rows), "\n")
    print(compared.sentence(), "\n")
    print(*compared.findings, sep="\n\n")


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    main()
