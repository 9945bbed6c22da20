"""Pictures are displays in scikit-learn's manner.

A display holds what it draws. ``from_estimator`` and ``from_data`` make one and draw it, ``plot`` draws it
again, on other axes or in another way, and ``frame`` gives the same as a table::

    result or estimator ── checks ───── arrays that can be drawn
                             │
                             ├──────── pair_heatmap       every two classes         PairwiseHeatmapDisplay
                             ├──────── class_floors       each class and the rest   ClassFloorsDisplay
                             ├──────── tree_display       the class tree            ClassTreeDisplay
                             ├──────── selection_display  steps of a selection      SelectionPathDisplay
                             ├──────── transform_display  ranked transforms         TransformComparisonDisplay
                             ├──────── learned_display    a learning curve's end    LearnedFloorDisplay
                             └──────── noise_display      labels redrawn            LabelNoiseDisplay
                                         │
                                         ├─ dot_rows   a row per name, with a mark and an interval
                                         ├─ free_room  labels where nothing else is
                                         └─ canvas     axes, the room on them, names as they are

`displays` gathers them for the ``plot`` methods of results, which reach it when they are called. Matplotlib is loaded
when the first picture is drawn; without it there is an error that says what to install.

What all pictures keep to: nothing is cut off and nothing overlaps on a figure of their own, for any number of classes;
on axes that were given, letters shrink and names thin out. Colours keep their order in grey and for every common kind
of colour vision. Names are shown letter by letter, whatever they mean to TeX. Rates are in percent.
"""


from bayesfloor.display.class_floors import ClassFloorsDisplay
from bayesfloor.display.class_tree import ClassTreeDisplay
from bayesfloor.display.label_noise import LabelNoiseDisplay
from bayesfloor.display.learned import LearnedFloorDisplay
from bayesfloor.display.pair_heatmap import PairwiseHeatmapDisplay
from bayesfloor.display.selection import SelectionPathDisplay
from bayesfloor.display.transforms import TransformComparisonDisplay

__all__ = [
    "ClassFloorsDisplay",
    "ClassTreeDisplay",
    "LabelNoiseDisplay",
    "LearnedFloorDisplay",
    "PairwiseHeatmapDisplay",
    "SelectionPathDisplay",
    "TransformComparisonDisplay",
]
