"""The floor as the limit of what models learn: the end of a learning curve.

One walk serves classes and numbers; `targets` holds what differs while learners are trained and combined::

    Problem ─ learning ────── from a checked problem to what the stack predicts at three training sizes
      │       row_plan        which rows are used, trained on, tested and counted: decided once
      │         copies, time_periods, splits
      │       cross_fitting   learners predict every row that they were not trained on
      │         training_sets rows to learn from and to predict, standardised alike
      │         racing, efforts   which learners go on to larger training sets, and how much is trained
      │       stacking        the best mix of learners at each size and fold
      │       stack_model     that mix as a model, trained on all rows
      │
      ├──── estimate ──────── classes: the public function, learned_floor
      │       metrics         what the stack loses, row by row, by any metric
      │       summary         estimate, interval and what was reached, by one metric
      │       stack_errors, ranking, subgroups    the same by class, among neighbours, by subgroup
      │       findings        what a reader should know
      ├──── regression ────── numbers: the public function, regression_floor, and what is known of residuals
      │
      ├──── result ────────── LearnedFloor; rows_needed: how many rows until a value is reached
      └──── held_out ──────── the same rows, for a model that is to be compared
              gap             how far that is from the stack and the floor; the public function, floor_gap
              model_predictions, paired, gap_result

Both judge curves alike: `learning_curve` has the posterior of their end, `rules` decides what it can tell, `certainty`
how surely a mean is known, `counted_rows` what each row counts, and how much rows say that err alike.

`suspicious` lists labels and numbers that the stack, which had not seen them, finds hard to believe.
`dependence` looks for rows that belong together without anyone having said so, and `trust` for all else that makes
figures too good.
"""
