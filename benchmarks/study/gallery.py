"""One page with all pictures: those of the study, and those that other programs have made."""

import os
from collections.abc import Iterable
from pathlib import Path

from bayesfloor.runtime.files import write_whole

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

#: Pictures in docs/images: what they show, and what makes them.
ELSEWHERE = (
    ("floor_figure1.png", "The paper's Figure 1: what the bias correction does", "examples/paper/plot_figure1.py"),
    ("floor_figure2.png", "The paper's Figure 2: more trees, less variance", "examples/paper/plot_figure2.py"),
    ("chess.png", "The paper's Chess example: which features the floor selects", "benchmarks/real/chess.py"),
    ("mnist.png", "The paper's MNIST example: which digits are hard to tell apart", "benchmarks/real/mnist.py"),
    ("class_tree_digits.png", "A class tree of the digits", "examples/models/plot_tree_of_classes.py"),
    ("class_weights.png", "Class weights from floors", "benchmarks/real/class_weights.py"),
)


def write_gallery(folder: Path, drawn: Iterable[tuple[str, str]], images: Path = IMAGES) -> Path:
    """Write the page, with copies of pictures from elsewhere where the folder lies outside the source tree.

    Parameters
    ----------
    folder : Path
        Where the study's pictures are.
    drawn : iterable of (str, str)
        Name and title of each.
    images : Path
        Folder of the other pictures; those that are not there are left out.

    Returns
    -------
    Path
        The page.
    """
    lines = ["# Pictures", ""]
    for name, title in drawn:
        lines += [f"## {title}", "", f"![{title}]({name})", ""]
    for name, title, maker in ELSEWHERE:
        lines += [f"## {title}", "", f"Made by `{maker}`.", ""]
        if (images / name).is_file():
            lines += [f"![{title}]({_link(folder, images / name)})", ""]
    page = folder / "index.md"
    write_whole(page, "\n".join(lines).encode())
    return page


def _link(folder: Path, image: Path) -> str:
    """Return a link from the folder to a picture: to where it is within one tree, else to a copy."""
    tree = image.parents[2]
    if folder.resolve().is_relative_to(tree):
        return Path(os.path.relpath(image, folder.resolve())).as_posix()
    write_whole(folder / image.name, image.read_bytes())
    return image.name
