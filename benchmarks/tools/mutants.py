"""Change the package at random, one place at a time, and tell which changes the tests find.

A mutant is one slip in one place: a comparison or a sign turned, a constant one too high, ``and`` for ``or``, a ``not``
left out, a condition turned, an axis exchanged, a keyword left out. 300 are drawn from a fixed seed, rooms by their
share of the lines, and kept in a list, so that two suites, or the suite before and after, face the same ones; the
faults of `planted_faults`, planted by hand, come on top::

    python -m benchmarks.tools.mutants draw            300 mutants, into benchmarks/tools/mutants.jsonl
    python -m pytest --cov --cov-context=test --junitxml=durations.xml
    python -m benchmarks.tools.mutants select          which tests run the line of each, into mutants-selected.jsonl
    python -m benchmarks.tools.mutants run             each of them with these tests, into mutants-found.jsonl
    python -m benchmarks.tools.mutants run data tree   those of two rooms
    python -m benchmarks.tools.mutants faults          the faults that are planted by hand

The libraries are loaded once. Each mutant is a forked process in which a loader serves the changed module, with at most
`N_TESTS` tests. A mutant counts as found when a test fails, and passes with the module unchanged, run the same way.
Machine code of kernels that the change reaches is compiled anew and not kept. A line that is no longer there is drawn
anew from the same function.
"""

import argparse
import ast
import importlib.abc
import importlib.util
import json
import os
import random
import re
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from xml.etree import ElementTree

from benchmarks.tools.planted_faults import FAULTS, Fault, planted

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "benchmarks" / "tools" / "mutants.jsonl"
SEED, N_MUTANTS, FEWEST_OF_ROOM = 57, 300, 5
#: Tests that a mutant faces: those that run its line and little else, and the shortest.
N_TESTS, N_FILES = 25, 6
#: CPU seconds after which a mutant counts as hanging, which is found; more where kernels are compiled.
LIMIT_S, COMPILING_S = 60, 150
#: What is loaded once, before processes are forked.
LIBRARIES = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.spatial", "sklearn.ensemble", "sklearn.linear_model",
    "sklearn.model_selection", "sklearn.utils.estimator_checks", "pandas", "polars", "pyarrow", "hypothesis",
    "hypothesis.extra.numpy", "numba", "networkx", "narwhals", "jinja2", "pytest",
)  # fmt: skip
TURNED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """A place in the package and what is changed there.

    Attributes
    ----------
    file : str
        Below ``src/bayesfloor``.
    function : str
        The function around it, or "".
    line : str
        The line's text without the space around it.
    nth : int
        Which of the places of this kind on lines of this text in this function.
    kind : str
        What is changed.
    """

    file: str
    function: str
    line: str
    nth: int
    kind: str

    @property
    def room(self) -> str:
        """The folder of the package that the file is in."""
        return self.file.partition("/")[0]


class Place(NamedTuple):
    """A node of a file that can be changed: its number in the walk of the tree, and its line."""

    mutant: Mutant
    node: int
    lineno: int
    is_compiled: bool


def module_of(file: str) -> str:
    """Return the name of the module of a file."""
    return "bayesfloor." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


# --- where something can be changed, and how


def kinds_of(node: ast.AST) -> Iterator[str]:
    """Name the changes that a node allows."""
    if isinstance(node, ast.Compare):
        yield from (f"comparison {k}" for k, op in enumerate(node.ops) if type(op) in TURNED)
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in TURNED:
        yield "operator"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "constant"  # True and False among them
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign"
    elif isinstance(node, ast.If | ast.IfExp):
        yield "condition"
    elif isinstance(node, ast.Call):
        yield from (f"keyword {k.arg}" for k in node.keywords if k.arg is not None and k.arg != "axis")


def places_in(file: str, text: str) -> list[Place]:
    """List what can be changed in a file: no annotations, no messages of errors."""
    tree, lines = ast.parse(text), text.splitlines()
    passed: set[int] = set()
    functions: dict[int, tuple[str, bool]] = {}

    def note(node: ast.AST, name: str, is_compiled: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside, compiled = name, is_compiled
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{name}.{child.name}".lstrip(".")
                compiled = is_compiled or any("kernel" in ast.unparse(each) for each in child.decorator_list)
            functions[id(child)] = inside, compiled
            note(child, inside, compiled)

    note(tree, "", False)
    for node in ast.walk(tree):
        skipped: list[ast.AST] = []
        if isinstance(node, ast.FunctionDef):
            annotated = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
            skipped = [*[each.annotation for each in annotated if each.annotation], *node.decorator_list]
            skipped += [node.returns] if node.returns else []
        elif isinstance(node, ast.ClassDef):
            skipped = [*node.decorator_list]
        elif isinstance(node, ast.AnnAssign):
            skipped = [node.annotation]
        elif isinstance(node, ast.Raise):
            skipped = [node]
        passed.update(id(each) for top in skipped for each in ast.walk(top))
    found: list[Place] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in passed or not hasattr(node, "lineno"):
            continue
        function, is_compiled = functions[id(node)]
        line = lines[node.lineno - 1].strip()
        for kind in kinds_of(node):
            key = function, line, kind
            nth = seen[key] = seen.get(key, -1) + 1
            found.append(Place(Mutant(file, function, line, nth, kind), number, node.lineno, is_compiled))
    return found


def changed(text: str, place: Place) -> ast.Module:
    """Return the tree of a file with one place changed."""
    tree = ast.parse(text)
    node: Any = list(ast.walk(tree))[place.node]
    kind, _, which = place.mutant.kind.partition(" ")
    if kind == "comparison":
        node.ops[int(which)] = TURNED[type(node.ops[int(which)])]()
    elif kind == "operator":
        node.op = TURNED[type(node.op)]()
    elif kind == "constant":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif kind == "condition":
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif kind == "keyword":
        node.keywords = [each for each in node.keywords if each.arg != which]
    else:

        class Without(ast.NodeTransformer):
            """Leaves one sign or ``not`` out."""

            def visit_UnaryOp(self, visited: ast.UnaryOp) -> ast.AST:
                """Return what the sign stands before."""
                return node.operand if visited is node else self.generic_visit(visited)

        tree = Without().visit(tree)
    return ast.fix_missing_locations(tree)


def draw(source: Path, n: int = N_MUTANTS, seed: int = SEED) -> list[Mutant]:
    """Draw mutants: rooms by their share of the places, each with a few at the least."""
    rng = random.Random(seed)
    by_room: dict[str, list[Mutant]] = {}
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(source).as_posix()
        if "/" in file:
            places = places_in(file, path.read_text(encoding="utf-8"))
            by_room.setdefault(file.partition("/")[0], []).extend(place.mutant for place in places)
    total = sum(map(len, by_room.values()))
    drawn: list[Mutant] = []
    for found in by_room.values():
        drawn += rng.sample(found, max(FEWEST_OF_ROOM, round(n * len(found) / total)))
    rng.shuffle(drawn)  # so that the first of them are a sample of all
    return drawn


def located(mutant: Mutant, source: Path) -> Place | None:
    """Find the place of a mutant; where its line has changed, one of the same function, by its hash."""
    path = source / mutant.file
    if not path.is_file():
        return None
    places = places_in(mutant.file, path.read_text(encoding="utf-8"))
    for place in places:
        if place.mutant == mutant:
            return place
    alike = [place for place in places if place.mutant.function == mutant.function]
    return random.Random(repr(mutant)).choice(alike) if alike else None


# --- which tests a mutant faces


class Selection:
    """Which tests run which lines, as a run of the suite under coverage has it."""

    def __init__(self, coverage_file: Path, durations: Path, source: Path) -> None:
        from coverage import CoverageData

        self.source = source
        self.data = CoverageData(str(coverage_file))
        self.data.read()
        self.lines = {
            Path(file).relative_to(source).as_posix(): self.data.contexts_by_lineno(file)
            for file in self.data.measured_files()
            if Path(file).is_relative_to(source)
        }
        self.breadth: dict[str, int] = {}
        for of_file in self.lines.values():
            for contexts in of_file.values():
                for test in self._tests(contexts):
                    self.breadth[test] = self.breadth.get(test, 0) + 1
        self.seconds: dict[str, float] = {}
        for case in ElementTree.parse(durations).iter("testcase"):
            if not any(child.tag in ("failure", "error", "skipped") for child in case):
                file = case.get("classname", "").replace(".", "/") + ".py"
                self.seconds[f"{file}::{case.get('name')}"] = float(case.get("time", 0))

    def _tests(self, contexts: Iterable[str]) -> set[str]:
        return {context.partition("|")[0] for context in contexts if context}

    def of(self, place: Place) -> list[str]:
        """Return tests that run the line of a place, those that run little else and the shortest first."""
        by_line = self.lines.get(place.mutant.file, {})
        if place.is_compiled:
            known = self._callers(place.mutant)
        else:
            known = self._tests(by_line.get(place.lineno, ()))
        # what runs when a module is loaded is seen by the tests of the module
        known = known or self._tests(context for contexts in by_line.values() for context in contexts)
        usable = [test for test in known if test in self.seconds and self.seconds[test] < LIMIT_S / 3]
        narrow = sorted(usable, key=lambda test: (self.breadth[test], test))
        short = sorted(usable, key=lambda test: (self.seconds[test], test))
        chosen: dict[str, None] = {}
        files: set[str] = set()
        for pair in zip(narrow, short, strict=True):
            for test in pair:
                file = test.partition("::")[0]
                if len(chosen) < N_TESTS and (file in files or len(files) < N_FILES):
                    chosen[test] = None
                    files.add(file)
        return sorted(chosen, key=lambda test: self.seconds[test])

    def _callers(self, mutant: Mutant) -> set[str]:
        """Return tests that run a line which names a kernel; where only kernels do, those that name these."""
        names, seen, found = {mutant.function.rpartition(".")[2]}, set(), set()
        while names and not found:
            seen |= names
            pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
            names = set()
            for file, by_line in self.lines.items():
                text = (self.source / file).read_text(encoding="utf-8")
                for number, line in enumerate(text.splitlines(), 1):
                    if pattern.search(line) and not line.lstrip().startswith(("from", "import", "def", "#")):
                        found |= self._tests(by_line.get(number, ()))
                        names |= self._function_at(file, text, number)
            names -= seen
        return found

    def _function_at(self, file: str, text: str, number: int) -> set[str]:
        inside = [
            node.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef) and node.lineno <= number <= (node.end_lineno or 0)
        ]
        return set(inside[-1:])


# --- processes


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves one module from a tree, and has kernels that depend on it compiled anew."""

    def __init__(self, file: str, code: Any, source: Path) -> None:
        self.name, self.path, self.code = module_of(file), source / file, code
        self.stale = reached_by(self.name, source)

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find the one module that is changed."""
        if name == self.name:
            is_package = self.path.name == "__init__.py"
            places = [str(self.path.parent)] if is_package else None
            return importlib.util.spec_from_file_location(
                name, self.path, loader=self, submodule_search_locations=places
            )
        return None

    def create_module(self, spec: Any) -> None:
        """Leave it to the interpreter to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        exec(self.code, module.__dict__)

    def install(self) -> None:
        """Serve the module from now on."""
        sys.meta_path.insert(0, self)
        from bayesfloor.runtime import kernel_cache

        stale, files = self.stale, kernel_cache.KernelFiles
        begin = files.__init__

        def kept_unless_stale(own: Any, function: Any, source: str | None) -> None:
            begin(own, function, None if function.__module__ in stale else source)

        files.__init__ = kept_unless_stale  # type: ignore[method-assign]


def reached_by(module: str, source: Path) -> frozenset[str]:
    """Return a module and all that import it, directly or through others."""
    imports: dict[str, set[str]] = {}
    for path in source.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        own = module_of(path.relative_to(source).as_posix())
        for name in re.findall(r"^\s*from (bayesfloor[\w.]*) import", text, re.MULTILINE):
            imports.setdefault(name, set()).add(own)
    found, pending = set[str](), [module]
    while pending:
        if (name := pending.pop()) not in found:
            found.add(name)
            pending += imports.get(name, ())
    return frozenset(found)


class First:
    """A plugin of pytest that notes the first test that fails."""

    def __init__(self) -> None:
        self.failed, self.n_passed = "", 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what failed, and count what passed."""
        if report.failed:
            self.failed = self.failed or report.nodeid
        self.n_passed += report.passed and report.when == "call"

    def pytest_collectreport(self, report: Any) -> None:
        """Note a file that cannot be loaded."""
        if report.failed:
            self.failed = self.failed or f"{report.nodeid} cannot be loaded: {str(report.longrepr)[-300:]}"


def started(file: str, code: Any, tests: Sequence[str], source: Path, seconds: int) -> tuple[int, int]:
    """Fork a process that runs tests with a module changed; return it and where its answer comes."""
    answer, end = os.pipe()
    process = os.fork()
    if process:
        os.close(end)
        return process, answer
    os.close(answer)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("bayesfloor", "benchmarks")]:
        del sys.modules[name]  # those of the checkout that is looked at are to be loaded
    try:
        Changed(file, code, source).install()
        import pytest

        first = First()
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-m", ""]
        # pytest loads no library itself here, and scipy.sparse, which wants the second ignored, was loaded before
        ignored = "ignore::pytest.PytestAssertRewriteWarning", "ignore:the matrix subclass:PendingDeprecationWarning"
        status = pytest.main([*options, *(f"-W{each}" for each in ignored), *tests], plugins=[first])
        told = {"status": int(status), "failed": first.failed, "n_passed": first.n_passed}
    except BaseException as error:
        told = {"status": -1, "failed": f"{type(error).__name__}: {error}", "n_passed": 0}
    os.write(end, json.dumps(told).encode())
    os._exit(0)


def outcomes(
    tasks: Iterator[tuple[Any, str, Any, Sequence[str], int]], source: Path, at_once: int = 1
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Run (key, file, code, tests, seconds), some at a time; yield each key with what came of it."""
    running: dict[int, tuple[Any, int, float, int]] = {}
    more = True
    while more or running:
        while more and len(running) < at_once:
            if (task := next(tasks, None)) is None:
                more = False
                break
            key, file, code, tests, seconds = task
            process, answer = started(file, code, tests, source, seconds)
            running[process] = key, answer, time.perf_counter(), seconds
        for process, (*_, begun, limit) in list(running.items()):
            if time.perf_counter() - begun > 6 * limit:
                os.kill(process, 9)
            ended, _, used = os.wait4(process, os.WNOHANG)  # not those of a run around this one
            if not ended:
                continue
            key, answer, *_ = running.pop(process)
            text = os.read(answer, 2**16)
            os.close(answer)
            told = json.loads(text) if text else {"status": 1, "failed": "it goes on for ever, or dies", "n_passed": 0}
            yield key, told | {"cpu_s": round(used.ru_utime + used.ru_stime, 1)}
        time.sleep(0.02)


def run(root: Path, selected: Sequence[tuple[Mutant, list[str]]], at_once: int) -> Iterator[dict[str, Any]]:
    """Run the tests of each mutant; yield what was found.

    A test that fails with the module as it is, served the same way, finds nothing: it is left out and named in the end.
    """
    source = root / "src" / "bayesfloor"
    waiting = list(reversed(selected))
    right: dict[tuple[str, str], bool] = {}
    broken: set[str] = set()
    unreached: list[dict[str, Any]] = []

    def tasks() -> Iterator[tuple[Any, str, Any, Sequence[str], int]]:
        while waiting:
            mutant, tests = waiting.pop()
            place = located(mutant, source)
            tests = [test for test in tests if test not in broken]
            if place is None or not tests:
                unreached.append({**mutant._asdict(), "found": False, "by": "no test runs it", "cpu_s": 0.0})
                continue
            path = source / mutant.file
            code = compile(changed(path.read_text(encoding="utf-8"), place), str(path), "exec")
            seconds = COMPILING_S if place.is_compiled else LIMIT_S
            yield (mutant, tests), mutant.file, code, tests, seconds

    while waiting:
        for (mutant, tests), told in outcomes(tasks(), source, at_once):
            is_found = told["status"] != 0
            if is_found:
                again = [told["failed"]] if told["failed"] in tests else tests
                key = mutant.file, again[0] if len(again) == 1 else " ".join(again)
                if key not in right:
                    path = source / mutant.file
                    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
                    ((_, control),) = outcomes(iter([(None, mutant.file, code, again, COMPILING_S)]), source)
                    right[key] = control["status"] == 0 and control["n_passed"] > 0
                    if not right[key]:
                        broken.update([control["failed"]] if control["failed"] in tests else again)
                if not right[key]:
                    waiting.append((mutant, tests))
                    continue
            yield {**mutant._asdict(), "found": is_found, "by": told["failed"], "cpu_s": told["cpu_s"]}
    yield from unreached
    if broken:
        print(f"{len(broken)} tests fail by themselves and were left out: {sorted(broken)}", flush=True)


def run_faults(root: Path, faults: Sequence[Fault], at_once: int) -> Iterator[dict[str, Any]]:
    """Run the tests of each fault that is planted by hand."""
    source = root / "src" / "bayesfloor"

    def tasks() -> Iterator[tuple[Any, str, Any, Sequence[str], int]]:
        for fault in faults:
            code = compile(planted(fault), str(source / fault.file), "exec")
            yield fault, fault.file, code, [f"tests/{name}" for name in fault.tests.split()], COMPILING_S

    for fault, told in outcomes(tasks(), source, at_once):
        yield {"file": fault.file, "line": fault.new.strip(), "found": told["status"] != 0, "by": told["failed"]}


def main() -> None:
    """Draw mutants, or run tests with them and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["draw", "select", "run", "faults"])
    parser.add_argument("rooms", nargs="*", help="rooms whose mutants are run; all by default")
    parser.add_argument("--list", type=Path, default=LIST, help="file of the mutants")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout whose package and tests are taken")
    parser.add_argument("--coverage", type=Path, default=Path(".coverage"), help="which test runs which line")
    parser.add_argument("--durations", type=Path, default=Path("durations.xml"), help="what each test takes")
    parser.add_argument("--selected", type=Path, default=Path("mutants-selected.jsonl"), help="file of their tests")
    parser.add_argument("--out", type=Path, default=Path("mutants-found.jsonl"), help="file of what was found")
    parser.add_argument("--at-once", type=int, default=2, help="processes")
    given = parser.parse_args()
    root = given.root.resolve()
    source, out = root / "src" / "bayesfloor", given.out.resolve()
    if given.what == "draw":
        _write(given.list, [mutant._asdict() for mutant in draw(source)])
        return
    if given.what == "select":
        mutants = [Mutant(**row) for row in _read(given.list)]
        selection = Selection(given.coverage, given.durations, source)
        places = [located(mutant, source) for mutant in mutants]
        tests = [[] if place is None else selection.of(place) for place in places]
        rows = zip(mutants, tests, strict=True)
        _write(given.selected, [{"mutant": mutant._asdict(), "tests": of_mutant} for mutant, of_mutant in rows])
        return
    sys.path[:0] = [str(root / "src"), str(root)]
    if given.what == "run":
        known = [{name: row[name] for name in Mutant._fields} for row in _read(out)]
        selected = [(Mutant(**row["mutant"]), row["tests"]) for row in _read(given.selected)]
        selected = [each for each in selected if not given.rooms or each[0].room in given.rooms]
        results = run(root, [each for each in selected if each[0]._asdict() not in known], given.at_once)
    else:
        faults = [fault for fault in FAULTS if not given.rooms or fault.room in given.rooms]
        results = run_faults(root, faults, given.at_once)
    os.chdir(root)
    for library in LIBRARIES:
        importlib.import_module(library)
    with out.open("a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(result) + "\n")
            file.flush()
            by = result["by"] if result["found"] else f"NOT FOUND {result['by']}"
            print(f"{result['file']}: {result['line']} [{result.get('kind', 'by hand')}]: {by}", flush=True)
    rows = _read(out)
    n_found = sum(row["found"] for row in rows)
    print(f"{n_found} of {len(rows)} found")
    sys.exit(n_found < 0.85 * len(rows))


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []


def _write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
