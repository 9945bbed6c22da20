"""What every result is: a frozen record whose text, table, JSON, picture and notebook view follow from its fields."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from importlib import import_module
from math import isfinite
from operator import attrgetter
from typing import Any, ClassVar

from bayesfloor.runtime.frames import Framed
from bayesfloor.runtime.text import NOTHING, exact_percent, shortened, shown, visible

#: Rows and columns of a table in a notebook, at the most, and letters of a cell.
_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 8, 8, 60
#: Findings in a notebook, at the most.
_MOST_FINDINGS = 3
#: All colours are the notebook's own, so that it can be light or dark.
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_CELL = "padding:.15em .7em .15em 0;border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"


def result_html(result: Any, table: str) -> str:
    """Write a result as HTML, with a table that is HTML already."""
    parts = [f'<p style="margin:.2em 0">{_text(result.sentence())}</p>', table]
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


class Result(Framed):
    """A record whose ``repr``, `frame`, `to_dict`, `sentence` and notebook view follow from its fields.

    A subclass is a frozen dataclass, and names attributes in its class statement.

    Parameters
    ----------
    says : str
        What ``repr`` tells, in this order. An estimate comes with its interval, an array as its range;
        ``attribute:other`` is called what the other attribute says.
    rows : str
        Columns of `frame`: arrays with an entry for each row, and numbers that are the same in all rows. An interval
        is two columns. ``column=attribute`` names a column otherwise than the attribute, which may be one of a nested
        record, as in ``count.mean``. By default, the only row has everything that is a number or text.
    omits : str
        What `to_dict` leaves out.
    """

    _says: ClassVar[tuple[str, ...]] = ()
    _rows: ClassVar[tuple[str, ...]] = ()
    _omits: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, says: str = "", rows: str = "", omits: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, names in {"_says": says, "_rows": rows, "_omits": omits}.items():
            if names:
                setattr(cls, name, tuple(names.split()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(filter(None, map(self._told, self._says)))})"

    def _repr_html_(self) -> str:
        return result_html(self, self._table_html())

    def _table_html(self) -> str:
        return frame_html(self.frame())

    def sentence(self) -> str:
        """Return the answer in words; the ``repr`` of results that are no answer by themselves."""
        return repr(self)

    def frame(self) -> Any:
        """Return a data frame of the caller's library."""
        return self._frame_of(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold.

        Returns
        -------
        dict
            Every attribute by its name, and the `sentence` where there is one. Arrays are lists, results and other
            records are dicts, NaN and infinity are None, and labels are as the data have them. The time that it took
            is left out: the same input gives the same dict.
        """
        words = {} if type(self).sentence is Result.sentence else {"sentence": self.sentence()}
        return words | {name: plain(getattr(self, name)) for name in attributes_of(type(self))}

    def _told(self, each: str) -> str:
        """Write one attribute as ``repr`` has it."""
        name, _, other = each.partition(":")
        value, title = getattr(self, name), getattr(self, other) if other else name.replace("_", " ")
        if name in ("classes", "names"):  # labels, which may be numbers
            return f"{len(value)} {name}"
        if name == "n_samples" and hasattr(self, "n_rows"):
            return f"{self.n_rows} of {value} samples"
        if name.startswith("n_") and value is not None:
            return f"{value} {name[2:].replace('_', ' ')}"
        text = _text_of(value, "" if each == self._says[0] == "estimate" else title)
        if name == "estimate" and isinstance(value, float):
            confidence, (low, high) = getattr(self, "confidence", 0.0), getattr(self, "interval", (value, value))
            text += f", {exact_percent(confidence)} interval {_number(low)} to {_number(high)}"
        return text

    def _columns(self) -> dict[str, Any]:
        """Return the columns of `frame`."""
        names = self._rows or [name for name in attributes_of(type(self)) if _is_cell(name, getattr(self, name))]
        return columns_of(self._named(names))

    def _named(self, names: Iterable[str]) -> dict[str, Any]:
        """Return attributes by the names of their columns."""
        named = (each.partition("=") for each in names)
        return {column: attrgetter(name or column)(self) for column, _, name in named}


class PlottedResult(Result):
    """A result that can be drawn.

    Parameters
    ----------
    display : str
        Name of its class in ``bayesfloor.display``. Parameters of that class are attributes of the result, and its
        ``columns`` are those of `frame`.
    """

    _display: ClassVar[str] = ""

    def __init_subclass__(cls, display: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if display:
            cls._display = display

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **options
            Parameters of the display, in place of what the result has, and those of its ``plot``.

        Returns
        -------
        display
            Of ``bayesfloor.display``.
        """
        display = getattr(import_module("bayesfloor.display"), self._display)
        names = [field.name for field in fields(display)]
        given = {name: options.pop(name) for name in names if name in options}
        return display(**self._drawn(names) | given).plot(ax, **options)

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the parameters of the display that the result has."""
        columns = {"columns": self._columns()} if "columns" in names else {}
        return columns | {name: getattr(self, name) for name in names if hasattr(self, name)}


def columns_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of one length: an interval as its two ends, and what is no column repeated."""
    columns: dict[str, Any] = {}
    for name, value in values.items():
        if _is_interval(name, value):
            stem = name.removesuffix("_interval")
            columns[f"{stem}_low"], columns[f"{stem}_high"] = value if isinstance(value, tuple) else value.T
        else:
            columns[name] = list(value) if isinstance(value, tuple) else value
    n = max((len(value) for value in columns.values() if _is_column(value)), default=1)
    return {name: value if _is_column(value) else [value] * n for name, value in columns.items()}


def attributes_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of all that the dict of a record holds: public fields, and properties of results."""
    own = [base for base in kind.__mro__ if issubclass(base, Result) and base.__module__ != __name__]
    found = [field.name for field in fields(kind)]
    found += [name for base in reversed(own) for name, each in vars(base).items() if isinstance(each, property)]
    omits = {"seconds", *getattr(kind, "_omits", ())}
    return tuple(name for name in dict.fromkeys(found) if not name.startswith("_") and name not in omits)


def plain(value: Any) -> Any:
    """Make a value of lists, dicts, text and finite numbers; NaN and infinity become None.

    Parameters
    ----------
    value : object
        Arrays and tuples become lists, results and other records dicts, and what JSON does not know text.

    Returns
    -------
    dict, list, str, int, float, bool or None
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Result):
        return value.to_dict()
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in attributes_of(type(value))}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _text_of(value: Any, title: str) -> str:
    """Write a value after its title; "" where there is none."""
    kind = value.dtype.kind if _ndim(value) else ""
    if value is None:
        return ""
    if kind == "b":
        return f"{int(value.sum())} {title.removeprefix('is ')}"
    if kind and kind in "iuf":
        value = tuple(value[value - value == 0].ravel().tolist())  # NaN and infinity less themselves are NaN
        return f"{title} {min(value):.4g} to {max(value):.4g}" if value else ""
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, int | float) for end in value):
        return f"{title} {_number(value[0])} to {_number(value[1])}"
    if isinstance(value, int | float):
        return f"{title} {_number(value)}".lstrip()
    is_one = isinstance(value, str) or not hasattr(value, "__len__")
    return f"{title} {shown(value)}" if is_one else f"{len(value)} {title}"


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    size = abs(value)
    if 0.0 < size < 5e-5:
        return f"{value:.2g}"
    return f"{value:.4f}" if size < 10.0 else f"{value:.4g}" if size < 1000.0 else f"{value:.0f}"


def _is_cell(name: str, value: Any) -> bool:
    return isinstance(value, str | int | float) or _is_interval(name, value)


def _is_interval(name: str, value: Any) -> bool:
    """Tell whether a value is the two ends of something, or an array of such pairs; its name says so."""
    return name.endswith(("interval", "bounds", "range")) and (isinstance(value, tuple) or _ndim(value) == 2)


def _is_column(value: Any) -> bool:
    return isinstance(value, list) or _ndim(value) > 0


def _ndim(value: Any) -> int:
    """Return the dimensions of an array, 0 of anything else."""
    return int(getattr(value, "ndim", 0))
