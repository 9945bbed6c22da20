"""The class tree: from weights between classes to a binary tree of binary problems.

Some classes are easily confused, others never. A class tree asks the easy questions first: it cuts
the set of classes in two where the least confusion is lost, then cuts each part again, until every class is
by itself. Each inner node is a binary problem, and problems get harder on the way down::

    weights (K, K) ── build ──────── checked, symmetric; or nested lists, read
                        │
                        ├── cuts ─── one function per way to cut: codes ─► left or right
                        │     cut_kernels     minimum cuts, exact
                        │
                        └── class_tree ─ nodes in order, the value of each cut;
                                     text, dict, nested lists, data frame, picture

`build_class_tree` is the way in. Weights are the normalized pairwise floors in the paper, but any
measure of how alike two classes are will do: this room only sees the matrix.

Classes are known by their codes, their places in the list of labels. Nothing here recurses: a tree of a
thousand classes may be 999 nodes deep.
"""

from bayesfloor.tree.build import build_class_tree
from bayesfloor.tree.class_tree import ClassNode, ClassTree

__all__ = ["ClassNode", "ClassTree", "build_class_tree"]
