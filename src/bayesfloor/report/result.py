"""What `difficulty_report` returns: a summary, ways to show it, and the records behind it."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bayesfloor.floor.learned.gap_result import FloorGap
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.trees.results import PairwiseBayesError
from bayesfloor.report.mlflow_run import log_report
from bayesfloor.report.sections.suspects import rows_as_csv
from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.report.verdict import Verdict
from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.text import json_text
from bayesfloor.tree import ClassTree

#: What a data frame lists of the rows to look at, of classes and of numbers.
_IN_FRAME = {
    "classification": ("row", "label", "looks_like", "score", "other_row", "other_label", "distance"),
    "regression": ("row", "value", "predicted", "neighbours_mean", "score", "other_row"),
}


@dataclass(frozen=True, eq=False, repr=False)
class DifficultyReport(Result):
    """How good models can get on some data, and where it will hurt.

    Shows itself in notebooks. `print` gives the text of the terminal. Where the labels are numbers, there is no class
    tree.

    Attributes
    ----------
    summary : dict
        Everything that is shown, as plain values.
    findings : tuple of Finding
        What was noticed in the data that bears on the answer.
    verdict : Verdict
        Whether the figures can be trusted, how far models can go, and what to do next.
    learned : LearnedFloor or RegressionFloor
        The learned floor.
    class_tree : ClassTree or None
        The tree of binary problems.
    pairs : PairwiseBayesError or None
        The floors that it comes from, of every two classes.
    gap : FloorGap or None
        The model that was passed beside the floor; None where none was.
    """

    summary: dict[str, Any]
    findings: tuple[Finding, ...]
    verdict: Verdict
    learned: LearnedFloor | RegressionFloor
    pairs: PairwiseBayesError | None = None
    class_tree: ClassTree | None = None
    gap: FloorGap | None = None

    def __repr__(self) -> str:
        return f"DifficultyReport({self.sentence()!r})"

    def __str__(self) -> str:
        return self.to_text()

    def sentence(self) -> str:
        """Return the answer in words."""
        return " ".join(self.summary["answer"])

    def to_dict(self) -> dict[str, Any]:
        """Return the summary."""
        return self.summary

    def _repr_html_(self) -> str:
        from bayesfloor.report.page.page import render_page

        return render_page(self.summary, fragment=True)

    def frame(self) -> Any:
        """Return a data frame of the rows to look at, the most suspicious first.

        These are rows whose label models find hard to believe, or whose number is farther off than noise explains.
        """
        rows = self.summary["suspects"]["rows"]
        return self._frame_of({name: [row[name] for row in rows] for name in _IN_FRAME[self.summary["task"]]})

    def to_html(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return one page that needs no network, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to; the file appears whole or not at all.

        Returns
        -------
        str
            The page.
        """
        from bayesfloor.report.page.page import render_page

        return _written(render_page(self.summary), path)

    def to_json(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the summary as JSON, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to.

        Returns
        -------
        str
            The text.
        """
        return _written(json_text(self.summary) + "\n", path)

    def to_csv(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the rows to look at as CSV, or write them to a file.

        Each has its row number or line, its values in all columns that were used, its label, what models suggest
        instead, and the score. Text that a spreadsheet would take for a formula has an apostrophe in front.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to.

        Returns
        -------
        str
            The text.
        """
        return _written(rows_as_csv(self.summary["suspects"]), path)

    def to_markdown(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the report as Markdown, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to.

        Returns
        -------
        str
            The text.
        """
        return _written(render_markdown(self.summary), path)

    def to_text(self, width: int = 100) -> str:
        """Return the report as plain text, as the terminal shows it.

        Parameters
        ----------
        width : int, default=100
            Letters in a line.

        Returns
        -------
        str
            The text.
        """
        return render_text(self.summary, width)

    def log_to_mlflow(self, *, prefix: str = "bayesfloor") -> str:
        """Write the report to the active run of MLflow, or to a new one where none is active.

        Figures become metrics such as ``bayesfloor/error/estimate``, ``/low`` and ``/reached``. Sizes, target
        and method become parameters. The answer, whether to trust it, the goal and the codes of the findings become
        tags, and the page and the JSON artifacts.

        Parameters
        ----------
        prefix : str, default="bayesfloor"
            What all names begin with, and the folder of the artifacts. MLflow takes each parameter of a run once: two
            reports in one run need two prefixes.

        Returns
        -------
        str
            The id of the run.

        Raises
        ------
        ImportError
            Without MLflow; ``pip install 'bayesfloor[mlflow]'`` installs what it takes.
        """
        files = {"report.html": self.to_html(), "report.json": self.to_json()}
        return log_report(self.summary, files, prefix)


def _written(text: str, path: "str | PathLike[str] | None") -> str:
    if path is not None:
        write_whole(Path(path), text.encode())
    return text
