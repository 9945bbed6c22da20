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
`load_dataset`              the paper's sets by name; `list_datasets` for which
==========================  ===========================================================

and the records that they return, with pictures of them (``…Display``).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesfloor.classify.affinity import class_affinity
    from bayesfloor.classify.crammer_singer import CrammerSingerSVC
    from bayesfloor.classify.dag import DAGClassifier
    from bayesfloor.classify.gensvm import GenSVC, GenSVMPath, gensvm_path
    from bayesfloor.classify.gensvm_cv import GenSVCCV
    from bayesfloor.classify.hierarchical import HierarchicalClassifier
    from bayesfloor.classify.linear_svm import LinearSVMPath, linear_svm_path
    from bayesfloor.classify.linear_svm_cv import LinearSVCCV
    from bayesfloor.classify.one_vs_one import OneVsOneSVC
    from bayesfloor.classify.smart_svc import SmartSVC
    from bayesfloor.data.datasets import DatasetInfo, list_datasets, load_dataset
    from bayesfloor.data.prepared_table import Table
    from bayesfloor.data.tables import read_table
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
    from bayesfloor.floor.estimator import BayesErrorEstimator
    from bayesfloor.floor.label_noise import LabelNoiseCheck, label_noise_check
    from bayesfloor.floor.learned import learned_floor
    from bayesfloor.floor.learned_result import LearnedFloor, LearningCurve
    from bayesfloor.forest import ClassForests, Forests, class_forests, spanning_forests
    from bayesfloor.meta import (
        BayesErrorSelector,
        CostMatrix,
        SelectionPath,
        TransformComparison,
        bayes_class_weight,
        bayes_cost_matrix,
        compare_transforms,
    )
    from bayesfloor.report import (
        ClassFloorsDisplay,
        ClassTreeDisplay,
        LabelNoiseDisplay,
        LearnedFloorDisplay,
        PairwiseHeatmapDisplay,
        SelectionPathDisplay,
        TransformComparisonDisplay,
    )
    from bayesfloor.report.difficulty import DifficultyReport, difficulty_report
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
    "BayesErrorEstimator": "bayesfloor.floor.estimator",
    "BayesErrorSelector": "bayesfloor.meta",
    "ClassFloorsDisplay": "bayesfloor.report",
    "ClassForests": "bayesfloor.forest",
    "ClassNode": "bayesfloor.tree",
    "ClassTree": "bayesfloor.tree",
    "ClassTreeDisplay": "bayesfloor.report",
    "CostMatrix": "bayesfloor.meta",
    "CrammerSingerSVC": "bayesfloor.classify.crammer_singer",
    "DAGClassifier": "bayesfloor.classify.dag",
    "DatasetInfo": "bayesfloor.data.datasets",
    "DifficultyReport": "bayesfloor.report.difficulty",
    "Finding": "bayesfloor.floor",
    "Forests": "bayesfloor.forest",
    "GenSVC": "bayesfloor.classify.gensvm",
    "GenSVCCV": "bayesfloor.classify.gensvm_cv",
    "GenSVMPath": "bayesfloor.classify.gensvm",
    "HenzePenroseDivergence": "bayesfloor.floor",
    "HierarchicalClassifier": "bayesfloor.classify.hierarchical",
    "LabelNoiseCheck": "bayesfloor.floor.label_noise",
    "LabelNoiseDisplay": "bayesfloor.report",
    "LearnedFloor": "bayesfloor.floor.learned_result",
    "LearnedFloorDisplay": "bayesfloor.report",
    "LearningCurve": "bayesfloor.floor.learned_result",
    "LinearSVCCV": "bayesfloor.classify.linear_svm_cv",
    "LinearSVMPath": "bayesfloor.classify.linear_svm",
    "OneVsOneSVC": "bayesfloor.classify.one_vs_one",
    "OneVsRestBayesError": "bayesfloor.floor",
    "PairwiseBayesError": "bayesfloor.floor",
    "PairwiseHeatmapDisplay": "bayesfloor.report",
    "SelectionPath": "bayesfloor.meta",
    "SelectionPathDisplay": "bayesfloor.report",
    "SmartSVC": "bayesfloor.classify.smart_svc",
    "Table": "bayesfloor.data.prepared_table",
    "TransformComparison": "bayesfloor.meta",
    "TransformComparisonDisplay": "bayesfloor.report",
    "bayes_class_weight": "bayesfloor.meta",
    "bayes_cost_matrix": "bayesfloor.meta",
    "bayes_error": "bayesfloor.floor",
    "build_class_tree": "bayesfloor.tree",
    "class_affinity": "bayesfloor.classify.affinity",
    "class_forests": "bayesfloor.forest",
    "compare_transforms": "bayesfloor.meta",
    "difficulty_report": "bayesfloor.report.difficulty",
    "gensvm_path": "bayesfloor.classify.gensvm",
    "henze_penrose_divergence": "bayesfloor.floor",
    "label_noise_check": "bayesfloor.floor.label_noise",
    "learned_floor": "bayesfloor.floor.learned",
    "linear_svm_path": "bayesfloor.classify.linear_svm",
    "list_datasets": "bayesfloor.data.datasets",
    "load_dataset": "bayesfloor.data.datasets",
    "one_vs_rest_bayes_error": "bayesfloor.floor",
    "pairwise_bayes_error": "bayesfloor.floor",
    "read_table": "bayesfloor.data.tables",
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
