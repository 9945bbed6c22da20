"""From floors to choices: which features, which representation, which classes to weigh.

No classifier is trained here. The floor of each candidate says how well any classifier could do with it::

    selection ─────────── BayesErrorSelector: columns of X, one group after the other
      search                the greedy search, and its rule to stop
      selection_path        the floor after every step
    noise_selection ───── NoiseVarianceSelector: the same where y is a number, by the noise that is left
    transforms ────────── compare_transforms: representations of the same rows, ranked
      transform_inputs      the default set, and what is accepted
      transform_results     the ranked table
    class_weight ──────── bayes_class_weight, bayes_cost_matrix: harder classes weigh more

    floor_levels ──────── floors of one set of points, in a form that compares with those of another
      row_influence         the rows that a floor's error depends on: floors from the same rows err together

docs/choose.md has the rules and what they were found to be worth.
"""
