"""Where machine code is kept, that it is never stale, and that a start never fails for want of a cache.

A small package with copies of `kernels.py` and its parts stands for the library, whose own kernels take a minute to
compile. Importing it anew stands for another start of Python.
"""

import ast
import copy
import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
import warnings
import zipfile
from importlib import import_module, invalidate_caches, metadata
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from bayesfloor.runtime import kernel_cache, kernels

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


def test_an_edit_in_another_file_is_noticed(home, start, tmp_path):
    outer = start()
    assert outer(1) == 4
    again = start()
    assert (again(1), hits(again)) == (4, 1)
    inner = tmp_path / "source" / "tiny" / "inner.py"
    inner.write_text(INNER.format(2))
    edited = start()
    assert (edited(1), hits(edited)) == (6, 0)
    inner.write_text(INNER.format(1))
    undone = start()
    assert (undone(1), hits(undone)) == (4, 1)


ELSEWHERE = """from tiny.outer import outer
from tiny.runtime.kernels import kernel


@kernel
def far(x):
    return outer(x) + {}
"""


def test_an_edit_of_a_kernel_outside_the_package_is_noticed(home, start, tmp_path):
    def far(constant):
        (tmp_path / "source" / "elsewhere.py").write_text(ELSEWHERE.format(constant))
        start()
        return import_module("elsewhere").far

    assert far(10)(1) == 14
    again, edited = far(10), far(20)
    assert (again(1), hits(again)) == (14, 1)
    assert (edited(1), hits(edited)) == (24, 0)
    (tmp_path / "source" / "tiny" / "inner.py").write_text(INNER.format(2))
    assert far(20)(1) == 26


def test_a_kernel_in_an_archive_is_kept(home, start, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("elsewhere.py", ELSEWHERE.format(10))
    monkeypatch.syspath_prepend(str(tmp_path / "archive.zip"))
    for n_hits in (0, 1):
        start()
        far = import_module("elsewhere").far
        assert (far(1), hits(far)) == (14, n_hits)


def test_a_kernel_without_a_source_is_not_kept(home, start):
    start()
    namespace = {"__name__": "typed_in"}
    exec(compile(ELSEWHERE.format(10), "<typed in>", "exec"), namespace)
    assert namespace["far"](1) == 14
    assert namespace["far"].stats.cache_path is None


def test_folder_is_named_by_version_and_by_what_kernels_depend_on(home, start, tmp_path, monkeypatch):
    start()
    package = tmp_path / "source" / "tiny"
    name = kernel_cache.folder_name(package)
    assert name.startswith("source-")
    versions = {name: metadata.version(name) for name in kernel_cache.COMPILERS}
    with monkeypatch.context() as patched:
        patched.setattr("importlib.metadata.version", (versions | {"tiny": "1.0"}).get)
        assert kernel_cache.folder_name(package) == name.replace("source", "1.0")
    (package / "command_line.py").write_text("x = 1\n")
    assert kernel_cache.folder_name(package) == name
    (package / "outer.py").write_text("from tiny.constants import SEVEN\n" + OUTER)
    with_import = kernel_cache.folder_name(package)
    (package / "constants.py").write_text("SEVEN = 7\n")
    with_seven = kernel_cache.folder_name(package)
    (package / "constants.py").write_text("SEVEN = 8\n")
    with_eight = kernel_cache.folder_name(package)
    monkeypatch.setattr("importlib.metadata.version", (versions | {"numba": "0", "tiny": "source"}).get)
    assert len({name, with_import, with_seven, with_eight, kernel_cache.folder_name(package)}) == 5


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


def test_sources_in_a_zip_file_are_not_cached(tmp_path):
    assert kernel_cache.folder_name(tmp_path / "library.zip" / "tiny") is None


def test_a_kernel_looks_like_its_function_and_is_sent_by_name(home, start):
    outer = start()
    assert (outer.__name__, outer.__module__) == ("outer", "tiny.outer")
    assert pickle.loads(pickle.dumps(outer)) is outer
    assert copy.copy(outer) is outer
    with pytest.raises(AttributeError):
        outer.unknown  # noqa: B018


def test_options_are_those_of_numba_and_its_settings_stay(home, start):
    def add(x):
        return x + 1

    plain, inlined = kernels.kernel(add), kernels.kernel(inline="always", fastmath={"contract"})(add)
    assert plain.targetoptions == numba.njit(nogil=True)(add).targetoptions
    assert inlined.targetoptions == {**plain.targetoptions, "inline": "always", "fastmath": {"contract"}}
    folder = numba.config.CACHE_DIR
    start()(1)
    assert folder == numba.config.CACHE_DIR


def test_without_compilation(home, start, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    outer = start()
    assert outer(1) == 4
    assert not hasattr(outer, "stats")
    assert kernels.is_compiled(outer)
    assert not home.exists()


def test_is_compiled_in_this_process_or_on_disk(home, start):
    def is_compiled(outer):
        return sys.modules["tiny.runtime.kernels"].is_compiled(outer)

    outer = start()
    assert not is_compiled(outer)
    outer(1)
    assert is_compiled(outer)
    again = start()
    assert is_compiled(again)
    shutil.rmtree(again.stats.cache_path)
    assert not is_compiled(again)


def test_what_a_kernel_calls_is_kept_for_other_kernels(home, start):
    outer = start()
    assert outer(1) == 4
    for path in files_of(outer):
        path.unlink()
    again = start()
    inner = import_module("tiny.inner").inner
    assert (again(1), hits(again), hits(inner)) == (4, 0, 1)
    assert (inner(1), hits(inner)) == (2, 1)  # for Python it is compiled here
    start()
    inner = import_module("tiny.inner").inner
    assert (inner(1), hits(inner)) == (2, 1)


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


def test_recompile_takes_nothing_from_disk(home, start):
    outer = start()
    outer(1)
    outer.recompile()
    assert hits(outer) == 0
    assert len(files_of(outer)) == 1


def test_folder_that_the_user_names_is_the_parent(home, start, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    assert start()(1) == 4
    assert [path.name for path in (tmp_path / "named").iterdir()] == ["tiny"]
    assert not home.exists()


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


def test_unknown_home_directory(home, start, tmp_path, monkeypatch, capsys):
    # no HOME, and a user whom the system does not know: "~" stays
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.delenv("LOCALAPPDATA")
    monkeypatch.chdir(tmp_path)
    assert start()(1) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert "'~/.cache/tiny': no such home directory" in line or sys.platform != "linux"
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    "damage", ["empty", "truncated", "garbage", "one bit", "other types", "other kernel", "unreadable"]
)
def test_damaged_files_are_compiled_again(damage, home, start, capsys):
    outer = start()
    assert outer(1) == 4
    (path,) = files_of(outer)
    content = path.read_bytes()
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "garbage":
        path.write_bytes(b"\x80\x05garbage" * 50)
    elif damage == "one bit":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "other types":
        assert outer(0.5) == 3.0
        (of_float,) = set(files_of(outer)) - {path}
        shutil.copy(of_float, path)
    elif damage == "other kernel":
        (of_inner,) = path.parent.glob("inner.inner-*.bin")
        shutil.copy(of_inner, path)
    else:
        path.unlink()
        path.mkdir()
    again = start()
    assert (again(1), hits(again)) == (4, 0)
    lines = capsys.readouterr().err.splitlines()
    if damage == "unreadable":
        (line,) = lines
        assert str(path) in line
    else:
        healed = start()
        assert (healed(1), hits(healed), lines) == (4, 1, [])


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


def test_folder_removed_by_another_process(home, start):
    outer = start()
    shutil.rmtree(outer.stats.cache_path)
    assert outer(1) == 4
    assert len(files_of(outer)) == 1


def test_old_folders_are_removed(home, start):
    folder = Path(start().stats.cache_path)
    parent = folder.parent
    folder.rmdir()
    now = folder.parent.stat().st_mtime
    old = [parent / f"0.{age}-{age:016x}" for age in range(6)]
    for age, path in enumerate(old):
        path.mkdir()
        (path / "outer.bin").write_bytes(b"")
        os.utime(path, (now - 3000 * age, now - 3000 * age))
    mine = parent / "notes"
    mine.mkdir()
    os.utime(mine, (0, 0))
    assert start().stats.cache_path == str(folder)
    # the new one and the latest three; the others were last used more than an hour ago
    assert {path.name for path in parent.iterdir()} == {folder.name, "notes", *(path.name for path in old[:3])}


def test_folders_in_use_stay(home, start):
    parent = Path(start().stats.cache_path).parent
    in_use = [parent / f"0.{k}-{k:016x}" for k in range(6)]
    for path in in_use:
        path.mkdir()
    Path(start().stats.cache_path).rmdir()
    start()
    assert all(path.is_dir() for path in in_use)


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


HOLD = """
import sys, time
from tiny.outer import outer
outer._cache.save_overload = lambda sig, compiled: (print("compiled", flush=True), time.sleep(100))
outer(1)
"""


def test_process_that_never_finishes_holds_nobody_up(home, start, tmp_path, monkeypatch):
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "source")}
    other = subprocess.Popen([sys.executable, "-c", HOLD], stdout=-1, text=True, env=environment)
    try:
        assert other.stdout.readline() == "compiled\n"
        for end, patience in (("hanging", 0.1), ("killed", 100.0)):
            if end == "killed":
                other.kill()
                other.wait()
            outer = start()
            monkeypatch.setattr(sys.modules["tiny.runtime.kernel_cache"], "PATIENCE_S", patience)
            assert (outer(1), hits(outer)) == (4, 0), end
            (path,) = files_of(outer)
            path.unlink()
    finally:
        other.kill()
        other.communicate()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_compilation_holds_nobody_up(interrupt, home, start, monkeypatch):
    """Neither this process, which goes on, nor another: there is no lock left."""
    outer = start()
    compile_core = outer._compiler.compile

    def stop(*_):
        raise interrupt

    monkeypatch.setattr(outer._compiler, "compile", stop)
    with pytest.raises(interrupt):
        outer(1)
    assert not list(home.rglob("*.lock"))
    monkeypatch.setattr(outer._compiler, "compile", compile_core)
    began = time.monotonic()
    assert (outer(1), len(files_of(outer))) == (4, 1)
    assert time.monotonic() - began < 120.0


@pytest.mark.skipif(os.name != "posix", reason="users and modes are those of POSIX")
def test_others_may_read_what_is_kept_in_a_shared_folder(start, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "shared"))
    outer = start()
    outer(1)
    usual = tmp_path / "usual"
    usual.touch()  # what the umask leaves
    assert [path.stat().st_mode for path in files_of(outer)] == [usual.stat().st_mode]


def test_a_line_says_that_kernels_are_compiled(home, start, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    outer = start()
    outer(1)
    outer(0.5)
    assert capsys.readouterr().err == "tiny: compiling kernels, once on this machine\n"
    start()(1)
    assert capsys.readouterr().err == ""


def test_constants_are_integers_like_others(home, start, tmp_path):
    (tmp_path / "source" / "tiny" / "outer.py").write_text(OUTER.replace("2 * inner(x)", "inner(x) + inner(0)"))
    outer = start()
    assert outer(1) == 3
    assert [str(signature) for signature in sys.modules["tiny.inner"].inner.signatures] == ["(int64,)"]


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
    outer, kernels = start_with_plain()

    def call(seconds):
        with kernels.spare_compilation(seconds, outer):
            return outer(1)

    assert call(3.0) == "plain"
    assert call(5.0) == 2
    assert call(0.1) == 2  # now that it is there


def test_kernels_on_disk_are_loaded_unless_it_is_a_matter_of_an_instant(home, start_with_plain):
    outer, _ = start_with_plain()
    outer(1)
    outer, kernels = start_with_plain()
    for seconds, answer in ((0.4, "plain"), (0.6, 2), (0.4, 2)):
        with kernels.spare_compilation(seconds, outer):
            assert outer(1) == answer


def test_plain_time_adds_up_until_a_compilation_pays(home, start_with_plain, monkeypatch, capsys):
    for answer in ("plain", "plain", 2):
        outer, kernels = start_with_plain()
        clock = iter((0.0, 15.0))  # both of the plain calls take 15 seconds
        with monkeypatch.context() as patched:
            # a clock of the module's own: other threads of the test run look at the real one
            own = {"monotonic": lambda clock=clock: next(clock, 15.0)}
            patched.setattr(kernels, "time", SimpleNamespace(**vars(time) | own))
            patched.setattr(sys.stderr, "isatty", lambda: True, raising=False)
            with kernels.spare_compilation(3.0, outer):
                assert outer(1) == answer
        said = capsys.readouterr().err
        assert ("tiny: kernels are not compiled yet; 'tiny warmup' does it" in said) == (answer == "plain")


def test_plain_kernels_call_plain_ones(home, start_with_plain):
    outer, kernels = start_with_plain()
    caller = sys.modules["tiny.outer"].caller
    with kernels.plainly():
        assert (caller(1), kernels.is_plain()) == ("plain", True)
        with kernels.plainly(False), kernels.spare_compilation(0.0, outer):
            assert (caller(1), kernels.is_plain()) == (2, False)
    assert caller(1) == 2


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


def test_kernels_that_were_never_called_are_named(home, start_with_plain):
    _, kernels = start_with_plain()
    assert kernels.never_called() == ["tiny.outer.caller", "tiny.outer.outer"]
    sys.modules["tiny.outer"].caller(1)
    assert kernels.never_called() == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere temporary folders are each user's own")
def test_command_line_without_a_home(no_home, tmp_path):
    table = tmp_path / "two_classes.csv"
    table.write_text("x,label\n1,a\n2,a\n3,a\n7,b\n8,b\n9,b\n")
    answer = subprocess.run(
        [sys.executable, "-m", "bayesfloor", "floor", str(table), "--fast", "--json"],
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
    )
    warnings = [line for line in answer.stderr.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert warnings[0].startswith("bayesfloor: warning: compiled kernels are kept in")
    assert (answer.returncode, answer.stdout[:1]) == (0, "{")
