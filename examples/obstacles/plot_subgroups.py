"""
Is it harder for some of my customers?
======================================

A model errs more often in one region than in the others. Is it unfair, short of rows there, or
can nobody do better? ``by`` asks for the floor of each part of the rows, from the models of one
fit.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars

from bayesfloor import learned_floor

rng = np.random.default_rng(0)
n_rows = 1800
region = rng.choice(["north", "east", "south", "islands"], n_rows, p=[0.4, 0.25, 0.2, 0.15])
X = rng.normal(size=(n_rows, 3))
y = X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n_rows) > 0
# on the islands, two fifths of the outcomes have nothing to do with what is measured
by_chance = (region == "islands") & (rng.random(n_rows) < 0.4)
y[by_chance] = rng.random(by_chance.sum()) < 0.5

table = polars.DataFrame(X, schema=["income", "age", "visits"]).with_columns(
    region=polars.Series(region)
)
floor = learned_floor(table, y, by="region", learners=["gaussian", "logistic", "trees"])

# %%
# Findings say what was noticed, with a code that can be looked up.

for finding in floor.findings:
    print(finding.code, finding.sentence, finding.hint)

# %%
# Where the floor itself is higher, no model of these columns will do as well as elsewhere.

floor.subgroups.plot()
plt.show()

# %%
# What to do next
# ---------------
# A group with a higher *floor* needs better columns, or people who decide. A group with a low
# floor and a high *reached* error needs a better model, or more rows of that group. More:
# :doc:`/learned`. On the command line it is ``bayesfloor report table.csv --by region``.
