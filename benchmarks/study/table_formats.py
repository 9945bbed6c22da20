"""Tables as Markdown, CSV and LaTeX."""

import csv
from io import StringIO

from benchmarks.study.tables import Figure, Place, Sheet

#: Ending of the file -> what writes it.
FORMATS = ("md", "csv", "tex")

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "–": "--",
    "†": r"$^\dagger$",
    "λ": r"$\lambda$",
    "κ": r"$\kappa$",
}


def format_sheet(sheet: Sheet, ending: str) -> str:
    """Write a table.

    Parameters
    ----------
    sheet : Sheet
        The table.
    ending : {"md", "csv", "tex"}
        Markdown, CSV or LaTeX.

    Returns
    -------
    str
    """
    return {"md": to_markdown, "csv": to_csv, "tex": to_latex}[ending](sheet)


def to_markdown(sheet: Sheet) -> str:
    """Write a table as Markdown, the paper's figures in brackets, the best underlined."""
    lines = [f"## {sheet.title}", ""]
    lines.append("| " + " | ".join(sheet.headings) + " |")
    lines.append("| --- |" + " ---: |" * (len(sheet.headings) - 1))
    for name, places in sheet.rows:
        lines.append("| " + " | ".join([name, *map(_markdown_place, places)]) + " |")
    for note in sheet.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def to_csv(sheet: Sheet) -> str:
    """Write a table as CSV: for each column ours, the paper's where it has one, and a note."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    headings = [sheet.headings[0]]
    for heading in sheet.headings[1:]:
        headings += [heading, f"{heading} (paper)", f"{heading} (note)"]
    writer.writerow(headings)
    for name, places in sheet.rows:
        row = [name]
        for place in places:
            notes = [*(["best"] if place.ours.best else []), *_words(place.ours.mark)]
            row += [place.ours.text, place.paper.text if place.paper else "", " ".join(notes)]
        writer.writerow(row)
    return buffer.getvalue()


def to_latex(sheet: Sheet) -> str:
    """Write a table as LaTeX, for a document's ``table`` environment."""
    columns = "l" + "r" * (len(sheet.headings) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(sheet.title)}. {latex(' '.join(sheet.notes))}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        " & ".join(map(latex, sheet.headings)) + r" \\",
        r"\hline",
    ]
    for name, places in sheet.rows:
        lines.append(" & ".join([latex(name), *map(_latex_place, places)]) + r" \\")
    lines += [r"\hline", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Write text so that LaTeX shows it as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown_place(place: Place) -> str:
    def figure(each: Figure) -> str:
        return (f"<u>{each.text}</u>" if each.best else each.text) + each.mark

    return figure(place.ours) + (f" ({figure(place.paper)})" if place.paper else "")


def _latex_place(place: Place) -> str:
    def figure(each: Figure) -> str:
        text = latex(each.text)
        return (rf"\underline{{{text}}}" if each.best else text) + latex(each.mark)

    return figure(place.ours) + (f" ({figure(place.paper)})" if place.paper else "")


def _words(mark: str) -> list[str]:
    return mark.replace("†", "smaller-grid").split()
