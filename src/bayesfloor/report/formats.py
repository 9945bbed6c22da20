"""What every report is: a summary, and a way to show it on each thing that it is read on."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bayesfloor.report.mlflow_run import log_report
from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.text import json_text


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """A report on some data.

    Shows itself in notebooks. `print` gives the text of the terminal.

    Attributes
    ----------
    summary : dict
        Everything that is shown, as plain values.
    findings : tuple of Finding
        What was noticed in the data that bears on the answer.
    """

    summary: dict[str, Any]
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sentence()!r})"

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
        and method become parameters. The answer, the verdict and the codes of the findings become tags, and the page
        and the JSON artifacts.

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
