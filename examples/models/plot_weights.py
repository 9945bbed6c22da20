"""
Should hard classes weigh more?
===============================

``class_weight="balanced"`` makes rare classes count as much as frequent ones.
:func:`~bayesfloor.bayes_class_weight` also looks at which classes overlap with others, and lets
these count more. Does it help?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, recall_score

from bayesfloor import bayes_class_weight

rng = np.random.default_rng(0)
names = np.array(["common", "frequent", "rare and near", "rare and far"])
centres = np.array([[0, 0], [3, 0], [1.2, 1.2], [0, 6]])


def draw(n_rows):
    """Draw rows of four classes: two are rare, and one of these lies between the others."""
    codes = rng.choice(4, n_rows, p=[0.55, 0.35, 0.05, 0.05])
    return centres[codes] + rng.normal(size=(n_rows, 2)), names[codes]


X, y = draw(1500)
X_test, y_test = draw(20_000)

# %%

weightings = {
    "none": None,
    "balanced": "balanced",
    "by floors": bayes_class_weight(X, y),
    "by floors, strength 3": bayes_class_weight(X, y, strength=3.0),
}
print({name: round(weight, 2) for name, weight in weightings["by floors"].items()})

# %%
# The recall of each class, and the mean of them in the legend.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
colours = ["#999999", "black", "#0072b2", "#56b4e9"]
for k, (kind, weights) in enumerate(weightings.items()):
    predicted = LogisticRegression(class_weight=weights).fit(X, y).predict(X_test)
    recall = recall_score(y_test, predicted, labels=names, average=None)
    mean = balanced_accuracy_score(y_test, predicted)
    ax.bar(
        np.arange(4) + 0.2 * (k - 1.5),
        recall,
        width=0.18,
        color=colours[k],
        label=f"{kind}: {mean:.1%}",
    )
ax.set_xticks(range(4), names)
ax.set(ylabel="recall", ylim=(0, 1))
ax.yaxis.set_major_formatter("{x:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(
    title="class weights: balanced accuracy",
    ncols=2,
    loc="lower center",
    bbox_to_anchor=(0.5, 1.0),
    frameon=False,
)
plt.show()

# %%
# Balancing does nearly all of it. What the floors add moves recall from one class to its
# neighbours.
#
# What to do next
# ---------------
# For balanced accuracy, ``"balanced"`` does. Use the floors' weights where the hard classes
# matter to you as such, and look at their recall. Measured on five real sets: :doc:`/choose`.
# Where mistakes have a price, say so: :ref:`sphx_glr_gallery_how_good_plot_mistake_costs.py`.
