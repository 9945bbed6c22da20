"""Any learner at the nodes of a class tree, or for each pair of classes in a decision DAG.

`hierarchical_classifier` has HierarchicalClassifier, `dag` DAGClassifier; `binary_parts` is what they share: one clone
of the learner for each binary problem, and scikit-learn's protocol.
"""
