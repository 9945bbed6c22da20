"""
What does a spanning tree know about my classes?
================================================

Join all points by the shortest edges that make one tree. Where classes are apart, few edges lead
from one class to another; where they overlap, many do. Counting these *cross edges* is all that
the fast estimate does.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from bayesfloor import bayes_error, spanning_forests

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 100)
noise = rng.normal(size=(200, 2))

# %%
# Grey edges stay within a class, red ones cross.

fig, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for ax, distance in zip(axes, (5.0, 2.5, 0.5), strict=True):
    X = noise + np.outer(y, [distance, 0])
    forests = spanning_forests(X, n_trees=1)
    crosses = y[forests.edges[:, 0]] != y[forests.edges[:, 1]]
    for edges, colour, width in (
        (forests.edges[~crosses], "#999999", 1.0),
        (forests.edges[crosses], "#b2182b", 2.0),
    ):
        ax.add_collection(LineCollection(X[edges], colors=colour, linewidths=width))
    ax.scatter(*X.T, s=16, c=np.array(["#0072b2", "#e69f00"])[y], zorder=2)
    ax.set_title(
        f"{crosses.sum()} cross edges\nfloor {bayes_error(X, y).estimate:.1%}", fontsize=12
    )
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
plt.show()

# %%
# Forests are exact, and their edges are sorted by length. A frame has them all:

forests.frame().head()

# %%
# What to do next
# ---------------
# Three trees that share no edge are counted by default:
# :ref:`sphx_glr_gallery_paper_plot_figure2.py`. From counts to floors, and where trees go wrong:
# :doc:`/floor` and :doc:`/how_it_works`. A million rows, a GPU, rows that keep arriving:
# :doc:`/scale`.
