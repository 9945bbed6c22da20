"""
Is the new data still the old data?
===================================

A model was trained on last year's customers, and this year's arrive. Do they come from the same
distribution? If not, what moved: the customers, or how they decide? The first asks for nothing
but attention, the second for new labels.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bayesfloor import drift


def customers(n, rng, *, is_new):
    """Draw customers; of the new ones more are eastern, and age counts less."""
    shares = [0.3, 0.3, 0.4] if is_new else [0.5, 0.3, 0.2]
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n).round(),
            "income": np.exp(rng.normal(10, 0.5, n)).round(-2),
            "visits": rng.poisson(4, n),
            "region": rng.choice(["north", "south", "east"], n, p=shares),
        }
    )
    level = (0.02 if is_new else 0.08) * (frame["age"] - 45) + 0.3 * (frame["visits"] - 4)
    frame["bought"] = np.where(rng.random(n) < 1 / (1 + np.exp(-level)), "yes", "no")
    if is_new:
        frame["income"] = frame["income"].mask(rng.random(n) < 0.15)
    return frame


rng = np.random.default_rng(0)
old, new = customers(600, rng, is_new=False), customers(400, rng, is_new=True)

# %%
# One call. The p-value is the chance of tables as different as these, if both came from one
# distribution: names of the tables are dealt out to the rows again, so that it holds at any size.

found = drift(old, new, y="bought", effort="fast")
print(found.sentence())

# %%
# What moved, by its own share: at least so many rows have another value than before.

columns = ["column", "what", "share", "p_value", "old", "new"]
print(found.frame()[columns].round(3).to_string(index=False))
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
found.plot(ax)
plt.show()

# %%
# Levels that moved, and kinds of rows that one table has more of. A small tree finds them on one
# half of the rows, and they are tested on the other.

for level in found.levels:
    print(f"{level.column} {level.level}: {level.old:.0%} -> {level.new:.0%}")
for kind in found.kinds:
    print(f"{kind.rows}: {kind.old:.0%} -> {kind.new:.0%}")

# %%
# What to do next
# ---------------
# Columns that moved alone leave old labels as good as they were: weigh rows, or wait. Where labels
# given the columns moved, as here, train on new ones. In continuous integration the same is
# ``bayesfloor drift old.csv new.csv --fast --fail-below 0.01``. More: :doc:`/drift`.
