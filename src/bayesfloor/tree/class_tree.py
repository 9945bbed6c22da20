"""The class tree itself, and the forms it can be written in."""

import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_labels
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import label_text, listed, shown
from bayesfloor.tree.cuts import Split


@dataclass(frozen=True)
class ClassNode:
    """An inner node of a class tree: the problem of telling some classes from some others.

    Attributes
    ----------
    index : int
        Place of the node in `ClassTree.nodes`.
    parent : int
        Index of the node above; -1 for the root.
    depth : int
        Number of nodes above; 0 for the root.
    left, right : tuple of int
        Codes of the classes on each side, ascending. Left holds the smallest.
    cut : float
        Sum of the weights between the two sides; NaN where the tree was given without weights.
    """

    index: int
    parent: int
    depth: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    cut: float


@dataclass(frozen=True, eq=False, repr=False)
class ClassTree(PlottedResult, says="n_classes depth cuts", display="ClassTreeDisplay"):
    """A binary tree of classes; each inner node is a binary problem. `build_class_tree` makes one.

    `frame` has a row for each node.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels. A class's code is its place here.
    nodes : tuple of ClassNode
        The K − 1 inner nodes, each before those below it, and those on its left before those on its right.
    findings : tuple of Finding
        Where the order of the cuts says nothing (BF018).

    Examples
    --------
    >>> from bayesfloor import build_class_tree
    >>> tree = build_class_tree([[0, 0, 0], [0, 0, 0.1], [0, 0.1, 0]], ["setosa", "versicolor", "virginica"])
    >>> tree
    ClassTree(3 classes, depth 2, cuts 0 to 0.1)
    >>> print(tree.to_text())
    cut 0
    ├─ setosa
    └─ cut 0.1
       ├─ versicolor
       └─ virginica
    """

    classes: NDArray[Any]
    nodes: tuple[ClassNode, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def n_nodes(self) -> int:
        """Number of inner nodes, K − 1."""
        return len(self.nodes)

    @property
    def cuts(self) -> Floats:
        """Value of the cut at each node; NaN where the tree was given without weights."""
        return np.array([node.cut for node in self.nodes])

    @cached_property
    def depth(self) -> int:
        """Number of nodes on the longest way from the root to a class."""
        return 1 + max(node.depth for node in self.nodes)

    @cached_property
    def children(self) -> Ints:
        """Array of shape (K − 1, 2): what is left and right of each node.

        A value of 0 or more is the index of a node; a negative value v is the class with code ~v.
        """
        children = np.empty((self.n_nodes, 2), dtype=np.int64)
        for node in self.nodes:
            # the left part of the tree has one inner node less than classes
            children[node.index, 0] = node.index + 1 if len(node.left) > 1 else ~node.left[0]
            children[node.index, 1] = node.index + len(node.left) if len(node.right) > 1 else ~node.right[0]
        return children

    @cached_property
    def sides(self) -> NDArray[np.int8]:
        """Array of shape (K − 1, K): -1 where a class is left of a node, 1 right, 0 not below it."""
        sides = np.zeros((self.n_nodes, self.n_classes), dtype=np.int8)
        for node in self.nodes:
            sides[node.index, list(node.left)] = -1
            sides[node.index, list(node.right)] = 1
        return sides

    @cached_property
    def leaf_codes(self) -> Ints:
        """Codes of the classes in the order of the tree, left to right."""
        codes = [~child for _, child in self._walk() if child < 0]
        return np.array(codes, dtype=np.int64)

    @property
    def leaves(self) -> NDArray[Any]:
        """The labels in the order of the tree, left to right."""
        return self.classes[self.leaf_codes]

    def _walk(self) -> Iterator[tuple[str, int]]:
        """Yield all nodes and leaves, as in `children`, in order; with the lines that lead to them in a drawing."""
        # a stack rather than recursion: a tree of 1000 classes may be 999 deep
        waiting = [("", "", 0)]
        while waiting:
            indent, branch, child = waiting.pop()
            yield indent + branch, child
            if child >= 0:
                indent += {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
                left, right = self.children[child].tolist()
                waiting += [(indent, "└─ ", right), (indent, "├─ ", left)]

    def to_nested(self) -> list[Any]:
        """Return the tree as nested lists of labels, which `build_class_tree` reads as a cut."""
        labels = self.classes.tolist()
        nested: list[list[Any]] = [[] for _ in self.nodes]
        for index, pair in enumerate(self.children.tolist()):
            nested[index] += [nested[child] if child >= 0 else labels[~child] for child in pair]
        return nested[0]

    def to_text(self) -> str:
        """Return the tree as lines of text: the value of each cut, and under it its two sides."""
        return "\n".join(lines + self._title(child) for lines, child in self._walk())

    def _title(self, child: int) -> str:
        """Name a node or leaf in one line."""
        if child < 0:
            return label_text(self.classes[~child])
        cut = self.nodes[child].cut
        return "split" if isnan(cut) else f"cut {cut:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain lists and numbers that JSON can hold; `from_dict` reads it.

        Labels that are integers, floats, booleans or text come back as they were. A cut that is not
        known is None.
        """
        labels = self.classes.tolist()
        return {
            "classes": labels,
            "nodes": [
                {
                    "left": [labels[code] for code in node.left],
                    "right": [labels[code] for code in node.right],
                    "cut": None if isnan(node.cut) else node.cut,
                }
                for node in self.nodes
            ],
        }

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> "ClassTree":
        """Read what `to_dict` wrote.

        Raises
        ------
        ValueError
            If this is not a class tree, with the first node at fault.
        """
        try:
            classes = check_classes(tree["classes"])
            rows = [(list(node["left"]), list(node["right"]), node["cut"]) for node in tree["nodes"]]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"Not a class tree: expected 'classes' and 'nodes' with 'left', 'right' and 'cut' ({error!r})"
            ) from error
        if len(rows) != len(classes) - 1:
            raise ValueError(f"{len(classes)} classes need {len(classes) - 1} nodes, got {len(rows)}")
        code_of = {label: code for code, label in enumerate(classes.tolist())}
        halves: dict[frozenset[int], tuple[list[int], float]] = {}
        for index, (left, right, cut) in enumerate(rows):
            try:
                codes = [code_of[label] for label in left + right]
                value = nan if cut is None else float(cut)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"Node {index} holds something that is no class or no number: {error!r}") from error
            if not left or not right or len(set(codes)) < len(codes):
                got = f"{reprlib.repr(left)} and {reprlib.repr(right)}"
                raise ValueError(f"Node {index} needs two sides with different classes, got {got}")
            halves[frozenset(codes)] = codes[: len(left)], value

        def half(codes: Ints) -> tuple[list[int], float]:
            try:
                return halves[frozenset(codes.tolist())]
            except KeyError:
                names = listed(list(map(shown, classes[codes])), 8)
                raise ValueError(f"No node has exactly these classes below it: {names}") from None

        return grow_class_tree(
            classes,
            lambda codes: np.isin(codes, half(codes)[0]),
            lambda left, right: half(np.concatenate([left, right]))[1],
        )

    def _columns(self) -> dict[str, Any]:
        """Return a row for each node; left and right are lists of labels."""
        rows = self.to_dict()["nodes"]
        return {
            "node": [node.index for node in self.nodes],
            "parent": [node.parent for node in self.nodes],
            "depth": [node.depth for node in self.nodes],
            "left": [row["left"] for row in rows],
            "right": [row["right"] for row in rows],
            "cut": [node.cut for node in self.nodes],
        }


def grow_class_tree(classes: NDArray[Any], split: Split, cut_value: Callable[[Ints, Ints], float]) -> ClassTree:
    """Split all classes, then each side, until every class is by itself.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The labels.
    split : callable
        Takes ascending codes and returns which of them are on one side.
    cut_value : callable
        Takes the codes on the left and on the right and returns the value of that cut.

    Returns
    -------
    ClassTree
        The tree; left and right are exchanged where needed to have the smallest code on the left.
    """
    nodes: list[ClassNode] = []
    waiting = [(np.arange(len(classes)), -1, 0)]
    while waiting:
        codes, parent, depth = waiting.pop()
        on_left = split(codes)
        on_left = on_left == on_left[0]
        left, right = codes[on_left], codes[~on_left]
        index = len(nodes)
        value = float(cut_value(left, right))
        nodes.append(ClassNode(index, parent, depth, tuple(left.tolist()), tuple(right.tolist()), value))
        waiting += [(side, index, depth + 1) for side in (right, left) if len(side) > 1]
    return ClassTree(classes, tuple(nodes))


def check_classes(classes: Any) -> NDArray[Any]:
    """Return labels as an array, in the order given, each of which occurs once."""
    try:
        n_classes = len(classes)
    except TypeError:
        raise ValueError(f"classes should be a list or array of labels, got {classes!r}") from None
    labels, codes = check_labels(classes, n_classes)
    repeated = np.flatnonzero(np.bincount(codes) > 1)
    if len(repeated):
        raise ValueError(f"classes holds {shown(labels[repeated[0]])} more than once")
    return labels[codes]
