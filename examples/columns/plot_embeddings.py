"""
Which embedding is better?
==========================

Six ways to turn images into columns: which one keeps the classes apart? Training a classifier on
each takes time, and mixes the embedding with the classifier.
:func:`~bayesfloor.compare_transforms` compares the floors that they leave, on the same rows, and
says which differences are more than chance.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.random_projection import GaussianRandomProjection

from bayesfloor import compare_transforms

X, y = load_digits(return_X_y=True)
compared = compare_transforms(
    X[:1000],
    y[:1000],
    transforms={
        "pixels": "passthrough",
        "PCA, 2 axes": PCA(2, random_state=0),
        "PCA, 8 axes": PCA(8, random_state=0),
        "PCA, 20 axes": PCA(20, random_state=0),
        "random axes, 20": GaussianRandomProjection(20, random_state=0),
        "discriminant, 9 axes": LinearDiscriminantAnalysis(),
    },
)
compared.frame()[["transform", "n_features", "whole", "difference", "distinguishable"]].round(3)

# %%
# Open marks differ surely from the first of the ranking. Among those that do not, the one with
# the fewest columns comes first: it is as good, and cheaper.

compared.plot()
plt.show()

# %%
# The discriminant learns from labels, and would be flattered by the rows that it has learned
# from. So all are measured on halves of the rows, each with what was learned on the other, and a
# finding says so:

for finding in compared.findings:
    print(finding.code, finding.sentence)

# %%
# What to do next
# ---------------
# Any scikit-learn transformer can take part, so can an embedding of a pretrained network: wrap it
# in a ``FunctionTransformer`` that looks the vectors up. ``compared.pairs()`` has the best
# transform for each pair of classes. More: :doc:`/choose`.
