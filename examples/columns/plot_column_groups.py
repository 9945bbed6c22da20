"""
What does each group of columns add?
====================================

A table has columns from several sources, and each source costs money. Which of them is needed?
:func:`~bayesfloor.compare_features` takes groups of columns by their names, alone and side by
side.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from bayesfloor import compare_features

cancer = load_breast_cancer(as_frame=True)
names = list(cancer.data.columns)
sources = {
    "mean": names[:10],
    "spread": names[10:20],
    "worst": names[20:],
    "mean and spread": ["mean", "spread"],
    "mean and worst": ["mean", "worst"],
}
compared = compare_features(
    sources, cancer.target, X=cancer.data, learners=["gaussian", "logistic"], effort="fast"
)
compared.frame()[["name", "n_features", "reached", "difference", "distinguishable"]].round(3)

# %%
# Errors on the same rows are compared, so that small differences show:

compared.plot()
plt.show()

# %%
# What a second source adds to a first one:

for each in compared.additions:
    low, high = each.interval
    print(f"{each.together} on {each.alone}: {each.gain:+.3f} ({low:+.3f} to {high:+.3f})")
print("As good as the best, with the fewest columns:", compared.simplest)

# %%
# What to do next
# ---------------
# Buy what surely adds something. For single columns, one after the other, there is
# :class:`~bayesfloor.FloorSelector`. More: :doc:`/compare`.
