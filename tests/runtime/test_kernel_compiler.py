"""Kernels that kernels call have no machine code of their own, and one that Python calls too has."""

import gc

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from bayesfloor.runtime.kernel_compiler import CalleeLibrary
from bayesfloor.runtime.kernels import kernel

# defined anew for each test: whatever was compiled before does not count
INNER = """
@kernel
def inner(values, first):
    if first >= len(values):
        raise ValueError("there is no such value")
    for i in range(first, len(values)):
        values[i] *= 2
    return values[first]
"""
OUTER = """
@kernel
def outer(values, first):
    return inner(values, first) + 1
"""


@pytest.fixture
def compiled():
    """Return a function that defines kernels."""

    def define(*sources):
        names = {"kernel": kernel, "__name__": "typed_in"}
        for source in sources:
            exec(compile(source, "<typed in>", "exec"), names)
        return names

    return define


@pytest.fixture
def finalized(monkeypatch):
    """A list of the libraries that became machine code."""
    names = []
    finalize = JITCodeLibrary._finalize_specific

    def note(library):
        names.append(library.name)
        finalize(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", note)
    return names


def libraries_of(dispatcher):
    return [type(result.library) for result in dispatcher.overloads.values()]


def test_a_callee_has_no_machine_code_of_its_own(compiled, finalized):
    names = compiled(INNER, OUTER)
    values = np.arange(4.0)
    assert names["outer"](values, 1) == 3.0
    assert values.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert finalized.count("outer") == 1
    assert "inner" not in finalized
    assert "callee" not in finalized
    assert libraries_of(names["inner"]) == [CalleeLibrary]


@pytest.mark.parametrize("order", [("outer", "inner"), ("inner", "outer")])
def test_python_and_kernels_may_call_one_kernel(order, compiled):
    names = compiled(INNER, OUTER)
    expected = {"outer": 3.0, "inner": 2.0}
    for _ in range(2):
        for name in order:
            assert names[name](np.arange(4.0), 1) == expected[name]
    assert libraries_of(names["inner"]) == [JITCodeLibrary]
    # a second caller links what there is
    again = compiled(INNER, OUTER, OUTER.replace("outer", "other"))
    for name in (*order, "other"):
        assert again[name](np.arange(4.0), 1) == expected.get(name, 3.0)


def test_an_error_of_a_callee_reaches_python(compiled):
    names = compiled(INNER, OUTER)
    with pytest.raises(ValueError, match="there is no such value"):
        names["outer"](np.arange(4.0), 4)


def test_callees_of_callees(compiled):
    names = compiled(INNER, OUTER, "@kernel\ndef top(values):\n    return outer(values, 0) + outer(values, 1)\n")
    assert names["top"](np.arange(4.0)) == 1.0 + (2 * 2 * 1.0 + 1)
    assert {*libraries_of(names["inner"]), *libraries_of(names["outer"])} == {CalleeLibrary}


def test_results_are_those_of_numba_to_the_last_bit(compiled):
    rng = np.random.default_rng(0)
    source = "@kernel\ndef inner(x, y):\n    return x * y + x / 3.0\n"
    outer = "@kernel\ndef outer(x, y):\n    s = 0.0\n    for i in range(len(x)):\n        s += inner(x[i], y[i])\n"
    outer += "    return s\n"
    names = {"kernel": numba.njit}
    for text in (source, outer):
        exec(text, names)
    x, y = rng.standard_normal((2, 1000))
    assert compiled(source, outer)["outer"](x, y) == names["outer"](x, y)


def test_garbage_is_collected_again_after_a_compilation(compiled):
    assert gc.isenabled()
    compiled(INNER, OUTER)["outer"](np.arange(4.0), 1)
    assert gc.isenabled()
    with pytest.raises(numba.TypingError):
        compiled(INNER, OUTER)["outer"]("text", 1)
    assert gc.isenabled()
