"""Kernels: functions that are compiled on their first call, and plain versions for small problems.

Every kernel is decorated with `kernel`::

    kernels ──► kernel_cache       where machine code is kept on disk, and which kernels have some
       └── on the first call ──► kernel_compiler    numba, with that cache

numba is loaded by the first kernel that is called, and not before: to load it takes a quarter of a second.

A small problem is over long before its kernels would be compiled. Kernels that it needs have a plain version, in NumPy
or as the interpreter runs them, with the same results to the last bit: see `spare_compilation`.
"""

import contextlib
import linecache
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from typing import Any

from bayesfloor.runtime.kernel_cache import PACKAGE, KernelFiles, cache_folder, say_on_terminal

# Seconds that plain versions may take in place of loading kernels, in a process. Most of it is the first of them.
PLAIN_S_TO_LOAD, PLAIN_S_TO_LOAD_ONE = 0.5, 0.03
# Seconds that the plain version of one kernel may take in place of compiling it, in a process.
PLAIN_S_TO_COMPILE_ONE = 0.3
# Seconds that they may take in place of compiling kernels: in one go, and over all starts, which is about half as long
# as it takes to compile them.
PLAIN_S_AT_ONCE, PLAIN_S_IN_ALL = 4.0, 20.0
# Seconds from which a line says that compiled kernels would be faster.
PLAIN_S_TO_MENTION = 1.0

# Whether kernels run their plain versions, in this thread and those that it starts: None until something decides it.
_plainly: ContextVar[bool | None] = ContextVar("plainly", default=None)

# All kernels of the modules that were loaded.
_KERNELS: list["Kernel"] = []

# Modules that tell numba what functions of this package which are no kernels do in kernels.
_OVERLOADS: list[str] = []


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
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    made = Kernel(function, options, function if plain is True else plain, plain_seconds)
    _KERNELS.append(made)
    return made


def overloaded_in(module: str) -> None:
    """Have a module with overloads of functions for numba loaded before the first kernel is compiled."""
    _OVERLOADS.append(module)


def _source_elsewhere(function: Callable[..., Any]) -> str | None:
    """Return the source that a kernel depends on beside this package: "" within it, None where it is unknown."""
    if function.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, function.__globals__)) or None


class Kernel:
    """A function that is compiled on its first call.

    What it does not have itself is looked up in numba's dispatcher, which other kernels call.

    Parameters
    ----------
    function : callable
        The Python function.
    options : dict
        Options of ``numba.njit``.
    plain : callable or None
        What runs in its place inside `plainly`.
    seconds : callable or None
        As `plain_seconds` of `kernel`.
    """

    # guards what is made on the first call
    _making = threading.Lock()

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        plain: Callable[..., Any] | None,
        seconds: Callable[..., float] | None,
    ) -> None:
        update_wrapper(self, function)
        self.py_func, self.options, self.plain, self.seconds = function, options, plain, seconds
        self.files = KernelFiles(function, _source_elsewhere(function))
        self._spent = 0.0
        self._compiled: Any = None

    @property
    def compiled(self) -> Any:
        """numba's dispatcher."""
        if self._compiled is None:
            from bayesfloor.runtime.kernel_compiler import dispatcher_of

            with self._making:
                if self._compiled is None:
                    for module in _OVERLOADS:
                        import_module(module)
                    self._compiled = dispatcher_of(self.py_func, self.options, self.files)
        return self._compiled

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel, or its plain version."""
        if self.plain is None:
            return self.compiled(*arguments)
        decided = _plainly.get()
        if decided is not None or self.seconds is None:
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
        if is_loaded(self):
            return 0.0
        if not is_compiled(self):
            return PLAIN_S_TO_COMPILE_ONE
        return PLAIN_S_TO_LOAD_ONE if any(map(is_loaded, _KERNELS)) else PLAIN_S_TO_LOAD

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_compiled" not in self.__dict__:  # while it is being copied
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def __reduce__(self) -> str:
        return self.__qualname__


def is_loaded(kernel: Any) -> bool:
    """Tell whether a kernel has machine code in this process; True where nothing is compiled."""
    return not isinstance(kernel, Kernel) or (kernel._compiled is not None and bool(kernel._compiled.overloads))


def is_compiled(kernel: Any) -> bool:
    """Tell whether a kernel has machine code already, in this process or on disk."""
    return is_loaded(kernel) or any(kernel.files.all())


def never_called() -> list[str]:
    """Name the kernels of the modules that were loaded which have no machine code, and would need some."""
    missing = [each for each in _KERNELS if each.options.get("inline") != "always" and not is_compiled(each)]
    return sorted(f"{each.py_func.__module__}.{each.py_func.__name__}" for each in missing)


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
    if all(map(is_loaded, needed)):
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
        say_on_terminal(f"kernels are not compiled yet; '{PACKAGE.name} warmup' does it, once, and makes this faster")
    _plain_here += seconds
    if _plain_here > PLAIN_S_TO_LOAD and (account := _plain_account()) is not None:
        with contextlib.suppress(OSError), account.open("ab") as file:  # several processes may append at once
            file.write(b"." * (1 + int(100 * seconds)))
