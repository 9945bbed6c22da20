"""The paper's Tables 1 to 4 from records, ours beside the paper's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesfloor.tables.datasets import BUILT_IN, load_dataset
from benchmarks.study import paper_figures
from benchmarks.study.fingerprints import FINGERPRINTS
from benchmarks.study.paper_figures import paper_figure
from benchmarks.study.plan import LEAKING, PAPER_METHODS
from benchmarks.study.summary import MEASURES, Entry, Summary, smaller_grids


@dataclass(frozen=True)
class Figure:
    """A number in a table.

    Attributes
    ----------
    text : str
        How it is written.
    best : bool
        Whether it is the best of its row.
    mark : str
        What points to a note.
    """

    text: str
    best: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Place:
    """A place in a table.

    Attributes
    ----------
    ours : Figure
        What was measured.
    paper : Figure or None
        What the paper says, where it says something.
    """

    ours: Figure
    paper: Figure | None = None


@dataclass(frozen=True)
class Sheet:
    """A table, to be written in one format or another.

    Attributes
    ----------
    name : str
        Name of its files.
    title : str
        What it shows.
    headings : tuple of str
        Names of the columns; the first is that of the rows.
    rows : tuple of (str, tuple of Place)
        Its rows.
    notes : tuple of str
        What a reader should know.
    """

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Place, ...]], ...]
    notes: tuple[str, ...] = ()


def make_sheets(summary: Summary) -> tuple[Sheet, ...]:
    """Make all four tables.

    Parameters
    ----------
    summary : Summary
        Means over the splits.

    Returns
    -------
    tuple of Sheet
    """
    time = "CPU seconds" if summary.time == "cpu" else "Seconds"
    return (
        data_set_sheet(summary.datasets),
        _measured(summary, "table2_total_time", "seconds", f"{time} of training in all"),
        _measured(summary, "table3_ari", "ari", "Adjusted Rand index on the test part"),
        _measured(
            summary,
            "table4_time_per_configuration",
            "seconds_per_configuration",
            f"{time} of training for each combination of parameters tried",
        ),
    )


def data_set_sheet(datasets: Sequence[str]) -> Sheet:
    """Make Table 1: sizes of the data sets."""
    headings = ("data set", "rows", "features", "classes", "smallest class", "largest class")
    rows = []
    for name in datasets:
        sizes = _sizes(name)
        paper = paper_figures.DATA_SETS.get(name)
        places = [
            Place(Figure(str(size)), None if paper is None else Figure(str(paper[number])))
            for number, size in enumerate(sizes)
        ]
        rows.append((name, tuple(places)))
    return Sheet("table1_data_sets", "Data sets", headings, tuple(rows), (_BRACKETS, *_leaks(datasets)))


def _measured(summary: Summary, name: str, measure: str, title: str) -> Sheet:
    paper_table = {
        "seconds": paper_figures.TOTAL_SECONDS,
        "ari": paper_figures.ARI,
        "seconds_per_configuration": paper_figures.SECONDS_PER_CONFIGURATION,
    }[measure]
    rows = []
    for dataset in summary.datasets:
        best = {method: _best(summary, dataset, measure, method) for method in summary.methods}
        papers = [paper_figure(paper_table, dataset, method) for method in summary.methods]
        known = [value for value in papers if value is not None]
        best_in_paper = (max if MEASURES[measure][1] else min)(known) if known else None
        places = []
        for method, theirs in zip(summary.methods, papers, strict=True):
            entry = summary.entries.get((dataset, method))
            ours = _figure(summary, dataset, method, entry, measure, best[method])
            beside = None if theirs is None else Figure(_as_printed(theirs, measure), theirs == best_in_paper)
            places.append(Place(ours, beside))
        rows.append((dataset, tuple(places)))
    return Sheet(name, title, ("data set", *summary.methods), tuple(rows), _notes(summary, measure))


def written(value: float, measure: str) -> str:
    """Write a number: four decimals, and times with three digits."""
    if not measure.startswith("seconds"):
        return f"{value:.4f}"
    if value >= 1000 or value <= 0:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def _as_printed(value: float, measure: str) -> str:
    return f"{value:g}" if measure.startswith("seconds") else f"{value:.4f}"


def _figure(
    summary: Summary, dataset: str, method: str, entry: Entry | None, measure: str, best: float | None
) -> Figure:
    if entry is None:
        return Figure("–")
    mark = "" if entry.measured_as == method else "†"
    if not entry.splits:
        return Figure(f"> {max(entry.over_budget):g} s", mark=mark)
    value = entry.means[measure]
    if len(entry.splits) < summary.n_splits(dataset):
        mark += f" [{len(entry.splits)}]"
    return Figure(written(value, measure), value == best and _competes(method, entry, measure), mark)


def _competes(method: str, entry: Entry, measure: str) -> bool:
    """Tell whether a figure may be the best of its row: the total time of a smaller grid may not."""
    return measure != "seconds" or entry.measured_as == method


def _best(summary: Summary, dataset: str, measure: str, for_method: str) -> float | None:
    """Return the best of a row: for a method of the paper among those, for another one among all."""
    rivals = [name for name in summary.methods if name in PAPER_METHODS or for_method not in PAPER_METHODS]
    values = [
        entry.means[measure]
        for method in rivals
        if (entry := summary.entries.get((dataset, method))) is not None
        and entry.splits
        and _competes(method, entry, measure)
    ]
    if not values:
        return None
    return max(values) if MEASURES[measure][1] else min(values)


_BRACKETS = "In brackets: the paper's figure."


def _notes(summary: Summary, measure: str) -> tuple[str, ...]:
    counts = sorted({summary.n_splits(dataset) for dataset in summary.datasets})
    splits = " or ".join(map(str, counts))
    notes = [f"Means over {splits} split{'s' if splits != '1' else ''}. The best of a row is underlined. {_BRACKETS}"]
    others = [method for method in summary.methods if method not in PAPER_METHODS]
    if others and len(others) < len(summary.methods):
        listed = " and ".join(others)
        notes.append(f"{listed}: not in the paper, and underlined only where better than all of its methods.")
    texts = [
        figure.text + figure.mark
        for dataset in summary.datasets
        for method in summary.methods
        for figure in [
            _figure(summary, dataset, method, summary.entries.get((dataset, method)), measure, None),
        ]
    ]
    if any(text.startswith(">") for text in texts):
        notes.append("> 900 s and the like: no result, because a split took longer than that budget.")
    if "–" in texts:
        notes.append("–: not measured.")
    if any("[" in text for text in texts):
        notes.append("[1] and the like: a mean over so many splits only.")
    if smaller_grids(summary):
        grids = "; ".join(smaller_grids(summary).values())
        apart = " Its total time is not comparable, and never underlined." if measure == "seconds" else ""
        notes.append(f"†: a smaller grid where the full one has no result: {grids}.{apart}")
    return (*notes, *_leaks(summary.datasets))


def _leaks(datasets: Sequence[str]) -> tuple[str, ...]:
    leaking = [name for name in LEAKING if name in datasets]
    if not leaking:
        return ()
    return (f"{' and '.join(leaking)}: the label's own number is among the features, as in the paper.",)


def _sizes(dataset: str) -> tuple[int, int, int, int, int]:
    if dataset in BUILT_IN:
        table = load_dataset(dataset)
        assert table.y is not None
        counts = np.unique(table.y, return_counts=True)[1].tolist()
        n_rows, n_features = table.X.shape
    else:
        known = FINGERPRINTS[dataset]
        n_rows, n_features, counts = known.n_rows, known.n_features, list(known.class_counts)
    return n_rows, n_features, len(counts), min(counts), max(counts)
