"""Displays: pictures in the manner of scikit-learn, drawn from plain values.

This room knows no other but `runtime`. A result names its display, whose parameters are attributes of the result::

    result.plot() ─── checks ───┬─ pair_heatmap   every two classes         PairwiseHeatmapDisplay
                                ├─ class_tree     the class tree            ClassTreeDisplay
                                ├─ rows           each class and the rest   ClassFloorsDisplay
                                │                 each subgroup of rows     SubgroupsDisplay
                                │                 representations           FeatureComparisonDisplay
                                │                 rates of annotators       VoteFloorDisplay
                                │                 columns of two tables     DriftDisplay
                                ├─ selection      steps of a selection      SelectionPathDisplay
                                ├─ learned        the learning curve        LearnedFloorDisplay
                                ├─ gap            a model beside the floor  FloorGapDisplay
                                └─ noise          noise over predictions    NoiseProfileDisplay

- `base`: what all displays have: a figure of their own, and a table of what is drawn
- `checks`: what callers pass -> arrays that can be drawn
- `canvas`: axes and their scale, names as they are, rates in percent, rows of marks, legends

A display holds what it draws. ``plot`` draws it again, on other axes or in another way, and ``frame`` gives the same as
a table. Matplotlib is loaded when the first picture is drawn; without it there is an error that says what to install.

What all pictures keep to: nothing is cut off and nothing overlaps on a figure of their own, for any number of classes;
on axes that were given, letters shrink and names thin out. Colours keep their order in grey and for every common kind
of colour vision. Names are shown letter by letter, whatever they mean to TeX. Rates are in percent.
"""

from bayesfloor.display.class_tree import ClassTreeDisplay
from bayesfloor.display.gap import FloorGapDisplay
from bayesfloor.display.learned import LearnedFloorDisplay
from bayesfloor.display.noise import NoiseProfileDisplay
from bayesfloor.display.pair_heatmap import PairwiseHeatmapDisplay
from bayesfloor.display.rows import (
    ClassFloorsDisplay,
    DriftDisplay,
    FeatureComparisonDisplay,
    SubgroupsDisplay,
    VoteFloorDisplay,
)
from bayesfloor.display.selection import SelectionPathDisplay

__all__ = [
    "ClassFloorsDisplay",
    "ClassTreeDisplay",
    "DriftDisplay",
    "FeatureComparisonDisplay",
    "FloorGapDisplay",
    "LearnedFloorDisplay",
    "NoiseProfileDisplay",
    "PairwiseHeatmapDisplay",
    "SelectionPathDisplay",
    "SubgroupsDisplay",
    "VoteFloorDisplay",
]
