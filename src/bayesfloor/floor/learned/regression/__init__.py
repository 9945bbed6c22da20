"""The floor for numbers: how much of y can be predicted at all.

::

    Learned ─ estimate ────── the public function, regression_floor; R², RMSE and MAE
      ├──── residuals ─────── what the stack leaves of the tested rows, and what neighbours have in common
      ├──── summary ───────── the noise variance and its interval
      │       curve_end       where the squared error ends
      ├──── noise_profile ─── where the noise is, and rows that do not fit
      ├──── findings ──────── what a reader should know
      └──── result ────────── RegressionFloor

Rows, splits, learners, the stack and the rules of curves are those of the room above.
"""
