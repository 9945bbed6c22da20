"""Settings of Sphinx, which makes HTML of the pages in this folder: `make docs`.

Nothing is fetched while it builds, and the pages fetch nothing while they are read: no fonts, no scripts, no links into
other projects' inventories.
"""

import re
from dataclasses import is_dataclass
from importlib.metadata import version as version_of
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

project = "bayesfloor"
author = "bayesfloor developers"
copyright = "bayesfloor developers"  # Sphinx's name for it
version = release = version_of("bayesfloor")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
# Backquotes in docstrings: a link where the name is public, italics where it is not.
default_role = "autolink"
nitpicky = True
# Docstrings name things of other projects, which are not linked to.
nitpick_ignore_regex = [("py:obj", r"(?!bayesfloor\b)\w+\..*")]

# Headings can be linked to, as they can on code hosts.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Types are in the docstrings, in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
autosummary_generate = False
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"bayesfloor {release}"
html_static_path = ["theme"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def skip_what_is_not_ours(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what estimators inherit from scikit-learn and its base classes: it is described there."""
    function = member.fget if isinstance(member, property) else member
    home = getattr(function, "__module__", None) or "bayesfloor"
    is_routing = name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))
    return True if is_routing or home.split(".")[0] != "bayesfloor" else None


def hide_how_records_are_made(
    app: Any, what: str, name: str, member: Any, options: Any, signature: str, returns: str
) -> tuple[str, None] | None:
    """Leave out the arguments of records: functions make them, readers take them apart."""
    return ("", None) if is_dataclass(member) else None


def offer_files_outside(app: Any, page: str, source: list[str]) -> None:
    """Turn links to files outside this folder, which code hosts follow, into downloads."""
    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)#]+)\)", r"{download}`\1 <\2>`", source[0])


def setup(app: Any) -> None:
    """Register the above."""
    lexers["csv"] = TextLexer()  # code hosts colour it, Pygments does not know it
    app.connect("source-read", offer_files_outside)
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("autodoc-process-signature", hide_how_records_are_made)
