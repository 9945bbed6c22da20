"""
Which columns are worth their price?
====================================

A laboratory can measure several things of each wine, and each instrument costs money. Which
instruments lower the floor, and which add nothing to what the others tell? Columns that come from
one instrument enter together.
"""

import matplotlib.pyplot as plt
import polars
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import FloorSelector, learned_floor
from bayesfloor.display import SelectionPathDisplay

wine = load_wine()
X = polars.DataFrame(StandardScaler().fit_transform(wine.data), schema=wine.feature_names)
instruments = {
    "titration": ["malic_acid", "alcalinity_of_ash"],
    "photometer": ["color_intensity", "hue", "od280/od315_of_diluted_wines"],
    "chromatograph": ["total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"],
    "hydrometer": ["alcohol"],
    "ash furnace": ["ash", "magnesium"],
    "amino acids": ["proline"],
}

# %%
# The search begins without any column and adds, again and again, the instrument that leaves the
# lowest floor. It counts edges of spanning trees, so that it is fast.

selector = FloorSelector(len(instruments), feature_groups=list(instruments.values())).fit(
    X, wine.target
)
name_of = {columns[0]: name for name, columns in instruments.items()}
order = [name_of[step.features[0]] for step in selector.path_.steps[1:]]
print(" → ".join(order))

# %%
# Trees find a good order, and models know the level. So train a few models after each purchase:

reached, bought = [], []
for instrument in order:
    bought += instruments[instrument]
    reached.append(learned_floor(X[bought], wine.target, learners=["gaussian", "logistic"]).reached)

path = selector.path_.frame()[1:]  # the first row is the start, without any column
columns = {name: path[name] for name in ("floor", "interval_low", "interval_high")}
fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
trees = SelectionPathDisplay({**columns, "features": order}, confidence=0.95).plot(ax).line_
(models,) = ax.plot(reached, "D-", color="#e69f00", markeredgecolor="black", zorder=4)
ax.legend([trees, models], ["floor by spanning trees", "error reached by models"], frameon=False)
plt.show()

# %%
# What to do next
# ---------------
# Buy from the left, and stop where neither line falls any more. By default the search itself
# stops, where the next step lowers the floor by no more than its standard error.
# ``direction="backward"`` also finds columns that say something only together. The same selector
# takes a target of numbers. More: :doc:`/choose`.
