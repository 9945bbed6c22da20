"""Settings of Sphinx, which makes HTML of the pages in this folder: `make docs`.

Nothing is fetched while it builds, and the pages fetch nothing while they are read: no fonts, no scripts, no links into
other projects' inventories.
"""

import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

from bayesfloor.runtime.findings import FOLDER as FINDING_PAGES
from bayesfloor.runtime.findings import finding_codes

DOCS = Path(__file__).parent
#: Where pages of this folder link to, so that code hosts find it.
FINDINGS_IN_PACKAGE = "src/bayesfloor/runtime/finding_pages"
#: Text in which the code of a finding is no link.
NOT_LINKED = (nodes.reference, nodes.title, nodes.literal, nodes.literal_block)

project = "bayesfloor"
author = "bayesfloor developers"
copyright = "bayesfloor developers"  # Sphinx's name for it
version = release = version_of("bayesfloor")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build"]
# Backquotes in docstrings: a link where the name is public, italics where it is not.
default_role = "autolink"
nitpicky = True
# Docstrings name things of other projects, which are not linked to.
nitpick_ignore_regex = [
    ("py:obj", r"(?!bayesfloor\b)\w+\..*"),
    # nor are modules of this package, nor what is a parameter and, by chance, a module
    ("py:obj", r"bayesfloor(\.[a-z_]+){2,}|files|time"),
]

# Sphinx-gallery keeps the pages of examples that are gone, which would then be in no list.
for page in Path(__file__).parent.glob("gallery/*/plot_*.rst"):
    if not (Path(__file__).parents[1] / "examples" / page.parent.name / f"{page.stem}.py").is_file():
        page.unlink()

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/{part}" for part in ("how_good", "obstacles", "columns", "models", "paper")],
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib",),
    "image_srcset": ["2x"],  # for screens of many pixels
    # The value of a block's last line is shown where it has an HTML form, as data frames have; else it is left out.
    "capture_repr": ("_repr_html_",),
    # Times say more of the machine, and of whether kernels were compiled already, than of an example.
    "min_reported_time": 3600,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "doc_module": ("bayesfloor",),
    "backreferences_dir": "gallery/of",
}

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


def write_finding_pages(app: Any) -> None:
    """Write the page of each finding, which is part of the package, to where links from this folder's pages lead."""
    folder = DOCS / "findings"
    folder.mkdir(exist_ok=True)
    for code in finding_codes():
        text = (FINDING_PAGES / f"{code}.md").read_text(encoding="utf-8").replace("](../../../../docs/", "](../")
        page = folder / f"{code}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:  # else it would be read again each time
            page.write_text(text, encoding="utf-8")


def link_findings(app: Any, doctree: nodes.document, page: str) -> None:
    """Make a link to its page of the code of every finding in running text."""
    for text in list(doctree.findall(nodes.Text)):
        parts = re.split(r"\b(BF\d{3})\b", text.astext())
        if len(parts) == 1 or any(isinstance(each, NOT_LINKED) for each in ancestors(text)):
            continue
        linked: list[nodes.Node] = []
        for part in parts:
            target = f"findings/{part}"
            if part not in finding_codes() or target == page:
                linked.append(nodes.Text(part))
            else:
                uri = app.builder.get_relative_uri(page, target)
                linked.append(nodes.reference("", part, internal=True, refuri=uri))
        text.parent.replace(text, linked)


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield what a node stands in, from the inside out."""
    while (node := node.parent) is not None:
        yield node


def offer_files_outside(app: Any, page: str, source: list[str]) -> None:
    """Turn links to files outside this folder, which code hosts follow, into downloads."""
    source[0] = re.sub(rf"\]\(\.\./{FINDINGS_IN_PACKAGE}/", "](findings/", source[0])
    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)#]+)\)", r"{download}`\1 <\2>`", source[0])


def setup(app: Any) -> None:
    """Register the above."""
    lexers["csv"] = TextLexer()  # code hosts colour it, Pygments does not know it
    app.connect("builder-inited", write_finding_pages)
    app.connect("source-read", offer_files_outside)
    app.connect("doctree-resolved", link_findings)
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("autodoc-process-signature", hide_how_records_are_made)
