"""What every report is: a summary, and a way to show it on each thing that it is read on."""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.findings import Finding


@dataclass(frozen=True, eq=False, repr=False)
class Report:
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
        return f"{type(self).__name__}({' '.join(self.summary['answer'])!r})"

    def __str__(self) -> str:
        return self.to_text()

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
        return _written(json.dumps(self.summary, indent=2, allow_nan=False, ensure_ascii=False) + "\n", path)

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


def _written(text: str, path: "str | PathLike[str] | None") -> str:
    if path is not None:
        write_whole(Path(path), text.encode())
    return text
