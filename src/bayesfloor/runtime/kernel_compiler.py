"""numba's compiler without the work that only a caller in Python needs.

numba compiles each kernel for Python: LLVM code, two wrappers, machine code. When another kernel calls it, the LLVM
code is linked into that of the caller, where it is optimised and translated to machine code once more::

    called from Python    LLVM code ─► wrapper ─► optimised ─► machine code, which Python calls
    called by a kernel    LLVM code ─► optimised ─► linked into that of the caller

Most kernels are called by kernels only. These have no wrapper and no machine code of their own here, which takes a
quarter off the time to compile them. A kernel that is called both ways is compiled both ways.
"""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.sigutils import normalize_signature

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
        library = cls(codegen, name)  # type: ignore[no-untyped-call]
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


def compile_for_callers(dispatcher: Any) -> None:
    """Have a dispatcher, whose compiler is `KernelCompiler`, compile itself for Python and for kernels apart."""
    compile_for, template_of, add = dispatcher.compile, dispatcher.get_call_template, dispatcher.add_overload

    def compile_for_caller(sig: Any) -> Any:
        with global_compiler_lock, _no_garbage_collection():
            arguments = tuple(normalize_signature(sig)[0])  # type: ignore[no-untyped-call]
            existing = dispatcher.overloads.get(arguments)
            if existing is not None and isinstance(existing.entry_point, Callee) and not inside_kernel():
                del dispatcher.overloads[arguments]
            return compile_for(sig)

    def template_for_kernel(arguments: Any, keywords: Any) -> Any:
        with _called_by_kernel():
            return template_of(arguments, keywords)

    def add_unless_callee(result: Any) -> None:
        if isinstance(result.entry_point, Callee):  # Python finds none, and asks for one
            dispatcher.overloads[tuple(result.signature.args)] = result
        else:
            add(result)

    dispatcher.compile, dispatcher.get_call_template = compile_for_caller, template_for_kernel
    dispatcher.add_overload = add_unless_callee


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
