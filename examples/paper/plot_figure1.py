"""
Figure 1 of the paper: what does the bias correction do?
========================================================

Two spherical Gaussian classes in the plane move apart. Beside the exact floor stand the
Bhattacharyya bound, which needs the true densities, and the estimate, which needs a sample only:
without the correction of equations (7) and (8), and with it.

The paper is G. J. J. van den Burg and A. O. Hero, *Fast Meta-Learning for Adaptive Hierarchical
Classifier Design* (2017).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesfloor import bayes_error

N_TRIALS = 3  # 200 in the paper and in the picture of the user guide
N_SAMPLES = 1000
PRIORS = (0.15, 1 / 3)
DISTANCES = np.linspace(0, 4, 9)


def exact_floor(distance, prior):
    """Return the error of the best rule for unit normal classes whose means are so far apart."""
    if distance == 0:
        return min(prior, 1 - prior)
    shift = np.log((1 - prior) / prior) / distance  # of the cut, towards the rarer class
    first, second = norm.cdf(-distance / 2 + shift), norm.cdf(-distance / 2 - shift)
    return prior * first + (1 - prior) * second


# %%
# Each sample is estimated twice.

rng = np.random.default_rng(0)
truth = {"exact floor": [], "Bhattacharyya bound": []}
estimates = {True: [], False: []}
for prior in PRIORS:
    for distance in DISTANCES:
        truth["exact floor"].append(exact_floor(distance, prior))
        bound = np.sqrt(prior * (1 - prior)) * np.exp(-(distance**2) / 8)
        truth["Bhattacharyya bound"].append(bound)
        y = np.arange(N_SAMPLES) >= round(prior * N_SAMPLES)
        samples = rng.normal(size=(N_TRIALS, N_SAMPLES, 2)) + np.outer(y, [distance, 0])
        for is_corrected, kept in estimates.items():
            trials = [
                bayes_error(X, y, bias_correction=is_corrected, n_jobs=1).estimate for X in samples
            ]
            kept.append(np.mean(trials))

# %%

fig, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for ax, is_corrected in zip(panels, (False, True), strict=True):
    for prior, colour, part in zip(
        PRIORS, ("#0072b2", "#e69f00"), (slice(9), slice(9, 18)), strict=True
    ):
        exact, bound = (values[part] for values in truth.values())
        ax.plot(DISTANCES, exact, color=colour, label=f"exact floor, prior {prior:.2f}")
        ax.plot(DISTANCES, bound, ":", color=colour, label="Bhattacharyya bound")
        ax.plot(
            DISTANCES,
            estimates[is_corrected][part],
            "o--",
            color=colour,
            markersize=4,
            label="estimate",
        )
    ax.set(
        title=f"{'with' if is_corrected else 'without'} bias correction",
        xlabel="distance between the means",
    )
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.grid(color="#e5e5e5")
panels[0].set(ylabel="error", xlim=(0, None), ylim=(0, None))
panels[1].legend(frameon=False)
plt.show()

# %%
# Without the correction, classes that cannot be told apart seem to have a floor above the share
# of the smaller class. With it the estimate starts where it must, and is closer to the floor than
# the bound.
#
# What to do next
# ---------------
# The correction is on by default. What the estimates are worth, and their intervals:
# :doc:`/floor`.
