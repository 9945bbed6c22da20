"""Every example of the documentation runs as it stands, and prints what is shown beside it.

These are the docstrings of all modules, and the blocks of Python of the README and of the pages in docs. After figures
have changed, BAYESFLOOR_UPDATE_PAGES=1 has the pages rewritten instead: look at the difference before it is committed.
"""

import contextlib
import doctest
import io
import re
import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import bayesfloor
from helpers.one_case import for_each
from helpers.printed_text import UPDATE, assert_same_text

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(bayesfloor.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
# A block of Python and, where one follows, the block of what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", flags=re.DOTALL)
FILES = {page.name: page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in FILES.items()}
# Calls of docs/scale.md need a GPU, a cluster and a file larger than memory.
PAGES = [name for name, text in TEXTS.items() if BLOCK.search(text) and name != "scale.md"]
#: Pages whose examples take less than a second or two; the others are run with the slow tests.
QUICK = {"class_trees.md", "floor.md", "votes.md"}
# Each block of these pages can be copied alone; on the others it may use what those above it define.
BLOCKS_STAND_ALONE = {"choose.md", "floor.md", "pictures.md", "votes.md"}
# No model is trained on these pages, so that no digit depends on the machine.
TO_THE_LAST_DIGIT = {"class_trees.md", "floor.md", "votes.md"}
EXTRAS = ("mlflow", "skore")


@pytest.fixture(autouse=True)
def _no_screen():
    pytest.importorskip("matplotlib", reason="pictures need matplotlib").use("Agg")


@pytest.mark.parametrize("room", sorted({name.split(".")[1] for name in MODULES}))
def test_docstrings(room):
    for name in MODULES:
        if name.split(".")[1] == room:
            outcome = doctest.testmod(import_module(name))
            assert outcome.attempted > 0
            assert outcome.failed == 0, name


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=() if page in QUICK else pytest.mark.slow) for page in PAGES]
)
@pytest.mark.limits(repeats=10, curve_detail=1.0)
def test_page(page, tmp_path, monkeypatch):  # pages show what a user gets
    monkeypatch.chdir(tmp_path)  # pictures are saved where the reader is
    for variable in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_TRACKING_URI"):  # a page sets what it needs
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    namespace = {"__name__": "__main__"}
    left_out, outputs = set(), {}
    for block in BLOCK.finditer(TEXTS[page]):
        source, printed = block.group(1), block.group(2) or ""
        missing = {extra for extra in EXTRAS if f"import {extra}\n" in source and find_spec(extra) is None}
        if missing:
            left_out |= missing
            continue
        if page in BLOCKS_STAND_ALONE:
            namespace = {"__name__": "__main__"}
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, page, "exec"), namespace)
        found, stated = (
            re.sub(r" +$", "", text.strip("\n"), flags=re.MULTILINE) for text in (output.getvalue(), printed)
        )
        if UPDATE and printed:
            outputs[block.span(2)] = f"{found}\n"
        else:
            assert_same_text(found.strip(), stated.strip(), tolerance=0.0 if page in TO_THE_LAST_DIGIT else 0.01)
    drawn = {picture.name for picture in tmp_path.glob("*.png") if picture.stat().st_size > 5000}
    assert drawn == set(re.findall(r"savefig\(\"(\w+\.png)\"", TEXTS[page]))
    if UPDATE:
        rewrite(page, outputs)
        for name in drawn:
            shutil.copyfile(tmp_path / name, ROOT / "docs" / "images" / name)
    if left_out:
        pytest.skip(f"all blocks ran but those that need {' and '.join(sorted(left_out))}")


def rewrite(page, outputs):
    """Put what blocks print into a page, at the places where it stood."""
    text = TEXTS[page]
    for (start, stop), printed in sorted(outputs.items(), reverse=True):
        text = text[:start] + printed + text[stop:]
    FILES[page].write_text(text, encoding="utf-8")


@for_each("page", [page for page in PAGES if "savefig(" in TEXTS[page]])
def test_pictures_of_a_page_are_shown_on_it(page):
    """What a block saves stands below it, from docs/images; so does what the page's own pictures are made by."""
    saved = re.findall(r"savefig\(\"(\w+\.png)\"", TEXTS[page])
    assert saved
    own = re.findall(rf"\]\(images/({page.removesuffix('.md')}_\w+\.png)\)", TEXTS[page])
    assert sorted(own) == sorted(saved)
    assert all((ROOT / "docs" / "images" / name).stat().st_size > 5000 for name in saved)
