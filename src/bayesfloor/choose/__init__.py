"""From floors to choices: which features, which representation, which classes to weigh.

No classifier is trained here. Whatever is to be chosen, the floor says how well any classifier could do with it::

    selection ─────── BayesErrorSelector: columns of X, one after the other
      search            the greedy search, and its rule to stop
      selection_path    the floor after every step
      column_groups     columns that enter together
    transforms ────── compare_transforms: representations of the same rows, ranked
      default_transforms, transform_results
    class_weight ──── bayes_class_weight, bayes_cost_matrix: harder classes weigh more

      floor_levels ── floors of one set of points as figures that compare with those of another
      row_influence     on which rows a floor's error hangs: two floors from the same rows err together
      row_sample ──── some of the rows in place of all

docs/choose.md has the rules and what they were found to be worth.
"""

from bayesfloor.choose.class_weight import CostMatrix, bayes_class_weight, bayes_cost_matrix
from bayesfloor.choose.floor_levels import FloorLevel
from bayesfloor.choose.selection import BayesErrorSelector
from bayesfloor.choose.selection_path import SelectionPath, SelectionStep
from bayesfloor.choose.transform_results import TransformComparison, TransformFloors
from bayesfloor.choose.transforms import compare_transforms

__all__ = [
    "BayesErrorSelector",
    "CostMatrix",
    "FloorLevel",
    "SelectionPath",
    "SelectionStep",
    "TransformComparison",
    "TransformFloors",
    "bayes_class_weight",
    "bayes_cost_matrix",
    "compare_transforms",
]
