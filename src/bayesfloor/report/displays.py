"""All displays, under the name that ``plot`` methods reach for."""

from bayesfloor.report.class_floors import ClassFloorsDisplay
from bayesfloor.report.learned_display import LearnedFloorDisplay
from bayesfloor.report.noise_display import LabelNoiseDisplay
from bayesfloor.report.pair_heatmap import PairwiseHeatmapDisplay
from bayesfloor.report.selection_display import SelectionPathDisplay
from bayesfloor.report.transform_display import TransformComparisonDisplay
from bayesfloor.report.tree_display import ClassTreeDisplay

__all__ = [
    "ClassFloorsDisplay",
    "ClassTreeDisplay",
    "LabelNoiseDisplay",
    "LearnedFloorDisplay",
    "PairwiseHeatmapDisplay",
    "SelectionPathDisplay",
    "TransformComparisonDisplay",
]
