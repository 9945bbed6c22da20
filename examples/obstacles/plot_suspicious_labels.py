"""
Which labels look wrong?
========================

Wrong labels raise the floor, and they can be repaired. A report lists rows whose labels models
find rather wrong than right. Here 15 labels of scikit-learn's digits are changed on purpose.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from bayesfloor import difficulty_report

X, y = load_digits(return_X_y=True)
changed = np.random.default_rng(0).choice(len(y), 15, replace=False)
y[changed] = (y[changed] + 3) % 10

# %%
# ``effort="fast"`` trains less than a report does by default.

suspects = difficulty_report(X, y, effort="fast").frame()
n_found = np.isin(changed, suspects["row"]).sum()
print(f"{len(suspects)} of {len(y)} rows are listed; {n_found} of the 15 are among them")
suspects[["row", "label", "looks_like", "score"]].head()

# %%
# Have a look at the first of the list. A red title marks a label that was changed here; the
# others are as they came.

fig, axes = plt.subplots(2, 5, figsize=(8, 4), layout="constrained")
listed = zip(suspects["row"], suspects["label"], suspects["looks_like"], strict=True)
for ax, (row, label, looks_like) in zip(axes.flat, listed, strict=False):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    colour = "#b2182b" if row in changed else "black"
    ax.set_title(f"labelled {label}\nlooks like {looks_like}", fontsize=9, color=colour)
    ax.axis("off")
plt.show()

# %%
# What to do next
# ---------------
# Let somebody look at the listed rows again, and leave those as they are that are right: rows
# that look like another class are what the floor is made of. To remove them all would make a
# model look better than it is. ``learned_floor(X, y).suspicious`` says how many labels are wrong.
# More: :doc:`/reading_a_report`. For a number instead of classes there is
# ``regression_floor(X, y).suspicious``.
