"""The path of a feature selection: the floor after every step, and how sure it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayesfloor.choose.floor_levels import MEASURE_OF, FloorLevel
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import listed


@dataclass(frozen=True)
class SelectionStep:
    """One step of a selection.

    Attributes
    ----------
    features : tuple of str
        What was added or removed; empty for the start.
    n_features : int
        Features in use after the step.
    level : FloorLevel
        The floor after the step, with its interval and standard error.
    selected : bool
        Whether the step was kept. Only the last step may not be: the one at which the rule to stop said so.
    n_candidates : int
        How many sets of features were compared.
    seconds : float
        How long that took.
    """

    features: tuple[str, ...]
    n_features: int
    level: FloorLevel
    selected: bool
    n_candidates: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class SelectionPath(PlottedResult, display="SelectionPathDisplay"):
    """Every step of a `FloorSelector`, from the start to where it stopped.

    `frame` has a row for each step, the start first.

    The first entry is the start: no feature going forward, where the floor is that of naming the largest class or the
    mean, and all features going backward. Each floor after it is the lowest of all candidates of its step, and
    therefore a little too low: the luckiest of many is chosen.

    Attributes
    ----------
    steps : tuple of SelectionStep
        The start, then one entry per step.
    direction : {"forward", "backward"}
        Whether features are added or removed.
    criterion : {"whole", "mean", "worst", "noise"}
        Which floor is compared; "noise" is the noise variance as a share of the variance of y.
    n_rows, n_samples : int
        Rows that the floors come from, and rows that there were.
    confidence : float
        Level of the intervals.
    """

    steps: tuple[SelectionStep, ...]
    direction: str
    criterion: str
    n_rows: int
    n_samples: int
    confidence: float

    def __repr__(self) -> str:
        kept = [step for step in self.steps if step.selected]
        taken = [name for step in kept for name in step.features]
        verb = "added" if self.direction == "forward" else "removed"
        return (
            f"SelectionPath({verb} {listed(taken) or 'nothing'}; floor from {kept[0].level.floor:.4f} to "
            f"{kept[-1].level.floor:.4f} with {kept[-1].n_features} features, {self.n_rows} rows)"
        )

    def _columns(self) -> dict[str, Any]:
        """Return a row for each step, the start first."""
        levels = [step.level for step in self.steps]
        return {
            "step": list(range(len(self.steps))),
            "features": [", ".join(step.features) for step in self.steps],
            "n_features": [step.n_features for step in self.steps],
            "floor": [level.floor for level in levels],
            "interval_low": [level.low for level in levels],
            "interval_high": [level.high for level in levels],
            "standard_error": [level.standard_error for level in levels],
            "selected": [step.selected for step in self.steps],
            "n_candidates": [step.n_candidates for step in self.steps],
            "n_rows": [self.n_rows] * len(self.steps),
            "seconds": [step.seconds for step in self.steps],
        }

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        return super()._drawn(names) | {"measure": MEASURE_OF[self.criterion]}
