"""The floor from several annotators: how often nobody could name the label that the next annotator gives.

::

    votes ── vote_table ───── counts, a matrix of labels or a long table -> (row, annotator, label)
      │
      ├──── agreement ─────── how often two annotators agree, and the bounds that follow without a model
      ├──── shared_columns ── classes that never meet at a row share a column of the model, where there are many
      ├──── mixture ───────── a model of votes, fitted by EM; many fits side by side
      │       settings        how much rows differ: which settings of the model the votes allow
      ├──── uncertainty ───── bootstrap over rows, jackknife over annotators, intervals
      ├──── annotators ────── each annotator beside the others; the hidden class (Dawid and Skene)
      ├──── estimate ──────── the public function, vote_floor; findings; with X, the learned floor beside it
      └──── result ────────── VoteFloor

`soft_labels` has `soft_label_floor`, for rows of probabilities in place of votes, with `SoftLabelFloor`.
"""
