"""Do two tables come from one distribution, and what moved between them?

::

    old, new ── two_tables ──── one table: columns that mean the same in both, the target, groups, what is left out
       │
       ├─────── permutations ── the files' names dealt out to the rows again, all ways or many
       │          scores        what is compared: ranks of numbers, levels, gaps, products of columns
       │          two_samples   four statistics of each dealing -> one p-value, and one for each column
       │
       ├─────── moved ───────── columns, levels, gaps, and rows of a kind that one file has more of
       ├─────── labels ──────── do labels given the columns differ, or the columns alone?
       │
       └─────── compare ─────── `drift`: all of it, with the learned floor of telling the files apart -> Drift (results)
"""
