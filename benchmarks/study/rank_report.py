"""Rankings as Markdown and CSV."""

import csv
import math
from collections.abc import Iterable
from io import StringIO

import numpy as np

from benchmarks.study.ranks import Ranking
from benchmarks.study.summary import MEASURES


def ranking_to_markdown(ranking: Ranking) -> str:
    """Write average ranks, the tests, and what they rest on."""
    order = np.argsort(ranking.average, kind="stable")
    name = MEASURES[ranking.measure][0]
    lines = [f"## Ranks by {name}: {len(ranking.methods)} methods, {len(ranking.datasets)} data sets", ""]
    lines += ["| method | average rank |", "| --- | ---: |"]
    lines += [f"| {ranking.methods[place]} | {ranking.average[place]:.2f} |" for place in order]
    friedman = (
        "Friedman's test needs three methods."
        if math.isnan(ranking.friedman_p)
        else f"Friedman's test: statistic {ranking.friedman:.2f}, p {_compared(ranking.friedman_p)}."
    )
    lines += [
        "",
        f"Ranks that are {ranking.critical_difference:.2f} apart differ at the 5% level (Nemenyi). {friedman}",
        "",
        "| pair | better on (first, second) | p (Wilcoxon) | p (Holm) |",
        "| --- | ---: | ---: | ---: |",
    ]
    for test in ranking.tests:
        wins = f"{test.first_wins}, {test.second_wins}"
        lines.append(f"| {test.first} – {test.second} | {wins} | {p_text(test.p_value)} | {p_text(test.adjusted)} |")
    lines += ["", f"Data sets: {', '.join(ranking.datasets)}."]
    return "\n".join(lines) + "\n"


def rankings_to_csv(rankings: Iterable[Ranking]) -> str:
    """Write the rank of each method on each data set, of all rankings, one line each."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("measure", "methods ranked", "data set", "method", "value", "rank"))
    for ranking in rankings:
        for row, dataset in enumerate(ranking.datasets):
            for column, method in enumerate(ranking.methods):
                value, rank = float(ranking.values[row, column]), float(ranking.ranks[row, column])
                writer.writerow((ranking.measure, len(ranking.methods), dataset, method, repr(value), f"{rank:g}"))
    return buffer.getvalue()


def p_text(value: float) -> str:
    """Write a p-value with as many digits as it is worth."""
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def _compared(value: float) -> str:
    text = p_text(value)
    return text if text.startswith("<") else f"= {text}"
