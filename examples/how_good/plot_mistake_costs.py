"""
What do the mistakes cost that nobody can avoid?
================================================

A missed tumour costs far more than a second look. ``costs`` has a row for each true class and a
column for each decision; one more column is the cost of not deciding, such as asking a doctor.
The answer is the least cost per row that any model can have, and which mistakes the money goes
to.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bayesfloor import learned_floor

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]

# %%
# Classes are in sorted order: benign, malignant. A healthy patient who is treated costs 10, a
# tumour that is missed costs 100, and asking a doctor costs 3.

without = learned_floor(X, y, costs=[[0, 10], [100, 0]])
doctor = learned_floor(X, y, costs=[[0, 10, 3], [100, 0, 3]])
for name, floor in {"always decide": without, "may ask a doctor": doctor}.items():
    low, high = floor.interval
    print(f"{name}: floor {floor.estimate:.2f} per patient ({low:.2f} to {high:.2f})")

# %%
# Where the money goes, decision by decision:

spent = doctor.cost.frame()
spent[["label", "decision", "cost", "rows", "cost_per_row"]].round(3)

# %%

kinds = {
    "benign taken for malignant": (0, 1),
    "malignant taken for benign": (1, 0),
    "asked": (slice(None), 2),
}
colours = ["#e69f00", "#b2182b", "#0072b2"]
fig, ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
for place, floor in enumerate([without, doctor]):
    pairs, left = np.pad(floor.cost.pair_costs, ((0, 0), (0, 1)))[:, :3], 0.0
    for (kind, cell), colour in zip(kinds.items(), colours, strict=True):
        width = float(np.sum(pairs[cell]))
        ax.barh(
            place, width, left=left, height=0.5, color=colour, label=kind if place == 0 else None
        )
        left += width
    ax.plot([floor.estimate] * 2, [place - 0.36, place + 0.36], color="black", linewidth=2)
    ax.annotate("floor", (floor.estimate, place - 0.36), ha="center", va="bottom", fontsize=9)
ax.set_yticks([0, 1], ["always decide", "may ask a doctor"])
ax.invert_yaxis()
ax.set(xlabel="cost per patient", xlim=(0, 1.1 * without.reached))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.4, 1.02), frameon=False, fontsize=9)
plt.show()

# %%
# What to do next
# ---------------
# Compare the floor with what the process costs today. ``floor.cost.class_weights`` are the
# weights that make a learner without costs decide alike, where there are such. More:
# :doc:`/metrics`. On the command line it is ``bayesfloor report table.csv --costs costs.csv``.
