"""What the study consists of: its cells, how each is measured, and three sizes of it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from bayesfloor.tables.datasets import BUILT_IN
from benchmarks.study.fingerprints import FINGERPRINTS

#: The sets of the paper's Table 1, in its order.
PAPER_SETS = (
    "abalone",
    "fars",
    "flare",
    "kr-vs-k",
    "letter",
    "nursery",
    "optdigits",
    "pageblocks",
    "pendigits",
    "satimage",
    "segment",
    "shuttle",
    "texture",
    "wine_red",
    "wine_white",
    "yeast",
)

#: Other names of the same sets.
ALIASES = {"chess": "kr-vs-k", "krkopt": "kr-vs-k", "page-blocks": "pageblocks", "breast-cancer": "breast_cancer"}

#: Those in which the label's own number is among the features.
LEAKING = ("wine_red", "wine_white")

#: The paper's methods, in the order of its tables.
PAPER_METHODS = ("C&S", "DAG", "GenSVM", "OvO", "OvR", "SmartSVM")

#: The paper's classifier with the cut, the affinity and the routing that do best.
SEVENTH_METHOD = "SmartSVM+"

#: `LandmarkClassifier`, which is no linear SVM, by its effort.
LANDMARK_METHODS = {"Landmarks": "default"}


class UnknownNameError(ValueError):
    """A data set, a method or a profile that there is not."""


@dataclass(frozen=True)
class Protocol:
    """How a cell is measured.

    Attributes
    ----------
    n_folds : int
        Folds of the cross-validation on the training part.
    n_values : int
        Values of C or λ, from 2^-18 to 2^18.
    test_share : float
        Part of each class that is held out for the test.
    scale : {"standard", "minmax"}
        How features are scaled, by the training part alone: to mean 0 and deviation 1, or to [-1, 1].
    gensvm : {"paper", "small"}
        Which p, κ and weights GenSVM tries beside λ: all 18 combinations of the paper, or 4.
    """

    n_folds: int = 10
    n_values: int = 19
    test_share: float = 0.2
    scale: str = "standard"
    gensvm: str = "paper"

    @property
    def values(self) -> tuple[float, ...]:
        """The values of C or λ, rising."""
        return tuple(np.exp2(np.linspace(-18, 18, self.n_values)).tolist())

    def as_dict(self) -> dict[str, Any]:
        """Return what is the same for all methods: all but the grids."""
        whole = asdict(self)
        return {name: whole[name] for name in ("n_folds", "test_share", "scale")}


@dataclass(frozen=True, order=True)
class Cell:
    """One measurement.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    split : int
        Number of the split into training and test part, which is the seed of everything random.
    method : str
        Name of the method.
    """

    dataset: str
    split: int
    method: str

    def __str__(self) -> str:
        return f"{self.method} on {self.dataset}, split {self.split}"


@dataclass(frozen=True)
class Profile:
    """A size of the study.

    Attributes
    ----------
    name : str
        Its name.
    datasets, methods : tuple of str
        What it takes unless told otherwise.
    n_splits : int
        How many splits of each set.
    protocol : Protocol
        How each cell is measured.
    """

    name: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    n_splits: int
    protocol: Protocol


PROFILES = {
    "quick": Profile(
        "quick",
        ("flare", "segment", "wine_red", "yeast"),
        ("C&S", "DAG", "GenSVM", "OvO", "OvR", "SmartSVM", SEVENTH_METHOD),
        2,
        Protocol(n_folds=5, n_values=7, gensvm="small"),
    ),
    "standard": Profile(
        "standard",
        tuple(name for name in PAPER_SETS if name != "fars"),
        ("C&S", "DAG", "GenSVM", "OvO", "OvR", "SmartSVM", SEVENTH_METHOD),
        2,
        Protocol(n_folds=5, gensvm="small"),
    ),
    "paper": Profile("paper", PAPER_SETS, (*PAPER_METHODS, SEVENTH_METHOD), 5, Protocol()),
}


def find_profile(name: str) -> Profile:
    """Return a profile by its name."""
    if name not in PROFILES:
        raise UnknownNameError(unknown("profile", name, PROFILES))
    return PROFILES[name]


def find_dataset(name: str) -> str:
    """Return the name under which a data set is recorded: "krkopt" is "kr-vs-k"."""
    known = ALIASES.get(name, name)
    names = [*(name for name, size in BUILT_IN.items() if size[2] is not None), *FINGERPRINTS]
    if known not in names:
        raise UnknownNameError(unknown("data set", name, [*names, *ALIASES]))
    return known


def plan_cells(datasets: Sequence[str], n_splits: int, methods: Sequence[str], first_split: int = 0) -> list[Cell]:
    """List all cells, those of small sets first, so that results appear early.

    Parameters
    ----------
    datasets, methods : sequence of str
        Their names; one that is given twice counts once.
    n_splits : int
        How many splits.
    first_split : int, default=0
        Number of the first of them.

    Returns
    -------
    list of Cell
    """
    ordered = sorted(dict.fromkeys(datasets), key=lambda name: (work_of(name), name))
    return [
        Cell(dataset, split, method)
        for dataset in ordered
        for split in range(first_split, first_split + n_splits)
        for method in dict.fromkeys(methods)
    ]


def work_of(dataset: str) -> int:
    """Return rows times features times classes of a data set, about in proportion to the work with it."""
    if dataset in FINGERPRINTS:
        known = FINGERPRINTS[dataset]
        return known.n_rows * known.n_features * len(known.class_counts)
    return math.prod(size or 1 for size in BUILT_IN.get(dataset, (0,)))


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that there is no such thing, and what may have been meant."""
    names = list(known)
    by_lower = {each.lower(): each for each in names}
    close = [by_lower[each] for each in get_close_matches(str(name).lower(), list(by_lower), n=3)]
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known are {', '.join(names)}"
    return f"there is no {kind} {name!r}; {hint}"
