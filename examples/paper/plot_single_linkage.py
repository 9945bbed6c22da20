"""
Can the same trees find clusters?
=================================

The minimum spanning tree *is* single-linkage clustering: leave out the longest edges, and what
still hangs together is a cluster. Exact trees of many points are what this library is fast at, so
clusters come for free, without labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import make_moons

from bayesfloor import spanning_forests

rng = np.random.default_rng(0)
moons, _ = make_moons(600, noise=0.05, random_state=0)
angle, radius = rng.uniform(0, 2 * np.pi, 200), 0.35 * np.sqrt(rng.random(200))
disc = np.column_stack([2.9 + radius * np.cos(angle), 0.3 + radius * np.sin(angle)])
X = np.concatenate([moons, disc])
tree = spanning_forests(X, n_trees=1)

# %%
# Edges are sorted by length. Without the two longest, three parts are left. SciPy cuts the tree, as
# a hierarchy in its format.

kept = tree.edges[:-2]
cluster = fcluster(tree.to_linkage(), 3, "maxclust") - 1
n_clusters = cluster.max() + 1

# %%
# SciPy's own hierarchy has the same clusters, from all distances at once, which takes memory for
# the square of the number of rows.

scipy_cluster = fcluster(linkage(X, "single"), 3, "maxclust")
same = len(set(zip(cluster.tolist(), scipy_cluster.tolist(), strict=True))) == n_clusters
print(f"{n_clusters} clusters of {np.bincount(cluster).tolist()} rows; the same as SciPy's: {same}")

# %%

fig, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 3.8), layout="constrained", width_ratios=[3, 2]
)
left.add_collection(LineCollection(X[kept], colors="#bbbbbb", linewidths=0.8))
left.add_collection(
    LineCollection(X[tree.edges[-2:]], colors="#b2182b", linewidths=2.0, linestyles="--")
)
left.scatter(*X.T, s=8, c=np.array(["#0072b2", "#e69f00", "#009e73"])[cluster], zorder=2)
left.set_aspect("equal", adjustable="datalim")
left.set_axis_off()
right.plot(np.arange(1, 41), tree.weights[::-1][:40], "o-", color="#757575", markersize=4)
right.plot([1, 2], tree.weights[::-1][:2], "o", color="#b2182b", markersize=7)
right.set(xlabel="edges, the longest first", ylabel="length", ylim=(0, None))
right.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What to do next
# ---------------
# Single linkage follows thin shapes, and one row between two clusters joins them: look at the
# lengths on the right for a gap. More about hierarchies: :doc:`/clustering`.
