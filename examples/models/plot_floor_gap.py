"""
Is my model near the floor?
===========================

A naive Bayes classifier takes many handwritten digits for others. How much of its error can be
won by a better model, and how much is nobody's fault? :func:`~bayesfloor.floor_gap` compares it
with what a stack of learners reaches on the same rows, and with the floor.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from bayesfloor import floor_gap

X, y = load_digits(return_X_y=True)

# %%
# The model is trained on the folds of the stack, so that both predict the same rows from the same
# others. A model that is fitted already is taken as it is: give rows that it has not seen.

gap = floor_gap(GaussianNB(), X[:700], y[:700])
print(gap.sentence())

# %%
# On the left, three errors on one scale: the distance from the model to what was reached can
# surely be won, and from there to the floor perhaps. On the right, where the model loses it.

gap.plot()
plt.show()

# %%
# The same as a table, the classes with the most to win first:

gap.by_class()[["label", "n_rows", "error", "reached", "gap"]].head().round(3)

# %%
# What to do next
# ---------------
# A large gap: take another model, such as :class:`~bayesfloor.LandmarkClassifier`, or tune yours.
# No gap: stop tuning, and look at the data instead,
# :ref:`sphx_glr_gallery_obstacles_plot_merge_classes.py` and
# :ref:`sphx_glr_gallery_columns_plot_columns_to_buy.py`. More: :doc:`/gap`. On the command line
# it is ``bayesfloor gap table.csv --model model.skops``.
