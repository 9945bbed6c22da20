"""Figures of a report on numbers -> one plain dict, with the keys of a report on classes where they mean the same."""

from dataclasses import asdict
from typing import Any

import numpy as np

from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.floor.learned.rules import ERR_ALIKE
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.report import regression_sentences as sentences
from bayesfloor.report.regression_figures import RegressionFigures
from bayesfloor.report.source import Source
from bayesfloor.report.summary import (
    MOST_LISTED,
    column_named,
    columns_shown,
    columns_that_differ,
    curve_of,
    data_of,
    made,
    metric_values,
)

#: Rows most like an odd one whose values are listed.
MOST_ALIKE = 5


def summarise_regression(
    source: Source[NumberProblem], figures: RegressionFigures, target: float | None, command: str
) -> dict[str, Any]:
    """Put everything that a report on numbers shows into one dict of plain values.

    Parameters
    ----------
    source : Source
        What the report is about.
    figures : RegressionFigures
        What was computed.
    target : float or None
        The value of the first metric that the reader hopes for.
    command : str
        What makes this report again.

    Returns
    -------
    dict
    """
    found, y = figures.floor, source.problem.y
    headline = sentences.metric_shown(found)
    metrics = [sentences.metric_shown(found, name) for name in found.metrics]
    return {
        **made(source),
        "task": "regression",
        "answer": sentences.answer(found, source.target),
        "worth": sentences.worth(found),
        "verdict": None if target is None else sentences.verdict(found, target),
        "data": {
            **data_of(source, figures.columns),
            "numbers": {
                "mean": float(y.mean()),
                "sd": float(y.std()),
                "low": float(y.min()),
                "median": float(np.median(y)),
                "high": float(y.max()),
                "n_values": len(np.unique(y)),
                "kind": found.y_summary.kind,
            },
            "columns_note": sentences.note_on_columns(figures.columns, len(source.columns), MOST_LISTED),
        },
        "findings": [asdict(each) for each in figures.findings],
        "floor": {
            **_metric(headline),
            "method": "learned",
            "confidence": found.confidence,
            "n_rows": found.n_rows,
        },
        "metrics": [_metric(each) for each in metrics],
        "fast_model": None,
        "curve": curve_of(headline, found.residual_z > ERR_ALIKE),
        "noise": _noise(found, source.target),
        "learners": [{"name": name, "weight": float(weight)} for name, weight in found.weights.items()],
        "suspects": _odd_rows(source, found),
        "features": _features(source, figures),
        "how_to_read": sentences.how_to_read(found),
        "command": command,
        "seconds": 0.0,
    }


def _metric(metric: MetricFloor) -> dict[str, Any]:
    return metric_values(metric) | {"sentence": sentences.sentence_of(metric)}


def _noise(found: RegressionFloor, target: str) -> dict[str, Any]:
    """List the noise of each bin of predictions, and of all rows."""
    noise = found.noise
    bins = zip(
        noise.low.tolist(),
        noise.high.tolist(),
        noise.n_rows.tolist(),
        noise.sd.tolist(),
        noise.sd_interval.tolist(),
        sentences.shares_of_noise(noise).tolist(),
        strict=True,
    )
    low, high = np.sqrt(np.maximum(found.noise_variance_interval, 0.0)).tolist()
    return {
        "sd": float(found.noise_variance) ** 0.5,
        "low": low,
        "high": high,
        "bins": [
            {"low": a, "high": b, "n_rows": n, "sd": sd, "sd_low": ends[0], "sd_high": ends[1], "share": share}
            for a, b, n, sd, ends, share in bins
        ],
        "sentence": sentences.note_on_noise(found, target),
        "note": sentences.NOTE_ON_BINS,
    }


def _odd_rows(source: Source[NumberProblem], found: RegressionFloor) -> dict[str, Any]:
    """List the rows whose number fits least with that of rows like them, with values as the file has them."""
    odd, y = found.odd_rows, source.problem.y
    pairs = [(int(row), int(near[0])) for row, near in zip(odd.row, odd.neighbours, strict=True)]
    shown = columns_that_differ(source, pairs)
    rows = []
    for place, row in enumerate(odd.row.tolist()):
        near = odd.neighbours[place].tolist()
        values, other_values = source.values(row), source.values(near[0])
        rows.append(
            {
                "row": int(source.rows[row]),
                "label": number_text(y[row]),
                "value": float(y[row]),
                "predicted": float(odd.predicted[place]),
                "neighbours_mean": float(odd.neighbours_mean[place]),
                "score": float(odd.z[place]),
                "other_row": int(source.rows[near[0]]),
                "other_label": number_text(y[near[0]]),
                "alike": [{"row": int(source.rows[each]), "value": float(y[each])} for each in near[:MOST_ALIKE]],
                "values": [values[column] for column in shown],
                "other_values": [other_values[column] for column in shown],
            }
        )
    note = sentences.note_on_odd_rows(found, source.target)
    return {**columns_shown(source, shown, bool(rows)), "row_word": source.row_word, "rows": rows, "note": note}


def _features(source: Source[NumberProblem], figures: RegressionFigures) -> dict[str, Any] | None:
    """List the columns that a search added, with the share of the variance that can be explained by then."""
    path = figures.selection
    if path is None:
        return None
    rows = [
        {
            "name": column_named(source, step.features),
            "floor": 1.0 - step.level.floor,
            "low": max(1.0 - step.level.high, 0.0),
            "high": 1.0 - step.level.low,
        }
        for step in path.steps[1:]
    ]
    note = (
        "Columns added one after the other, each the one with which the most of the variance can be explained; from "
        f"{path.n_rows} rows, by differences over spanning trees. Each figure is the largest of many candidates."
    )
    return {"rows": rows, "note": note}


def number_text(value: float) -> str:
    """Write a value of the target as a file may have it."""
    return f"{value:,.0f}" if value == np.floor(value) and abs(value) < 1e15 else f"{value:,.6g}"
