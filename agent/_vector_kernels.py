"""The one operation that a net spends its time on, held in vector registers.

Written as LLVM vectors because a plain loop stores and reloads the sums at every row: measured 3 to 5 times slower.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

FLOAT, WORD = ir.FloatType(), ir.IntType(64)
FLOAT_BYTES, WORD_BYTES = 4, 8


def block_adder(lanes):
    """An intrinsic that adds scaled rows of a table to `lanes` sums, all arguments being addresses or counts."""

    @intrinsic
    def add_block(typingctx, sums, table, rows, scales, count, stride):
        def codegen(context, builder, signature, args):
            emit_block(builder, lanes, *args)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), codegen

    return add_block


def emit_block(builder, lanes, sums, table, rows, scales, count, stride):
    """sums[0:lanes] += scales[k] * table[rows[k] * stride + 0:lanes] (bytes) for k < count."""
    vector = ir.VectorType(FLOAT, lanes)
    sums_at = builder.inttoptr(sums, vector.as_pointer())
    start = builder.load(sums_at, align=FLOAT_BYTES)
    before = builder.block
    loop, after = builder.append_basic_block("rows"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", count, WORD(0)), loop, after)

    builder.position_at_end(loop)
    k, total = builder.phi(WORD), builder.phi(vector)
    row_at = builder.add(rows, builder.mul(k, WORD(WORD_BYTES)))
    row = builder.load(builder.inttoptr(row_at, WORD.as_pointer()), align=WORD_BYTES)
    scale_at = builder.add(scales, builder.mul(k, WORD(FLOAT_BYTES)))
    scale = builder.load(builder.inttoptr(scale_at, FLOAT.as_pointer()), align=FLOAT_BYTES)
    cells_at = builder.inttoptr(builder.add(table, builder.mul(row, stride)), vector.as_pointer())
    cells = builder.load(cells_at, align=FLOAT_BYTES)
    undefined = ir.Constant(vector, ir.Undefined)
    single = builder.insert_element(undefined, scale, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    spread = builder.shuffle_vector(single, undefined, zeros)
    grown = builder.fadd(total, builder.fmul(cells, spread, flags=["fast"]), flags=["fast"])
    following = builder.add(k, WORD(1))
    k.add_incoming(WORD(0), before)
    k.add_incoming(following, loop)
    total.add_incoming(start, before)
    total.add_incoming(grown, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)

    builder.position_at_end(after)
    final = builder.phi(vector)
    final.add_incoming(start, before)
    final.add_incoming(grown, loop)
    builder.store(final, sums_at, align=FLOAT_BYTES)


add_block_64, add_block_32, add_block_8 = block_adder(64), block_adder(32), block_adder(8)


@njit(cache=True, nogil=True)
def add_scaled_rows(sums, table, rows, scales, count):
    """sums += scales[k] * table[rows[k]] for k < count.

    sums float32 [n], n a multiple of 8; table float32, R rows of n; rows int64 and scales float32 [>= count]; all
    contiguous. Sums are added in the order of k, whatever n is.
    """
    n = sums.shape[0]
    sums_at, table_at = sums.ctypes.data, table.ctypes.data
    rows_at, scales_at = rows.ctypes.data, scales.ctypes.data
    stride = n * FLOAT_BYTES
    done = 0
    while done + 64 <= n:
        add_block_64(sums_at + done * FLOAT_BYTES, table_at + done * FLOAT_BYTES, rows_at, scales_at, count, stride)
        done += 64
    while done + 32 <= n:
        add_block_32(sums_at + done * FLOAT_BYTES, table_at + done * FLOAT_BYTES, rows_at, scales_at, count, stride)
        done += 32
    while done + 8 <= n:
        add_block_8(sums_at + done * FLOAT_BYTES, table_at + done * FLOAT_BYTES, rows_at, scales_at, count, stride)
        done += 8
