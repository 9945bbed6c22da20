"""Tables of a few rows, and what a command that fails has said."""

import csv
import io
from pathlib import Path

import numpy as np


def three_classes(n_rows=60, seed=0):
    """Three classes: a far away, b and c overlapping."""
    rng = np.random.default_rng(seed)
    labels = np.array(list("abc"))[np.arange(n_rows) % 3]
    middle = {"a": (9.0, 9.0), "b": (0.0, 0.0), "c": (1.5, 0.0)}
    points = np.array([middle[label] for label in labels]) + rng.normal(size=(n_rows, 2))
    return points, labels


def write_csv(path, points, labels, names=("x1", "x2", "kind")):
    rows = [",".join(map(str, [*point, label])) for point, label in zip(points.tolist(), labels, strict=True)]
    Path(path).write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")


def rows_of(text):
    """Split the CSV that a command printed."""
    return list(csv.reader(io.StringIO(text)))


def complaint(outcome, code):
    """The one line that says what went wrong, and nothing on stdout."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("bayesfloor: ")]
    assert outcome.err.splitlines()[-1] == line
    assert "Traceback" not in outcome.err
    return line
