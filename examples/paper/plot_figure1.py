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

from bayesfloor import bayes_error
from bayesfloor.floor.known import GaussianPair

N_TRIALS = 3  # 200 in the paper and in the picture of the user guide
N_SAMPLES = 1000
PRIORS = (0.15, 1 / 3)
DISTANCES = np.linspace(0, 4, 9)

# %%
# Each sample is estimated twice.

rng = np.random.default_rng(0)
truth = {"exact floor": [], "Bhattacharyya bound": []}
estimates = {True: [], False: []}
for prior in PRIORS:
    for distance in DISTANCES:
        classes = GaussianPair.with_common_covariance([0, 0], [distance, 0], prior=prior)
        truth["exact floor"].append(classes.bayes_error())
        truth["Bhattacharyya bound"].append(classes.bhattacharyya_bound())
        y = np.arange(N_SAMPLES) >= round(prior * N_SAMPLES)
        samples = rng.normal(size=(N_TRIALS, N_SAMPLES, 2)) + np.outer(y, classes.second_mean)
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
        ax.plot(
            DISTANCES,
            truth["exact floor"][part],
            color=colour,
            label=f"exact floor, prior {prior:.2f}",
        )
        ax.plot(
            DISTANCES,
            truth["Bhattacharyya bound"][part],
            ":",
            color=colour,
            label="Bhattacharyya bound",
        )
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
