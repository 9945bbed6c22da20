"""What tests may know: doors and pages what users know, rooms their own room, kernels everything."""

import ast
from functools import cache
from pathlib import Path

import bayesfloor

PACKAGE, TESTS = Path(bayesfloor.__file__).parent, Path(__file__).parents[1]
#: What users import.
PUBLIC = {"", "results", "display", "exceptions", "cli.main"}
#: Below all rooms.
GROUND = {"data", "runtime"}
#: Pages that look up by which names findings and sections are known.
KNOWING = {"pages/test_doc_figures.py"}
#: Attributes that tests set inside the package or a library. There are to be fewer, never more.
MOST_PATCHES = 180


@cache
def read(file):
    """Names of modules of the package that a file imports, without its own, and how many attributes it sets."""
    found, n_set = set(), 0
    calls = {"setattr", "setitem", "delattr", "delitem", "object"}  # the last one of mock.patch
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = {f"{node.module}.{each.name}" for each in node.names}
            found |= {name if is_module(name) or name == "bayesfloor.cli.main" else node.module for name in names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls:
            n_set += ast.unparse(node.func.value).endswith(("patch", "patched", "patch.dict"))
    return {name.partition(".")[2] for name in found if name.partition(".")[0] == "bayesfloor"}, n_set


def is_module(name):
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or place.is_dir()


def test_what_tests_may_know():
    wrong = []
    for file in sorted(TESTS.rglob("test_*.py")):
        place = file.relative_to(TESTS)
        layer = place.parts[0]
        assert layer in {"kernels", "rooms", "doors", "pages"}, f"{place} lies in no layer"
        allowed = set(PUBLIC)
        beyond = read(file)[0] - allowed
        if layer == "rooms":
            beyond = {name for name in beyond if name.partition(".")[0] not in GROUND | {place.parts[1]}}
        if layer != "kernels" and beyond and place.as_posix() not in KNOWING:
            wrong.append(f"{place} imports {', '.join(sorted(beyond))}")
    assert wrong == []


def test_what_is_imported_is_found():
    assert {"results", "floor.learned.row_plan", "cli.main"} <= {
        name for file in TESTS.rglob("test_*.py") for name in read(file)[0]
    }


def test_few_attributes_are_set():
    assert 0 < sum(read(file)[1] for file in TESTS.rglob("*.py")) <= MOST_PATCHES
