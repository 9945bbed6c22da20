"""Where machine code is kept, that it is never stale, and that a start never fails for want of a cache.

A small package with copies of `kernels.py` and its parts stands for the library, whose own kernels take a minute to
compile. Importing it anew stands for another start of Python.
"""

import ast
import copy
import errno
import gc
import os
import pickle
import re
import subprocess
import sys
import warnings
from importlib import import_module, invalidate_caches
from pathlib import Path

import numba
import numpy as np
import pytest

from bayesfloor.runtime import kernel_cache, kernels
from bayesfloor.runtime.kernel_compiler import CalleeLibrary

INNER = "from tiny.runtime.kernels import kernel\n\n\n@kernel\ndef inner(x):\n    return x + {}\n"
OUTER = """from tiny.inner import inner
from tiny.runtime.kernels import kernel


@kernel
def outer(x):
    return 2 * inner(x)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory, and a folder for temporary files, of this test alone."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for variable in ("HOME", "USERPROFILE", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "home"


@pytest.fixture
def no_home(home):
    """A home directory in which nothing can be created, whoever asks."""
    home.write_text("a file, not a folder")
    return home


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that imports the small package anew and returns its kernel."""
    package = tmp_path / "source" / "tiny"
    (package / "runtime").mkdir(parents=True)
    for name in ("files.py", "kernel_cache.py", "kernel_compiler.py", "kernels.py"):
        text = Path(kernels.__file__).with_name(name).read_text()
        (package / "runtime" / name).write_text(text.replace("from bayesfloor.", "from tiny."))
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)
    monkeypatch.syspath_prepend(str(package.parent))
    # a file edited within a second of its first compilation would look unchanged to Python's own cache
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        for name in [name for name in sys.modules if name.split(".")[0] in ("tiny", "elsewhere")]:
            del sys.modules[name]

    def start():
        forget()
        invalidate_caches()
        return import_module("tiny.outer").outer

    yield start
    forget()


def files_of(outer):
    return sorted(Path(outer.stats.cache_path).glob("outer.outer-*.bin"))


def hits(outer):
    return sum(outer.stats.cache_hits.values())


ELSEWHERE = """from tiny.outer import outer
from tiny.runtime.kernels import kernel


@kernel
def far(x):
    return outer(x) + {}
"""


def test_an_edit_in_another_file_is_noticed(home, start, tmp_path):
    """Of what a kernel calls, in the package and outside of it."""
    inner = tmp_path / "source" / "tiny" / "inner.py"
    for constant, answer, n_hits in ((1, 4, 0), (1, 4, 1), (2, 6, 0), (1, 4, 1)):
        inner.write_text(INNER.format(constant))
        outer = start()
        assert (outer(1), hits(outer)) == (answer, n_hits)
    for constant, answer, n_hits in ((10, 14, 0), (10, 14, 1), (20, 24, 0)):
        (tmp_path / "source" / "elsewhere.py").write_text(ELSEWHERE.format(constant))
        start()
        far = import_module("elsewhere").far
        assert (far(1), hits(far)) == (answer, n_hits)
    inner.write_text(INNER.format(2))
    start()
    assert import_module("elsewhere").far(1) == 26


def test_folder_is_named_by_what_kernels_depend_on(home, start, tmp_path):
    start()
    package = tmp_path / "source" / "tiny"
    name = kernel_cache.folder_name(package)
    assert name.startswith("source-")
    (package / "command_line.py").write_text("x = 1\n")
    assert kernel_cache.folder_name(package) == name
    names = {name}
    (package / "outer.py").write_text("from tiny.constants import SEVEN\n" + OUTER)
    for constants in ("SEVEN = 7\n", "SEVEN = 8\n"):
        (package / "constants.py").write_text(constants)
        names.add(kernel_cache.folder_name(package))
    assert len(names) == 3
    assert kernel_cache.folder_name(tmp_path / "library.zip" / "tiny") is None  # nothing to look at


def test_all_that_kernels_of_the_library_depend_on_is_looked_at():
    found = kernel_cache.kernel_sources(kernel_cache.PACKAGE)
    modules = {".".join(["bayesfloor", *p.relative_to(kernel_cache.PACKAGE).with_suffix("").parts]) for p in found}
    assert "bayesfloor.forest.order.kruskal_kernels" in modules
    for path in kernel_cache.PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # nothing is compiled past the one decorator
        assert path.name in ("kernels.py", "kernel_compiler.py") or not re.search(r"(?<!triton\.)\bn?jit\b", text)
        assert not re.search(r"@(\w+\.)?kernel\b", text) or path in found
    for text in found.values():
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("bayesfloor") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                assert not str(node.module).startswith("bayesfloor") or node.module in modules


def test_a_kernel_looks_like_its_function_and_is_sent_by_name(home, start):
    outer = start()
    assert (outer.__name__, outer.__module__) == ("outer", "tiny.outer")
    assert pickle.loads(pickle.dumps(outer)) is outer
    assert copy.copy(outer) is outer
    with pytest.raises(AttributeError):
        outer.unknown  # noqa: B018


def test_indices_are_checked_on_request_in_callees_too(home, start, tmp_path, monkeypatch):
    """`make test-bounds` asks for it; what was compiled without such checks is not taken for it, nor the other way."""
    source = tmp_path / "source" / "tiny" / "inner.py"
    source.write_text(INNER.format(1).replace("x + 1", "x[1]"))
    behind = np.array([0.0, 3.0])[:1]
    for checks in (None, 1, 0, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checks)
        outer = start()
        if checks:
            with pytest.raises(IndexError, match="out of bounds"):
                outer(behind)
        else:
            assert outer(behind) == 6.0


def test_folder_that_the_user_names_is_the_parent(home, start, tmp_path, monkeypatch):
    """Others may read it as far as the umask lets them."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    outer = start()
    assert outer(1) == 4
    assert [path.name for path in (tmp_path / "named").iterdir()] == ["tiny"]
    assert not home.exists()
    usual = tmp_path / "usual"
    usual.touch()
    assert [path.stat().st_mode for path in files_of(outer)] == [usual.stat().st_mode]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere temporary folders are each user's own")
def test_unwritable_home_leads_to_a_private_temporary_folder(no_home, start, tmp_path, capsys):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outer = start()
        assert outer(1) == 4
    (warning,) = caught
    assert warning.category is RuntimeWarning
    kept = tmp_path / "temporary" / f"tiny-{os.geteuid()}"
    assert str(warning.message).startswith(f"compiled kernels are kept in {str(kept)!r}: ")
    assert str(no_home) in str(warning.message)
    assert kept.stat().st_mode & 0o777 == 0o700
    assert capsys.readouterr().err == ""
    again = start()  # warnings are errors here, and this one is a line instead
    assert (again(1), hits(again)) == (4, 1)
    assert capsys.readouterr().err == f"tiny: warning: {warning.message}\n"


def test_read_only_folder_with_kernels(home, start, capsys, monkeypatch):
    start()(1)

    def refuse(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    outer = start()
    monkeypatch.setattr(sys.modules["tiny.runtime.kernel_cache"], "write_whole", lambda *_, **__: refuse())
    assert (outer(1), hits(outer), capsys.readouterr().err) == (4, 1, "")
    assert outer(0.5) == 3.0  # is compiled, and cannot be kept
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tiny: warning: compiled kernels are not kept for the next start: ")


@pytest.mark.skipif(os.name != "posix", reason="users and modes are those of POSIX")
@pytest.mark.parametrize("trap", ["link", "open to all", "of another user", "replaceable"])
def test_temporary_folder_that_others_could_write_to_is_refused(trap, no_home, start, tmp_path, capsys, monkeypatch):
    temporary = tmp_path / "temporary"
    folder = temporary / f"tiny-{os.geteuid()}"
    if trap == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif trap == "open to all":
        folder.mkdir()
        folder.chmod(0o777)
    elif trap == "of another user":
        (temporary / "tiny-12345").mkdir()
        monkeypatch.setattr("os.geteuid", lambda: 12345)
    else:
        temporary.chmod(0o777)
    outer = start()
    assert outer(1) == 4
    assert outer.stats.cache_path is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tiny: warning: no folder for compiled kernels, so that every start compiles them")
    assert not list(tmp_path.rglob("*.bin"))


def one_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"\x80\x05garbage" * 50,
    "one bit": one_bit,
}


def test_damaged_files_are_compiled_again(home, start, capsys):
    """So are those of another kernel, or of other types, under their name."""
    outer = start()
    assert outer(1) == 4
    (of_int,) = files_of(outer)
    (of_inner,) = of_int.parent.glob("inner.inner-*.bin")
    assert outer(0.5) == 3.0
    (of_float,) = set(files_of(outer)) - {of_int}
    content = of_int.read_bytes()
    damaged = {name: change(content) for name, change in DAMAGE.items()}
    damaged |= {"other types": of_float.read_bytes(), "other kernel": of_inner.read_bytes()}
    for name, each in damaged.items():
        of_int.write_bytes(each)
        again = start()
        assert (again(1), hits(again)) == (4, 0), name
        healed = start()
        assert (healed(1), hits(healed)) == (4, 1), name
    assert capsys.readouterr().err == ""
    of_int.unlink()
    of_int.mkdir()  # which cannot be read
    again = start()
    assert (again(1), hits(again)) == (4, 0)
    (line,) = capsys.readouterr().err.splitlines()
    assert str(of_int) in line


def test_full_disk(home, start, capsys, monkeypatch):
    def replace(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source)

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", replace)
        outer = start()
        assert (outer(1), outer(0.5)) == (4, 3.0)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tiny: warning: compiled kernels are not kept for the next start: ")
    assert line.endswith(os.strerror(errno.ENOSPC))
    assert list(Path(outer.stats.cache_path).iterdir()) == []


def test_old_folders_are_removed_and_those_in_use_stay(home, start):
    folder = Path(start().stats.cache_path)
    parent = folder.parent
    folder.rmdir()
    now = parent.stat().st_mtime
    old = [parent / f"0.{age}-{age:016x}" for age in range(6)]
    in_use = [parent / f"1.{k}-{k:016x}" for k in range(5)]
    for path in (*old, *in_use, parent / "notes"):
        path.mkdir()
    for age, path in enumerate(old):
        (path / "outer.bin").write_bytes(b"")
        os.utime(path, (now - 3000 * age, now - 3000 * age))
    os.utime(parent / "notes", (0, 0))
    assert start().stats.cache_path == str(folder)
    # others were last used more than an hour ago, and are not of the latest
    left = {path.name for path in parent.iterdir()}
    assert left == {folder.name, "notes", *(path.name for path in (*in_use, *old[:2]))}


CALL_TWICE = """
from tiny.outer import outer
print(outer({}), outer({}), sum(outer.stats.cache_misses.values()))
"""


def test_of_processes_that_start_at_once_one_compiles(home, start, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "source")}
    calls = [
        subprocess.Popen(
            [sys.executable, "-c", CALL_TWICE.format(*arguments)], stdout=-1, stderr=-1, text=True, env=environment
        )
        for arguments in [(1, 0.5), (0.5, 1)]
    ]
    answers = [(*call.communicate(timeout=120), call.returncode) for call in calls]
    printed = [output.split() for output, _, _ in answers]
    assert [line[:2] for line in printed] == [["4", "3.0"], ["3.0", "4"]]
    assert sum(int(n_compiled) for *_, n_compiled in printed) == 2  # each of the two signatures in one process
    assert [rest for _, *rest in answers] == [["", 0], ["", 0]]
    assert not list(home.rglob("*.lock"))
    assert not list(home.rglob("*.part"))
    outer = start()
    assert (outer(1), outer(0.5), hits(outer)) == (4, 3.0, 2)


def test_an_interrupted_compilation_holds_nobody_up(home, start, monkeypatch):
    """Neither this process, which goes on, nor another: there is no lock left."""
    outer = start()
    with monkeypatch.context() as patched:

        def stop(*_):
            raise KeyboardInterrupt

        patched.setattr(outer._compiler, "compile", stop)
        with pytest.raises(KeyboardInterrupt):
            outer(1)
    assert not list(home.rglob("*.lock"))
    assert (outer(1), len(files_of(outer))) == (4, 1)


def test_a_line_says_that_kernels_are_compiled(home, start, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    outer = start()
    outer(1)
    outer(0.5)
    assert capsys.readouterr().err == "tiny: compiling kernels, once on this machine\n"
    start()(1)
    assert capsys.readouterr().err == ""


PLAIN = """from tiny.runtime.kernels import kernel


def said_plainly(x):
    return "plain"


@kernel(plain=said_plainly)
def outer(x):
    return x + 1


@kernel(plain=True)
def caller(x):
    return outer(x)
"""


@pytest.fixture
def start_with_plain(start, tmp_path):
    """Return a function that imports the small package anew; returns a kernel with a plain version, and `kernels`."""
    (tmp_path / "source" / "tiny" / "outer.py").write_text(PLAIN)

    def start_anew():
        outer = start()
        return outer, sys.modules["tiny.runtime.kernels"]

    return start_anew


def test_small_problems_are_not_worth_a_compilation(home, start_with_plain):
    """Nor what is a matter of an instant the time to load a kernel."""
    outer, kernels = start_with_plain()

    def call(seconds):
        with kernels.spare_compilation(seconds, outer):
            return outer(1)

    assert [call(seconds) for seconds in (3.0, 5.0, 0.1)] == ["plain", 2, 2]  # at last it is there
    outer, kernels = start_with_plain()
    assert [call(seconds) for seconds in (0.4, 0.6, 0.4)] == ["plain", 2, 2]
    with kernels.plainly():
        assert (sys.modules["tiny.outer"].caller(1), kernels.is_plain()) == ("plain", True)
        with kernels.plainly(False), kernels.spare_compilation(0.0, outer):
            assert (sys.modules["tiny.outer"].caller(1), kernels.is_plain()) == (2, False)


ONE_OF_ITS_OWN = """from tiny.runtime.kernels import kernel

seconds = 0.1


@kernel(plain=lambda x: "plain", plain_seconds=lambda x: seconds)
def outer(x):
    return x + 1


@kernel
def another(x):
    return x + 2
"""


def test_a_kernel_that_knows_how_long_its_plain_version_takes_decides_for_itself(home, start, tmp_path):
    (tmp_path / "source" / "tiny" / "outer.py").write_text(ONE_OF_ITS_OWN)
    outer = start()
    assert [outer(1), outer(1)] == ["plain", "plain"]
    sys.modules["tiny.outer"].seconds = 2.0  # longer than to compile it
    assert outer(1) == 2
    sys.modules["tiny.outer"].seconds = 0.1
    assert outer(1) == 2  # now that it is there
    outer = start()
    assert outer(1) == "plain"  # to load the first kernel of a process takes longer
    sys.modules["tiny.outer"].another(1)
    assert outer(1) == 2  # to load another one does not
    kernels = sys.modules["tiny.runtime.kernels"]
    with kernels.plainly():
        assert outer(1) == "plain"


# ------------------------------------------------------------------------------------------ kernels that call kernels

# defined anew for each test: whatever was compiled before does not count
FIRST = """
@kernel
def inner(values, first):
    if first >= len(values):
        raise ValueError("there is no such value")
    for i in range(first, len(values)):
        values[i] *= 2
    return values[first]
"""
SECOND = """
@kernel
def outer(values, first):
    return inner(values, first) + 1
"""


def compiled(*sources, decorator=kernels.kernel):
    names = {"kernel": decorator, "__name__": "typed_in"}
    for source in sources:
        exec(compile(source, "<typed in>", "exec"), names)
    return names


@pytest.mark.parametrize("order", [("outer", "inner"), ("inner", "outer")])
def test_python_and_kernels_may_call_one_kernel(order):
    names = compiled(FIRST, SECOND)
    expected = {"outer": 3.0, "inner": 2.0}
    for _ in range(2):
        for name in order:
            assert names[name](np.arange(4.0), 1) == expected[name]
    with pytest.raises(ValueError, match="there is no such value"):
        names["outer"](np.arange(4.0), 4)


def test_callees_of_callees_have_no_machine_code_of_their_own():
    names = compiled(FIRST, SECOND, "@kernel\ndef top(values):\n    return outer(values, 0) + outer(values, 1)\n")
    assert names["top"](np.arange(4.0)) == 1.0 + (2 * 2 * 1.0 + 1)
    libraries = {type(result.library) for name in ("inner", "outer") for result in names[name].overloads.values()}
    assert libraries == {CalleeLibrary}


def test_results_are_those_of_numba_to_the_last_bit():
    rng = np.random.default_rng(0)
    source = "@kernel\ndef inner(x, y):\n    return x * y + x / 3.0\n"
    outer = "@kernel\ndef outer(x, y):\n    s = 0.0\n    for i in range(len(x)):\n        s += inner(x[i], y[i])\n"
    outer += "    return s\n"
    names = compiled(source, outer, decorator=numba.njit)
    x, y = rng.standard_normal((2, 1000))
    assert compiled(source, outer)["outer"](x, y) == names["outer"](x, y)


def test_garbage_is_collected_again_after_a_compilation():
    assert gc.isenabled()
    compiled(FIRST, SECOND)["outer"](np.arange(4.0), 1)
    assert gc.isenabled()
    with pytest.raises(numba.TypingError):
        compiled(FIRST, SECOND)["outer"]("text", 1)
    assert gc.isenabled()
