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
            forest.order.kruskal.find-21-….bin  one file for each kernel and signature, with its checksum

A file that is missing, damaged or unreadable means that the kernel is compiled again, never an error.
"""

import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parents[1]

# numba sets its options at run time, where type checkers do not see them
_OPTIONS: Any = numba.config

# How many cache folders stay: a few, since people go back and forth between versions and branches.
KEPT_FOLDERS = 4

# Seconds since its last use before a folder may be removed: the processes that started then have loaded what they need.
UNUSED_S = 3600.0


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function on its first call, without the interpreter's lock, and keep the machine code on disk.

    Parameters
    ----------
    function : callable or None, default=None
        The function; None where the decorator is given options.
    **options
        Further options of ``numba.njit``.

    Returns
    -------
    callable
        The kernel. With NUMBA_DISABLE_JIT, the function as it is.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    dispatcher = numba.njit(nogil=True, **options)(function)
    if dispatcher is not function and (folder := cache_folder()) is not None:
        dispatcher._cache = KernelCache(function, folder)
    return dispatcher


def is_compiled(function: Any) -> bool:
    """Tell whether a kernel has machine code already, in this process or on disk."""
    if not hasattr(function, "signatures"):  # not compiled at all: NUMBA_DISABLE_JIT
        return True
    kept = isinstance(function._cache, KernelCache) and any(function._cache.files())
    return bool(function.signatures) or kept


class KernelCache(NullCache):
    """The machine code of one kernel on disk, a file for each signature.

    Parameters
    ----------
    function : callable
        The Python function, defined in a module of this package.
    folder : Path
        Where to keep the files. Its name changes with the sources, see `cache_folder`.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        module = function.__module__.partition(".")[2]
        name = re.sub(r"[<>]", "", f"{module}.{function.__qualname__}")
        # as a name can be defined twice in a file, its line is part of the file's name
        self._stem = f"{name}-{function.__code__.co_firstlineno}"
        self._folder = folder

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
        target_context.refresh()  # the machine code refers to what is registered here
        key = self._key(sig, target_context.codegen())
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn_once(f"compiled kernels cannot be read and are compiled again: {_reason(error)}")
            return None
        checksum, pickled = content[:32], content[32:]
        if hashlib.sha256(pickled).digest() != checksum:
            return None  # a damaged file: it is replaced once the kernel is compiled
        saved_sig, reduced = pickle.loads(pickled)
        if saved_sig != sig:  # two types can have the same name
            return None
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
        path = self._path(self._key(sig, cres.codegen))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)  # another process may have removed it as unused
            _write_whole(path, hashlib.sha256(pickled).digest() + pickled)
        except OSError as error:
            _warn_once(f"compiled kernels are not kept for the next start: {_reason(error)}")

    def _key(self, sig: Any, codegen: Any) -> str:
        """Return what machine code depends on beside the sources: types, processor, checks of indices."""
        return repr((sig, codegen.magic_tuple(), _OPTIONS.BOUNDSCHECK))

    def _path(self, key: str) -> Path:
        return self._folder / f"{self._stem}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.bin"


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that other processes see all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    try:
        return _prepare(usual / PACKAGE.name, name, private=not asked)
    except OSError as error:
        reason = _reason(error)
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
