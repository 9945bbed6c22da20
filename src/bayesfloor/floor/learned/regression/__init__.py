"""The floor for numbers: how much of y can be predicted at all.

::

    X, y ── estimate ──────── the public function, regression_floor
      ├──── learn ─────────── rows, copies and folds; residuals of the stack at three training sizes
      │       cross_fitting   every learner predicts every row
      │       (learn)         the families of learners
      │       stacking        the best mix of them, with weights that are not negative
      │       residual_edges  what residuals of neighbours have in common
      ├──── summary ───────── the noise variance and its interval
      │       curve_end       where the squared error ends
      ├──── noise_profile ─── where the noise is, and rows that do not fit
      ├──── findings ──────── what a reader should know
      └──── result ────────── RegressionFloor

Folds, periods of time, rows that are held out and the curve of classes are those of the room above.
"""
