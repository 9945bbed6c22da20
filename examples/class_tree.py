"""The class tree of the digits, as in the paper's figure of a class tree: which digits are parted first, which last.

    python examples/class_tree.py                      # prints the tree
    python examples/class_tree.py --cut normalized-cut

and writes class_tree_digits.png where matplotlib is installed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sklearn.datasets import load_digits

from bayesfloor import ClassTree, build_class_tree, pairwise_bayes_error

CUTS = ("min-cut", "normalized-cut", "average-linkage", "balanced", "random")


def tree_of_digits(cut: str) -> ClassTree:
    """Estimate the floor of every pair of digits and cut the digits along them."""
    X, y = load_digits(return_X_y=True)
    floors = pairwise_bayes_error(X, y)
    return build_class_tree(floors.normalized, floors.classes, cut=cut, random_state=0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tree and draw it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cut", choices=CUTS, default="min-cut")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the picture")
    options = parser.parse_args(arguments)
    tree = tree_of_digits(options.cut)
    print(tree)
    print(tree.to_text())
    try:
        display = tree.plot()
    except ImportError as error:
        print(f"no picture: {error}", file=sys.stderr)
        return
    options.output.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(options.output / "class_tree_digits.png", dpi=100)


if __name__ == "__main__":
    main()
