"""
What if I predict a number?
===========================

Half of all tables end in a number: a price, a yield, a lifetime. The floor is then the noise that
no model can predict. It sets a ceiling for R², and a floor for the root mean squared error.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from bayesfloor import regression_floor

X, y = load_diabetes(return_X_y=True)
floor = regression_floor(X, y)
print(floor)
floor.frame()[["metric", "estimate", "interval_low", "interval_high", "reached"]].round(3)

# %%
# On the left, how R² grows with more rows, and where it ends. On the right, how large the noise
# is for patients with a low and with a high prediction: the error bars of one model should differ
# that much from patient to patient.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
floor.plot(left)
floor.noise.plot(right)
plt.show()

# %%
# What to do next
# ---------------
# About half of the variance cannot be explained by these ten columns, whatever the model. Where
# that is not enough, other columns are needed: :class:`~bayesfloor.FloorSelector` says
# which of yours matter. ``floor.suspicious`` lists values that may be typing errors. More:
# :doc:`/regression`. On the command line it is ``bayesfloor report houses.csv --target price``.
