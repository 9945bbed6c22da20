"""The floor from spanning trees: cross edges are where any classifier must err.

::

    X, y ── problem ──────── checked points, in memory, a file or a Dask collection, labels and options
      │
      ├──── (forest) ─────── several edge-disjoint trees, and sums over their edges
      │
      ├──── cross_edges ──── R of the whole problem, of each class, of each pair
      │       between_groups the same where rows come in groups: what holds for new ones
      │       uncertainty    its variance and interval; what chance alone would give
      │
      ├──── henze_penrose ── the equations: R ─► bounds, estimate, correction, normalisation
      │
      └──── assembly ─────── records
              results        BayesError, PairwiseBayesError, OneVsRestBayesError, HenzePenroseDivergence
              findings       what a reader should know about the data  (finding_kernels)

`bayes_error` has the public functions. `estimator` has all of them as one scikit-learn estimator, with partial_fit.
"""
