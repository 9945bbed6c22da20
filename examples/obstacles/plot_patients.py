"""
Several rows for each patient: does it matter?
==============================================

A hundred patients came five times each. If visits of one patient are dealt out to different
folds, a model recognises the patient instead of the disease, and cross-validation calls it
perfect. Say which rows belong together.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesfloor import learned_floor

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(100), 5)
is_ill = rng.integers(0, 2, 100)[patient]
X = rng.normal(size=(100, 3))[patient] + 0.02 * rng.normal(size=(500, 3))
X[:, 0] += 2.0 * is_ill

floors = {
    "rows by themselves": learned_floor(X, is_ill),
    "rows of a patient together": learned_floor(X, is_ill, groups=patient),
}

# %%
# For a new patient the floor is Φ(-1) = 15.9% here, because only the first column tells. Without
# groups the answer is "never wrong", which is true for these patients only.

truth = norm.cdf(-1.0)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (name, floor) in zip(axes, floors.items(), strict=True):
    floor.plot(ax)
    ax.plot(
        1,
        truth,
        "<",
        color="#b2182b",
        markersize=9,
        transform=ax.get_yaxis_transform(),
        clip_on=False,
        zorder=5,
    )
    ax.text(1.03, truth, "truth", color="#b2182b", transform=ax.get_yaxis_transform(), va="center")
    ax.set_title(name, fontsize=11, loc="left", pad=26)
plt.show()

# %%
# What to do next
# ---------------
# Give ``groups=`` wherever rows share a patient, a user, a machine or a day, and ``time=`` where
# the past has to predict the future. Reports look for such columns by themselves, and warn. More:
# :doc:`/groups`. On the command line it is ``bayesfloor report visits.csv --groups patient``.
