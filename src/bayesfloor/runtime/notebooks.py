"""How notebooks show a result: its sentence, a scale where it is an estimate, a small table and findings."""

from html import escape
from typing import Any

from bayesfloor.runtime.text import NOTHING, shortened, visible

#: Rows and columns of a table in a notebook, at the most, and letters of a cell.
_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 8, 8, 60
#: Findings in a notebook, at the most.
_MOST_FINDINGS = 3
#: Width and height of the scale in pixels, and space at its ends.
_WIDTH, _HEIGHT, _MARGIN = 360, 30, 6
#: All colours are the notebook's own, so that it can be light or dark.
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_CELL = "padding:.15em .7em .15em 0;border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"


def result_html(result: Any, table: str) -> str:
    """Write a result as HTML, with a table that is HTML already."""
    parts = [f'<p style="margin:.2em 0">{_text(result.sentence())}</p>', _scale(result), table]
    parts += _findings(getattr(result, "findings", ()))
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def frame_html(native: Any) -> str:
    """Write the beginning of a data frame as HTML."""
    import narwhals

    frame = narwhals.from_native(native, eager_only=True)
    names = frame.columns[:_MOST_COLUMNS]
    left_out = [
        f"{n} more {what}"
        for n, what in ((len(frame) - _MOST_ROWS, "rows"), (len(frame.columns) - _MOST_COLUMNS, "columns"))
        if n > 0
    ]
    note = f"{' and '.join(left_out)} in <code>frame()</code>" if left_out else ""
    return table_html(names, frame.select(names).head(_MOST_ROWS).iter_rows(), note)


def table_html(names: Any, rows: Any, note: str = "") -> str:
    """Write a small table as HTML.

    Parameters
    ----------
    names : sequence of str
        Headings.
    rows : iterable of iterables
        Cells. Numbers are aligned to the right.
    note : str, default=""
        What stands below, as HTML.

    Returns
    -------
    str
        Everything that comes from data is escaped.
    """
    listed = [list(row) for row in rows]
    sides = ["right" if _is_number(cell) else "left" for cell in listed[0]] if listed else ["left"] * len(names)
    cells = zip(names, sides, strict=True)
    head = "".join(f'<th scope="col" style="{_CELL};text-align:{side}">{_text(name)}</th>' for name, side in cells)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL};text-align:{side}">{_text(shortened(_written(cell), _LONGEST))}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in listed
    )
    below = f'<p style="margin:0;opacity:.75;font-size:.9em">{note}</p>' if note else ""
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    if value is None or value != value:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _findings(findings: Any) -> list[str]:
    lines = [f'<p style="margin:.2em 0">{_text(each)}</p>' for each in findings[:_MOST_FINDINGS]]
    n_more = len(findings) - _MOST_FINDINGS
    return lines + [f"<p>{n_more} more in <code>findings</code></p>"] * (n_more > 0)


def _text(text: Any) -> str:
    return escape(visible(text))


def _scale(result: Any) -> str:
    """Draw where an estimate lies: its interval as a band, the estimate as a dot, what was reached as a line."""
    estimate, interval = getattr(result, "estimate", None), getattr(result, "interval", None)
    if not isinstance(estimate, float) or not isinstance(interval, tuple):
        return ""
    reached = getattr(result, "reached", None)
    shown = [*interval, estimate, *([reached] if isinstance(reached, float) else [])]
    low, high = min(0.0, *shown), max(shown)
    if not high > low:
        return ""

    def at(value: float) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * (value - low) / (high - low)

    middle, (first, last) = _HEIGHT / 2, map(at, interval)
    label = f"estimate {estimate:.4g}, interval {interval[0]:.4g} to {interval[1]:.4g}"
    marks = [
        f'<line x1="{at(low):.1f}" x2="{at(high):.1f}" y1="{middle}" y2="{middle}" stroke="currentColor" '
        'stroke-opacity=".35"/>',
        f'<rect x="{first:.1f}" width="{max(last - first, 1):.1f}" y="{middle - 5}" height="10" rx="2" '
        'fill="currentColor" fill-opacity=".25"/>',
        f'<circle cx="{at(estimate):.1f}" cy="{middle}" r="4" fill="currentColor"/>',
    ]
    if isinstance(reached, float):
        label += f", reached {reached:.4g}"
        marks.append(
            f'<line x1="{at(reached):.1f}" x2="{at(reached):.1f}" y1="{middle - 10}" y2="{middle + 10}" '
            'stroke="currentColor" stroke-width="2"/>'
        )
    return (
        f'<svg role="img" aria-label="{_text(label)}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" style="display:block;max-width:100%"><title>{_text(label)}</title>'
        f"{''.join(marks)}</svg>"
    )
