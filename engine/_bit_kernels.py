"""Machine instructions on 64-bit masks, and masks of the 52 cells of a board."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine.kernel_cache import CAN_KEEP

# How kernels are compiled. ENTRY: called from Python. INNER: only by kernels, allocating nothing; without wrappers,
# which double the time to compile, and without reference counts, which double the time to run.
ENTRY = {"cache": CAN_KEEP, "nogil": True, "no_cfunc_wrapper": True}
INNER = ENTRY | {"no_cpython_wrapper": True, "_nrt": False}

WORD, BYTE = ir.IntType(64), ir.IntType(8)
HALF, SECOND_HALF = 32, 20  # two loads of 32 cells, the second from cell 20, cover the 52 and no more
CELLS = ir.VectorType(BYTE, HALF)


def load_cells(builder, cells_at):
    """Cells 0..31 and 20..51."""
    starts = (cells_at, builder.add(cells_at, WORD(SECOND_HALF)))
    return [builder.load(builder.inttoptr(start, CELLS.as_pointer()), align=1) for start in starts]


def joined_bits(builder, parts):
    """One bit a cell from the comparisons of both loads."""
    low, high = (builder.zext(builder.bitcast(part, ir.IntType(HALF)), WORD) for part in parts)
    return builder.or_(low, builder.shl(high, WORD(SECOND_HALF)))


@intrinsic
def lowest_bit(typingctx, mask):
    """Index of the lowest set bit of an int64 that is not zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@intrinsic
def highest_bit(typingctx, mask):
    """Index of the highest set bit of an int64 that is not zero."""

    def codegen(context, builder, signature, args):
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), codegen


@intrinsic
def bit_count(typingctx, mask):
    """Number of set bits of an int64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def highest_bit_first(typingctx, mask):
    """The int64 with its 64 bits in reverse order."""

    def codegen(context, builder, signature, args):
        return builder.bitreverse(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def address(typingctx, array):
    """Where the first item of an array lies; the caller keeps the array alive."""

    def codegen(context, builder, signature, args):
        made = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.ptrtoint(made.data, WORD)

    return types.int64(array), codegen


@intrinsic
def cells_above(typingctx, cells_at, least):
    """Bits of those of the 52 cells of a board (int8, at an address) that hold more than `least`."""

    def codegen(context, builder, signature, args):
        level = builder.trunc(args[1], BYTE)
        undefined = ir.Constant(CELLS, ir.Undefined)
        single = builder.insert_element(undefined, level, ir.IntType(32)(0))
        spread = builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(ir.IntType(32), HALF), [0] * HALF))
        parts = [builder.icmp_signed(">", part, spread) for part in load_cells(builder, args[0])]
        return joined_bits(builder, parts)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def cells_that_differ(typingctx, cells_at, others_at):
    """Bits of those of 52 cells (int8, at an address) that another 52 do not share."""

    def codegen(context, builder, signature, args):
        pairs = zip(load_cells(builder, args[0]), load_cells(builder, args[1]), strict=True)
        return joined_bits(builder, [builder.icmp_signed("!=", mine, theirs) for mine, theirs in pairs])

    return types.int64(types.int64, types.int64), codegen
