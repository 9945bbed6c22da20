"""From floors to choices: which features, which representation, which classes to weigh.

No classifier is trained for these. The floor of each candidate says how well any classifier could do with it::

    floor_selector ────── FloorSelector: columns of X, one group after the other, for classes and for numbers
      search                the greedy search, its rule to stop, and the floor after every step
    transforms ────────── compare_transforms: representations of the same rows, ranked
      transform_results     the ranked table
    class_weight ──────── bayes_class_weight, bayes_cost_matrix: harder classes weigh more

    floor_levels ──────── floors of one set of points, in a form that compares with those of another

    drifting ──────────── drift: whether two tables come from one distribution, and what moved; a room of its own

docs/choose.md has the rules and what they were found to be worth.
"""
