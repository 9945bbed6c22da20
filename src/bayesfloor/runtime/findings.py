"""A finding: something noticed in the data that a reader of the result should know."""

from collections.abc import Iterable
from dataclasses import dataclass

from bayesfloor.runtime.finding_pages import finding_page, finding_title


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

    Examples
    --------
    >>> from bayesfloor import bayes_error
    >>> (finding,) = bayes_error([[0.0], [1.5], [3.1], [9.0], [8.2], [7.1]], [0, 0, 0, 1, 1, 1], n_trees=1).findings
    >>> finding.title
    'A class with very few rows'
    >>> print(finding.explain())  # doctest: +ELLIPSIS
    # BF001: A class with very few rows
    ...
    """

    code: str
    sentence: str
    hint: str

    @property
    def title(self) -> str:
        """What such a finding is about, in a few words."""
        return finding_title(self.code)

    def explain(self) -> str:
        """Say what the finding means, how it comes about, what it spoils, and what to do, with an example.

        Returns
        -------
        str
            Markdown, as ``bayesfloor explain`` prints it.
        """
        return finding_page(self.code)

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence} {self.hint}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by code."""
    return tuple(sorted(findings, key=lambda finding: finding.code))
