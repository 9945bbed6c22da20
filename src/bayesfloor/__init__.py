"""How low can the error of any classifier go on your data?

The public names are loaded on first use, so that ``import bayesfloor`` costs next to nothing:

==========================  ===========================================================
`difficulty_report`         the answer with everything around it, as a page, text or JSON
`learned_floor`             the floor as the limit of what models can learn: the headline
`floor_gap`                 a model beside what was reached and the floor, by class and pair
`label_noise_check`         does that move as it should when labels are redrawn?
`regression_floor`          the same for numbers: the noise variance, and the ceiling of R²
`vote_floor`                the floor from several annotators; `soft_label_floor` from probabilities
`noise_variance_from_trees` how much of a number no model can predict, in a second
`bayes_error`               the floor of a whole problem
`pairwise_bayes_error`      the floor of every pair of classes
`one_vs_rest_bayes_error`   the floor of every class against the rest
`henze_penrose_divergence`  how far classes are apart, from the same counts
`BayesErrorEstimator`       all three floors from one pass, as a scikit-learn estimator
`spanning_forests`          the first k edge-disjoint minimum spanning trees of points
`class_forests`             the same for every pair of classes and the whole set at once
`build_class_tree`          a tree of binary problems, from how much classes overlap
`LandmarkClassifier`        near-kernel accuracy at the cost of a linear SVM, with probabilities
`LandmarkRegressor`         the same features for a number
`SmartSVC`                  the paper's classifier: linear SVMs along a class tree
`HierarchicalClassifier`    a class tree over any binary classifier
`LinearSVCCV`               a linear SVM along a path of C; one against the rest
`OneVsOneSVC`               linear SVMs for all pairs, by votes or a DAG
`DAGClassifier`             a decision DAG over any binary classifier
`linear_svm_path`           the solutions of a linear SVM for all C
`class_affinity`            how much every two classes overlap
`FloorSelector`             features chosen by the floor they leave, for classes and for numbers
`compare_transforms`        transforms ranked by the floor they leave
`bayes_class_weight`        weights for hard classes; `bayes_cost_matrix` for hard pairs
`read_table`                X and y from a file: CSV, Excel, JSON, SQLite, Parquet, …
`TablePreparer`             numbers from the columns of any data frame, in a Pipeline
`load_dataset`              data sets by name; `list_datasets` for which
==========================  ===========================================================

and the records that they return, with pictures of them (``…Display``).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # "as" exports a name: type checkers do not see the __all__ below
    from bayesfloor.choose.class_weight import CostMatrix as CostMatrix
    from bayesfloor.choose.class_weight import bayes_class_weight as bayes_class_weight
    from bayesfloor.choose.class_weight import bayes_cost_matrix as bayes_cost_matrix
    from bayesfloor.choose.floor_selector import FloorSelector as FloorSelector
    from bayesfloor.choose.selection_path import SelectionPath as SelectionPath
    from bayesfloor.choose.transform_results import TransformComparison as TransformComparison
    from bayesfloor.choose.transforms import compare_transforms as compare_transforms
    from bayesfloor.classify.affinity import class_affinity as class_affinity
    from bayesfloor.classify.hierarchical.dag import DAGClassifier as DAGClassifier
    from bayesfloor.classify.hierarchical.hierarchical_classifier import (
        HierarchicalClassifier as HierarchicalClassifier,
    )
    from bayesfloor.classify.landmarks.landmark_classifier import LandmarkClassifier as LandmarkClassifier
    from bayesfloor.classify.landmarks.landmark_regressor import LandmarkRegressor as LandmarkRegressor
    from bayesfloor.classify.linear.linear_svm import LinearSVMPath as LinearSVMPath
    from bayesfloor.classify.linear.linear_svm import linear_svm_path as linear_svm_path
    from bayesfloor.classify.linear.linear_svm_cv import LinearSVCCV as LinearSVCCV
    from bayesfloor.classify.linear.one_vs_one import OneVsOneSVC as OneVsOneSVC
    from bayesfloor.classify.linear.smart_svc import SmartSVC as SmartSVC
    from bayesfloor.data.prepared_table import Table as Table
    from bayesfloor.display import ClassFloorsDisplay as ClassFloorsDisplay
    from bayesfloor.display import ClassTreeDisplay as ClassTreeDisplay
    from bayesfloor.display import FloorGapDisplay as FloorGapDisplay
    from bayesfloor.display import LabelNoiseDisplay as LabelNoiseDisplay
    from bayesfloor.display import LearnedFloorDisplay as LearnedFloorDisplay
    from bayesfloor.display import NoiseFromTreesDisplay as NoiseFromTreesDisplay
    from bayesfloor.display import NoiseProfileDisplay as NoiseProfileDisplay
    from bayesfloor.display import PairwiseHeatmapDisplay as PairwiseHeatmapDisplay
    from bayesfloor.display import SelectionPathDisplay as SelectionPathDisplay
    from bayesfloor.display import SubgroupsDisplay as SubgroupsDisplay
    from bayesfloor.display import TransformComparisonDisplay as TransformComparisonDisplay
    from bayesfloor.display import VoteFloorDisplay as VoteFloorDisplay
    from bayesfloor.floor import BayesError as BayesError
    from bayesfloor.floor import HenzePenroseDivergence as HenzePenroseDivergence
    from bayesfloor.floor import OneVsRestBayesError as OneVsRestBayesError
    from bayesfloor.floor import PairwiseBayesError as PairwiseBayesError
    from bayesfloor.floor import bayes_error as bayes_error
    from bayesfloor.floor import henze_penrose_divergence as henze_penrose_divergence
    from bayesfloor.floor import one_vs_rest_bayes_error as one_vs_rest_bayes_error
    from bayesfloor.floor import pairwise_bayes_error as pairwise_bayes_error
    from bayesfloor.floor.learned.estimate import learned_floor as learned_floor
    from bayesfloor.floor.learned.gap import floor_gap as floor_gap
    from bayesfloor.floor.learned.gap_result import FloorGap as FloorGap
    from bayesfloor.floor.learned.label_noise import LabelNoiseCheck as LabelNoiseCheck
    from bayesfloor.floor.learned.label_noise import label_noise_check as label_noise_check
    from bayesfloor.floor.learned.regression.estimate import regression_floor as regression_floor
    from bayesfloor.floor.learned.regression.result import NoiseProfile as NoiseProfile
    from bayesfloor.floor.learned.regression.result import OddRows as OddRows
    from bayesfloor.floor.learned.regression.result import RegressionFloor as RegressionFloor
    from bayesfloor.floor.learned.regression.result import TargetSummary as TargetSummary
    from bayesfloor.floor.learned.result import ClassRanking as ClassRanking
    from bayesfloor.floor.learned.result import CostDecisions as CostDecisions
    from bayesfloor.floor.learned.result import LearnedFloor as LearnedFloor
    from bayesfloor.floor.learned.result import LearningCurve as LearningCurve
    from bayesfloor.floor.learned.result import MetricFloor as MetricFloor
    from bayesfloor.floor.learned.result import SubgroupFloors as SubgroupFloors
    from bayesfloor.floor.learned.rows_needed import RowsNeeded as RowsNeeded
    from bayesfloor.floor.trees.estimator import BayesErrorEstimator as BayesErrorEstimator
    from bayesfloor.floor.trees.noise_variance import NoiseFromTrees as NoiseFromTrees
    from bayesfloor.floor.trees.noise_variance import noise_variance_from_trees as noise_variance_from_trees
    from bayesfloor.floor.votes.annotators import AnnotatorAgreement as AnnotatorAgreement
    from bayesfloor.floor.votes.estimate import vote_floor as vote_floor
    from bayesfloor.floor.votes.result import SoftLabelFloor as SoftLabelFloor
    from bayesfloor.floor.votes.result import VoteFloor as VoteFloor
    from bayesfloor.floor.votes.soft_labels import soft_label_floor as soft_label_floor
    from bayesfloor.forest import ClassForests as ClassForests
    from bayesfloor.forest import Forests as Forests
    from bayesfloor.forest import class_forests as class_forests
    from bayesfloor.forest import spanning_forests as spanning_forests
    from bayesfloor.report.difficulty import difficulty_report as difficulty_report
    from bayesfloor.report.result import DifficultyReport as DifficultyReport
    from bayesfloor.runtime.findings import Finding as Finding
    from bayesfloor.tables.datasets import DatasetInfo as DatasetInfo
    from bayesfloor.tables.datasets import list_datasets as list_datasets
    from bayesfloor.tables.datasets import load_dataset as load_dataset
    from bayesfloor.tables.preparer import TablePreparer as TablePreparer
    from bayesfloor.tables.read import read_table as read_table
    from bayesfloor.tree import ClassNode as ClassNode
    from bayesfloor.tree import ClassTree as ClassTree
    from bayesfloor.tree import build_class_tree as build_class_tree

    __version__: str

#: The public names, by the module of this package that each is loaded from on first use.
_PUBLIC = {
    "choose.class_weight": "bayes_class_weight bayes_cost_matrix CostMatrix",
    "choose.floor_selector": "FloorSelector",
    "choose.selection_path": "SelectionPath",
    "choose.transform_results": "TransformComparison",
    "choose.transforms": "compare_transforms",
    "classify.affinity": "class_affinity",
    "classify.hierarchical.dag": "DAGClassifier",
    "classify.hierarchical.hierarchical_classifier": "HierarchicalClassifier",
    "classify.linear.linear_svm": "linear_svm_path LinearSVMPath",
    "classify.linear.linear_svm_cv": "LinearSVCCV",
    "classify.linear.one_vs_one": "OneVsOneSVC",
    "classify.landmarks.landmark_classifier": "LandmarkClassifier",
    "classify.landmarks.landmark_regressor": "LandmarkRegressor",
    "classify.linear.smart_svc": "SmartSVC",
    "data.prepared_table": "Table",
    "display": (
        "ClassFloorsDisplay ClassTreeDisplay FloorGapDisplay LabelNoiseDisplay LearnedFloorDisplay "
        "NoiseFromTreesDisplay NoiseProfileDisplay PairwiseHeatmapDisplay SelectionPathDisplay SubgroupsDisplay "
        "TransformComparisonDisplay VoteFloorDisplay"
    ),
    "floor": (
        "bayes_error BayesError henze_penrose_divergence HenzePenroseDivergence "
        "one_vs_rest_bayes_error OneVsRestBayesError pairwise_bayes_error PairwiseBayesError"
    ),
    "floor.learned.estimate": "learned_floor",
    "floor.learned.gap": "floor_gap",
    "floor.learned.gap_result": "FloorGap",
    "floor.learned.label_noise": "label_noise_check LabelNoiseCheck",
    "floor.learned.regression.estimate": "regression_floor",
    "floor.learned.regression.result": "NoiseProfile OddRows RegressionFloor TargetSummary",
    "floor.learned.result": "ClassRanking CostDecisions LearnedFloor LearningCurve MetricFloor SubgroupFloors",
    "floor.learned.rows_needed": "RowsNeeded",
    "floor.trees.estimator": "BayesErrorEstimator",
    "floor.trees.noise_variance": "noise_variance_from_trees NoiseFromTrees",
    "floor.votes.annotators": "AnnotatorAgreement",
    "floor.votes.estimate": "vote_floor",
    "floor.votes.result": "SoftLabelFloor VoteFloor",
    "floor.votes.soft_labels": "soft_label_floor",
    "forest": "class_forests ClassForests Forests spanning_forests",
    "report.difficulty": "difficulty_report",
    "report.result": "DifficultyReport",
    "runtime.findings": "Finding",
    "tables.datasets": "DatasetInfo list_datasets load_dataset",
    "tables.preparer": "TablePreparer",
    "tables.read": "read_table",
    "tree": "build_class_tree ClassNode ClassTree",
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _PUBLIC.items() for name in names.split()}
if not TYPE_CHECKING:
    __all__ = sorted([*_HOME_OF, "__version__"])


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("bayesfloor")
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF, "__version__"})
