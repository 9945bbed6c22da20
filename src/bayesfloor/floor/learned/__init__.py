"""The floor as the limit of what models learn: the end of a learning curve.

::

    X, y ── estimate ──────── rows, folds and training sizes; the public function
      │
      ├──── cross_fitting ─── every learner predicts every row, at every training size   (learners, training_rows)
      ├──── stacking ──────── the best mix of learners at each size
      ├──── row_errors ────── hard and soft errors of that mix, row by row
      ├──── learning_curve ── a curve through them and where it ends
      │       summary         estimate, interval and what was reached
      └──── result ────────── LearnedFloor, with findings

`label_noise` redraws labels at known rates and asks whether the floor moves as it should. `residuals` bounds the floor
from what the stack leaves unexplained.
"""
