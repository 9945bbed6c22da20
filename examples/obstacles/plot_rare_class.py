"""
Can a rare class be found at all?
=================================

40 of 4000 payments are fraud. Always saying "fine" is wrong in 1%, and a model that errs on 0.9%
may be worthless or very useful: the error does not tell. Ask how well fraud can be *ranked*
instead.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesfloor import learned_floor

rng = np.random.default_rng(0)
y = np.where(np.arange(4000) < 40, "fraud", "fine")
X = rng.normal(size=(4000, 4))
X[:40, :2] += 1.8

floor = learned_floor(
    X,
    y,
    metric=["error", "average_precision", "roc_auc"],
    positive="fraud",
    learners=["gaussian", "logistic", "trees"],
)

# %%
# Each class has a record of how high its rows are ranked by a model that has not seen them.

fraud = floor.ranking[list(floor.classes).index("fraud")]
print(fraud)
print(f"among the 1% ranked highest: {fraud.recall_at_top:.0%} of all fraud")
print(f"with at most one false alarm for each hit: {fraud.recall_at_precision:.0%} of all fraud")

# %%
# The error hardly moves, and is hardly below that of always saying "fine". Average precision
# shows what is there: by chance it would be 1%.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
floor.plot(left)
floor.metrics["average_precision"].plot(right)
plt.show()

# %%
# What to do next
# ---------------
# Agree on a metric before anybody trains: average precision, recall at a number of alarms that
# people can look at, or costs (:ref:`sphx_glr_gallery_how_good_plot_mistake_costs.py`). The
# intervals are wide because 40 rows say little: four times as many frauds would halve them, and
# more honest payments would not. More: :doc:`/metrics` and :doc:`/learned`.
