"""The records that functions return, for annotations and ``isinstance``; each is loaded on first use.

Every result has ``frame()``, ``to_dict()`` and ``sentence()``, most have ``plot()``: `bayesfloor.runtime.results`.
"""

from typing import TYPE_CHECKING

from bayesfloor.runtime.lazy_names import lazy_names

if TYPE_CHECKING:  # "as" exports a name: type checkers do not see the __all__ below
    from bayesfloor.choose.class_weight import CostMatrix as CostMatrix
    from bayesfloor.choose.search import SelectionPath as SelectionPath
    from bayesfloor.choose.transform_results import TransformComparison as TransformComparison
    from bayesfloor.classify.linear.linear_svm import LinearSVMPath as LinearSVMPath
    from bayesfloor.data.prepared_table import Table as Table
    from bayesfloor.floor import BayesError as BayesError
    from bayesfloor.floor import HenzePenroseDivergence as HenzePenroseDivergence
    from bayesfloor.floor import OneVsRestBayesError as OneVsRestBayesError
    from bayesfloor.floor import PairwiseBayesError as PairwiseBayesError
    from bayesfloor.floor.learned.gap_result import FloorGap as FloorGap
    from bayesfloor.floor.learned.label_noise import LabelNoiseCheck as LabelNoiseCheck
    from bayesfloor.floor.learned.regression.result import NoiseProfile as NoiseProfile
    from bayesfloor.floor.learned.regression.result import OddRows as OddRows
    from bayesfloor.floor.learned.regression.result import RegressionFloor as RegressionFloor
    from bayesfloor.floor.learned.regression.result import TargetSummary as TargetSummary
    from bayesfloor.floor.learned.result import ClassRanking as ClassRanking
    from bayesfloor.floor.learned.result import CostDecisions as CostDecisions
    from bayesfloor.floor.learned.result import LearnedFloor as LearnedFloor
    from bayesfloor.floor.learned.result import LearningCurve as LearningCurve
    from bayesfloor.floor.learned.result import MetricFloor as MetricFloor
    from bayesfloor.floor.learned.result import StackFloor as StackFloor
    from bayesfloor.floor.learned.result import SubgroupFloors as SubgroupFloors
    from bayesfloor.floor.learned.rows_needed import RowsNeeded as RowsNeeded
    from bayesfloor.floor.trees.noise_variance import NoiseFromTrees as NoiseFromTrees
    from bayesfloor.floor.votes.annotators import AnnotatorAgreement as AnnotatorAgreement
    from bayesfloor.floor.votes.result import MajorityVote as MajorityVote
    from bayesfloor.floor.votes.result import SoftLabelFloor as SoftLabelFloor
    from bayesfloor.floor.votes.result import VoteFloor as VoteFloor
    from bayesfloor.forest import ClassForests as ClassForests
    from bayesfloor.forest import Forests as Forests
    from bayesfloor.report.result import DifficultyReport as DifficultyReport
    from bayesfloor.runtime.findings import Finding as Finding
    from bayesfloor.tables.datasets import DatasetInfo as DatasetInfo
    from bayesfloor.tree import ClassNode as ClassNode
    from bayesfloor.tree import ClassTree as ClassTree
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "choose.class_weight": "CostMatrix",
            "choose.search": "SelectionPath",
            "choose.transform_results": "TransformComparison",
            "classify.linear.linear_svm": "LinearSVMPath",
            "data.prepared_table": "Table",
            "floor": "BayesError HenzePenroseDivergence OneVsRestBayesError PairwiseBayesError",
            "floor.learned.gap_result": "FloorGap",
            "floor.learned.label_noise": "LabelNoiseCheck",
            "floor.learned.regression.result": "NoiseProfile OddRows RegressionFloor TargetSummary",
            "floor.learned.result": (
                "ClassRanking CostDecisions LearnedFloor LearningCurve MetricFloor StackFloor SubgroupFloors"
            ),
            "floor.learned.rows_needed": "RowsNeeded",
            "floor.trees.noise_variance": "NoiseFromTrees",
            "floor.votes.annotators": "AnnotatorAgreement",
            "floor.votes.result": "MajorityVote SoftLabelFloor VoteFloor",
            "forest": "ClassForests Forests",
            "report.result": "DifficultyReport",
            "runtime.findings": "Finding",
            "tables.datasets": "DatasetInfo",
            "tree": "ClassNode ClassTree",
        },
    )
