"""The folder in which machine code is kept, and what else takes longer to make than to read.

It is named by the version and a hash of the sources, so that an edit or an upgrade leads to a new one::

    NUMBA_CACHE_DIR/bayesfloor/           the parent folder, where this variable is set
    ~/.cache/bayesfloor/                  else the user's own (XDG_CACHE_HOME, macOS and Windows have theirs)
    /tmp/bayesfloor-1000/                 else a private one, with a warning; where that fails too, nothing is kept
        0.1.0-91c4f0e2b7d35a68/           version and hash
            forest.order.kruskal_kernels.find-21-….bin  one file for each kernel and signature, with its checksum

A kernel defined elsewhere, as those of the study are, is kept there too. It may call kernels of this package and of its
own file; the name of its file is a hash of that file as well.

A file that is missing, damaged or unreadable means that the kernel is compiled again, never an error. A process that
wants a kernel which another one is compiling waits for it. Nothing here needs numba: a small problem does without.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import IO, Any

from bayesfloor.runtime.files import write_whole

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PACKAGE = Path(__file__).parents[1]

# How many cache folders stay: a few, since people go back and forth between versions and branches.
KEPT_FOLDERS = 4

# Seconds since its last use before a folder may be removed: the processes that started then have loaded what they need.
UNUSED_S = 3600.0

# Seconds to wait for another process that compiles the same kernel.
PATIENCE_S = 120.0

# What machine code depends on beside the sources.
COMPILERS = ("numba", "llvmlite", "numpy")


class KernelFiles:
    """The files of one kernel, one for each signature, and the locks of those that this process is making.

    Parameters
    ----------
    function : callable
        The Python function.
    source : str or None
        Source that the machine code depends on and the folder's name does not know; None: nothing is kept.
    """

    def __init__(self, function: Callable[..., Any], source: str | None) -> None:
        module = function.__module__.partition(".")[2]
        name = re.sub(r"[<>]", "", f"{module}.{function.__qualname__}")
        # as a name can be defined twice in a file, its line is part of the file's name
        self.stem = f"{name}-{function.__code__.co_firstlineno}"
        self.source = source
        self._locks: dict[Path, IO[bytes]] = {}

    @property
    def folder(self) -> Path | None:
        """Where they are; its name changes with the sources, see `cache_folder`. None: nothing is kept."""
        return None if self.source is None else cache_folder()

    def all(self) -> Iterable[Path]:
        """Return the files of all signatures."""
        return () if self.folder is None else self.folder.glob(f"{self.stem}-*.bin")

    def path(self, *depends_on: Any) -> Path:
        """Return the file for what code depends on beside the sources of this package."""
        assert self.folder is not None
        digest = hashlib.sha256(repr((*depends_on, self.source)).encode()).hexdigest()[:32]
        return self.folder / f"{self.stem}-{digest}.bin"

    @contextlib.contextmanager
    def without_new_locks(self) -> Iterator[None]:
        """Give back, at the end of a with block, the locks that were taken inside it; whoever waits then compiles."""
        before = set(self._locks)
        try:
            yield
        finally:
            for path in set(self._locks) - before:
                self.unlock(path)

    def lock(self, path: Path) -> None:
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

    def unlock(self, path: Path) -> None:
        """Give the lock of a kernel back, where this process has it."""
        if (lock := self._locks.pop(path, None)) is not None:
            # those that wait hold the same file, and see what was compiled
            with contextlib.suppress(OSError):
                path.with_suffix(".lock").unlink()
            lock.close()


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


def say_on_terminal(text: str) -> None:
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
    return content[32:] if _checksum(path, content[32:]) == content[:32] else None


def keep(path: Path, content: bytes) -> None:
    """Write a file of the cache folder, with a checksum; warn where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)  # another process may have removed it as unused
        # readable as the umask allows: others may share the folder
        write_whole(path, _checksum(path, content) + content, durable=False)
    except OSError as error:
        _warn_once(f"compiled kernels are not kept for the next start: {_reason(error)}")


def _checksum(path: Path, content: bytes) -> bytes:
    """Return the checksum of a file, which another file that is copied over it does not have."""
    return hashlib.sha256(path.name.encode() + b"\n" + content).digest()


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
    asked = os.environ.get("NUMBA_CACHE_DIR")
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
    compiler = (sys.implementation.cache_tag, *map(_version, COMPILERS))
    digest = hashlib.sha256(repr(compiler).encode())
    for path in sorted(sources):
        digest.update(f"\n{path.relative_to(package).as_posix()} {len(sources[path])}\n".encode())
        digest.update(sources[path])
    try:
        version = metadata.version(package.name)
    except metadata.PackageNotFoundError:  # on the path, but not installed
        version = "source"
    return f"{version}-{digest.hexdigest()[:16]}"


def _version(name: str) -> str:
    """Return the version of a package, without loading it where that can be helped."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return str(import_module(name).__version__)


def kernel_sources(package: Path) -> dict[Path, bytes]:
    """Read the files that define kernels or overloads for them, and the files of the package that those import.

    A kernel takes constants and other kernels from there. Files that no kernel depends on are left out: an edit of the
    command line should not cost a minute of compilation.
    """
    texts = {path: path.read_bytes() for path in package.rglob("*.py")}
    imports = re.compile(rf"\nfrom {package.name}\.([\w.]+) import ".encode())
    pending = [path for path, text in texts.items() if b"\n@kernel" in text or b"\n@overload" in text]
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
