"""How kernels are compiled, and where their machine code is kept.

Every kernel is decorated with `kernel`, which is ``numba.njit(nogil=True)`` with a disk cache of its own. That of numba
is not used, for three reasons:

- It looks at the file of a kernel only. A kernel keeps its machine code when one that it calls in another file changes.
- It raises where no folder is writable, where the disk is full, and where a file is empty or damaged.
- An index lists the signatures of a kernel. Two processes that write it at once can leave it naming the wrong file, and
  then a kernel runs with machine code for other types.

Here the folder is named by the version and a hash of the sources, so that an edit or an upgrade leads to a new one::

    NUMBA_CACHE_DIR/bayesfloor/           the parent folder, where this variable is set
    ~/.cache/bayesfloor/                  else the user's own (XDG_CACHE_HOME, macOS and Windows have theirs)
    /tmp/bayesfloor-1000/                 else a private one, with a warning; where that fails too, nothing is kept
        0.1.0-91c4f0e2b7d35a68/           version and hash
            forest.order.kruskal_kernels.find-21-….bin  one file for each kernel and signature, with its checksum

A kernel defined elsewhere, as those of the study are, is kept there too. It may call kernels of this package and of its
own file; the name of its file is a hash of that file as well.

A file that is missing, damaged or unreadable means that the kernel is compiled again, never an error. A process that
wants a kernel which another one is compiling waits for it.

A small problem is over long before its kernels would be compiled. Kernels that it needs have a plain version, in NumPy
or as the interpreter runs them, with the same results to the last bit: see `spare_compilation`.
"""

import contextlib
import errno
import hashlib
import linecache
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.types import unliteral
from numba.extending import typeof_impl

from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.kernel_compiler import (
    Callee,
    KernelCompiler,
    compile_for_callers,
    inside_kernel,
    rebuilt_callee,
)

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PACKAGE = Path(__file__).parents[1]

# numba sets its options at run time, where type checkers do not see them
_OPTIONS: Any = numba.config

# How many cache folders stay: a few, since people go back and forth between versions and branches.
KEPT_FOLDERS = 4

# Seconds since its last use before a folder may be removed: the processes that started then have loaded what they need.
UNUSED_S = 3600.0

# Seconds that plain versions may take in place of loading kernels, in a process. Most of it is the first of them.
PLAIN_S_TO_LOAD, PLAIN_S_TO_LOAD_ONE = 0.5, 0.03
# Seconds that the plain version of one kernel may take in place of compiling it, in a process.
PLAIN_S_TO_COMPILE_ONE = 1.0
# Seconds that they may take in place of compiling kernels: in one go, and over all starts, which is about half as long
# as it takes to compile them.
PLAIN_S_AT_ONCE, PLAIN_S_IN_ALL = 4.0, 20.0
# Seconds from which a line says that compiled kernels would be faster.
PLAIN_S_TO_MENTION = 1.0

# Seconds to wait for another process that compiles the same kernel.
PATIENCE_S = 120.0

# Whether kernels run their plain versions, in this thread and those that it starts: None until something decides it.
_plainly: ContextVar[bool | None] = ContextVar("plainly", default=None)

# All kernels of the modules that were loaded.
_KERNELS: list[Any] = []


def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    plain: Any = None,
    plain_seconds: Callable[..., float] | None = None,
    **options: Any,
) -> Any:
    """Compile a function on its first call, without the interpreter's lock, and keep the machine code on disk.

    Parameters
    ----------
    function : callable or None, default=None
        The function; None where the decorator is given options.
    plain : callable, True or None, default=None
        The version for `spare_compilation`, which gives the same result to the last bit; True for the function itself,
        where the interpreter is fast enough. None: there is none.
    plain_seconds : callable or None, default=None
        Returns how long that version takes, roughly, for the same arguments; a call outside `spare_compilation` then
        runs it while that takes less, over all calls, than to load or to compile this one kernel. None: it does not.
    **options
        Further options of ``numba.njit``.

    Returns
    -------
    callable
        The kernel. With NUMBA_DISABLE_JIT, the function as it is.
    """
    if function is None:
        return lambda decorated: kernel(decorated, plain=plain, plain_seconds=plain_seconds, **options)
    dispatcher = numba.njit(nogil=True, pipeline_class=KernelCompiler, **options)(function)
    if dispatcher is function:  # NUMBA_DISABLE_JIT
        return function
    template_of = dispatcher.get_call_template

    def template_without_literals(arguments: Any, keywords: Any) -> Any:
        # Called with the constant 0, numba would compile a kernel for it, and again for other integers.
        return template_of([*map(unliteral, arguments)], {name: unliteral(type_) for name, type_ in keywords.items()})  # type: ignore[no-untyped-call]

    dispatcher.get_call_template = template_without_literals
    folder, source = cache_folder(), _source_elsewhere(function)
    if folder is not None and source is not None:
        _cache_in(dispatcher, KernelCache(function, folder, source))
    compile_for_callers(dispatcher)
    _KERNELS.append(dispatcher)
    if plain is None:
        return dispatcher
    return KernelWithPlain(dispatcher, function if plain is True else plain, plain_seconds)


def _source_elsewhere(function: Callable[..., Any]) -> str | None:
    """Return the source that a kernel depends on beside this package: "" within it, None where it is unknown."""
    if function.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, function.__globals__)) or None


def _cache_in(dispatcher: Any, cache: "KernelCache") -> None:
    """Have a kernel keep its machine code, and give its lock back when its compilation is interrupted or fails."""
    dispatcher._cache = cache
    compile_for = dispatcher.compile

    def compile_and_unlock(sig: Any) -> Any:
        with cache.without_new_locks():
            return compile_for(sig)

    dispatcher.compile = compile_and_unlock


class KernelWithPlain:
    """A kernel that can run without being compiled.

    Parameters
    ----------
    compiled : numba dispatcher
        The kernel. Other kernels call this one.
    plain : callable
        What runs in its place inside `plainly`.
    seconds : callable or None
        As `plain_seconds` of `kernel`.
    """

    def __init__(self, compiled: Any, plain: Callable[..., Any], seconds: Callable[..., float] | None) -> None:
        self.compiled, self.plain, self.seconds = compiled, plain, seconds
        self._spent = 0.0

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel, or its plain version."""
        if (decided := _plainly.get()) is not None or self.seconds is None:
            return self.plain(*arguments) if decided else self.compiled(*arguments)
        if self._spent + self.seconds(*arguments) > self._budget():
            return self.compiled(*arguments)
        start = time.monotonic()
        try:
            return self.plain(*arguments)
        finally:
            self._spent += time.monotonic() - start

    def _budget(self) -> float:
        """Return the seconds that the plain version may take in this process."""
        if self.compiled.overloads:
            return 0.0
        if not is_compiled(self.compiled):
            return PLAIN_S_TO_COMPILE_ONE
        return PLAIN_S_TO_LOAD_ONE if KernelCache.was_used else PLAIN_S_TO_LOAD

    def __getattr__(self, name: str) -> Any:
        # numba looks at options of a function before it inlines it, and at the function
        if name in ("compiled", "plain", "seconds"):  # while it is being copied
            raise AttributeError(name)
        return getattr(self.compiled, name)


@typeof_impl.register(KernelWithPlain)
def _type_of(kernel: KernelWithPlain, context: Any) -> Any:
    return typeof_impl(kernel.compiled, context)


def is_plain() -> bool:
    """Tell whether kernels run their plain versions here."""
    return bool(_plainly.get())


@contextlib.contextmanager
def plainly(plain: bool = True) -> Iterator[None]:
    """Run the plain versions of kernels inside a with block, or none of them."""
    token = _plainly.set(plain)
    try:
        yield
    finally:
        _plainly.reset(token)


def never_called() -> list[str]:
    """Name the kernels of the modules that were loaded which have no machine code, and would need some."""
    is_inlined = [each.targetoptions.get("inline") == "always" for each in _KERNELS]
    missing = [
        each for each, inlined in zip(_KERNELS, is_inlined, strict=True) if not inlined and not is_compiled(each)
    ]
    return sorted(f"{each.py_func.__module__}.{each.py_func.__name__}" for each in missing)


@contextlib.contextmanager
def spare_compilation(seconds: float, *needed: Any) -> Iterator[None]:
    """Run the plain versions of kernels inside a with block, where to compile or to load kernels would take longer.

    Time lost for want of compiled kernels is written down: once it adds up to that of a compilation, over all starts,
    they are compiled after all.

    Parameters
    ----------
    seconds : float
        How long plain versions will take, roughly.
    *needed : kernels
        Those that take longest to compile.
    """
    if _plainly.get() is not None or not _pays_off(seconds, needed):
        yield
        return
    start = time.monotonic()
    try:
        with plainly():
            yield
    finally:
        _add_plain_seconds(time.monotonic() - start)


# Seconds that plain versions have taken in this process.
_plain_here = 0.0


def _pays_off(seconds: float, needed: tuple[Any, ...]) -> bool:
    """Tell whether plain versions, which take so long, are the faster choice."""
    if all(not hasattr(kernel, "overloads") or kernel.overloads for kernel in needed):
        return False
    if all(map(is_compiled, needed)):
        return _plain_here + seconds <= PLAIN_S_TO_LOAD
    return seconds <= PLAIN_S_AT_ONCE and _plain_in_all() <= PLAIN_S_IN_ALL


def _plain_account() -> Path | None:
    """Return the file whose size says how long plain versions have run, in hundredths of a second."""
    return None if (folder := cache_folder()) is None else folder / "plain"


def _plain_in_all() -> float:
    account = _plain_account()
    try:
        return _plain_here if account is None else account.stat().st_size / 100
    except OSError:  # there is none yet, or none can be written
        return _plain_here


def _add_plain_seconds(seconds: float) -> None:
    global _plain_here
    if _plain_here <= PLAIN_S_TO_MENTION < _plain_here + seconds:
        _say(f"kernels are not compiled yet; '{PACKAGE.name} warmup' does it, once, and makes this faster")
    _plain_here += seconds
    if _plain_here > PLAIN_S_TO_LOAD and (account := _plain_account()) is not None:
        with contextlib.suppress(OSError), account.open("ab") as file:  # several processes may append at once
            file.write(b"." * (1 + int(100 * seconds)))


def is_compiled(function: Any) -> bool:
    """Tell whether a kernel has machine code already, in this process or on disk."""
    if not hasattr(function, "overloads"):  # not compiled at all: NUMBA_DISABLE_JIT
        return True
    kept = isinstance(function._cache, KernelCache) and any(function._cache.files())
    return bool(function.overloads) or kept


class KernelCache(NullCache):
    """The machine code of one kernel on disk, a file for each signature.

    Parameters
    ----------
    function : callable
        The Python function.
    folder : Path
        Where to keep the files. Its name changes with the sources, see `cache_folder`.
    source : str
        Source that the machine code depends on and the folder's name does not know.
    """

    #: Whether a kernel was loaded or compiled in this process.
    was_used = False

    def __init__(self, function: Callable[..., Any], folder: Path, source: str) -> None:
        module = function.__module__.partition(".")[2]
        name = re.sub(r"[<>]", "", f"{module}.{function.__qualname__}")
        # as a name can be defined twice in a file, its line is part of the file's name
        self._stem = f"{name}-{function.__code__.co_firstlineno}"
        self._folder, self._source = folder, source
        self._locks: dict[Path, IO[bytes]] = {}

    @property
    def cache_path(self) -> str:
        """The folder, for ``kernel.stats``."""
        return str(self._folder)

    def files(self) -> Iterable[Path]:
        """Return the files of all signatures."""
        return self._folder.glob(f"{self._stem}-*.bin")

    def flush(self) -> None:
        """Remove the files of all signatures: ``kernel.recompile()`` compiles them again."""
        for path in self.files():
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load machine code.

        Parameters
        ----------
        sig : tuple of numba types or Signature
            Types of the arguments.
        target_context : numba target context
            What the machine code is for.

        Returns
        -------
        CompileResult or None
            None where there is none that can be used.
        """
        KernelCache.was_used = True
        target_context.refresh()  # the machine code refers to what is registered here
        path = self._path(sig, target_context.codegen(), for_kernels=inside_kernel())
        pickled = kept(path)
        if pickled is None:
            _announce()
            self._lock(path)
            pickled = kept(path)  # another process may have compiled it meanwhile
        if pickled is None:
            return None
        self._unlock(path)
        saved_sig, reduced = pickle.loads(pickled)
        if saved_sig != sig:  # two types can have the same name
            return None
        if inside_kernel():
            return rebuilt_callee(target_context, reduced)
        return CompileResult._rebuild(target_context, *reduced)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Save machine code.

        Parameters
        ----------
        sig : tuple of numba types or Signature
            Types of the arguments.
        cres : CompileResult
            What numba compiled.
        """
        if cres.lifted or cres.library.has_dynamic_globals:
            raise TypeError(f"kernel {self._stem} refers to an object that exists in this process only")
        pickled = dumps((sig, cres._reduce()))  # type: ignore[no-untyped-call]
        path = self._path(sig, cres.codegen, for_kernels=isinstance(cres.entry_point, Callee))
        keep(path, pickled)
        self._unlock(path)

    @contextlib.contextmanager
    def without_new_locks(self) -> Iterator[None]:
        """Give back, at the end of a with block, the locks that were taken inside it; whoever waits then compiles."""
        before = set(self._locks)
        try:
            yield
        finally:
            for path in set(self._locks) - before:
                self._unlock(path)

    def _lock(self, path: Path) -> None:
        """Take the lock of a kernel, so that other processes wait for it instead of compiling the same.

        The system gives a lock back when its process ends, however it does. Without locks, all of them compile.
        """
        try:
            lock = path.with_suffix(".lock").open("ab")
        except OSError:
            return
        if _take(lock):
            self._locks[path] = lock
        else:
            lock.close()

    def _unlock(self, path: Path) -> None:
        if (lock := self._locks.pop(path, None)) is not None:
            # those that wait hold the same file, and see what was compiled
            with contextlib.suppress(OSError):
                path.with_suffix(".lock").unlink()
            lock.close()

    def _path(self, sig: Any, codegen: Any, *, for_kernels: bool) -> Path:
        """Return the file for what code depends on beside this package: types, processor, checks, source, caller."""
        key = repr((sig, codegen.magic_tuple(), _OPTIONS.BOUNDSCHECK, self._source, for_kernels))
        return self._folder / f"{self._stem}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.bin"


def _take(lock: IO[bytes]) -> bool:
    """Wait until a file is locked by this process alone; return whether it is."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if sys.platform == "win32":
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            is_taken = error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
            if not is_taken or time.monotonic() > deadline:  # a file system without locks, or a process that hangs
                return False
        time.sleep(0.02)


_announced = False


def _announce() -> None:
    """Say, once and to a terminal only, that kernels are being compiled."""
    global _announced
    if not _announced:
        _say("compiling kernels, once on this machine")
    _announced = True


def _say(text: str) -> None:
    """Say something to whoever sits at a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"{PACKAGE.name}: {text}", file=sys.stderr)


def kept(path: Path) -> bytes | None:
    """Return what `keep` has written to a file of the cache folder; None where there is none, or it is damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"compiled kernels cannot be read and are compiled again: {_reason(error)}")
        return None
    return content[32:] if hashlib.sha256(content[32:]).digest() == content[:32] else None


def keep(path: Path, content: bytes) -> None:
    """Write a file of the cache folder, with a checksum; warn where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)  # another process may have removed it as unused
        # readable as the umask allows: others may share the folder
        write_whole(path, hashlib.sha256(content).digest() + content, durable=False)
    except OSError as error:
        _warn_once(f"compiled kernels are not kept for the next start: {_reason(error)}")


@cache
def cache_folder() -> Path | None:
    """Find and create the folder for the machine code of these sources; warn where it is not the usual one.

    Returns
    -------
    Path or None
        None where no folder can be used.
    """
    name = folder_name(PACKAGE)
    if name is None:
        return None
    asked = _OPTIONS.CACHE_DIR
    usual = Path(asked) if asked else _user_cache()
    home = usual / PACKAGE.name
    try:
        return _prepare(home, name, private=not asked)
    except OSError as error:
        reason = _reason(error)
    if _can_be_read(home, name, private=not asked):
        return home / name
    advice = "NUMBA_CACHE_DIR can name another folder"
    if sys.platform != "win32":
        try:
            folder = _prepare(Path(tempfile.gettempdir()) / f"{PACKAGE.name}-{os.geteuid()}", name, private=True)
        except OSError as error:
            reason += f"; {_reason(error)}"
        else:
            _warn_once(f"compiled kernels are kept in {str(folder.parent)!r}: {reason}; {advice}")
            return folder
    _warn_once(f"no folder for compiled kernels, so that every start compiles them, for a minute: {reason}; {advice}")
    return None


def folder_name(package: Path) -> str | None:
    """Name the cache folder of a package: its version, and a hash of all that its machine code depends on.

    These are the files that define kernels, the files that those import, and the versions of the compiler.

    Parameters
    ----------
    package : Path
        Folder of the package.

    Returns
    -------
    str or None
        None where there are no sources to look at, as in a zip file.
    """
    sources = kernel_sources(package)
    if not sources:
        return None
    compiler = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
    digest = hashlib.sha256(repr(compiler).encode())
    for path in sorted(sources):
        digest.update(f"\n{path.relative_to(package).as_posix()} {len(sources[path])}\n".encode())
        digest.update(sources[path])
    try:
        version = metadata.version(package.name)
    except metadata.PackageNotFoundError:  # on the path, but not installed
        version = "source"
    return f"{version}-{digest.hexdigest()[:16]}"


def kernel_sources(package: Path) -> dict[Path, bytes]:
    """Read the files that define kernels, and the files of the package that those import.

    A kernel takes constants and other kernels from there. Files that no kernel depends on are left out: an edit of the
    command line should not cost a minute of compilation.
    """
    texts = {path: path.read_bytes() for path in package.rglob("*.py")}
    imports = re.compile(rf"\nfrom {package.name}\.([\w.]+) import ".encode())
    pending = [path for path, text in texts.items() if b"\n@kernel" in text]
    found: dict[Path, bytes] = {}
    while pending:
        path = pending.pop()
        if path in texts and path not in found:
            found[path] = texts[path]
            for match in imports.finditer(b"\n" + texts[path]):
                module = package.joinpath(*match[1].decode().split("."))
                pending += [module.with_suffix(".py"), module / "__init__.py"]
    return found


def _user_cache() -> Path:
    """Return the folder for caches of this user, where the system has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser())
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches"))
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else os.path.expanduser("~/.cache"))


def _prepare(home: Path, name: str, *, private: bool) -> Path:
    """Create the folder `name` in `home`, and remove old ones there.

    Parameters
    ----------
    home : Path
        Folder for all versions of this package.
    name : str
        As of `folder_name`.
    private : bool
        Refuse a home that other users could write to: whoever writes machine code there runs it in this process.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If files cannot be written there, or `home` is not private.
    """
    if not home.is_absolute():  # no home directory is known, and "~" stayed as it is
        raise FileNotFoundError(None, "no such home directory", str(home))
    folder = home / name
    home.parent.mkdir(parents=True, exist_ok=True)
    home.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
    if private and sys.platform != "win32":
        _check_private(home)
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        os.utime(folder)
    if is_new:
        _remove_unused(home)
    return folder


def _can_be_read(home: Path, name: str, *, private: bool) -> bool:
    """Tell whether there are kernels in a folder where nothing can be written, as in a read-only container."""
    try:
        if private and sys.platform != "win32":
            _check_private(home)
        return home.is_absolute() and any((home / name).glob("*.bin"))
    except OSError:
        return False


def _check_private(home: Path) -> None:
    status, parent = home.lstat(), home.parent.stat()
    replaceable = parent.st_mode & stat.S_IWOTH and not parent.st_mode & stat.S_ISVTX
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022 or replaceable:
        raise PermissionError(None, "not a folder that this user alone can write to", str(home))


def _remove_unused(home: Path) -> None:
    """Remove the folders of other sources and versions, except the latest and those that may be in use."""
    ages = []
    for folder in home.iterdir():
        try:
            ages.append((time.time() - folder.stat().st_mtime, folder))
        except FileNotFoundError:  # another process does the same
            continue
    for age, folder in sorted(ages)[KEPT_FOLDERS:]:
        if age > UNUSED_S and re.search("-[0-9a-f]{16}$", folder.name):
            # what cannot be removed stays for the next time; a process that still needs it compiles again
            shutil.rmtree(folder, ignore_errors=True)


def _reason(error: OSError) -> str:
    """Describe an error of a file system in a few words."""
    named = f"{os.fspath(error.filename)!r}: " if error.filename is not None else ""
    return f"{named}{error.strerror or error}"


_warned = False


def _warn_once(text: str) -> None:
    """Warn about the cache, once in a process.

    Results do not depend on the cache. Where warnings are errors this is a line on stderr instead: an exception would
    come out of an import, or out of whichever call is the first.
    """
    global _warned
    if _warned:
        return
    _warned = True
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        if sys.stderr is not None:
            print(f"{PACKAGE.name}: warning: {text}", file=sys.stderr)
