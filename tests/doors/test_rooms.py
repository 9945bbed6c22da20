"""The shape of the package: who may import whom, what is public, and that names say something."""

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import networkx
import pytest

import bayesfloor
from bayesfloor import results
from helpers.one_case import for_each

PACKAGE = Path(bayesfloor.__file__).parent

# Each room, and the rooms it may import from.
GROUND = {"runtime", "data", "tables", "display"}
BELOW = {
    "exceptions": set(),
    "runtime": set(),
    "display": {"runtime"},
    "data": {"runtime"},
    "tables": {"runtime", "data"},
    "tree": GROUND,
    "learn": {"runtime", "data", "tree"},
    "forest": {"runtime", "data", "tables"},
    "floor": {"exceptions", *GROUND, "tree", "learn", "forest"},
    "classify": {*GROUND, "learn", "forest", "floor", "tree"},
    "choose": {"exceptions", *GROUND, "learn", "forest", "floor", "tree"},
    "report": {*GROUND, "learn", "forest", "floor", "tree", "classify", "choose"},
    "integrations": {*GROUND, "learn", "forest", "floor", "tree", "classify", "choose", "report"},
    # the command line stands on the package's public names, as users do
    "cli": {"", "exceptions", "results", *GROUND, "learn", "forest", "floor", "tree", "classify", "choose", "report"},
    "results": {*GROUND, "forest", "floor", "tree", "classify", "choose", "report"},
    "__main__": {"cli"},
}

#: Parts of results: a node of a tree, something noticed.
NOT_RESULTS = {"ClassNode", "Finding"}


def module_name(path: Path) -> str:
    parts = ("bayesfloor", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imported_modules(source: str, package: str) -> list[str]:
    """Full names of what a source imports from this package, at its top, in a function or for type checkers."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            # "from bayesfloor import data" imports a room, "from bayesfloor.data import x" a name or a module
            names = [f"{module}.{alias.name}" for alias in node.names]
        found += [name for name in names if name.split(".")[0] == "bayesfloor"]
    return found


def package_of(name: str) -> str:
    return name if MODULES[name].stem == "__init__" else name.rpartition(".")[0]


def room_of(name: str) -> str:
    return [*name.split("."), ""][1]


def forbidden_imports(source: str, room: str, package: str) -> list[str]:
    allowed = {room, *BELOW[room]}
    return [name for name in imported_modules(source, package) if room_of(name) not in allowed]


def test_imports_point_down():
    found = {
        name: forbidden_imports(path.read_text(encoding="utf-8"), room_of(name), package_of(name))
        for name, path in MODULES.items()
        if name != "bayesfloor"
    }
    assert {name: imports for name, imports in found.items() if imports} == {}


def import_graph(sources: dict[str, str]) -> "networkx.DiGraph[str]":
    """Each module with those that it imports; a package counts as its __init__."""
    graph = networkx.DiGraph()
    for name, source in sources.items():
        for imported in imported_modules(source, package_of(name) if name in MODULES else name.rpartition(".")[0]):
            target = imported if imported in sources else imported.rpartition(".")[0]
            if target in sources and target != name:
                graph.add_edge(name, target)
    return graph


def test_no_modules_import_each_other():
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items() if name != "bayesfloor"}
    assert list(networkx.simple_cycles(import_graph(sources))) == []


def test_the_circle_test_can_fail():
    sources = {"bayesfloor.a": "def f():\n    from bayesfloor.b import g", "bayesfloor.b": "from bayesfloor import a"}
    assert [sorted(circle) for circle in networkx.simple_cycles(import_graph(sources))] == [
        ["bayesfloor.a", "bayesfloor.b"]
    ]


@for_each(
    "source, found",
    [
        ("from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("from bayesfloor import floor", ["bayesfloor.floor"]),
        ("import bayesfloor.floor.y", ["bayesfloor.floor.y"]),
        ("import bayesfloor", ["bayesfloor"]),
        ("from ..floor import x", ["bayesfloor.floor.x"]),
        ("from .. import floor", ["bayesfloor.floor"]),
        ("def f():\n    from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("if TYPE_CHECKING:\n    from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("def plot():\n    from bayesfloor.display import x", ["bayesfloor.display.x"]),
        ("from bayesfloor.data.labels import x\nfrom . import api\nfrom .api import x\nimport numpy", []),
    ],
)
def test_the_import_test_can_fail(source, found):
    assert forbidden_imports(source, "forest", "bayesfloor.forest") == found


def test_every_room_is_known_and_says_what_it_holds():
    assert {room_of(name) for name in MODULES if name != "bayesfloor"} == BELOW.keys()
    rooms = [name for name, path in MODULES.items() if path.stem == "__init__"]
    assert [room for room in rooms if not ast.get_docstring(ast.parse(MODULES[room].read_text(encoding="utf-8")))] == []
    assert {path.stem for path in MODULES.values()} & {"utils", "helpers", "common", "misc"} == set()


def test_the_package_itself_has_functions_and_estimators_alone():
    assert len(bayesfloor.__all__) <= 45
    named = [getattr(bayesfloor, name) for name in bayesfloor.__all__ if name != "__version__"]
    assert [kind for kind in named if isinstance(kind, type) and not hasattr(kind, "get_params")] == []
    kinds = {name: [each.__name__ for each in getattr(results, name).__mro__] for name in results.__all__}
    of_other_kinds = {name for name, bases in kinds.items() if "Result" not in bases}
    assert of_other_kinds == NOT_RESULTS


@for_each("module", [bayesfloor, results])
def test_type_checkers_see_the_same_names(module):
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names)  # else it is not exported
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert sorted(seen) == sorted({*module.__all__} - {"__version__"})
    for name, home in seen.items():
        assert name in dir(module)
        assert getattr(import_module(home), name) is getattr(module, name)


@for_each("module", [bayesfloor, results])
def test_unknown_names_are_refused(module):
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018


def test_what_is_not_needed_is_not_loaded():
    """The package alone loads nothing; to import scikit-learn takes longer than most forests."""
    script = (
        "import sys, bayesfloor; print({'numpy', 'numba', 'sklearn'} & sys.modules.keys());"
        "import bayesfloor.tree; bayesfloor.spanning_forests;"
        "print({'sklearn', 'matplotlib', 'networkx'} & sys.modules.keys())"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["set()", "set()"]


def test_version_is_that_of_the_project():
    import tomllib

    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bayesfloor.__version__ == project["version"]
