"""
Are my classes drifting into each other?
========================================

A classifier was good last year and gets worse. Should it be trained again, or has the problem
itself become harder? Watch the floor while rows arrive: where it rises, no training brings the
old figures back.

Rows come in batches of 200. From batch to batch, the means of two Gaussian classes move to one
side and come closer.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesfloor import BayesErrorEstimator, bayes_error

START, END = np.array([-2.0, 2.0]), np.array([0.5, 1.5])  # the classes' means along the first axis


def means_at(time):
    """Return the means of both classes at a time from 0 to 1."""
    return (1 - time) * START + time * END


# %%
# Two floors after every batch. :meth:`~bayesfloor.BayesErrorEstimator.partial_fit` adds rows to
# those that it has seen: this is the floor for one model of all the history. The other one is of
# the last five batches: the floor by now.

rng = np.random.default_rng(0)
times = np.linspace(0, 1, 25)
everything, batches = BayesErrorEstimator(), []
floors = {"all rows so far": [], "the last 1000 rows": []}
for time in times:
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3))
    X[:, 0] += means_at(time)[y]
    batches = [*batches[-4:], (X, y)]
    floors["all rows so far"].append(everything.partial_fit(X, y).bayes_error_)
    floors["the last 1000 rows"].append(
        bayes_error(*map(np.concatenate, zip(*batches, strict=True)))
    )

# %%

rows = 200 * np.arange(1, len(times) + 1)
fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (name, watched), colour in zip(floors.items(), ["#e69f00", "#0072b2"], strict=True):
    low, high = np.transpose([floor.interval for floor in watched])
    ax.fill_between(rows, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(rows, [floor.estimate for floor in watched], color=colour, linewidth=2, label=name)
now = [norm.cdf(-np.diff(means_at(time))[0] / 2) for time in times]
ax.plot(rows, now, color="black", linestyle="--", linewidth=1.2, label="true floor of the moment")
ax.set(xlabel="rows seen", ylabel="floor, 95% interval", xlim=(rows[0], rows[-1]), ylim=(0, None))
ax.yaxis.set_major_formatter("{x:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# All rows together hardly see it: they are the mean of past and present. The last rows follow,
# half a window behind.
#
# What to do next
# ---------------
# Where the floor of the last rows rises, look for a column that has lost its meaning. Where it
# stays and your model's error rises, train again. ``learned_floor(X, y, time=day)`` asks what a
# model of the past reaches on what comes next: :doc:`/groups`. Rows that keep arriving:
# :doc:`/scale`.
