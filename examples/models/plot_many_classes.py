"""
How do I train on 200 classes in seconds?
=========================================

Time grows with the number of classes for most classifiers.
:class:`~bayesfloor.LandmarkClassifier` scales columns, chooses its kernel and its penalty by
itself, and from 61 classes on the nearest rows take the place of boosting.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import LandmarkClassifier

rng = np.random.default_rng(0)
y = np.repeat(np.arange(200), 36)
centres = 1.5 * rng.normal(size=(200, 2, 20))  # each class has two parts
X = centres[y, rng.integers(2, size=len(y))] + rng.normal(size=(len(y), 20))
X = np.hstack(
    [X, 1.5 * rng.normal(size=(len(y), 4))]
)  # four columns have nothing to do with the classes
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(f"{len(y)} rows to learn from, {X.shape[1]} columns, {len(np.unique(y))} classes")

# %%
# A first fit on few rows has the kernels compiled, so that the clock below shows what later fits
# take.

LandmarkClassifier(effort="fast").fit(X[:1500], y[:1500])
models = {
    "LandmarkClassifier": LandmarkClassifier(),
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "random forest": RandomForestClassifier(20, random_state=0),
}
seconds, errors = {}, {}
for name, model in models.items():
    started = process_time()
    errors[name] = 1 - model.fit(X, y).score(X_test, y_test)
    seconds[name] = process_time() - started

# %%

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
for name in models:
    is_ours = name == "LandmarkClassifier"
    ax.plot(
        seconds[name], errors[name], "o", markersize=11, color="#0072b2" if is_ours else "#999999"
    )
    weight = "bold" if is_ours else "normal"
    ax.annotate(
        name,
        (seconds[name], errors[name]),
        (0, 9),
        textcoords="offset points",
        ha="center",
        weight=weight,
    )
ax.set(xscale="log", xlabel="CPU seconds to fit and to predict", ylabel="error", ylim=(0, 0.6))
ax.margins(x=0.35)
ax.yaxis.set_major_formatter("{x:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(color="#e5e5e5")
plt.show()

# %%
# What to do next
# ---------------
# Probabilities come with it. How it works, and where it is not the one to take: :doc:`/classify`.
# On the command line, ``bayesfloor fit table.csv`` trains it.
