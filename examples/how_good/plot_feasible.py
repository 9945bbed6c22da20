"""
Is my target feasible?
======================

You are asked for a classifier that errs on at most 10% of the rows. Before anybody trains for a
month: can it be done with these columns at all?

The table is scikit-learn's diabetes study: ten measurements of 442 patients, and whether the
disease progressed by more than the median within a year.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from bayesfloor import difficulty_report

X, progression = load_diabetes(return_X_y=True)
y = np.where(progression > np.median(progression), "worse", "stable")

# %%
# A report answers in words. ``target_value`` is the error that you are asked for.

report = difficulty_report(X, y, target_value=0.10)
print(*report.summary["answer"])
print(report.summary["goal"]["sentence"])

# %%
# The picture shows why. Circles are errors on rows that the models had not seen, at three
# training sizes. The band is where the floor lies, the lowest error that any classifier can have.
# A target above the band has been reached by a model that exists. One below it is out of reach
# with these columns and this kind of rows. In between, nobody knows yet.

floor = report.learned
display = floor.plot()
display.ax_.set_ylim(0, 0.36)
for target, verdict in [(0.10, "not feasible"), (0.20, "undecided"), (0.32, "feasible")]:
    display.ax_.axhline(target, color="#b2182b", linestyle=":", linewidth=1.2)
    display.ax_.annotate(
        f"target {target:.0%}: {verdict}",
        (0.01, target),
        xytext=(0, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        color="#b2182b",
        fontsize=8,
    )
plt.show()

# %%
# What to do next
# ---------------
# *Not feasible*: more rows will not help, and neither will another model. Other columns may, or
# fewer mistakes in the labels: :ref:`sphx_glr_gallery_columns_plot_columns_to_buy.py` and
# :ref:`sphx_glr_gallery_obstacles_plot_suspicious_labels.py`. *Undecided*:
# :ref:`sphx_glr_gallery_how_good_plot_more_rows.py`. The upper end of the band rests
# on what a model reached; the lower end is extrapolated: :doc:`/how_it_works`. On the command line
# it is ``bayesfloor report table.csv --target label --target-value 0.1``.
