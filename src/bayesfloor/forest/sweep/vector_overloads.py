"""What kernels run in place of the functions of `vectors`, in the language of LLVM.

numba learns of it when it is loaded, see `overloaded_in`.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from bayesfloor.forest.sweep.vectors import LANES, LEADING, VECTOR, box_gap, sixteen_distances


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Return the address of an item of a flat array."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [at])


def _load(builder: Any, pointer: Any, vector: ir.VectorType) -> Any:
    """Load a vector from anywhere that a float32 may lie."""
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=4)


def _call(builder: Any, name: str, result: Any, arguments: list[Any], fastmath: tuple[str, ...] = ()) -> Any:
    """Call one of LLVM's own functions."""
    function_type = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.call(function, arguments, fastmath=fastmath)


def _splat(builder: Any, value: Any, vector: ir.VectorType) -> Any:
    """Repeat a number in all lanes."""
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), zeros)


@intrinsic
def _box_gap(
    typing_context: Any, low_a: Any, high_a: Any, at_a: Any, low_b: Any, high_b: Any, at_b: Any, n_axes: Any
) -> Any:
    signature = types.float32(low_a, high_a, types.intp, low_b, high_b, types.intp, types.intp)
    vector = ir.VectorType(ir.FloatType(), LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        in_low_a, in_high_a, from_a, in_low_b, in_high_b, from_b, n = arguments
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
        with cgutils.for_range_slice(builder, n.type(0), n, n.type(LANES), n.type) as (f, _):
            here_a, here_b = builder.add(from_a, f), builder.add(from_b, f)
            sides = [
                _load(builder, _pointer(context, builder, kind, array, at), vector)
                for kind, array, at in (
                    (low_a, in_low_a, here_a),
                    (high_a, in_high_a, here_a),
                    (low_b, in_low_b, here_b),
                    (high_b, in_high_b, here_b),
                )
            ]
            below, above = builder.fsub(sides[2], sides[1]), builder.fsub(sides[0], sides[3])
            maximum = f"llvm.maxnum.v{LANES}f32"
            gap = _call(builder, maximum, vector, [below, above], ("nnan", "nsz"))
            gap = _call(builder, maximum, vector, [gap, ir.Constant(vector, None)], ("nnan", "nsz"))
            added = _call(builder, f"llvm.fmuladd.v{LANES}f32", vector, [gap, gap, builder.load(total)])
            builder.store(added, total)
        start = ir.Constant(ir.FloatType(), 0.0)
        return _call(
            builder,
            f"llvm.vector.reduce.fadd.v{LANES}f32",
            ir.FloatType(),
            [start, builder.load(total)],
            ("reassoc", "nsz"),
        )

    return signature, generate


@intrinsic
def _sixteen_distances(
    typing_context: Any,
    point: Any,
    at_point: Any,
    n_axes: Any,
    local: Any,
    at_local: Any,
    width: Any,
    limit: Any,
    out: Any,
    at_out: Any,
) -> Any:
    signature = types.float32(
        point, types.intp, types.intp, local, types.intp, types.intp, types.float32, out, types.intp
    )
    vector = ir.VectorType(ir.FloatType(), VECTOR)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        in_point, from_point, n, in_local, from_local, step, most, in_out, from_out = arguments
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))

        def add_axes(first: Any, last: Any) -> Any:
            with cgutils.for_range_slice(builder, first, last, n.type(1), n.type) as (f, _):
                value = builder.load(_pointer(context, builder, point, in_point, builder.add(from_point, f)))
                at = builder.add(from_local, builder.mul(f, step))
                others = _load(builder, _pointer(context, builder, local, in_local, at), vector)
                difference = builder.fsub(others, _splat(builder, value, vector))
                terms = [difference, difference, builder.load(total)]
                builder.store(_call(builder, f"llvm.fmuladd.v{VECTOR}f32", vector, terms), total)
            sums = [builder.load(total)]
            return _call(builder, f"llvm.vector.reduce.fmin.v{VECTOR}f32", ir.FloatType(), sums, ("nnan", "nsz"))

        has_more = builder.icmp_signed(">", n, n.type(LEADING))
        leading = builder.select(has_more, n.type(LEADING), n)
        least = cgutils.alloca_once_value(builder, add_axes(n.type(0), leading))
        is_near = builder.fcmp_ordered("<=", builder.load(least), most)
        with builder.if_then(builder.and_(has_more, is_near)):
            builder.store(add_axes(leading, n), least)
        target = _pointer(context, builder, out, in_out, from_out)
        builder.store(builder.load(total), builder.bitcast(target, vector.as_pointer()), align=4)
        return builder.load(least)

    return signature, generate


# what `intrinsic` returns takes the arguments without the first, which type checkers do not know
_box_gap_in_kernels: Any = _box_gap
_sixteen_distances_in_kernels: Any = _sixteen_distances


@overload(box_gap, inline="always")
def _overload_box_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes):
    return lambda low_a, high_a, at_a, low_b, high_b, at_b, n_axes: _box_gap_in_kernels(
        low_a, high_a, at_a, low_b, high_b, at_b, n_axes
    )


@overload(sixteen_distances, inline="always")
def _overload_sixteen_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out):
    return lambda point, at_point, n_axes, local, at_local, width, limit, out, at_out: _sixteen_distances_in_kernels(
        point, at_point, n_axes, local, at_local, width, limit, out, at_out
    )
