"""
Can the trees find clusters that stray rows join?
=================================================

Single linkage joins two clusters along any thin line of rows between them. HDBSCAN first moves
stray rows away from everything: two rows are as far apart as the largest of their distance and the
distances of both to their k-th nearest other row. The hierarchy is then again a minimum spanning
tree, and here it is an exact one.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import fcluster
from sklearn.cluster import DBSCAN

from bayesfloor import spanning_forests

rng = np.random.default_rng(0)
discs = [rng.standard_normal((300, 2)) + center for center in ([-4, 0], [4, 0])]
line = np.column_stack([np.linspace(-3, 3, 60), 0.01 * rng.standard_normal(60)])
strays = rng.uniform([-8, -4], [8, 4], (60, 2))
X = np.concatenate([*discs, line, strays])

# %%
# Cut each hierarchy at the largest height that leaves two clusters of at least 100 rows.


def cut(forests):
    """Return that height, 0 where there is none, and the cluster of each row, 0 for noise."""
    merges = forests.to_linkage()
    for height in merges[::-1, 2] * (1 - 1e-9):
        cluster = fcluster(merges, height, "distance")
        large = np.flatnonzero(np.bincount(cluster) >= 100)
        if len(large) == 2:
            return height, (cluster == large[0]) + 2 * (cluster == large[1])
    return 0.0, np.zeros(len(X), int)


cuts = {
    "distances": cut(spanning_forests(X, n_trees=1)),
    "mutual reachability": cut(spanning_forests(X, n_trees=1, core_distances=12)),
}
for name, (height, cluster) in cuts.items():
    print(f"{name}: cut at {height:.2f}, clusters of {np.bincount(cluster, minlength=3)[1:]} rows")

# %%
# At one height the clusters are those of DBSCAN, whose ``min_samples`` counts the row itself.

height, cluster = cuts["mutual reachability"]
dbscan = DBSCAN(eps=height, min_samples=13).fit(X)
core = np.intersect1d(dbscan.core_sample_indices_, np.flatnonzero(cluster))
same = len(set(zip(cluster[core].tolist(), dbscan.labels_[core].tolist(), strict=True))) == 2
print(f"the same as DBSCAN's: {same}")

# %%

fig, axes = plt.subplots(1, 2, figsize=(10.5, 3.4), layout="constrained", sharey=True)
for ax, (name, (height, cluster)) in zip(axes, cuts.items(), strict=True):
    ax.scatter(*X.T, s=8, c=np.array(["#bbbbbb", "#0072b2", "#e69f00"])[cluster])
    ax.set_title(f"Two clusters by {name}{'' if height else ': at no height'}", fontsize=11)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
plt.show()

# %%
# What to do next
# ---------------
# ``to_linkage`` is what hdbscan's ``condense_tree`` takes, for clusters of unequal density. Other
# metrics, the conventions of k, and graphs for SciPy and networkx: :doc:`/clustering`.
