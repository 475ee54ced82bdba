"""The operations that a net spends its time on, held in vector registers.

Written as LLVM vectors because a plain loop stores and reloads the sums at every row: measured 3 to 5 times slower.
All work on addresses (`address` of an array that the caller keeps alive): slicing an array costs two locked
instructions, and two threads that slice the same net wait for each other.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from engine._bit_kernels import INNER

FLOAT, WORD, INDEX = ir.FloatType(), ir.IntType(64), ir.IntType(32)
FLOAT_BYTES, WORD_BYTES = 4, 8
WORD_LANES = 64  # floats that one word of `positive` bits covers


@intrinsic
def add_scaled_rows(typingctx, sums, positive, start, table, rows, scales, count, stride):
    """64 sums = start + scales[k] * table[rows[k]] over k < count, and the word of their bits above 0.

    All int64: addresses but count and stride, the bytes from row to row; sums, start, table and scales of float32,
    rows of int64.
    """

    def codegen(context, builder, signature, args):
        emit_rows(builder, *args)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 8), codegen


def emit_rows(builder, sums, positive, start, table, rows, scales, count, stride):
    lanes = WORD_LANES
    first = load_vector(builder, lanes, start)
    before = builder.block
    loop, after = builder.append_basic_block("rows"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", count, WORD(0)), loop, after)

    builder.position_at_end(loop)
    k, total = builder.phi(WORD), builder.phi(first.type)
    row = builder.load(pointer(builder, rows, k, WORD_BYTES, WORD), align=WORD_BYTES)
    scale = builder.load(pointer(builder, scales, k, FLOAT_BYTES, FLOAT), align=FLOAT_BYTES)
    grown = add_row(builder, lanes, total, builder.add(table, builder.mul(row, stride)), scale)
    following = builder.add(k, WORD(1))
    k.add_incoming(WORD(0), before)
    k.add_incoming(following, loop)
    total.add_incoming(first, before)
    total.add_incoming(grown, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)

    builder.position_at_end(after)
    final = builder.phi(first.type)
    final.add_incoming(first, before)
    final.add_incoming(grown, loop)
    store_sums(builder, lanes, final, sums, positive)


def active_adder(lanes, side_by_side):
    """An intrinsic that adds the rows of a table whose values are positive, times these values, to `lanes` sums.

    `side_by_side` rows a round go into sums of their own: narrow ones would wait for each addition to end, wide ones
    fill the registers alone.
    """

    @intrinsic
    def add_active(typingctx, sums, positive, start, table, values, active, words, stride):
        def codegen(context, builder, signature, args):
            emit_active(builder, lanes, side_by_side, *args)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 8), codegen

    return add_active


def emit_active(builder, lanes, side_by_side, sums, positive, start, table, values, active, words, stride):
    """sums = start + values[i] * table[i] over the set bits i of the words at `active`; positive = bits of sums > 0."""
    first = load_vector(builder, lanes, start)
    starts = [first] + [ir.Constant(first.type, [FLOAT(0.0)] * lanes)] * (side_by_side - 1)
    before = builder.block
    word, rows, following, done = (builder.append_basic_block(name) for name in ("word", "rows", "next", "done"))
    builder.branch(word)

    builder.position_at_end(word)
    at, totals = builder.phi(WORD), [builder.phi(first.type) for _ in starts]
    mask = builder.load(pointer(builder, active, at, WORD_BYTES, WORD), align=1)
    base = builder.mul(at, WORD(WORD_LANES))
    builder.cbranch(builder.icmp_signed("!=", mask, WORD(0)), rows, following)

    builder.position_at_end(rows)
    bits, sums_now = builder.phi(WORD), [builder.phi(first.type) for _ in starts]
    left, grown = bits, []
    for total in sums_now:
        is_empty = builder.icmp_signed("==", left, WORD(0))
        place = builder.select(is_empty, WORD(0), builder.cttz(left, ir.IntType(1)(0)))
        index = builder.add(base, place)
        value = builder.load(pointer(builder, values, index, FLOAT_BYTES, FLOAT), align=FLOAT_BYTES)
        scale = builder.select(is_empty, FLOAT(0.0), value)
        grown.append(add_row(builder, lanes, total, builder.add(table, builder.mul(index, stride)), scale))
        left = builder.and_(left, builder.sub(left, WORD(1)))
    bits.add_incoming(mask, word)
    bits.add_incoming(left, rows)
    for phi, start_value, loop_value in zip(sums_now, totals, grown, strict=True):
        phi.add_incoming(start_value, word)
        phi.add_incoming(loop_value, rows)
    builder.cbranch(builder.icmp_signed("!=", left, WORD(0)), rows, following)

    builder.position_at_end(following)
    ends = [builder.phi(first.type) for _ in starts]
    after = builder.add(at, WORD(1))
    at.add_incoming(WORD(0), before)
    at.add_incoming(after, following)
    for end, total, start_value, loop_value in zip(ends, totals, starts, grown, strict=True):
        end.add_incoming(total, word)
        end.add_incoming(loop_value, rows)
        total.add_incoming(start_value, before)
        total.add_incoming(end, following)
    builder.cbranch(builder.icmp_signed("<", after, words), word, done)

    builder.position_at_end(done)
    store_sums(builder, lanes, reduce(builder.fadd, ends), sums, positive)


def pointer(builder, start, index, size, kind):
    return builder.inttoptr(builder.add(start, builder.mul(index, WORD(size))), kind.as_pointer())


def load_vector(builder, lanes, at):
    return builder.load(builder.inttoptr(at, ir.VectorType(FLOAT, lanes).as_pointer()), align=FLOAT_BYTES)


def add_row(builder, lanes, total, row_at, scale):
    """total + scale * the lanes at row_at."""
    row = load_vector(builder, lanes, row_at)
    undefined = ir.Constant(row.type, ir.Undefined)
    single = builder.insert_element(undefined, scale, INDEX(0))
    spread = builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(INDEX, lanes), [0] * lanes))
    return builder.fadd(total, builder.fmul(row, spread, flags=["fast"]), flags=["fast"])


def store_sums(builder, lanes, total, sums, positive):
    builder.store(total, builder.inttoptr(sums, total.type.as_pointer()), align=FLOAT_BYTES)
    is_positive = builder.fcmp_ordered(">", total, ir.Constant(total.type, [FLOAT(0.0)] * lanes))
    bits = builder.bitcast(is_positive, ir.IntType(lanes))
    builder.store(bits, builder.inttoptr(positive, ir.IntType(lanes).as_pointer()), align=1)


@intrinsic
def floats_that_differ(typingctx, first, second):
    """Bits of those of 64 floats at an address that the 64 at another do not equal."""

    def codegen(context, builder, signature, args):
        mine, theirs = (load_vector(builder, WORD_LANES, at) for at in args)
        return builder.bitcast(builder.fcmp_unordered("!=", mine, theirs), WORD)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def float_of_bits(typingctx, bits):
    """The float32 that 32 bits are."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], FLOAT)

    return types.float32(types.int32), codegen


add_active_64, add_active_32, add_active_8 = active_adder(64, 1), active_adder(32, 2), active_adder(8, 4)


@njit(**INNER)
def add_active_rows(sums, positive, start, table, values, active, words, n):
    """sums[n] = start[n] + values[i] * table[i, n] over the set bits i of the words at `active`; their own bits.

    All are addresses but `words` and n, a multiple of 8; `positive` gets a bit for every sum above 0.
    """
    stride = n * FLOAT_BYTES
    done = 0
    while done + 64 <= n:
        at = done * FLOAT_BYTES
        add_active_64(sums + at, positive + done // 8, start + at, table + at, values, active, words, stride)
        done += 64
    if done + 32 <= n:
        at = done * FLOAT_BYTES
        add_active_32(sums + at, positive + done // 8, start + at, table + at, values, active, words, stride)
        done += 32
    while done + 8 <= n:
        at = done * FLOAT_BYTES
        add_active_8(sums + at, positive + done // 8, start + at, table + at, values, active, words, stride)
        done += 8


@njit(**INNER, inline="always")
def exp_float32(x):
    """e to a float32 of 0 or less, to 1e-7 of its size; below -87 about 1e-38.

    Source: Cephes expf (range reduction by ln 2 in two parts, polynomial of degree 5).
    """
    x = max(x, np.float32(-87.0))
    whole = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - whole * np.float32(0.693359375) - whole * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    return (p * r * r + r + np.float32(1.0)) * float_of_bits(np.int32((np.int32(whole) + 127) << 23))
