"""The floor from several annotators: how often nobody could name the label that the next annotator gives.

::

    votes ── vote_table ───── counts, a matrix of labels or a long table -> (row, annotator, label)
      │
      ├──── mixture ───────── a model of votes, fitted by EM; many fits side by side
      │       settings        how much rows differ: bounds that follow from how often two annotators agree, without a
      │                       model, and the settings of the model that the votes allow
      ├──── uncertainty ───── bootstrap over rows, jackknife over annotators, intervals
      ├──── annotators ────── each annotator beside the others
      ├──── estimate ──────── the public function, vote_floor; findings
      └──── result ────────── VoteFloor

`soft_labels` has `soft_label_floor`, for rows of probabilities in place of votes, with `SoftLabelFloor`.
"""
