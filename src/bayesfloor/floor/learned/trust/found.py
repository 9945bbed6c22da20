"""What was found to speak against figures, and the figures that hold for rows to come."""

from dataclasses import dataclass
from typing import Any

from bayesfloor.runtime.results import Result


@dataclass(frozen=True)
class Reason:
    """Why figures may not hold for rows to come.

    Attributes
    ----------
    kind : {"leak", "groups", "time", "order", "copies", "few rows"}
        What it is about.
    columns : tuple of str
        Columns that it is about.
    sentence : str
        What was found, with the figures.
    value : float or None
        What is reached where it is not heeded; where it may be chance, what is reached where it is.
    in_headline : bool
        Whether it changes what the figures say, or may.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    value: float | None = None
    in_headline: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Trust(Result, says="reasons", omits="honest headline"):
    """What speaks against figures, and the figures that hold for rows to come.

    Attributes
    ----------
    reasons : tuple of Reason
        What was found, that which changes the figures first; none where nothing was found, or nothing was looked for.
    honest : LearnedFloor, RegressionFloor or None
        The figures without columns that give the target away, with rows kept apart that belong together, and in an
        order of time; None where these are the figures as they were asked for.
    """

    reasons: tuple[Reason, ...] = ()
    honest: Any = None

    @property
    def instead(self) -> dict[str, Any] | None:
        """The first metric of `honest`: its name, `estimate`, `low`, `high` and `reached`; None without."""
        if self.honest is None:
            return None
        low, high = self.honest.interval
        figures = {"estimate": self.honest.estimate, "low": low, "high": high, "reached": self.honest.reached}
        return {"metric": self.honest.metric, **figures}

    @property
    def headline(self) -> list[str]:
        """Sentences that come before all figures."""
        return [reason.sentence for reason in self.reasons if reason.in_headline]
