"""
Which classes should I merge or relabel?
========================================

A model for six kinds of damage is wrong too often. Is it the model, or do some of the kinds look
the same? The floor of every pair of classes tells: it is the share of errors that remains when
only these two have to be told apart.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesfloor import learned_floor, pairwise_bayes_error

rng = np.random.default_rng(0)
kinds = np.array(["crack", "hairline", "dent", "scratch", "stain", "dust"])
centres = np.array(
    [[0, 0, 0, 0], [1.1, 0, 0, 0], [4, 3, 0, 0], [0, 4, 3, 0], [4, -2, 3, 3], [4, -2, 3, 1.2]]
)
codes = rng.choice(6, size=900, p=[0.25, 0.15, 0.2, 0.15, 0.15, 0.1])
X, y = centres[codes] + rng.normal(size=(900, 4)), kinds[codes]

# %%
# Two pairs stand out. ``hardest`` goes by the lower end of each interval, so that a class of a
# few rows is not first by chance.

pairs = pairwise_bayes_error(X, y)
for pair in pairs.hardest(3):
    share = f"{pair.normalized:.0%} of the largest possible"
    print(f"{pair.first} and {pair.second}: {pair.estimate:.1%}, which is {share}")

# %%

pairs.plot()
plt.show()

# %%
# What would merging buy? The floor with all six classes, and after each step:

merged = np.where(y == "hairline", "crack", y)
twice = np.where(merged == "dust", "stain", merged)
for name, labels in {
    "six classes": y,
    "hairline is a crack": merged,
    "dust is a stain, too": twice,
}.items():
    floor = learned_floor(X, labels, learners=["gaussian", "logistic"])
    print(f"{name}: floor {floor.estimate:.1%}, a model reaches {floor.reached:.1%}")

# %%
# What to do next
# ---------------
# Merge two classes where nothing follows from the difference. Where something does, look at rows
# of both: if people can tell them apart from more than these columns, add what they see; if
# people disagree, write a rule for annotators and relabel.
# :ref:`sphx_glr_gallery_obstacles_plot_suspicious_labels.py` finds single rows, and
# :ref:`sphx_glr_gallery_how_good_plot_votes.py` measures how far annotators agree. More:
# :doc:`/floor`.
