"""The floor of the digits, as the limit of what models can learn, and a test of that number.

    python examples/learned_floor.py [FOLDER]

Saves learned_floor.png and label_noise.png in the folder, and prints what they show. Takes about half a minute.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_digits

from bayesfloor import bayes_error, label_noise_check, learned_floor


def main(folder: Path) -> None:
    """Estimate, check, print and draw."""
    X, y = load_digits(return_X_y=True)
    trees = bayes_error(X, y)
    floor = learned_floor(X, y)
    low, high = floor.interval
    print(f"spanning trees   {trees.estimate:.2%}, bounds {trees.lower:.2%} to {trees.upper:.2%}")
    print(f"learned floor    {floor.estimate:.2%}, 95% interval {low:.2%} to {high:.2%}")
    print(f"reached          {floor.reached:.2%}, with {', '.join(list(floor.weights)[:3])} and others")
    print(floor.curve.frame().to_string(index=False))
    check = label_noise_check(X, y)
    print(check.frame().to_string(index=False))
    folder.mkdir(parents=True, exist_ok=True)
    floor.plot().figure_.savefig(folder / "learned_floor.png", dpi=150)
    check.plot().figure_.savefig(folder / "label_noise.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
