"""How low can the error of any classifier go on your data?

The public names are loaded on first use, so that ``import bayesfloor`` costs next to nothing:

==========================  ===========================================================
`difficulty_report`         the answer with everything around it, as a page, text or JSON
`learned_floor`             the floor as the limit of what models can learn: the headline
`floor_gap`                 a model beside what was reached and the floor, by class and pair
`regression_floor`          the same for numbers: the noise variance, and the ceiling of R²
`vote_floor`                the floor from several annotators; `soft_label_floor` from probabilities
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
`StackedClassifier`         the learned floor's stack of models, to take home; `StackedRegressor` for a number
`SmartSVC`                  the paper's classifier: linear SVMs along a class tree
`HierarchicalClassifier`    a class tree over any binary classifier
`LinearSVCCV`               a linear SVM along a path of C; one against the rest
`OneVsOneSVC`               linear SVMs for all pairs, by votes or a DAG
`load_model`                a trained model from its file
`class_affinity`            how much every two classes overlap
`FloorSelector`             features chosen by the floor they leave, for classes and for numbers
`compare_features`          columns, embeddings and steps side by side: which lets models get furthest?
`drift`                     do two tables come from one distribution, and what moved?
`bayes_class_weight`        weights for hard classes; `bayes_cost_matrix` for hard pairs
`read_table`                X and y from a file: CSV, Excel, JSON, Parquet, …
`TablePreparer`             numbers from the columns of any data frame, in a Pipeline
`load_dataset`              data sets by name; `list_datasets` for which
`settings`                  threads of everything within a block
==========================  ===========================================================

The records that they return are in `bayesfloor.results`, pictures of them in `bayesfloor.display`.
"""

from bayesfloor.runtime.lazy_names import lazy_names

# the stub beside this file says where each name comes from, once for users and for type checkers
__all__, __getattr__, __dir__ = lazy_names(__name__, __file__, "__version__")
