"""Templates filled with plain values: text is escaped, and control characters are written as escapes before that."""

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesfloor.report.metric_words import limit_word
from bayesfloor.runtime.findings import finding_title
from bayesfloor.runtime.kernel_cache import cache_folder, keep, kept
from bayesfloor.runtime.text import (
    NOTHING,
    counted,
    cut_middle,
    exact_percent,
    figure,
    percent,
    percent_range,
    visible,
    written,
    written_range,
)

#: Rows of a table that are shown at once; the others are folded away.
FIRST_ROWS = 8
#: Classes and pairs in a table, at the most; the JSON has more.
MOST_ROWS = 100


def fill(template: str, summary: dict[str, Any], **values: Any) -> Markup:
    """Fill a template.

    Parameters
    ----------
    template : str
        Its name in the folder of templates.
    summary : dict
        What the report shows; templates call it ``s``.
    **values
        What a template should not work out itself, such as pictures.

    Returns
    -------
    Markup
    """
    floor = summary["floor"]
    shared = {
        "level": exact_percent(floor["confidence"]),
        "limit": limit_word(floor["larger_is_better"]),
        "is_error": floor["metric"] == "error",
        "first_rows": FIRST_ROWS,
        "most_rows": MOST_ROWS,
    }
    return Markup(_environment().get_template(template).render(s=summary, **shared, **values))


def shown(value: Any) -> Any:
    """Write anything that a template prints; what is markup already stays as it is."""
    if value is None:
        return NOTHING
    return value if isinstance(value, Markup) else visible(value)


def sorting_key(number: float | None) -> str:
    """Write a number for the script that sorts; nothing where there is none, which sorts last."""
    return "" if number is None else repr(float(number))


class _KeptTemplates(BytecodeCache):
    """Compiled templates, kept beside compiled kernels."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Any) -> None:
        """Load a template, which names itself after its source."""
        if (content := kept(self._path(bucket))) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Any) -> None:
        """Save a template."""
        keep(self._path(bucket), bucket.bytecode_to_string())

    def _path(self, bucket: Any) -> Path:
        return self._folder / f"template-{bucket.key}-{version('jinja2')}.bin"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bayesfloor.report.page"),
        bytecode_cache=None if (folder := cache_folder()) is None else _KeptTemplates(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "exact_percent": exact_percent, "count": counted}
    environment.filters |= {"figure": figure, "key": sorting_key, "finding_title": finding_title}
    environment.filters["short"] = lambda name, longest: cut_middle(visible(name), longest)
    environment.globals |= {"percent_range": percent_range, "written": written, "written_range": written_range}
    return environment


@cache
def template_text(name: str) -> str:
    """Return a template, the style sheet or the script as it is."""
    return files("bayesfloor.report.page").joinpath("templates", name).read_text(encoding="utf-8")
