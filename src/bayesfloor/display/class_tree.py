"""The class tree as a display."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayesfloor.display.canvas import SMALLEST_FONT, load_pyplot, points_per_unit, shortened
from bayesfloor.display.checks import fitted_step
from bayesfloor.floor.trees.results import PairwiseBayesError
from bayesfloor.tree import ClassTree, build_class_tree


class ClassTreeDisplay:
    """Drawing of a class tree: the easy questions on the left, the hard ones further on.

    Make one with `from_estimator` or `from_data`. ``ClassTree.plot`` draws the same.

    Parameters
    ----------
    tree : ClassTree
        The tree.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.

    See Also
    --------
    PairwiseHeatmapDisplay : The floors themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from bayesfloor import pairwise_bayes_error
    >>> from bayesfloor.display import ClassTreeDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = ClassTreeDisplay.from_data(pairwise_bayes_error(X, y))
    >>> display.tree.to_nested()
    [0, [1, 2]]
    """

    def __init__(self, tree: ClassTree) -> None:
        self.tree = tree

    @classmethod
    def from_estimator(cls, estimator: Any, *, cut: Any = "min-cut", ax: Any = None) -> Self:
        """Draw the tree of a fitted estimator.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted classifier with a ``tree_``, or a fitted `BayesErrorEstimator`, from whose pairwise floors a tree
            is built. Of a pipeline, the last step.
        cut : str or nested lists, default="min-cut"
            How to build a tree where there is none yet, as in `build_class_tree`.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ClassTreeDisplay
            The display, drawn.
        """
        estimator = fitted_step(estimator)
        for name in ("tree_", "pairwise_bayes_error_"):
            if isinstance(getattr(estimator, name, None), ClassTree | PairwiseBayesError):
                return cls.from_data(getattr(estimator, name), cut=cut, ax=ax)
        raise TypeError(f"{type(estimator).__name__} has no class tree: no tree_ or pairwise_bayes_error_")

    @classmethod
    def from_data(cls, floors: Any, classes: Any = None, *, cut: Any = "min-cut", ax: Any = None) -> Self:
        """Draw a tree, or the tree that pairwise floors give.

        Parameters
        ----------
        floors : ClassTree, PairwiseBayesError, or array-like of shape (K, K)
            The tree itself, or floors to build one from; of a PairwiseBayesError the normalized ones.
        classes : array-like of shape (K,), optional
            The labels, where `floors` is not a tree; by default those of `floors`, or 0 to K − 1.
        cut : str or nested lists, default="min-cut"
            How to build the tree, as in `build_class_tree`.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ClassTreeDisplay
            The display, drawn.
        """
        if isinstance(floors, PairwiseBayesError):
            classes = floors.classes if classes is None else classes
            floors = floors.normalized
        tree = floors if isinstance(floors, ClassTree) else build_class_tree(floors, classes, cut=cut)
        return cls(tree).plot(ax)

    def frame(self) -> Any:
        """Return a data frame with one row per node, as `ClassTree.frame` does."""
        return self.tree.frame()

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure large enough for all labels.

        Returns
        -------
        ClassTreeDisplay
            This display.
        """
        load_pyplot()
        n_texts = 0 if ax is None else len(ax.texts)
        names = shortened(self.tree.classes)
        self.ax_ = replace(self.tree, classes=np.array(names, dtype=object)).plot(ax)
        self.figure_ = self.ax_.figure
        if ax is not None:
            _fit_texts(ax, ax.texts[n_texts:], set(names))
        return self


def _fit_texts(ax: Any, texts: list[Any], names: set[str]) -> None:
    """Shrink texts that were drawn with one unit for an inch, where the axes have less room than that.

    A class is the only thing in its row, so that the height of the row alone decides; its name may need more of the
    width than it was given. What else is left too small to be read is left out.
    """
    across, down = (min(1.0, points / 72) for points in points_per_unit(ax))
    leaves = {text for text in texts if text.get_bbox_patch() and text.get_text() in names}
    for text in texts:
        size = text.get_fontsize() * (down if text in leaves else min(across, down))
        text.set(fontsize=size, visible=text in leaves or size > SMALLEST_FONT - 1)
    left, right = ax.get_xlim()
    width = ax.get_window_extent().width
    for text in leaves:
        frame = text.get_fontsize() * ax.figure.dpi / 72  # a quarter of a letter and a line on either side, rounded up
        room = max(width - text.get_window_extent().width - frame, 0.1 * width)
        right = max(right, left + (text.get_position()[0] - left) * width / room)
    ax.set_xlim(left, right)
