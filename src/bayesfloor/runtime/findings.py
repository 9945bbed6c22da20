"""A finding: something noticed in the data that a reader of the result should know."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something about the data that bears on the floor.

    Attributes
    ----------
    code : str
        ``BF001`` and so on.
    sentence : str
        What was found, with the figures.
    hint : str
        What to do about it.
    """

    code: str
    sentence: str
    hint: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence} {self.hint}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by code."""
    return tuple(sorted(findings, key=lambda finding: finding.code))
