"""
What if I am not judged by the error?
=====================================

Few teams are judged by the share of wrong predictions. One fit gives the best value of every
metric that you name: the ceiling of the ROC AUC, the floor of the log-loss, and so on.

The table is scikit-learn's diabetes study: will the disease progress by more than the median?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from bayesfloor import learned_floor

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)
floor = learned_floor(X, y, metric=["roc_auc", "log_loss", "balanced_error"])
floor.frame()[["metric", "estimate", "interval_low", "interval_high", "reached"]].round(4)

# %%
# In words, with what is measured and what is extrapolated:

print(floor.metrics["roc_auc"])

# %%
# An AUC has a ceiling, a loss has a floor. Each metric has a learning curve of its own.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
floor.metrics["roc_auc"].plot(left)
floor.metrics["log_loss"].plot(right)
plt.show()

# %%
# What to do next
# ---------------
# Name the metric that you are judged by, also in a report: ``difficulty_report(X, y,
# metric="roc_auc", target_value=0.9)`` or ``bayesfloor report table.csv --metric roc_auc``. All
# metrics, and how far off each was where the truth is known: :doc:`/metrics`. Where mistakes
# differ in price: :ref:`sphx_glr_gallery_how_good_plot_mistake_costs.py`.
