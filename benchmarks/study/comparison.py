"""What the tables say in a few sentences: who is fastest, who beats whom, and where the paper's figures are others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.study import paper_figures
from benchmarks.study.paper_figures import paper_figure
from benchmarks.study.plan import LANDMARK_METHODS, LEAKING, PAPER_METHODS, PAPER_SETS, SEVENTH_METHOD
from benchmarks.study.summary import Summary

#: Finds a method's figure on a data set.
Find = Callable[[str, str], float | None]

#: Tells whether something holds on a data set.
Holds = Callable[[str], bool]

#: A difference in the adjusted Rand index that asks for a reason.
NOTABLE = 0.03


@dataclass(frozen=True)
class Tally:
    """On how many sets something holds.

    Attributes
    ----------
    claim : str
        What.
    sets : tuple of str
        Where it holds.
    n_sets : int
        Of how many.
    n_in_paper : int or None
        On how many of the 16 by the paper's tables. (Its text counts 3 where SmartSVM beats OvO; its Table 3 shows 2.)
    """

    claim: str
    sets: tuple[str, ...]
    n_sets: int
    n_in_paper: int | None = None

    def __str__(self) -> str:
        paper = "" if self.n_in_paper is None else f" (the paper's tables: {self.n_in_paper} of {len(PAPER_SETS)})"
        return f"{self.claim}: {len(self.sets)} of {self.n_sets} sets{paper}"


@dataclass(frozen=True)
class Difference:
    """A figure that is far from the paper's.

    Attributes
    ----------
    dataset, method : str
        Where.
    ours, paper : float
        The adjusted Rand indices.
    """

    dataset: str
    method: str
    ours: float
    paper: float


def tally(
    summary: Summary, method: str = "SmartSVM", datasets: Sequence[str] = PAPER_SETS, *, beside_paper: bool = True
) -> tuple[Tally, ...]:
    """Count what the paper counts: where a method is fastest, and where it beats others in the adjusted Rand index.

    Parameters
    ----------
    summary : Summary
        Means over the splits.
    method : str, default="SmartSVM"
        Whom to count for.
    datasets : sequence of str
        Sets that count, when the methods that are compared are complete on them. For the fastest these are DAG, OvO,
        OvR and SmartSVM; C&S and GenSVM are compared with where their full grids have a result.
    beside_paper : bool, default=True
        Whether to count by the paper's tables as well.

    Returns
    -------
    tuple of Tally
        Fastest first, then one for each rival.
    """

    def ours(measure: str) -> Find:
        def find(dataset: str, name: str) -> float | None:
            entry = summary.entries.get((dataset, name))
            is_full = entry is not None and entry.measured_as == name
            return summary.value(dataset, name, measure) if is_full else None

        return find

    def papers(table: dict[str, tuple[float, ...]]) -> Find:
        return lambda dataset, name: paper_figure(table, dataset, name)

    def fastest(find: Find, dataset: str) -> bool:
        others = [find(dataset, name) for name in PAPER_METHODS if name != method]
        own = find(dataset, method)
        return own is not None and all(own < other for other in others if other is not None)

    def beats(find: Find, rival: str, dataset: str) -> bool:
        own, other = find(dataset, method), find(dataset, rival)
        return own is not None and other is not None and own > other

    def count(claim: str, needed: Sequence[str], holds: Holds, in_paper: Holds) -> Tally:
        complete = [name for name in datasets if summary.is_complete(name, needed)]
        n_in_paper = sum(map(in_paper, PAPER_SETS)) if beside_paper else None
        return Tally(claim, tuple(filter(holds, complete)), len(complete), n_in_paper)

    found = [
        count(
            f"{method} is fastest",
            ("DAG", "OvO", "OvR", "SmartSVM", method),
            lambda name: fastest(ours("seconds"), name),
            lambda name: fastest(papers(paper_figures.TOTAL_SECONDS), name),
        )
    ]
    for rival in (name for name in ("OvO", "OvR", "SmartSVM") if name != method):
        here = partial(beats, ours("ari"), rival)
        there = partial(beats, papers(paper_figures.ARI), rival)
        found.append(count(f"{method} beats {rival} in ARI", (rival, method), here, there))
    return tuple(found)


def notable_differences(summary: Summary, at_least: float = NOTABLE) -> tuple[Difference, ...]:
    """List where our adjusted Rand index is far from the paper's, the farthest first."""
    found = []
    for dataset in summary.datasets:
        for method in summary.methods:
            value = summary.value(dataset, method, "ari")
            theirs = paper_figure(paper_figures.ARI, dataset, method)
            if value is not None and theirs is not None and abs(value - theirs) > at_least:
                found.append(Difference(dataset, method, value, theirs))
    return tuple(sorted(found, key=lambda each: -abs(each.ours - each.paper)))


def describe_comparison(summary: Summary) -> str:
    """Say in Markdown what the paper counts, and where its adjusted Rand index is another."""
    lines = ["## What the tables say", "", *_listed(tally(summary))]
    without_leaks = [f"{name}_noleak" if name in LEAKING else name for name in PAPER_SETS]
    if any(f"{name}_noleak" in summary.datasets for name in LEAKING):
        lines += ["", f"With {' and '.join(LEAKING)} without the label among their features:", ""]
        lines += _listed(tally(summary, datasets=without_leaks, beside_paper=False))
    if SEVENTH_METHOD in summary.methods:
        lines += ["", f"The seventh method, {SEVENTH_METHOD}:", ""]
        lines += _listed(tally(summary, SEVENTH_METHOD, beside_paper=False))
    for name in (name for name in LANDMARK_METHODS if name in summary.methods):
        lines += ["", f"{name}, which is no linear SVM:", "", *_listed(tally(summary, name, beside_paper=False))]
    far = notable_differences(summary)
    if far:
        lines += ["", f"Adjusted Rand indices that differ from the paper's by more than {NOTABLE}:", ""]
        lines += ["| data set | method | ours | paper | difference |", "| --- | --- | ---: | ---: | ---: |"]
        for other in far:
            figures = f"{other.ours:.4f} | {other.paper:.4f} | {other.ours - other.paper:+.4f}"
            lines.append(f"| {other.dataset} | {other.method} | {figures} |")
    return "\n".join(lines) + "\n"


def _listed(found: Sequence[Tally]) -> list[str]:
    return [f"- {each}{': ' + ', '.join(each.sets) if each.sets else ''}." for each in found]
