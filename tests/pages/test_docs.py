"""The pages of docs: links lead somewhere, words are plain, and the API reference has every public name."""

import re
from operator import attrgetter
from pathlib import Path

import bayesfloor
from bayesfloor import display, exceptions, results
from helpers.one_case import for_each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
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


def test_the_reference_has_every_public_name_and_warning_once():
    described = [name for page in REFERENCE for _, name in described_on(page)]
    public = [*bayesfloor.__all__, *(f"results.{name}" for name in results.__all__)]
    assert sorted([*described, "__version__"]) == sorted([*public, *(f"display.{name}" for name in display.__all__)])
    assert "`bayesfloor.__version__`" in (API / "index.md").read_text(encoding="utf-8")
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


# --- links and commands

PAGES = {
    page.name: page for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
}
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
README = TEXTS["README.md"]
LINK = re.compile(r"\]\(((?!https?:|#)[^)]+)\)")
LINKS = sorted({(name, link) for name, text in TEXTS.items() for link in LINK.findall(text)})
#: What `make docs` writes before it reads the pages.
WRITTEN = ("gallery/", "findings/")


def test_links_lead_somewhere():
    assert LINKS
    own = [(page, link) for page, link in LINKS if not link.startswith(WRITTEN)]
    broken = [(page, link) for page, link in own if not (PAGES[page].parent / link.split("#")[0]).exists()]
    assert broken == []


def anchors_of(text):
    """Addresses of the headings of a page, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_links_lead_to_headings():
    found = [(page, link, *link.split("#")) for page, link in LINKS if ".md#" in link]
    assert len(found) > 50
    texts = {link: (PAGES[page].parent / target).read_text(encoding="utf-8") for page, link, target, _ in found}
    assert [(page, link) for page, link, _, anchor in found if anchor not in anchors_of(texts[link])] == []
    assert anchors_of("# A\n```sh\n# not this\n```\n## What `f` is: 1–2") == {"a", "what-f-is-12"}


def test_commands_exist():
    commands = set(re.findall(r"^make (\S+)", README, flags=re.MULTILINE))
    assert commands
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert commands <= set(rules)


# --- words that readers stumbled over

FILES = [
    ROOT / "README.md",
    *sorted(
        file
        for folder in ("docs", "src", "examples")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".md", ".rst", ".py", ".html", ".json"} and "_build" not in file.parts
    ),
]
#: What was said, and what to say.
PLAIN = {
    r"\bproven\b": "measured: a model did this on rows it had not seen",
    r"\bup to sampling\b": "measured, allowing for sampling",
    r"\b(?:held|holds) the known floor\b": "on simulated data with a known floor the range contained it … of … times",
    r"\bas (?:it|they) lies? there\b": "takes messy tables",
    r"\bnam(?:e|es|ed|ing) the largest class\b": "always predicting the commonest class",
    r"\btheir shares of the classes\b": "target-encoded",
    r"\bdirections of (?:hashed )?n-grams\b": "components of text n-grams",
    r"\bcolumn that tells (?:them|gaps)\b": "plus a was-missing flag",
}


def places_of(phrase, text):
    """Lines on which a phrase begins; a line may end within it."""
    return [text.count("\n", 0, match.start()) + 1 for match in re.finditer(phrase.replace(" ", r"\s+"), text, re.I)]


def test_words_are_plain():
    texts = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in FILES}
    assert len(texts) > 300
    found = {
        f"{name}, line {line}: say '{plain}'"
        for phrase, plain in PLAIN.items()
        for name, text in texts.items()
        for line in places_of(phrase, text)
    }
    assert found == set()


def test_phrases_are_found():
    assert places_of(r"\bup to sampling\b", "a\nthe upper side, up\nto sampling") == [2]
    assert places_of(r"\bproven\b", "Proven.") == [1]
    assert places_of(r"\bproven\b", "unproven") == []
