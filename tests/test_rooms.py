"""The shape of the package: who may import whom, what is public, and how long a module may get."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import bayesfloor

PACKAGE = Path(bayesfloor.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
IN_ROOMS = [path for path in MODULES if path != PACKAGE / "__init__.py"]

# Each room, and the rooms it may import from.
BELOW = {
    "data": set(),
    "forest": {"data"},
    "floor": {"data", "forest"},
    "tree": {"data", "forest", "floor"},
    "classify": {"data", "forest", "floor", "tree"},
    "meta": {"data", "forest", "floor"},
    "report": {"data", "forest", "floor", "tree", "meta"},
    "cli": {"data", "forest", "floor", "tree", "classify", "meta", "report"},
}

PUBLIC = {
    "BayesError",
    "BayesErrorEstimator",
    "BayesErrorSelector",
    "ClassFloorsDisplay",
    "ClassForests",
    "ClassNode",
    "ClassTree",
    "ClassTreeDisplay",
    "CostMatrix",
    "CrammerSingerSVC",
    "DAGClassifier",
    "DatasetInfo",
    "DifficultyReport",
    "Finding",
    "Forests",
    "GenSVC",
    "GenSVCCV",
    "GenSVMPath",
    "HenzePenroseDivergence",
    "HierarchicalClassifier",
    "LabelNoiseCheck",
    "LabelNoiseDisplay",
    "LearnedFloor",
    "LearnedFloorDisplay",
    "LearningCurve",
    "LinearSVCCV",
    "LinearSVMPath",
    "OneVsOneSVC",
    "OneVsRestBayesError",
    "PairwiseBayesError",
    "PairwiseHeatmapDisplay",
    "SelectionPath",
    "SelectionPathDisplay",
    "SmartSVC",
    "Table",
    "TransformComparison",
    "TransformComparisonDisplay",
    "__version__",
    "bayes_class_weight",
    "bayes_cost_matrix",
    "bayes_error",
    "build_class_tree",
    "class_affinity",
    "class_forests",
    "compare_transforms",
    "difficulty_report",
    "gensvm_path",
    "henze_penrose_divergence",
    "label_noise_check",
    "learned_floor",
    "linear_svm_path",
    "list_datasets",
    "load_dataset",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "read_table",
    "spanning_forests",
}


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Full names of the modules of this package that a source imports, wherever it does so.

    The one exception is what a method called plot imports from report.displays: pictures are made on demand.
    """

    def visit(node: ast.AST, function: str) -> Iterator[str]:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            # "from bayesfloor import data" imports a room, "from bayesfloor.data import x" a name or a module
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.FunctionDef):
            function = node.name
        for name in names:
            drawn = function == "plot" and name.startswith("bayesfloor.display")
            if name.split(".")[0] == "bayesfloor" and not drawn:
                yield name
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    yield from visit(ast.parse(source), "")


def forbidden_imports(source: str, room: str, package: str) -> list[str]:
    allowed = {room, *BELOW[room]}
    return [name for name in imported_modules(source, package) if [*name.split("."), ""][1] not in allowed]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", IN_ROOMS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    package = ".".join(["bayesfloor", *path.relative_to(PACKAGE).parent.parts])
    assert forbidden_imports(path.read_text(encoding="utf-8"), room_of(path), package) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("from bayesfloor import floor", ["bayesfloor.floor"]),
        ("import bayesfloor.floor.y", ["bayesfloor.floor.y"]),
        ("import bayesfloor", ["bayesfloor"]),
        ("from ..floor import x", ["bayesfloor.floor.x"]),
        ("from .. import floor", ["bayesfloor.floor"]),
        ("def f():\n    from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("if TYPE_CHECKING:\n    from bayesfloor.floor import x", ["bayesfloor.floor.x"]),
        ("def plot():\n    from bayesfloor.report import render", ["bayesfloor.report.render"]),
        ("def plot():\n    from bayesfloor.display import x", []),
        ("def plot():\n    from bayesfloor.report import displays", []),
        ("from bayesfloor.data.validation import x\nfrom . import kruskal\nfrom .kruskal import x\nimport numpy", []),
    ],
)
def test_the_import_test_can_fail(source, found):
    assert forbidden_imports(source, "forest", "bayesfloor.forest") == found


def test_every_room_is_known():
    assert {room_of(path) for path in IN_ROOMS} <= BELOW.keys()


def test_public_names_are_these_and_all_can_be_imported():
    assert set(bayesfloor.__all__) == PUBLIC
    assert len(bayesfloor.__all__) == len(PUBLIC)
    for name in PUBLIC:
        assert name in dir(bayesfloor)
        assert getattr(bayesfloor, name) is not None


def test_type_checkers_see_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert seen.keys() | {"__version__"} == PUBLIC
    for name, module in seen.items():
        assert getattr(import_module(module), name) is getattr(bayesfloor, name)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'bayesfloor' has no attribute 'nonsense'"):
        bayesfloor.nonsense  # noqa: B018


def test_importing_the_package_loads_nothing_else():
    script = "import sys, bayesfloor; print({'numpy', 'numba', 'sklearn'} & sys.modules.keys())"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_public_names_do_not_load_scikit_learn():
    # Its import alone takes longer than most forests.
    script = "import sys, bayesfloor; bayesfloor.spanning_forests; print('sklearn' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_short_and_have_names_that_say_something(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert path.stem not in {"utils", "helpers", "common", "misc"}


def test_version_is_that_of_the_project():
    import tomllib

    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bayesfloor.__version__ == project["version"]
