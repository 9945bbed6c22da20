"""The pages of docs: each can be reached, and the API reference has every public name. Sphinx is not needed here."""

import re
from operator import attrgetter
from pathlib import Path

import bayesfloor
from bayesfloor import display, exceptions, results
from one_case import for_each

DOCS = Path(__file__).resolve().parents[1] / "docs"
API = DOCS / "api"
DIRECTIVE = re.compile(r"^\.\. auto(class|function):: ([\w.]+)$", flags=re.MULTILINE)
SUMMARY = re.compile(r"^\.\. autosummary::\n   :nosignatures:\n\n((?:   [\w.]+\n)+)", flags=re.MULTILINE)
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", flags=re.DOTALL)
REFERENCE = {page.name: page.read_text(encoding="utf-8") for page in sorted(API.glob("*.rst"))}


def pages_below(page):
    """Pages that a page's own lists lead to, as paths below docs."""
    for body in TOCTREE.findall((DOCS / page).read_text(encoding="utf-8")):
        for line in body.splitlines():
            if line and not line.startswith((":", "gallery/")):  # sphinx-gallery writes its pages: test_gallery.py
                (found,) = (DOCS / page).parent.glob(f"{line}.*")
                yield found.relative_to(DOCS).as_posix()


def test_every_page_is_in_the_navigation_once():
    listed = [*pages_below("index.md"), *pages_below("api/index.md")]
    there = {
        page.relative_to(DOCS).as_posix() for kind in ("*.md", "api/*.md", "api/*.rst") for page in DOCS.glob(kind)
    }
    assert sorted(listed) == sorted(there - {"index.md"})


def described_on(page):
    """Kind and name of what a page describes, the names as they follow ``bayesfloor.``."""
    module = re.findall(r"^\.\. currentmodule:: bayesfloor\.?(\w*)$", REFERENCE[page], flags=re.MULTILINE)[0]
    for kind, name in DIRECTIVE.findall(REFERENCE[page]):
        yield kind, name.removeprefix("bayesfloor.") if not module else f"{module}.{name}"


def test_the_reference_has_every_public_name_once():
    described = [name for page in REFERENCE for _, name in described_on(page)]
    public = [*bayesfloor.__all__, *(f"results.{name}" for name in results.__all__)]
    assert sorted([*described, "__version__"]) == sorted([*public, *(f"display.{name}" for name in display.__all__)])
    assert "`bayesfloor.__version__`" in (API / "index.md").read_text(encoding="utf-8")


def test_the_reference_has_every_warning_once():
    described = [
        name for text in REFERENCE.values() for name in re.findall(r"^\.\. autoexception:: (.+)$", text, re.MULTILINE)
    ]
    own = [value for value in vars(exceptions).values() if isinstance(value, type) and issubclass(value, Warning)]
    assert sorted(described) == sorted(f"bayesfloor.exceptions.{each.__name__}" for each in own)
    assert described


@for_each("page", REFERENCE)
def test_a_page_of_the_reference_begins_with_what_is_on_it(page):
    (summary,) = SUMMARY.findall(REFERENCE[page])
    found = list(described_on(page))
    assert summary.split() == [name.removeprefix("display.") for _, name in found]
    for kind, name in found:
        assert isinstance(attrgetter(name)(bayesfloor), type) == (kind == "class")
    (row,) = re.findall(rf"^\| \[[^\]]+\]\({page}\) \| (.*) \|$", (API / "index.md").read_text("utf-8"), re.MULTILINE)
    assert row == ", ".join(f"`{name}`" for _, name in found)


def test_what_the_package_says_of_itself_is_in_the_same_order():
    """The table at the top of the package and the reference name things in one order."""
    told = re.findall(r"`(\w+)`", bayesfloor.__doc__)
    index = (API / "index.md").read_text(encoding="utf-8")
    pages = re.findall(r"^\| \[[^\]]+\]\((\w+\.rst)\)", index, flags=re.MULTILINE)
    rank = {name: place for place, page in enumerate(pages) for _, name in described_on(page)}
    order = [rank[name] for name in told]
    assert order == sorted(order)


def test_files_and_rooms_named_in_the_design_exist():
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    package = DOCS.parent / "src" / "bayesfloor"
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_]+\.py)`", text))
    assert len(named) > 30
    missing = {name for name in named if not (package / name).is_file() and not (DOCS.parent / name).is_file()}
    assert missing == set()
    rooms = {folder.name for folder in package.iterdir() if (folder / "__init__.py").is_file()}
    assert rooms <= set(re.findall(r"^  ([a-z]+)/", text, flags=re.MULTILINE))
