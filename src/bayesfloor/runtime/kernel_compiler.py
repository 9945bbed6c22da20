"""How numba compiles kernels: with a disk cache of their own, and without work that only a caller in Python needs.

The cache of numba is not used, for three reasons:

- It looks at the file of a kernel only. A kernel keeps its machine code when one that it calls in another file changes.
- It raises where no folder is writable, where the disk is full, and where a file is empty or damaged.
- An index lists the signatures of a kernel. Two processes that write it at once can leave it naming the wrong file, and
  then a kernel runs with machine code for other types.

That of `kernel_cache` takes its place.

numba compiles each kernel for Python: LLVM code, two wrappers, machine code. When another kernel calls it, the LLVM
code is linked into that of the caller, where it is optimised and translated to machine code once more::

    called from Python    LLVM code ─► wrapper ─► optimised ─► machine code, which Python calls
    called by a kernel    LLVM code ─► optimised ─► linked into that of the caller

Most kernels are called by kernels only. These have no wrapper and no machine code of their own here, which takes a
quarter off the time to compile them. A kernel that is called both ways is compiled both ways.
"""

import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.types import unliteral

from bayesfloor.runtime.kernel_cache import KernelFiles, keep, kept, say_on_terminal

# numba sets its options at run time, where type checkers do not see them
_OPTIONS: Any = numba.config

_here = threading.local()


def inside_kernel() -> bool:
    """Tell whether what this thread compiles is called by a kernel."""
    return getattr(_here, "depth", 0) > 0


@contextmanager
def _called_by_kernel() -> Iterator[None]:
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        yield
    finally:
        _here.depth -= 1


class CalleeLibrary(JITCodeLibrary):
    """LLVM code that is linked into that of callers, and never translated to machine code by itself."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Refuse: there is no machine code."""
        raise RuntimeError(f"{name} is compiled for callers that are kernels")

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return what `CalleeLibrary.from_bitcode` takes."""
        return self.serialize_using_bitcode()  # type: ignore[no-untyped-call]

    @classmethod
    def from_bitcode(cls, codegen: Any, state: tuple[str, str, bytes]) -> "CalleeLibrary":
        """Return a library that was serialised; its code has been optimised."""
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class Callee:
    """What stands for the machine code of a kernel that was compiled for other kernels."""


class KernelCompiler(Compiler):
    """numba's compiler, which leaves out what the caller of a kernel does not need."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, locals: Any
    ) -> None:
        flags.no_cfunc_wrapper = True  # which code in C would call
        if inside_kernel():
            flags.no_cpython_wrapper = flags.no_compile = True
            library = CalleeLibrary(targetctx.codegen(), "callee")  # type: ignore[no-untyped-call]
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)  # type: ignore[no-untyped-call]

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function for the types that the compiler was made for."""
        result = super().compile_extra(func)  # type: ignore[no-untyped-call]
        if isinstance(result.library, CalleeLibrary):
            result = result._replace(entry_point=Callee())
            result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        else:
            # those of kernels that are linked into this one have had no machine code to be written to
            for environment in result._find_referenced_environments():
                result.codegen.set_env(environment.env_name, environment)
        return result


def rebuilt_callee(target_context: Any, reduced: tuple[Any, ...]) -> Any:
    """Return the result of a compilation for kernels from what ``CompileResult._reduce`` returned."""
    code, descriptor, environment, signature, objectmode, lifted, annotation, reload_init, environments = reduced
    for initialise in reload_init:
        initialise()
    return compile_result(  # type: ignore[no-untyped-call]
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=CalleeLibrary.from_bitcode(target_context.codegen(), code),
        environment=environment,
        entry_point=Callee(),
        fndesc=descriptor,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any], files: KernelFiles) -> Any:
    """Return what compiles a function for each signature that it is called with, by Python and by kernels apart.

    Parameters
    ----------
    function : callable
        The Python function.
    options : dict
        Options of ``numba.njit``.
    files : KernelFiles
        Where machine code is kept.

    Returns
    -------
    numba dispatcher
    """
    dispatcher = numba.njit(nogil=True, pipeline_class=KernelCompiler, **options)(function)
    dispatcher._cache = KernelCache(files)
    compile_for, template_of, add = dispatcher.compile, dispatcher.get_call_template, dispatcher.add_overload

    def compile_for_caller(sig: Any) -> Any:
        # a compilation that is interrupted or fails gives its lock back
        with global_compiler_lock, files.without_new_locks(), _no_garbage_collection():
            arguments = tuple(normalize_signature(sig)[0])  # type: ignore[no-untyped-call]
            existing = dispatcher.overloads.get(arguments)
            if existing is not None and isinstance(existing.entry_point, Callee) and not inside_kernel():
                del dispatcher.overloads[arguments]
            return compile_for(sig)

    def template_for_kernel(arguments: Any, keywords: Any) -> Any:
        # Called with the constant 0, numba would compile a kernel for it, and again for other integers.
        keywords = {name: unliteral(type_) for name, type_ in keywords.items()}  # type: ignore[no-untyped-call]
        with _called_by_kernel():
            return template_of([*map(unliteral, arguments)], keywords)

    def add_unless_callee(result: Any) -> None:
        if isinstance(result.entry_point, Callee):  # Python finds none, and asks for one
            dispatcher.overloads[tuple(result.signature.args)] = result
        else:
            add(result)

    dispatcher.compile, dispatcher.get_call_template = compile_for_caller, template_for_kernel
    dispatcher.add_overload = add_unless_callee
    return dispatcher


class KernelCache(NullCache):
    """The machine code of one kernel on disk, in place of numba's own cache.

    Parameters
    ----------
    files : KernelFiles
        Where it is.
    """

    def __init__(self, files: KernelFiles) -> None:
        self._files = files

    @property
    def cache_path(self) -> str | None:
        """The folder, for ``kernel.stats``."""
        return None if self._files.folder is None else str(self._files.folder)

    def flush(self) -> None:
        """Remove the files of all signatures: ``kernel.recompile()`` compiles them again."""
        for path in self._files.all():
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
        if self._files.folder is None:
            return None
        target_context.refresh()  # the machine code refers to what is registered here
        path = self._path(sig, target_context.codegen(), for_kernels=inside_kernel())
        pickled = kept(path)
        if pickled is None:
            _announce()
            self._files.lock(path)
            pickled = kept(path)  # another process may have compiled it meanwhile
        if pickled is None:
            return None
        self._files.unlock(path)
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
        if self._files.folder is None:
            return
        if cres.lifted or cres.library.has_dynamic_globals:
            raise TypeError(f"kernel {self._files.stem} refers to an object that exists in this process only")
        pickled = dumps((sig, cres._reduce()))  # type: ignore[no-untyped-call]
        path = self._path(sig, cres.codegen, for_kernels=isinstance(cres.entry_point, Callee))
        keep(path, pickled)
        self._files.unlock(path)

    def _path(self, sig: Any, codegen: Any, *, for_kernels: bool) -> Path:
        """Return the file for these types, this processor, checks of indices, and who calls."""
        return self._files.path(sig, codegen.magic_tuple(), _OPTIONS.BOUNDSCHECK, for_kernels)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Collect no garbage inside a with block: a compiler makes many objects, and little garbage in cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_announced = False


def _announce() -> None:
    """Say, once and to a terminal only, that kernels are being compiled."""
    global _announced
    if not _announced:
        say_on_terminal("compiling kernels, once on this machine")
    _announced = True
