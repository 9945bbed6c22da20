"""Landmark models: near the accuracy of kernel methods at the cost of linear ones.

How rows become a model::

    X, y ─► training.check_training   checked rows, class codes and weights
         ─► feature_choice            on a sample: the width of the kernel, weights of columns, rules ─► FeatureMap
         ─► row_sums                  sums over blocks of rows: products of features, gradients of the loss
         ─► multinomial               coefficients along falling penalties, chosen on held-out rows; then on all rows
    rows ─► FeatureMap ─► scores ─► probabilities
"""
