"""
Which classes should be told apart first?
=========================================

A problem of many classes becomes a tree of questions with two answers each. Where classes that
are easily confused stay together for long, the questions at the top are easy, and the hard ones
concern few classes. The floors of all pairs of classes say how to divide them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import SmartSVC, build_class_tree, pairwise_bayes_error

X, y = load_digits(return_X_y=True)
floors = pairwise_bayes_error(X, y)
tree = build_class_tree(floors.normalized, floors.classes, cut="average-linkage")
print(tree)

# %%
# Each dashed line is a question, and its number says how much the two sides overlap. 0 goes first,
# and nothing is lost; 6 and 2 follow, then 4 and 7. 3 and 9 stay together until the end.

tree.plot()
plt.show()

# %%
# :class:`~bayesfloor.SmartSVC` cuts such a tree from its training rows, and trains a linear SVM
# at each node: nine of them, where one against one takes 45.

X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), SmartSVC()).fit(X_train, y_train)
print(f"error {1 - model.score(X_test, y_test):.1%} on {len(y_test)} digits that it has not seen")

# %%
# What to do next
# ---------------
# The other way to cut (``cut="min-cut"``) and what came of both:
# :doc:`/class_trees`. With a learner of your own at the nodes:
# :class:`~bayesfloor.HierarchicalClassifier`. Where accuracy matters more than a model that can
# be read: :ref:`sphx_glr_gallery_models_plot_many_classes.py`.
