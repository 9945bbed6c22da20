"""
Can I have the best model that was tried?
=========================================

A floor says how good any model can get, and what the best one tried reaches. That one is a stack
of fast learners. How is it taken home, what will it do on new rows, and how far is it from the
floor?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from bayesfloor import learned_floor


def orders(n, seed):
    """Draw orders: a tenth of all is decided by chance, the rest by a ring of two columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    is_inside = X[:, 0] ** 2 + X[:, 1] ** 2 < 1.4
    return X, np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, is_inside).astype(int)


X, y = orders(800, seed=0)
X_new, y_new = orders(20_000, seed=1)

# %%
# One call gives both: the floor, and the model of the very run, its members trained once more on
# all rows.

floor, model = learned_floor(X, y, return_model=True)
print(", ".join(f"{name} {weight:.2f}" for name, weight in model.learners_.items()))

# %%
# ``held_out_`` is about the model that is handed out. Members that saw four fifths of the rows
# were measured; the learning curve says what the last fifth is worth, and the range allows for
# the sample that it was trained on.

stated = model.held_out_.metrics["error"]
fresh = 1 - model.score(X_new, y_new)
low, high = stated.interval
print(f"stated: {stated.value:.3f} ({low:.3f} to {high:.3f}), new rows: {fresh:.3f}")

# %%
# Beside boosting as it comes, and the floor. Half of the tenth is wrong: 5% is the best.

boosting = 1 - HistGradientBoostingClassifier(random_state=0).fit(X, y).score(X_new, y_new)
names, values = ["boosting", "stack"], [boosting, fresh]
fig, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
ax.barh(names, values, color=["0.8", "tab:blue"])
ax.axvspan(*floor.interval, color="tab:green", alpha=0.2, label="the floor lies here")
ax.plot(stated.interval, ["stack", "stack"], color="k", marker="|", label="stated before")
ax.axvline(0.05, color="tab:green", label="the truth")
ax.set_xlabel("error on 20 000 new rows")
ax.legend(loc="lower right")
plt.show()

# %%
# What to do next
# ---------------
# On the command line, ``bayesfloor fit table.csv --target label --model stack --out best.skops``
# writes the model to a file that holds no code: :doc:`/classify`. Where the floor is far below what
# the stack reaches, more rows may help, :ref:`sphx_glr_gallery_how_good_plot_more_rows.py`.
