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

The records that they return are in `bayesfloor.results`, pictures of them in `bayesfloor.display`.
"""

from typing import TYPE_CHECKING

from bayesfloor.runtime.lazy_names import lazy_names

if TYPE_CHECKING:  # "as" exports a name: type checkers do not see the __all__ below
    from bayesfloor.choose.class_weight import bayes_class_weight as bayes_class_weight
    from bayesfloor.choose.class_weight import bayes_cost_matrix as bayes_cost_matrix
    from bayesfloor.choose.floor_selector import FloorSelector as FloorSelector
    from bayesfloor.choose.transforms import compare_transforms as compare_transforms
    from bayesfloor.classify.affinity import class_affinity as class_affinity
    from bayesfloor.classify.hierarchical import DAGClassifier as DAGClassifier
    from bayesfloor.classify.hierarchical import HierarchicalClassifier as HierarchicalClassifier
    from bayesfloor.classify.landmarks import LandmarkClassifier as LandmarkClassifier
    from bayesfloor.classify.landmarks import LandmarkRegressor as LandmarkRegressor
    from bayesfloor.classify.linear.linear_svm import linear_svm_path as linear_svm_path
    from bayesfloor.classify.linear.path_classifiers import LinearSVCCV as LinearSVCCV
    from bayesfloor.classify.linear.path_classifiers import OneVsOneSVC as OneVsOneSVC
    from bayesfloor.classify.linear.path_classifiers import SmartSVC as SmartSVC
    from bayesfloor.floor import bayes_error as bayes_error
    from bayesfloor.floor import henze_penrose_divergence as henze_penrose_divergence
    from bayesfloor.floor import one_vs_rest_bayes_error as one_vs_rest_bayes_error
    from bayesfloor.floor import pairwise_bayes_error as pairwise_bayes_error
    from bayesfloor.floor.learned.estimate import learned_floor as learned_floor
    from bayesfloor.floor.learned.gap import floor_gap as floor_gap
    from bayesfloor.floor.learned.label_noise import label_noise_check as label_noise_check
    from bayesfloor.floor.learned.regression.estimate import regression_floor as regression_floor
    from bayesfloor.floor.trees.estimator import BayesErrorEstimator as BayesErrorEstimator
    from bayesfloor.floor.trees.noise_variance import noise_variance_from_trees as noise_variance_from_trees
    from bayesfloor.floor.votes.estimate import vote_floor as vote_floor
    from bayesfloor.floor.votes.soft_labels import soft_label_floor as soft_label_floor
    from bayesfloor.forest import class_forests as class_forests
    from bayesfloor.forest import spanning_forests as spanning_forests
    from bayesfloor.report.difficulty import difficulty_report as difficulty_report
    from bayesfloor.tables.datasets import list_datasets as list_datasets
    from bayesfloor.tables.datasets import load_dataset as load_dataset
    from bayesfloor.tables.preparer import TablePreparer as TablePreparer
    from bayesfloor.tables.read import read_table as read_table
    from bayesfloor.tree import build_class_tree as build_class_tree

    __version__: str
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "choose.class_weight": "bayes_class_weight bayes_cost_matrix",
            "choose.floor_selector": "FloorSelector",
            "choose.transforms": "compare_transforms",
            "classify.affinity": "class_affinity",
            "classify.hierarchical": "DAGClassifier HierarchicalClassifier",
            "classify.landmarks": "LandmarkClassifier LandmarkRegressor",
            "classify.linear.linear_svm": "linear_svm_path",
            "classify.linear.path_classifiers": "LinearSVCCV OneVsOneSVC SmartSVC",
            "floor": "bayes_error henze_penrose_divergence one_vs_rest_bayes_error pairwise_bayes_error",
            "floor.learned.estimate": "learned_floor",
            "floor.learned.gap": "floor_gap",
            "floor.learned.label_noise": "label_noise_check",
            "floor.learned.regression.estimate": "regression_floor",
            "floor.trees.estimator": "BayesErrorEstimator",
            "floor.trees.noise_variance": "noise_variance_from_trees",
            "floor.votes.estimate": "vote_floor",
            "floor.votes.soft_labels": "soft_label_floor",
            "forest": "class_forests spanning_forests",
            "report.difficulty": "difficulty_report",
            "tables.datasets": "list_datasets load_dataset",
            "tables.preparer": "TablePreparer",
            "tables.read": "read_table",
            "tree": "build_class_tree",
        },
        "__version__",
    )
