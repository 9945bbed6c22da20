"""The floor as the limit of what models learn: the end of a learning curve.

::

    X, y ── estimate ──────── rows and folds; the public function, learned_floor
      │       caller_choices  learners and folds that the caller has chosen
      │       copies          rows that are copies of one observation
      │
      ├──── cross_fitting ─── every learner predicts every row, at three training sizes
      │       cluster_fits    on threads, or on the workers of a Dask cluster
      │       time_periods    the same in an order of time: trained on the past
      │       (learn)         the families of learners
      ├──── many_rows ─────── above 10 000 rows: some are held out, the others trained on
      ├──── stacking ──────── the best mix of learners at each size
      ├──── metrics ───────── what that mix loses, row by row, by any metric
      │       stack_errors    its errors by class and among neighbours
      ├──── summary ───────── estimate, interval, what was reached, findings
      │       learning_curve  a curve through the errors and where it ends
      │       clusters        how much rows say that belong together
      │       subgroups       the same figures among the rows of each subgroup
      ├──── result ────────── LearnedFloor
      │       rows_needed     how many rows until a value is reached
      └──── held_out ──────── the same folds, for a model that is to be compared
              gap             how far that is from the stack and the floor; the public function, floor_gap
              model_predictions  what it predicts for the rows that the stack was judged on
              paired          two classifiers on the same rows: the test, and the interval of the difference
              gap_result      FloorGap

`regression` is the same for a target of numbers.
`label_noise` redraws labels at known rates and asks whether the floor moves as it should.
`dependence` looks for rows that belong together without anyone having said so.
"""
