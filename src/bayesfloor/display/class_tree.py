"""The paper's figure of a class tree: where each binary classifier draws its line.

The tree grows from left to right, the smaller side of each node above. Nodes show their classes where they fit, and a
dashed line with the value of the cut parts those above from those below.
"""

from dataclasses import KW_ONLY, dataclass
from math import isnan
from typing import Any, Self

import numpy as np

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Floats, Ints

#: Characters of all classes together up to which nodes show theirs; more would not fit on a page.
LONGEST_TITLE = 100
#: Inches; a wider drawing leaves out the classes of inner nodes.
WIDEST_WITH_TITLES = 14.0
#: Inches; a larger tree shrinks to this, and leaves out text that becomes too small.
LARGEST = 60.0
#: Points; smaller letters are left out, since nobody can read them.
LEAST_WRITTEN = 3.0
LINE, DASHED, LEAF = "#4c566a", "#b5382a", "#e8edf3"


@dataclass(eq=False, repr=False)
class ClassTreeDisplay(Display):
    """Drawing of a class tree: the easy questions on the left, the hard ones further on.

    Make one with ``build_class_tree(...).plot()``, or with ``classifier.tree_.plot()`` of a fitted classifier with such
    a tree: `SmartSVC` or `HierarchicalClassifier`.

    Parameters
    ----------
    children : ndarray of shape (K − 1, 2)
        What is left and right of each node, each node before those below it. A value of 0 or more is the index of a
        node; a negative value v is the class with code ~v.
    classes : ndarray of shape (K,)
        The labels.
    cuts : ndarray of shape (K − 1,), optional
        The value of each cut; NaN where it is not known.

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
    >>> from bayesfloor.display import ClassTreeDisplay
    >>> display = ClassTreeDisplay([[-1, 1], [-2, -3]], ["bird", "cat", "dog"])
    >>> display.frame()["right"].tolist()
    [['cat', 'dog'], ['dog']]
    """

    children: Ints
    classes: Any = None
    _: KW_ONLY
    cuts: Floats | None = None

    def __post_init__(self) -> None:
        self.children = nodes = np.asarray(self.children)
        n = len(nodes)
        # every class once, and every node but the root once, below an earlier node
        complete = nodes.shape == (n, 2) and sorted(nodes.ravel().tolist()) == [*range(-n - 1, 0), *range(1, n)]
        if not n or not complete or ((nodes >= 0) & (nodes <= np.arange(n)[:, None])).any():
            raise ValueError("children should hold each class and each node but the root once, below an earlier node")
        self.classes = checks.check_labels_of(n + 1, self.classes)
        self.cuts = None if self.cuts is None else np.asarray(self.cuts, dtype=np.float64).reshape(n)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each node; left and right are lists of labels."""
        parent, depth, members = _walk(self.children)
        labels = self.classes.tolist()
        sides = [[[labels[code] for code in members[child]] for child in pair] for pair in self.children.tolist()]
        return {
            "node": list(range(len(sides))),
            "parent": parent,
            "depth": depth,
            "left": [left for left, _ in sides],
            "right": [right for _, right in sides],
            "cut": np.full(len(sides), np.nan) if self.cuts is None else self.cuts,
        }

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
        canvas.load_pyplot()
        from matplotlib.collections import LineCollection

        names = canvas.shortened(self.classes)
        _, depth, members = _walk(self.children)
        row = min(0.28, LARGEST / len(names))  # all lengths are in inches
        step = min(0.62, LARGEST / (1 + max(depth)))
        font = min(9.0, 45.0 * row, 15.0 * step)
        titles, columns = _lay_out_columns(names, depth, members, font, step)
        height = _lay_out_rows(self.children, members, row)
        right_end = columns[-1] + 0.15 + canvas.text_width(names) * font / 72
        own = ax is None
        if own:
            ax = canvas.new_axes(max(2.5, right_end + 0.4), max(1.2, row * len(names) + 0.3))
        self._open(ax)

        solid, dashed, leaves, texts = [], [], [], []
        for index, pair in enumerate(self.children.tolist()):
            start, end, y = columns[depth[index]], columns[depth[index] + 1], height[index]
            parting = end - 0.85 * step
            solid.append([(start, y), (parting, y)])
            dashed.append([(parting, height[child]) for child in pair])
            solid += [[(parting, height[child]), (end, height[child])] for child in pair]
            if font < LEAST_WRITTEN:
                continue
            if titles:
                texts.append(_draw_box(ax, start, y, titles[index], font, "white"))
            leaves += [_draw_box(ax, end, height[child], names[~child], font, LEAF) for child in pair if child < 0]
            if self.cuts is not None and not isnan(self.cuts[index]):
                cut = f"{self.cuts[index]:.3g}"
                texts.append(ax.text(parting + 0.05, y, cut, fontsize=0.8 * font, color=DASHED, va="center"))
        thickness = font / 8
        ax.add_collection(LineCollection(solid, colors=LINE, linewidths=thickness, zorder=1))
        ax.add_collection(LineCollection(dashed, colors=DASHED, linewidths=thickness, linestyles="--", zorder=1))
        ax.set(xlim=(-0.1, right_end), ylim=(-row * (len(names) - 0.3), 0.7 * row))
        ax.set_axis_off()
        if not own:
            _fit_texts(ax, leaves, texts)
        return self


def _walk(children: Ints) -> tuple[list[int], list[int], dict[int, list[int]]]:
    """Return parent and depth of each node, and the codes of the classes below each node and each leaf."""
    n = len(children)
    parent, depth = [-1] * n, [0] * n
    for index, pair in enumerate(children.tolist()):
        for child in pair:
            if child >= 0:
                parent[child], depth[child] = index, depth[index] + 1
    members = {~code: [code] for code in range(n + 1)}
    for index in range(n - 1, -1, -1):
        left, right = children[index].tolist()
        members[index] = sorted(members[left] + members[right])
    return parent, depth, members


def _lay_out_columns(
    names: list[str], depth: list[int], members: dict[int, list[int]], font: float, step: float
) -> tuple[list[str], Floats]:
    """Return the title of each node, its classes, or no titles, and where the column of each depth starts."""
    n_columns = 1 + max(depth)
    separator = " " if max(map(len, names)) <= 2 else ", "
    if sum(map(len, names)) + len(separator) * (len(names) - 1) <= LONGEST_TITLE:
        titles = [separator.join(names[code] for code in members[index]) for index in range(len(depth))]
        widths = np.full(n_columns, step)
        for column, title in zip(depth, titles, strict=True):
            widths[column] = max(widths[column], canvas.text_width([title]) * font / 72 + 0.1 + step)
        if widths.sum() <= WIDEST_WITH_TITLES:
            return titles, np.append(0.0, np.cumsum(widths))
    return [], step * np.arange(n_columns + 1, dtype=np.float64)


def _lay_out_rows(children: Ints, members: dict[int, list[int]], row: float) -> dict[int, float]:
    """Return the height of each class and of each node, which is half way between its two sides."""
    height: dict[int, float] = {}
    waiting = [0]
    n_placed = 0
    while waiting:
        child = waiting.pop()
        if child < 0:
            height[child] = -row * n_placed
            n_placed += 1
        else:
            left, right = children[child].tolist()
            waiting += [left, right] if len(members[right]) < len(members[left]) else [right, left]
    for index in range(len(children) - 1, -1, -1):
        height[index] = sum(height[child] for child in children[index].tolist()) / 2
    return height


def _draw_box(ax: Any, x: float, y: float, text: str, font: float, fill: str) -> Any:
    """Write text in a box that starts at a point; return it."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": fill, "edgecolor": LINE, "linewidth": 0.8}
    return ax.text(x, y, text, fontsize=font, va="center", bbox=box, parse_math=False, usetex=False, zorder=2)


def _fit_texts(ax: Any, leaves: list[Any], others: list[Any]) -> None:
    """Shrink texts that were drawn with one unit for an inch, where the axes are smaller than that.

    A class is the only thing in its row, so that the height of the row alone decides; its name may need more of the
    width than it was given. What else is left too small to be read is left out.
    """
    across, down = (min(1.0, points / 72) for points in canvas.points_per_unit(ax))
    for text in leaves:
        text.set_fontsize(text.get_fontsize() * down)
    for text in others:
        size = text.get_fontsize() * min(across, down)
        text.set(fontsize=size, visible=size > canvas.SMALLEST_FONT - 1)
    left, right = ax.get_xlim()
    width = ax.get_window_extent().width
    for text in leaves:
        frame = text.get_fontsize() * ax.figure.dpi / 72  # a quarter of a letter and a line on either side, rounded up
        before = max(width - text.get_window_extent().width - frame, 0.1 * width)
        right = max(right, left + (text.get_position()[0] - left) * width / before)
    ax.set_xlim(left, right)
