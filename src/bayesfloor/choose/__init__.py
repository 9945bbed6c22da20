"""From floors to choices: which features, which representation, which classes to weigh.

The floor of each candidate says how well any model could do with it::

    floor_selector ────── FloorSelector: columns of X, one group after the other, for classes and for numbers
      search                the greedy search, its rule to stop, and the floor after every step
    class_weight ──────── bayes_class_weight, bayes_cost_matrix: harder classes weigh more

    floor_levels ──────── floors of one set of points, in a form that compares with those of another
    linear_residuals ──── the same for numbers, quickly: differences of what a linear function leaves

    comparing ─────────── compare_features: representations of the same rows, side by side; a room of its own
    drifting ──────────── drift: whether two tables come from one distribution, and what moved; a room of its own

docs/choose.md has the rules and what they were found to be worth.
"""
