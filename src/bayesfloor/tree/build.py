"""From weights between classes, or from nested lists, to a class tree."""

import reprlib
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.kernels import spare_compilation
from bayesfloor.runtime.text import listed, shown
from bayesfloor.tree import cuts
from bayesfloor.tree.class_tree import ClassTree, check_classes, grow_class_tree
from bayesfloor.tree.cut_kernels import degrees_and_bound

CUTS: dict[str, Callable[[Floats], cuts.Split]] = {
    "min-cut": cuts.min_cut,
    "average-linkage": cuts.average_linkage,
}

#: What second weights add, as a share of the largest weight: far below the sampling error of floors, and far above
#: rounding.
SECOND_SHARE = 1e-6


@like_input
def build_class_tree(weights: Any, classes: Any = None, *, cut: Any = "min-cut", tie_weights: Any = None) -> ClassTree:
    """Build a binary tree of classes by cutting a graph of classes in two, then each part, and so on.

    Classes that are easily confused stay together for long, as a rule.

    Parameters
    ----------
    weights : array-like of shape (K, K), or None
        How hard it is to tell two classes apart; in the paper their normalized floor,
        ``pairwise_bayes_error(X, y).normalized``. Symmetric, nonnegative and finite; the diagonal is
        not used. None is allowed where `cut` is nested lists.
    classes : array-like of shape (K,), optional
        The labels; by default 0 to K − 1, or the sorted labels of nested lists.
    cut : str or nested lists, default="min-cut"
        How to cut a set of classes:

        - "min-cut": where the sum of weights between the sides is lowest, as in the paper. This
          often splits off one class at a time.
        - "average-linkage": so that the two sets of classes with the highest mean weight are joined first.
        - nested lists of labels, such as ``["a", ["b", "c"]]``: this very tree.
    tie_weights : array-like of shape (K, K), default=None
        A second measure of how alike two classes are, checked as `weights` are. It decides between cuts whose
        `weights` tie, as those of classes with a floor of 0 do: ``class_affinity(X, y, affinity="class-means")[1]``.

    Returns
    -------
    ClassTree
        The tree.

    Raises
    ------
    ValueError
        For weights that are not a symmetric matrix of nonnegative numbers, with the classes at fault; for
        nested lists that do not hold every class once.

    Notes
    -----
    The order of the classes does not matter, except where cuts are equally good but for rounding, which
    `tie_weights` of real data prevent: a millionth of them is added to `weights`, in units in which the largest weight,
    and the largest sum of one class's second weights, are 1. Without them any of the cuts that tie may be taken. With
    "min-cut", groups of classes with no weight between them are then split first, as evenly as they can be, so that
    weights that are all zero give a balanced tree. Finding BF018 says where cuts of 0 follow each other.

    Minimum cuts are exact. A tree has K − 1 of them; each takes a few times K² steps.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from bayesfloor import build_class_tree, pairwise_bayes_error
    >>> X, y = load_wine(return_X_y=True)
    >>> floors = pairwise_bayes_error(X, y)
    >>> build_class_tree(floors.normalized, floors.classes).to_nested()
    [0, [1, 2]]
    """
    if isinstance(cut, list | tuple):
        return _given_tree(cut, weights, classes)
    check_option("cut", cut, list(CUTS), " or nested lists of labels")
    if weights is None:
        raise ValueError("weights may be None only where cut is nested lists of labels")
    labels, matrix = check_graph("weights", weights, classes)
    second = None if tie_weights is None else check_graph("tie_weights", tie_weights, classes)[1]
    split = CUTS[cut](matrix if second is None else _with_ties_broken(matrix, second))
    with spare_compilation(1e-5 * len(labels) ** 3, degrees_and_bound):
        tree = grow_class_tree(labels, split, lambda left, right: matrix[np.ix_(left, right)].sum())
    return replace(tree, findings=tuple(_find_zeros(tree, second is not None)))


def _with_ties_broken(weights: Floats, second: Floats) -> Floats:
    """Add so little of second weights that they decide between cuts that tie, and no others.

    A single sum of both makes the tree the same for every cut and in every order of the classes, since nothing is left
    to choose. Cuts of single classes, the most frequent ones, change by a millionth of the largest weight at the most.
    """
    largest = second.sum(axis=1).max()
    return weights if largest == 0 else weights + SECOND_SHARE * (weights.max() or 1.0) * (second / largest)


def _find_zeros(tree: ClassTree, has_second: bool) -> Iterator[Finding]:
    """Say where the order of cuts is not that of the weights: cuts of 0 below cuts of 0."""
    is_free = tree.cuts == 0
    n_free = sum(is_free[node.index] and node.parent >= 0 and is_free[node.parent] for node in tree.nodes)
    if not n_free:
        return
    said, hint = (
        "the order of the classes decided.",
        "Give tie_weights, such as class_affinity(X, y, affinity='class-means')[1].",
    )
    if has_second:
        said, hint = "second weights decided.", "Read nothing into which of these classes goes first: all are easy."
    yield Finding(
        "BF018",
        f"{n_free} of the {tree.n_nodes} cuts of the class tree follow a cut of 0 and are 0 themselves. Weights of 0 "
        f"carry no order; {said}",
        hint,
    )


def _given_tree(nested: Any, weights: Any, classes: Any) -> ClassTree:
    if weights is not None:
        labels, matrix = check_graph("weights", weights, classes)
    elif classes is not None:
        labels = check_classes(classes)
    else:
        labels = np.sort(check_classes([item for node in _nested_nodes(nested) for item in node if not _is_node(item)]))
    split = cuts.known_cuts(_halves_of_nested(nested, labels))
    return grow_class_tree(
        labels, split, lambda left, right: nan if weights is None else matrix[np.ix_(left, right)].sum()
    )


def check_graph(name: str, weights: Any, classes: Any) -> tuple[NDArray[Any], Floats]:
    """Return labels and exactly symmetric weights with a zero diagonal, or name the pair of classes at fault."""
    array = np.asarray(weights)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} should be a square matrix, got an array of shape {array.shape}")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} should be numbers, got an array of type {array.dtype}")
    try:
        matrix = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} should be numbers: {error}") from error
    labels = check_classes(np.arange(len(matrix)) if classes is None else classes)
    n = len(labels)
    if len(matrix) != n:
        raise ValueError(f"{n} classes need {name} of shape ({n}, {n}), got {matrix.shape}")

    np.fill_diagonal(matrix, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        total = matrix.sum()
        # two ways to add up the same numbers may differ in the last digits
        differ = np.abs(matrix - matrix.T) > 1e-9 * np.maximum(matrix, matrix.T)
    for wrong, rule in ((~np.isfinite(matrix), "finite"), (matrix < 0, "0 or more"), (differ, "symmetric")):
        if wrong.any():
            a, b = np.argwhere(wrong)[0]
            first, second = shown(labels[a]), shown(labels[b])
            raise ValueError(
                f"{name} should be {rule}: row {first}, column {second} has {matrix[a, b]:g}, "
                f"row {second}, column {first} has {matrix[b, a]:g}"
            )
    if not np.isfinite(total):
        raise ValueError(f"the sum of all {name} is too large for a float")
    return labels, 0.5 * (matrix + matrix.T)


def _is_node(item: Any) -> bool:
    return isinstance(item, list | tuple)


def _nested_nodes(tree: Any) -> list[Any]:
    """List the nodes of nested lists, each before those below it."""
    nodes: list[Any] = []
    met = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if len(node) != 2:
            raise ValueError(f"Each node of the tree needs two children, got {len(node)}: {reprlib.repr(node)}")
        if id(node) in met:  # also ends the walk around a list that contains itself
            raise ValueError(f"The tree holds the same list more than once: {reprlib.repr(node)}")
        met.add(id(node))
        nodes.append(node)
        waiting += filter(_is_node, node)
    return nodes


def _halves_of_nested(tree: Any, labels: NDArray[Any]) -> dict[tuple[int, int], Ints]:
    """Return what `known_cuts` needs to cut as nested lists do."""
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    unseen = dict.fromkeys(code_of)
    codes_below: dict[int, Ints] = {}
    halves = {}
    for node in reversed(_nested_nodes(tree)):
        sides = []
        for item in node:
            if _is_node(item):
                sides.append(codes_below.pop(id(item)))
                continue
            label = item.item() if isinstance(item, np.generic) else item
            if not isinstance(label, Hashable) or label not in code_of:
                raise ValueError(f"The tree holds {shown(label)}, which is not one of the classes")
            if label not in unseen:
                raise ValueError(f"The tree holds class {shown(label)} more than once")
            del unseen[label]
            sides.append(np.array([code_of[label]]))
        codes_below[id(node)] = joined = np.concatenate(sides)
        halves[int(joined.min()), len(joined)] = sides[0]
    if unseen:
        raise ValueError(f"The tree lacks the classes {listed(list(map(shown, unseen)), 8)}")
    return halves
