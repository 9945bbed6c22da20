"""How low can the error of any classifier go on your data?

The public names are loaded on first use, so that ``import bayesfloor`` costs next to nothing:

==========================  ===========================================================
`difficulty_report`         the answer with everything around it, as a page, text or JSON
`learned_floor`             the floor as the limit of what models can learn: the headline
`label_noise_check`         does that move as it should when labels are redrawn?
`bayes_error`               the floor of a whole problem
`pairwise_bayes_error`      the floor of every pair of classes
`one_vs_rest_bayes_error`   the floor of every class against the rest
`henze_penrose_divergence`  how far classes are apart, from the same counts
`BayesErrorEstimator`       all three floors from one pass, as a scikit-learn estimator
`spanning_forests`          the first k edge-disjoint minimum spanning trees of points
`class_forests`             the same for every pair of classes and the whole set at once
`build_class_tree`          a tree of binary problems, from how much classes overlap
`SmartSVC`                  the paper's classifier: linear SVMs along a class tree
`HierarchicalClassifier`    a class tree over any binary classifier
`LinearSVCCV`               a linear SVM along a path of C; one against the rest
`OneVsOneSVC`               linear SVMs for all pairs, by votes or a DAG
`DAGClassifier`             a decision DAG over any binary classifier
`CrammerSingerSVC`          all classes in one SVM, by liblinear
`GenSVC`, `GenSVCCV`        all classes in one SVM, by vertices of a simplex
`linear_svm_path`           the solutions of a linear SVM for all C
`class_affinity`            how much every two classes overlap
`BayesErrorSelector`        features chosen by the floor they leave
`compare_transforms`        transforms ranked by the floor they leave
`bayes_class_weight`        weights for hard classes; `bayes_cost_matrix` for hard pairs
`read_table`                X and y from a file: CSV, Parquet, Arrow, ARFF, NPZ, libsvm
`load_dataset`              data sets by name; `list_datasets` for which
==========================  ===========================================================

and the records that they return, with pictures of them (``…Display``).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesfloor.choose import (
        BayesErrorSelector,
        CostMatrix,
        SelectionPath,
        TransformComparison,
        bayes_class_weight,
        bayes_cost_matrix,
        compare_transforms,
    )
    from bayesfloor.classify.affinity import class_affinity
    from bayesfloor.classify.hierarchical.dag import DAGClassifier
    from bayesfloor.classify.hierarchical.tree_classifier import HierarchicalClassifier
    from bayesfloor.classify.joint.crammer_singer import CrammerSingerSVC
    from bayesfloor.classify.joint.gensvm import GenSVC, GenSVMPath, gensvm_path
    from bayesfloor.classify.joint.gensvm_cv import GenSVCCV
    from bayesfloor.classify.linear.linear_svm import LinearSVMPath, linear_svm_path
    from bayesfloor.classify.linear.linear_svm_cv import LinearSVCCV
    from bayesfloor.classify.linear.one_vs_one import OneVsOneSVC
    from bayesfloor.classify.linear.smart_svc import SmartSVC
    from bayesfloor.data.prepared_table import Table
    from bayesfloor.display import (
        ClassFloorsDisplay,
        ClassTreeDisplay,
        LabelNoiseDisplay,
        LearnedFloorDisplay,
        PairwiseHeatmapDisplay,
        SelectionPathDisplay,
        TransformComparisonDisplay,
    )
    from bayesfloor.floor import (
        BayesError,
        Finding,
        HenzePenroseDivergence,
        OneVsRestBayesError,
        PairwiseBayesError,
        bayes_error,
        henze_penrose_divergence,
        one_vs_rest_bayes_error,
        pairwise_bayes_error,
    )
    from bayesfloor.floor.learned.estimate import learned_floor
    from bayesfloor.floor.learned.label_noise import LabelNoiseCheck, label_noise_check
    from bayesfloor.floor.learned.result import LearnedFloor, LearningCurve
    from bayesfloor.floor.trees.estimator import BayesErrorEstimator
    from bayesfloor.forest import ClassForests, Forests, class_forests, spanning_forests
    from bayesfloor.report.difficulty import DifficultyReport, difficulty_report
    from bayesfloor.tables.datasets import DatasetInfo, list_datasets, load_dataset
    from bayesfloor.tables.read import read_table
    from bayesfloor.tree import ClassNode, ClassTree, build_class_tree

    __version__: str

__all__ = [
    "BayesError",
    "BayesErrorEstimator",
    "BayesErrorSelector",
    "ClassFloorsDisplay",
    "ClassForests",
    "ClassNode",
    "ClassTree",
    "ClassTreeDisplay",
    "CostMatrix",
    "CrammerSingerSVC",
    "DAGClassifier",
    "DatasetInfo",
    "DifficultyReport",
    "Finding",
    "Forests",
    "GenSVC",
    "GenSVCCV",
    "GenSVMPath",
    "HenzePenroseDivergence",
    "HierarchicalClassifier",
    "LabelNoiseCheck",
    "LabelNoiseDisplay",
    "LearnedFloor",
    "LearnedFloorDisplay",
    "LearningCurve",
    "LinearSVCCV",
    "LinearSVMPath",
    "OneVsOneSVC",
    "OneVsRestBayesError",
    "PairwiseBayesError",
    "PairwiseHeatmapDisplay",
    "SelectionPath",
    "SelectionPathDisplay",
    "SmartSVC",
    "Table",
    "TransformComparison",
    "TransformComparisonDisplay",
    "__version__",
    "bayes_class_weight",
    "bayes_cost_matrix",
    "bayes_error",
    "build_class_tree",
    "class_affinity",
    "class_forests",
    "compare_transforms",
    "difficulty_report",
    "gensvm_path",
    "henze_penrose_divergence",
    "label_noise_check",
    "learned_floor",
    "linear_svm_path",
    "list_datasets",
    "load_dataset",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "read_table",
    "spanning_forests",
]

_HOME_OF = {
    "BayesError": "bayesfloor.floor",
    "BayesErrorEstimator": "bayesfloor.floor.trees.estimator",
    "BayesErrorSelector": "bayesfloor.choose",
    "ClassFloorsDisplay": "bayesfloor.display",
    "ClassForests": "bayesfloor.forest",
    "ClassNode": "bayesfloor.tree",
    "ClassTree": "bayesfloor.tree",
    "ClassTreeDisplay": "bayesfloor.display",
    "CostMatrix": "bayesfloor.choose",
    "CrammerSingerSVC": "bayesfloor.classify.joint.crammer_singer",
    "DAGClassifier": "bayesfloor.classify.hierarchical.dag",
    "DatasetInfo": "bayesfloor.tables.datasets",
    "DifficultyReport": "bayesfloor.report.difficulty",
    "Finding": "bayesfloor.runtime.findings",
    "Forests": "bayesfloor.forest",
    "GenSVC": "bayesfloor.classify.joint.gensvm",
    "GenSVCCV": "bayesfloor.classify.joint.gensvm_cv",
    "GenSVMPath": "bayesfloor.classify.joint.gensvm",
    "HenzePenroseDivergence": "bayesfloor.floor",
    "HierarchicalClassifier": "bayesfloor.classify.hierarchical.tree_classifier",
    "LabelNoiseCheck": "bayesfloor.floor.learned.label_noise",
    "LabelNoiseDisplay": "bayesfloor.display",
    "LearnedFloor": "bayesfloor.floor.learned.result",
    "LearnedFloorDisplay": "bayesfloor.display",
    "LearningCurve": "bayesfloor.floor.learned.result",
    "LinearSVCCV": "bayesfloor.classify.linear.linear_svm_cv",
    "LinearSVMPath": "bayesfloor.classify.linear.linear_svm",
    "OneVsOneSVC": "bayesfloor.classify.linear.one_vs_one",
    "OneVsRestBayesError": "bayesfloor.floor",
    "PairwiseBayesError": "bayesfloor.floor",
    "PairwiseHeatmapDisplay": "bayesfloor.display",
    "SelectionPath": "bayesfloor.choose",
    "SelectionPathDisplay": "bayesfloor.display",
    "SmartSVC": "bayesfloor.classify.linear.smart_svc",
    "Table": "bayesfloor.data.prepared_table",
    "TransformComparison": "bayesfloor.choose",
    "TransformComparisonDisplay": "bayesfloor.display",
    "bayes_class_weight": "bayesfloor.choose",
    "bayes_cost_matrix": "bayesfloor.choose",
    "bayes_error": "bayesfloor.floor",
    "build_class_tree": "bayesfloor.tree",
    "class_affinity": "bayesfloor.classify.affinity",
    "class_forests": "bayesfloor.forest",
    "compare_transforms": "bayesfloor.choose",
    "difficulty_report": "bayesfloor.report.difficulty",
    "gensvm_path": "bayesfloor.classify.joint.gensvm",
    "henze_penrose_divergence": "bayesfloor.floor",
    "label_noise_check": "bayesfloor.floor.learned.label_noise",
    "learned_floor": "bayesfloor.floor.learned.estimate",
    "linear_svm_path": "bayesfloor.classify.linear.linear_svm",
    "list_datasets": "bayesfloor.tables.datasets",
    "load_dataset": "bayesfloor.tables.datasets",
    "one_vs_rest_bayes_error": "bayesfloor.floor",
    "pairwise_bayes_error": "bayesfloor.floor",
    "read_table": "bayesfloor.tables.read",
    "spanning_forests": "bayesfloor.forest",
}


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
    return sorted({*globals(), *__all__})
