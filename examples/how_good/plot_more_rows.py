"""
Do I need more rows?
====================

More rows cost money. They pay where the learning curve still falls, and they are wasted where it
has become flat. Two tables: 400 of scikit-learn's handwritten digits, and its diabetes study,
where the question is whether the disease of 442 patients progressed by more than the median.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits

from bayesfloor import learned_floor

X, y = load_digits(return_X_y=True)
digits = learned_floor(X[:400], y[:400], learners=["gaussian", "logistic", "neighbours", "unit"])
X, progression = load_diabetes(return_X_y=True)
diabetes = learned_floor(X, progression > np.median(progression))

# %%
# The digits' curve still falls, and its end is open: the range of the floor begins at 0. The
# diabetes curve is flat.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
digits.plot(left)
left.set_title("digits: more rows pay", fontsize=11, loc="left", pad=26)
diabetes.plot(right)
right.set_title("diabetes: more rows change little", fontsize=11, loc="left", pad=26)
plt.show()

# %%
# ``rows_for`` reads a curve the other way round: how many training rows until a model reaches an
# error?

for name, floor, target in [("digits", digits, 0.01), ("diabetes", diabetes, 0.15)]:
    needed = floor.rows_for(target)
    print(f"{name}: {needed.verdict}. {needed.sentence()}")

# %%
# What to do next
# ---------------
# Where the answer is *more rows*, buy them in doublings and ask again after each. Take the range
# and not the number: a curve of three points can go on in many ways. Where the answer is *below
# the floor*, other columns are needed: :ref:`sphx_glr_gallery_columns_plot_columns_to_buy.py`.
# How the number is made, and how often it was right: :doc:`/learned`. On the command line it is
# ``bayesfloor floor table.csv --rows-for 0.01``.
