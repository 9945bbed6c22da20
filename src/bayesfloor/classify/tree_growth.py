"""From a training set to the class tree that its classifier follows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.classify.affinity import affinity_matrix
from bayesfloor.classify.training import Training
from bayesfloor.runtime.checks import check_n_trees, check_option
from bayesfloor.tree import ClassTree, build_class_tree
from bayesfloor.tree.build import WEIGHTED_CUTS

CUTS = (*WEIGHTED_CUTS, "random")


def cut_class_tree(
    training: Training, tree: Any, affinity: Any, *, n_trees: int, n_jobs: int | None, seed: int
) -> tuple[ClassTree, NDArray[np.float64] | None]:
    """Return the class tree, and the affinities it was cut from.

    Parameters
    ----------
    training : Training
        The training set.
    tree : str, ClassTree or nested lists
        How to cut it, or the tree itself; its classes must be those of the training set.
    affinity, n_trees, n_jobs
        As for `class_affinity`.
    seed : int
        Seed of ties between distances and of a random tree.

    Returns
    -------
    tree : ClassTree
    affinities : ndarray of shape (n_classes, n_classes) or None
        None when the tree was given.
    """
    classes = training.classes
    n_trees = check_n_trees(n_trees)  # whether it is needed or not
    if isinstance(tree, ClassTree):
        if np.array_equal(tree.classes, classes):
            return tree, None
        return build_class_tree(None, classes, cut=tree.to_nested()), None
    if not isinstance(tree, str):
        return build_class_tree(None, classes, cut=tree), None
    check_option("tree", tree, CUTS, ", a ClassTree or nested lists of labels")  # before floors are computed
    affinities = affinity_matrix(
        training.X,
        training.codes,
        len(classes),
        affinity,
        sample_weight=training.sample_weight,
        n_trees=n_trees,
        n_jobs=n_jobs,
        random_state=seed,
    )
    return build_class_tree(affinities, classes, cut=tree, random_state=seed), affinities
