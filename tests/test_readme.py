"""Links and commands of the README and of the pages in docs lead somewhere; test_examples.py runs their examples."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
