"""What a browser would make of a page."""

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img"}


class Outline(HTMLParser):
    """What a browser would make of a page: its elements, their text, and whether all are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]
