"""Figures of the documentation, and where each comes from: a number of a named line of a named file.

`tests/figure_sources/PAGE.tsv` has a line for each figure of a page, in their order::

    figure    file    label of the line > heading above it    which of its numbers    "percent" where it has no sign

A label is what is left of a line without its numbers, so that it stays when these are measured again. A count such as
"59 of 60" has two numbers. `propose` finds sources of new figures: what it finds is to be looked at, since other
numbers may be the same by chance.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bayesfloor"
RESULTS = ROOT / "benchmarks" / "results"
SOURCES = ROOT / "tests" / "figure_sources"
PAGES = {
    page.name: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
#: What a figure's file is called where it is a block of its own page that is run, and where it is no result.
OWN_BLOCK, SETTING = "block of this page", "setting"
#: Blocks that are run, and what they print.
RUN = re.compile(r"```python\n.*?```(?:\s*```text\n.*?```)?|```(?:console|csv|sh)\n.*?```", flags=re.DOTALL)
#: Code, and addresses of links.
NO_PROSE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->")
FIGURE = re.compile(r"(?<![\w.,^])(?<!\d )(?:\d+ of \d+(?: \d{3})*|\d*\.\d+%?|\d+%)(?![\w.]*\w)")
NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?: \d{3})+|\d*\.?\d+)%?")
SCRIPT_AND_PAGE = re.compile(r"^\| ((?:`[\w/]+\.py`|[^|`])+)\| ((?:`results/\w+\.md`|[^|`])+)\|", flags=re.MULTILINE)
#: Letters of a label, and of a heading, that are kept.
LONGEST, LONGEST_HEADING = 70, 50


class Sourced(NamedTuple):
    """A figure, the file and the line that it comes from, which of its numbers it is, and whether it is in percent."""

    figure: str
    file: str
    label: str = ""
    places: tuple[int, ...] = ()
    in_percent: bool = False

    @classmethod
    def read(cls, line: str) -> "Sourced":
        figure, file, label, places, unit = [*line.split("\t"), "", "", ""][:5]
        return cls(figure, file, label, tuple(map(int, places.split())), unit == "percent")

    def written(self) -> str:
        places = " ".join(map(str, self.places))
        return "\t".join([self.figure, self.file, self.label, places, "percent" * self.in_percent]).rstrip()


class Line(NamedTuple):
    """A line that has numbers, the words around them, and whether its file has errors in percent, without a sign."""

    label: str
    words: frozenset[str]
    numbers: tuple[str, ...]
    in_percent: bool


def sections_of(page: str) -> list[str]:
    """Split a page at its headings."""
    return re.split(r"^(?=## )", PAGES[page], flags=re.MULTILINE)


def figures_of(text: str) -> list[str]:
    """Figures outside of blocks that are run, and of inline code."""
    return FIGURE.findall(_prose(text))


def _prose(text: str) -> str:
    return NO_PROSE.sub(" ", RUN.sub("", text))


@cache
def pages_of_scripts() -> dict[str, list[str]]:
    """Pages of results by the script that makes them, as benchmarks/README.md lists both."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    return {
        script: re.findall(r"results/(\w+\.md)", pages)
        for scripts, pages in SCRIPT_AND_PAGE.findall(text)
        for script in re.findall(r"`([\w/]+)\.py`", scripts)
    }


@cache
def named_in(page: str, section: str) -> list[str]:
    """Files of results, scripts, tests and modules that a section names, and the blocks of its page that are run."""
    made = pages_of_scripts()
    scripts = {name.replace(".", "/") for name in re.findall(r"benchmarks[/.](\w+[/.]\w+)", section)} & set(made)
    results = [
        *re.findall(r"results/(\w+\.md)", section),
        *(each for script in sorted(scripts) for each in made[script]),
    ]
    files = [RESULTS / name for name in results] + [ROOT / "benchmarks" / f"{script}.py" for script in sorted(scripts)]
    files += [ROOT / name for name in re.findall(r"\btests/[\w/]+\.py", section)]
    files += [file for name in re.findall(r"`([\w/]+\.py)`", section) if (file := PACKAGE / name).is_file()]
    if page == "study.md":  # all of it is about these tables
        files += sorted((RESULTS / "study" / "tables").glob("*.md"))
    return [*dict.fromkeys(file.relative_to(ROOT).as_posix() for file in files), OWN_BLOCK]


@cache
def lines_of(page: str, file: str) -> dict[str, Line]:
    """Return the lines of a file that have numbers, by their labels."""
    text = "\n".join(RUN.findall(PAGES[page])) if file == OWN_BLOCK else (ROOT / file).read_text(encoding="utf-8")
    in_percent = "percent" in text
    found: dict[str, Line] = {}
    seen: Counter[str] = Counter()
    heading, columns, before = "", "", ""
    for line in text.splitlines():
        if line.startswith("#") and not line.startswith("#:"):
            heading, columns = line.strip("# "), ""
        if re.fullmatch(r"[|\s:-]+", line) and "|" in line:
            columns = before
        before = line
        numbers = tuple(NUMBER.findall(line))
        if not numbers:
            continue
        label = _shortened(_bare(line), LONGEST)
        above = _shortened(_bare(heading), LONGEST_HEADING)
        label = f"{label} > {above}" if above else label
        seen[label] += 1
        label += f" ({seen[label]})" * (seen[label] > 1)
        found[label] = Line(label, _words(f"{line} {heading} {columns} {Path(file).stem}"), numbers, in_percent)
    return found


def _bare(line: str) -> str:
    """Leave the numbers of a line out, and what only separates."""
    return " ".join(re.sub(r"[^\w\s²³°'/+*<>=,-]", " ", NUMBER.sub(" ", line)).split())


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rstrip()


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"[^\W\d_]{2,}|(?<![\w.])\d+(?![\w.])", text))


def problem_with(page: str, section: str, sourced: Sourced, settings: dict[str, str]) -> str | None:
    """Say why a figure is not the number that it is said to come from; None where it is."""
    if sourced.file == SETTING:
        return None if sourced.figure in settings else "is no setting"
    if sourced.file not in named_in(page, section):
        return "has no source" if sourced.file == "?" else f"is of {sourced.file}, which the section does not name"
    line = lines_of(page, sourced.file).get(sourced.label)
    if line is None:
        return f"is of a line that {sourced.file} does not have: {sourced.label}"
    if not all(0 < place <= len(line.numbers) for place in sourced.places):
        return f"is of a number that the line does not have: {sourced.label}"
    numbers = [line.numbers[place - 1] for place in sourced.places]
    if sourced.in_percent and not line.in_percent:
        return f"is in percent, of which {sourced.file} does not speak"
    if not is_made_of(sourced.figure, numbers, in_percent=sourced.in_percent):
        return f"is {' of '.join(numbers)} in {sourced.file}, {sourced.label}"
    return None


def is_made_of(figure: str, numbers: list[str], *, in_percent: bool = False) -> bool:
    """Tell whether a figure is a number, rounded to as many digits, or a count of two; .02, 0.0198 and 2% are alike."""
    if " of " in figure:
        part, whole = (each.replace(" ", "") for each in figure.split(" of "))
        if len(numbers) != 2 or numbers[1].replace(" ", "") != whole:
            return False
        share = f"{Decimal(part) / Decimal(whole):.9f}"  # a table may have the share and the whole
        return numbers[0].replace(" ", "") == part or (numbers[0].endswith("%") and is_made_of(numbers[0], [share]))
    if len(numbers) != 1:
        return False
    value, unit = valued(figure)
    source, precision = valued(numbers[0] + "%" if in_percent and not numbers[0].endswith("%") else numbers[0])
    if precision > unit and value:
        return False  # it shows digits that the source does not have
    ways = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_HALF_DOWN)
    return any((source / unit).quantize(Decimal(1), way) * unit == value for way in ways)


def valued(text: str) -> tuple[Decimal, Decimal]:
    """The value of a number, and that of its last digit; a percentage is a fraction."""
    number = Decimal(text.rstrip("%").replace(" ", ""))
    power = number.as_tuple().exponent - (2 if text.endswith("%") else 0)
    return number.scaleb(-2) if text.endswith("%") else number, Decimal(1).scaleb(power)


# --- sources of new figures


def propose(page: str, settings: dict[str, str], known: list[list[Sourced]]) -> Iterator[list[Sourced]]:
    """Find a source for each figure of each section; those that are known and still fit are kept."""
    by_text = defaultdict(list)
    for of_section in known:
        for sourced in of_section:
            by_text[sourced.figure].append(sourced)
    for section in sections_of(page):
        found: list[Sourced] = []
        heading = _words(section.partition("\n")[0])
        columns: list[str] = []
        for paragraph in re.split(r"\n(?=\||\n|- )|(?<=[.:]) ", _prose(section)):
            figures = FIGURE.findall(paragraph)
            cells = paragraph.split("|") if paragraph.startswith("|") else []
            if cells and not columns:
                columns = cells
            columns = columns if cells else []
            above = [_words(title) for cell, title in zip(cells, columns, strict=False) for _ in FIGURE.findall(cell)]
            if len(above) < len(figures):
                above = [frozenset()] * len(figures)
            if figures:
                found += _of_paragraph(page, section, figures, _words(paragraph), heading, above, settings, by_text)
        yield found


def _of_paragraph(
    page: str,
    section: str,
    figures: list[str],
    words: frozenset[str],
    heading: frozenset[str],
    above: list[frozenset[str]],
    settings: dict[str, str],
    known: dict[str, list[Sourced]],
) -> list[Sourced]:
    """Give the figures of a sentence, or of a row of a table, as few lines of sources as possible."""
    result: list[Sourced | None] = [None] * len(figures)
    for place, figure in enumerate(figures):
        kept = next((s for s in known[figure] if problem_with(page, section, s, settings) is None), None)
        if figure in settings:
            result[place] = Sourced(figure, SETTING)
        elif kept is not None:
            known[figure].remove(kept)
            result[place] = kept
    lines = [(file, line) for file in named_in(page, section) for line in lines_of(page, file).values()]
    rarity = _rarity(page, section)
    while None in result:
        best = None
        for file, line in lines:
            fits = {p: at for p, figure in enumerate(figures) if result[p] is None and (at := _places(figure, line))}
            if fits:
                near = sum(rarity[word] for word in words & line.words)
                digits = sum(len(figures[p].strip("0.%")) for p in fits)
                is_ordered = list(fits.values()) == sorted(fits.values())
                near += 2 * sum(rarity[word] for p in fits for word in above[p] & line.words) / len(fits)
                of_heading = sum(rarity[word] for word in heading & line.words)
                score = near + 0.5 * of_heading + digits + 0.5 * is_ordered - 2 * (file == OWN_BLOCK)
                if best is None or score > best[0]:
                    best = score, file, line, fits
        if best is None:
            break
        _, file, line, fits = best
        for p, at in fits.items():
            result[p] = Sourced(figures[p], file, line.label, *at)
    for place, figure in enumerate(figures):
        if result[place] is None:
            result[place] = Sourced(figure, "?")
    return [each for each in result if each is not None]


@cache
def _rarity(page: str, section: str) -> dict[str, float]:
    """Return how much each word tells the lines apart that a section may speak of."""
    lines = [line for file in named_in(page, section) for line in lines_of(page, file).values()]
    counts = Counter(word for line in lines for word in line.words)
    return {word: math.log(len(lines) / count) for word, count in counts.items()}


def _places(figure: str, line: Line) -> tuple[tuple[int, ...], bool] | None:
    """Return which of the numbers of a line a figure is, and whether in percent; None where it is none of them."""
    n = len(line.numbers)
    if " of " in figure:
        pairs = [(a, b) for a in range(1, n + 1) for b in range(1, n + 1) if a != b]
        pairs.sort(key=lambda pair: ("%" in line.numbers[pair[0] - 1], pair[1] - pair[0] != 1, abs(pair[0] - pair[1])))
    else:
        pairs = [(a,) for a in range(1, n + 1)]
        pairs.sort(key=lambda pair: valued(line.numbers[pair[0] - 1])[0] != valued(figure)[0])
    for in_percent in (False, True)[: 1 + line.in_percent]:
        for places in pairs:
            if is_made_of(figure, [line.numbers[place - 1] for place in places], in_percent=in_percent):
                return places, in_percent
    return None
