"""The floor from spanning trees: cross edges are where any classifier must err.

::

    X, y ── problem ──────── checked points, labels and options
      │
      ├──── forest room ──── several edge-disjoint trees, and sums over their edges
      │
      ├──── cross_edges ──── R of the whole problem, of each class, of each pair
      │       uncertainty    its variance and interval; what chance alone would give
      │
      ├──── henze_penrose ── the equations: R ─► bounds, estimate, correction, normalisation
      │
      └──── assembly ─────── records (results) with what was noticed on the way (findings)

`bayes_error` has the public functions, `estimator` all of them as one scikit-learn estimator, `stream` its partial_fit.
"""
