from bayesfloor.choose.class_weight import bayes_class_weight as bayes_class_weight
from bayesfloor.choose.class_weight import bayes_cost_matrix as bayes_cost_matrix
from bayesfloor.choose.floor_selector import FloorSelector as FloorSelector
from bayesfloor.choose.transforms import compare_transforms as compare_transforms
from bayesfloor.classify.affinity import class_affinity as class_affinity
from bayesfloor.classify.hierarchical.dag import DAGClassifier as DAGClassifier
from bayesfloor.classify.hierarchical.hierarchical_classifier import (
    HierarchicalClassifier as HierarchicalClassifier,
)
from bayesfloor.classify.landmarks.landmark_classifier import LandmarkClassifier as LandmarkClassifier
from bayesfloor.classify.landmarks.landmark_regressor import LandmarkRegressor as LandmarkRegressor
from bayesfloor.classify.linear.linear_svm import linear_svm_path as linear_svm_path
from bayesfloor.classify.linear.linear_svm_cv import LinearSVCCV as LinearSVCCV
from bayesfloor.classify.linear.one_vs_one import OneVsOneSVC as OneVsOneSVC
from bayesfloor.classify.linear.smart_svc import SmartSVC as SmartSVC
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
