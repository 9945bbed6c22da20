"""Pictures of the study: average ranks, adjusted Rand indices beside the paper's, and times beside SmartSVM's."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bayesfloor.runtime.files import write_whole
from benchmarks.study import paper_figures
from benchmarks.study.paper_figures import paper_figure
from benchmarks.study.plan import SEVENTH_METHOD
from benchmarks.study.ranks import Ranking, all_rankings
from benchmarks.study.summary import MEASURES, Summary, smaller_grids

#: Colours that differ in every common kind of colour vision; SmartSVM's stands out.
_COLOURS = {
    "C&S": "#cc79a7",
    "DAG": "#56b4e9",
    "GenSVM": "#009e73",
    "OvO": "#0072b2",
    "OvR": "#7f7f7f",
    "SmartSVM": "#d55e00",
    SEVENTH_METHOD: "#b8860b",
    "Landmarks": "#000000",
}
_INSTALL = "pip install -r benchmarks/requirements/study.txt"
_OTHERS = ("#332288", "#117733", "#aa4499", "#44aa99", "#882255")
_MARKERS = "osD^vP*Xh<>"


def draw_all(summary: Summary, folder: Path, *, datasets: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Draw all pictures that the records are enough for.

    Parameters
    ----------
    summary : Summary
        Means over the splits.
    folder : Path
        Where to.
    datasets : sequence of str, default=()
        On which data sets to rank; none for those of the paper.

    Returns
    -------
    list of (str, str)
        Name of each file, and what it shows.
    """
    drawn = []
    for ranking in all_rankings(summary, datasets or None):
        name = f"ranks_{ranking.measure}_{len(ranking.methods)}_methods.png"
        save(draw_ranks(ranking), folder / name)
        drawn.append((name, rank_title(ranking)))
    for name, draw, title in (
        ("ari_beside_paper.png", draw_beside_paper, "Adjusted Rand index, ours and the paper's"),
        ("seconds_beside_smartsvm.png", draw_times, "Training time as a multiple of SmartSVM's"),
    ):
        figure = draw(summary)
        if figure is not None:
            save(figure, folder / name)
            drawn.append((name, title))
    return drawn


def draw_ranks(ranking: Ranking) -> Any:
    """Draw average ranks on a line, methods that do not differ joined by a bar (Demšar, 2006).

    Parameters
    ----------
    ranking : Ranking
        The ranks.

    Returns
    -------
    matplotlib.figure.Figure
    """
    pandas, posthocs = _load_posthocs()
    n_methods = len(ranking.methods)
    figure = _new_figure(8.0, 1.9 + 0.3 * n_methods)
    ax = figure.subplots()
    names = list(ranking.methods)
    # one row per data set; the test ranks them again, which changes nothing
    differ = posthocs.posthoc_nemenyi_friedman(pandas.DataFrame(ranking.ranks, columns=names))
    posthocs.critical_difference_diagram(
        dict(zip(names, ranking.average.tolist(), strict=True)),
        differ,
        ax=ax,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        text_h_margin=0.25,
        color_palette=colours(names),
        elbow_props={"linewidth": 1.4},
        marker_props={"s": 36},
        crossbar_props={"linewidth": 3.5, "color": "#404040", "solid_capstyle": "round"},
        label_props={"fontsize": 10},
    )
    low, high = ax.get_ylim()
    ruler = 1.6
    ax.plot([1, 1 + ranking.critical_difference], [ruler, ruler], "|-", color="black", markersize=9, linewidth=1.4)
    ax.text(
        1 + ranking.critical_difference + 0.08,
        ruler,
        f"critical difference {ranking.critical_difference:.2f}",
        va="center",
        fontsize=9,
    )
    ax.set_ylim(low, max(high, ruler + 0.4))
    ax.set_xlim(1 - 0.3, n_methods + 0.3)
    ax.set_xticks(range(1, n_methods + 1))
    ax.spines["top"].set_bounds(1, n_methods)
    ax.set_title(rank_title(ranking), fontsize=11, pad=10)
    figure.supxlabel(
        "Methods under one bar do not differ at the 5% level (Nemenyi's test).", fontsize=9, color="#404040"
    )
    return figure


def rank_title(ranking: Ranking) -> str:
    """Say what is ranked, and over how many data sets."""
    measure = MEASURES[ranking.measure][0] if ranking.measure in MEASURES else ranking.measure
    return f"Average rank by {measure}, {len(ranking.datasets)} data sets (1 is best)"


def draw_beside_paper(summary: Summary) -> Any | None:
    """Draw a panel for each method: on each data set, the paper's adjusted Rand index and ours.

    Parameters
    ----------
    summary : Summary
        Means over the splits.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where no figure can be compared.
    """
    pairs = {
        (dataset, method): (paper, ours)
        for dataset in summary.datasets
        for method in summary.methods
        if (paper := paper_figure(paper_figures.ARI, dataset, method)) is not None
        and (ours := summary.value(dataset, method, "ari")) is not None
    }
    if not pairs:
        return None
    datasets = [name for name in summary.datasets if any(dataset == name for dataset, _ in pairs)][::-1]
    methods = [name for name in summary.methods if any(method == name for _, method in pairs)]
    figure = _new_figure(1.6 + 1.55 * len(methods), 1.3 + 0.25 * len(datasets))
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for ax, method in zip(panels, methods, strict=True):
        for row, dataset in enumerate(datasets):
            if (dataset, method) in pairs:
                paper, ours = pairs[dataset, method]
                ax.plot([paper, ours], [row, row], color="#b0b0b0", linewidth=2, zorder=1)
                colour, full = colours(methods)[method], summary.entries[dataset, method].measured_as == method
                face = colour if full else "white"
                ax.plot(ours, row, "o", color=colour, markerfacecolor=face, markersize=6.5, zorder=2)
                ax.plot(paper, row, "|", color="black", markersize=11, markeredgewidth=1.6, zorder=3)
        ax.set_title(method, fontsize=10)
        ax.set_xlim(-0.05, 1.08)
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        _quiet_grid(ax, len(datasets))
    panels[0].set_yticks(range(len(datasets)), datasets)
    smaller = "; rings: ours by a smaller grid" if smaller_grids(summary) else ""
    figure.supxlabel(f"adjusted Rand index: ours (dots) and the paper's (strokes){smaller}", fontsize=10)
    return figure


def draw_times(summary: Summary) -> Any | None:
    """Draw, on each data set, each method's training time as a multiple of SmartSVM's.

    Parameters
    ----------
    summary : Summary
        Means over the splits. What a smaller grid took is left out.

    Returns
    -------
    matplotlib.figure.Figure or None
        None where there is nothing to compare.
    """
    found: dict[tuple[str, str], float] = {}
    for (dataset, method), entry in summary.entries.items():
        own = summary.value(dataset, "SmartSVM", "seconds")
        if own and entry.means and entry.measured_as == method and method != "SmartSVM":
            found[dataset, method] = entry.means["seconds"] / own
    if not found:
        return None
    datasets = [name for name in summary.datasets if any(dataset == name for dataset, _ in found)][::-1]
    methods = [name for name in summary.methods if any(method == name for _, method in found)]
    figure = _new_figure(7.5, 1.4 + 0.27 * len(datasets))
    ax = figure.subplots()
    for number, method in enumerate(methods):
        rows = [row for row, dataset in enumerate(datasets) if (dataset, method) in found]
        ax.plot(
            [found[datasets[row], method] for row in rows],
            rows,
            _MARKERS[number % len(_MARKERS)],
            color=colours(methods)[method],
            markersize=6.5,
            alpha=0.85,
            label=method,
        )
    ax.axvline(1, color=_COLOURS["SmartSVM"], linewidth=1.5, zorder=0)
    ax.set_xscale("log")
    ticks = _round_multiples(min(found.values()), max(found.values()))
    ax.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(datasets)), datasets)
    ax.set_xlabel("training time as a multiple of SmartSVM's (the line), tuning included")
    _quiet_grid(ax, len(datasets))
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def colours(methods: Sequence[str]) -> dict[str, str]:
    """Return a colour for each method: always the same one for those that are known."""
    others = [name for name in methods if name not in _COLOURS]
    return {
        name: _COLOURS[name] if name in _COLOURS else _OTHERS[others.index(name) % len(_OTHERS)] for name in methods
    }


def save(figure: Any, file: Path) -> None:
    """Write a picture, whole or not at all."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=130, facecolor="white")
    write_whole(file, buffer.getvalue())


def _round_multiples(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten from `low` to `high`; powers of ten alone where these would be many."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    digits = (1, 2, 5) if len(powers) <= 3 else (1,)
    ticks = [digit * 10.0**power for power in powers for digit in digits]
    return [tick for tick in ticks if low / 1.5 <= tick <= 1.5 * high or tick == 1.0]


def _quiet_grid(ax: Any, n_rows: int) -> None:
    ax.grid(axis="y", color="#ececec")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(-0.6, n_rows - 0.4)


def _new_figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"Pictures need matplotlib: {_INSTALL}") from error
    return Figure(figsize=(width, height), layout="constrained")


def _load_posthocs() -> tuple[Any, Any]:
    try:
        import pandas
        import scikit_posthocs
    except ImportError as error:
        raise ImportError(f"Rank plots need scikit-posthocs: {_INSTALL}") from error
    return pandas, scikit_posthocs
