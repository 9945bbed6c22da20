"""The paper's figure of a class tree: where each binary classifier draws its line.

The tree grows from left to right, the smaller side of each node above. Nodes show their classes where
there is room, and a dashed line with the value of the cut parts those above from those below.
"""

from itertools import takewhile
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.tree.class_tree import ClassTree, label_text

LONGEST_NAME = 26  # characters
LONGEST_TITLE = 100  # characters of a node's classes
WIDEST_WITH_TITLES = 14.0  # inches; a wider drawing leaves out the classes of inner nodes
LARGEST = 60.0  # inches; beyond, everything shrinks, and text that is too small is left out
SMALLEST_FONT = 3.0  # points
LINE, DASHED, LEAF = "#4c566a", "#b5382a", "#e8edf3"


def draw_class_tree(tree: ClassTree, ax: Any = None) -> Any:
    """Draw a class tree on matplotlib axes; see `ClassTree.plot`."""
    try:
        from matplotlib import pyplot
        from matplotlib.collections import LineCollection
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install 'bayesfloor[plot]'") from error

    names = shortened([label_text(label) for label in tree.classes])
    row = min(0.28, LARGEST / tree.n_classes)  # all lengths are in inches
    step = min(0.62, LARGEST / tree.depth)
    font = min(9.0, 45.0 * row, 15.0 * step)
    titles, columns = lay_out_columns(tree, names, font, step)
    leaf_height, node_height = lay_out_rows(tree, row)
    right_end = columns[-1] + 0.15 + max(text_width(name, font) for name in names)
    if ax is None:
        size = (max(2.5, right_end + 0.4), max(1.2, row * tree.n_classes + 0.3))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")

    solid, dashed = [], []
    for node, pair, title in zip(tree.nodes, tree.children.tolist(), titles, strict=True):
        start, end = columns[node.depth], columns[node.depth + 1]
        y = node_height[node.index]
        parting = end - 0.85 * step
        solid.append([(start, y), (parting, y)])
        heights = [node_height[child] if child >= 0 else leaf_height[~child] for child in pair]
        dashed.append([(parting, height) for height in heights])
        solid += [[(parting, height), (end, height)] for height in heights]
        if font < SMALLEST_FONT:
            continue
        if title:
            draw_box(ax, start, y, title, font, "white")
        for child, height in zip(pair, heights, strict=True):
            if child < 0:
                draw_box(ax, end, height, names[~child], font, LEAF)
        if not isnan(node.cut):
            ax.text(parting + 0.05, y, f"{node.cut:.3g}", fontsize=0.8 * font, color=DASHED, va="center")
    thickness = font / 8
    ax.add_collection(LineCollection(solid, colors=LINE, linewidths=thickness, zorder=1))
    ax.add_collection(LineCollection(dashed, colors=DASHED, linewidths=thickness, linestyles="--", zorder=1))
    ax.set(xlim=(-0.1, right_end), ylim=(-row * (tree.n_classes - 0.3), 0.7 * row))
    ax.set_axis_off()
    return ax


def shortened(names: list[str]) -> list[str]:
    """Cut names that are too long to draw, so that different names stay different.

    A long name loses its middle, since its end often tells it from others. Where that leaves two names alike, they
    begin shortly before the first letter in which they differ; and where that is no help, they are numbered.
    """
    tail = LONGEST_NAME // 2 - 1
    short = [cut_out(name, LONGEST_NAME - tail - 1, tail) for name in names]
    for alike in places_of_repeated(short):
        columns = zip(*(names[place] for place in alike), strict=False)
        shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
        start = max(0, shared - LONGEST_NAME // 3)
        for place in alike:
            short[place] = ("…" if start else "") + cut_out(names[place][start:], LONGEST_NAME - 2, 0)
    for alike in places_of_repeated(short):
        for place in alike:
            short[place] = f"{short[place][: LONGEST_NAME - 6]}… {place}"
    return short


def cut_out(text: str, head: int, tail: int) -> str:
    """Keep the first and the last characters of a text that has more than one besides."""
    return text if len(text) <= head + tail + 1 else f"{text[:head]}…{text[len(text) - tail :]}"


def places_of_repeated(names: list[str]) -> list[list[int]]:
    """Return the places of each name that occurs more than once."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return [found for found in places.values() if len(found) > 1]


def text_width(text: str, font: float) -> float:
    """Return the width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points: float = text_to_path.get_text_width_height_descent(text, FontProperties(size=font), ismath=False)[0]
    return points / 72


def lay_out_columns(
    tree: ClassTree, names: list[str], font: float, step: float
) -> tuple[list[str], NDArray[np.float64]]:
    """Return what to write at each node, its classes or nothing, and where the column of each depth starts."""
    separator = " " if max(map(len, names)) <= 2 else ", "
    titles = [separator.join(names[code] for code in sorted(node.left + node.right)) for node in tree.nodes]
    if len(titles[0]) <= LONGEST_TITLE:
        widths = np.full(tree.depth, step)
        for node, title in zip(tree.nodes, titles, strict=True):
            widths[node.depth] = max(widths[node.depth], text_width(title, font) + 0.1 + step)
        if widths.sum() <= WIDEST_WITH_TITLES:
            return titles, np.append(0.0, np.cumsum(widths))
    return [""] * tree.n_nodes, step * np.arange(tree.depth + 1, dtype=np.float64)


def lay_out_rows(tree: ClassTree, row: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the height of each class and of each node, which is half way between its two sides."""
    leaf_height = np.empty(tree.n_classes)
    n_placed = 0
    waiting = [0]
    while waiting:
        child = waiting.pop()
        if child < 0:
            leaf_height[~child] = -row * n_placed
            n_placed += 1
        else:
            node, (left, right) = tree.nodes[child], tree.children[child].tolist()
            waiting += [left, right] if len(node.right) < len(node.left) else [right, left]
    node_height = np.empty(tree.n_nodes)
    for index in range(tree.n_nodes - 1, -1, -1):
        ends = [node_height[child] if child >= 0 else leaf_height[~child] for child in tree.children[index]]
        node_height[index] = sum(ends) / 2
    return leaf_height, node_height


def draw_box(ax: Any, x: float, y: float, text: str, font: float, fill: str) -> None:
    """Write text in a box that starts at a point."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": fill, "edgecolor": LINE, "linewidth": 0.8}
    ax.text(x, y, text, fontsize=font, va="center", bbox=box, parse_math=False, zorder=2)
