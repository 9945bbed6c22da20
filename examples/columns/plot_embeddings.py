"""
Which embedding is better?
==========================

Images as pixels, as principal components, or as directions of edges: which columns let models get
furthest, and would more images change that? :func:`~bayesfloor.compare_features` trains the same
models on each, on the same rows and folds, and says which differences are more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from bayesfloor import compare_features

X, y = load_digits(return_X_y=True)
X, y = X[:900], y[:900]


def edge_directions(images, cell=4, n_directions=8):
    """Sum the strength of edges by direction in each cell of an image."""
    down, right = np.gradient(images.reshape(-1, 8, 8), axis=(1, 2))
    strength, angle = np.hypot(down, right), np.arctan2(down, right) % (2 * np.pi)
    direction = (angle / (2 * np.pi) * n_directions).astype(int) % n_directions
    cells = [slice(start, start + cell) for start in range(0, 8, cell)]
    found = [
        (strength * (direction == k))[:, rows, columns].sum(axis=(1, 2))
        for k in range(n_directions)
        for rows in cells
        for columns in cells
    ]
    return np.column_stack(found)


features = {
    "pixels": X,
    "PCA, 2 axes": PCA(2, random_state=0),
    "PCA, 20 axes": PCA(20, random_state=0),
    "edges": edge_directions(X),
    "pixels and edges": ["pixels", "edges"],
}
compared = compare_features(features, y, X=X, effort="fast")
compared.frame()[["name", "n_features", "reached", "estimate", "distinguishable"]].round(3)

# %%
# Open marks differ surely from the first. The learning curves say who still improves.

compared.plot()
plt.show()

# %%
# In words, and with what the edges add to the pixels:

print(compared.sentence())
for each in compared.additions:
    low, high = each.interval
    print(f"{each.together} on {each.alone}: {each.gain:+.3f} ({low:+.3f} to {high:+.3f})")

# %%
# What to do next
# ---------------
# An embedding of a pretrained network is an array with a row for each image, or the path of a
# ``.npy`` file. ``compared.pairs()`` has the best one for each pair of classes. PCA was fitted in
# each training set alone. More: :doc:`/compare`.
