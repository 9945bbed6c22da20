"""
Can I trust the estimate on my own data?
========================================

Nobody knows the floor of your data. But everybody knows how it must move: redraw a share of the
labels at random, and the floor rises along a straight line. :func:`~bayesfloor.label_noise_check`
redraws labels, estimates again, and shows how far off the line it gets.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from bayesfloor import label_noise_check

X, y = load_wine(return_X_y=True)
check = label_noise_check(X, y, shares=[0.2, 0.4, 0.6])
check.frame()[["share", "estimate", "expected"]].round(3)

# %%
# The estimates should lie on the line, up to their intervals.

check.plot()
plt.show()

# %%
# What to do next
# ---------------
# Estimates far above the line: learners do not find what is there, and a model that suits your
# data should take part, ``learned_floor(X, y, learners=["default", mine])``. Estimates on the
# line are a good sign, and no proof: an estimate that is too high by a constant share passes too.
# More: :doc:`/learned`.
