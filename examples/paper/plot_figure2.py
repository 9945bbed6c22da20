"""
Figure 2 of the paper: how many trees are enough?
=================================================

One spanning tree has few edges to count. The edges of the next tree, which shares none with the
first, say nearly as much again. The variance of the estimate falls with the number of trees, with
diminishing returns.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesfloor import spanning_forests
from bayesfloor.floor.trees import henze_penrose

N_REPETITIONS = 60  # 500 in the paper and in the picture of the user guide
N_SAMPLES = 400  # 1000 there
MOST_TREES = 8  # 10 there
DISTANCES = (1.0, 1.5, 2.5)
PRIOR = 0.33

# %%
# The first trees of eight are the trees of fewer, so that one forest of each sample is enough. A
# tree has to join the classes by one edge, which does not count.

rng = np.random.default_rng(0)
y = np.arange(N_SAMPLES) >= round(PRIOR * N_SAMPLES)
limit = henze_penrose.gamma(N_SAMPLES, PRIOR)
trees = np.arange(1, MOST_TREES + 1)
variance = {}
for distance in DISTANCES:
    samples = rng.normal(size=(N_REPETITIONS, N_SAMPLES, 2)) + np.outer(y, [distance, 0])
    counts = [
        spanning_forests(X, n_trees=MOST_TREES, n_jobs=1).cross_counts(y)[:, 0, 1] for X in samples
    ]
    cross_edges = henze_penrose.corrected_cross_edges(np.cumsum(counts, axis=1) / trees - 1, limit)
    estimates = henze_penrose.estimate(henze_penrose.u_from_cross_edges(cross_edges, N_SAMPLES))
    variance[distance] = np.var(estimates, axis=0, ddof=1)

# %%

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (distance, values), colour in zip(
    variance.items(), ["#0072b2", "#e69f00", "#009e73"], strict=True
):
    ax.plot(trees, 1e4 * values, "o-", color=colour, label=f"{distance:g}")
ax.axvline(3, color="#757575", linestyle=":")
ax.annotate("default", (3, 0), (4, 6), ("data", "axes fraction"), "offset points", color="#757575")
ax.set(
    xlabel="edge-disjoint spanning trees", ylabel="variance of the estimate × 10⁴", ylim=(0, None)
)
ax.grid(color="#e5e5e5")
ax.legend(title="distance between means", frameon=False, ncols=3, loc="lower right")
plt.show()

# %%
# What to do next
# ---------------
# Leave ``n_trees=3``. More rows lower the variance faster than more trees do. How the trees are
# found, and why they are exact: :doc:`/design`; what they look like:
# :ref:`sphx_glr_gallery_paper_plot_spanning_forests.py`.
