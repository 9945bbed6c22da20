"""Landmark models: near the accuracy of kernel methods and of boosting, at a fraction of their cost.

How rows become a model::

    X, y ─► fitting.order_rows   an order by their values; the last rows are held out
         ─► feature_map          columns on one scale, fewer where they are very many
         ─► feature_choice       on a sample: the width of the Gaussians, weights of columns, rules ─► FeatureMap
         ─► row_sums             sums over blocks of rows: products of features, gradients of the loss
         ─► multinomial          coefficients along falling penalties, chosen on held-out rows; then on all rows
            or regression        of numbers: ridge regression
         ─► members              boosting, a network, nearest rows: stacked where held-out rows say so
    rows ─► FeatureMap ─► scores ─► members ─► probabilities

`efforts` says how much is spent on each of these. The estimators are in `classify.landmarks`.
"""
