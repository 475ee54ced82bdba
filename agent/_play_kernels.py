"""Best plays of many boards, one roll of look-ahead, and whole games for self-play."""

from __future__ import annotations

import numpy as np
from numba import njit

from agent._net_kernels import best_state, finished_class, judge_batch, new_scratch
from engine._bit_kernels import ENTRY, INNER
from engine._movegen_kernels import new_workspace

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FAIR = 4294967292  # the largest multiple of 36 that 32 bits hold; draws from it up are drawn again
MAX_TURNS = 1000  # a longer game is cut and its outcome is -1


@njit(**INNER)
def mixed(seed, turn, salt):
    """64 well mixed bits of a game's seed, a turn and a salt (the finaliser of splitmix64)."""
    x = seed + GOLDEN * (np.uint64(turn) * np.uint64(64) + np.uint64(salt) + np.uint64(1))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**ENTRY)
def roll_at(seed, turn, no_double):
    """Dice of a turn of a game: a function of its seed and the turn number alone."""
    for salt in range(48):
        bits = np.int64(mixed(seed, turn, salt) >> np.uint64(32))
        if bits >= FAIR:
            continue
        die1, die2 = bits % 36 // 6 + 1, bits % 6 + 1
        if not (no_double and die1 == die2):
            return die1, die2
    return 2, 1  # never: the chance is below 1e-37


@njit(**INNER)
def chance_at(seed, turn, salt):
    """A number in [0, 1) of a turn of a game, apart from its dice (salt 48..63)."""
    return np.float64(mixed(seed, turn, salt) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**INNER)
def copy_state(ws, state, out):
    for slot in range(26):
        out[0, slot] = ws.cells[state, slot]
        out[1, slot] = ws.cells[state, 26 + slot]


@njit(**ENTRY)
def choose_batch(net, boards, dice, code, points, tables, chosen, probs):
    """Best afterstate and its probabilities for each board and roll; a finished board stays as it is."""
    ws = new_workspace()
    scratch = new_scratch(net)
    for i in range(boards.shape[0]):
        best, _, _, _ = best_state(ws, net, scratch, boards[i], dice[i, 0], dice[i, 1], code, points, tables)
        if best < 0:
            chosen[i] = boards[i]
            judge_batch(net, boards[i : i + 1].reshape(1, 52), code, tables, probs[i : i + 1])
        else:
            copy_state(ws, best, chosen[i])
            probs[i] = scratch.best


@njit(**ENTRY)
def best_replies(ws, net, scratch, board, code, points, tables, afterstates, probs):
    """Best afterstate [21, 2, 26] and its probabilities [21, K] for each of the 21 rolls of one board."""
    roll = 0
    for die1 in range(1, 7):
        for die2 in range(1, die1 + 1):
            best, _, _, _ = best_state(ws, net, scratch, board, die1, die2, code, points, tables)
            copy_state(ws, best, afterstates[roll])
            probs[roll] = scratch.best
            roll += 1


@njit(**ENTRY)
def roll_values_batch(net, boards, code, points, tables, afterstates, probs):
    """`best_replies` of each unfinished board: into [N, 21, 2, 26] and [N, 21, K], seen by the side on roll."""
    ws = new_workspace()
    scratch = new_scratch(net)
    for i in range(boards.shape[0]):
        best_replies(ws, net, scratch, boards[i], code, points, tables, afterstates[i], probs[i])


@njit(**ENTRY)
def look_ahead_batch(net, afterstates, code, points, tables, out):
    """1-ply probabilities [N, K] of afterstates, seen by the player who just moved.

    The mean over the opponent's 21 rolls of his best reply; a finished board is certain.
    """
    ws = new_workspace()
    scratch = new_scratch(net)
    outputs = out.shape[1]
    half = outputs // 2
    board = np.empty((2, 26), np.int8)
    replies = np.empty((21, 2, 26), np.int8)
    probs = np.empty((21, outputs), np.float32)
    for i in range(afterstates.shape[0]):
        if afterstates[i, 0, 0] == 15 or afterstates[i, 1, 0] == 15:
            judge_batch(net, afterstates[i : i + 1].reshape(1, 52), code, tables, out[i : i + 1])
            continue
        board[0] = afterstates[i, 1]
        board[1] = afterstates[i, 0]
        best_replies(ws, net, scratch, board, code, points, tables, replies, probs)
        total = np.zeros(outputs, np.float64)
        roll = 0
        for die1 in range(1, 7):
            for die2 in range(1, die1 + 1):
                weight = 1.0 if die1 == die2 else 2.0
                for k in range(outputs):
                    total[(k + half) % outputs] += weight * probs[roll, k]
                roll += 1
        for k in range(outputs):
            out[i, k] = total[k] / 36.0


@njit(**ENTRY)
def play_game(
    ws, scratch_a, scratch_b, net_a, net_b, seed, start, code, points, tables, kept, rates, afterstates, values, greedy
):
    """Play one game, net_a first; record every turn; return (turns, outcome for the last mover or -1).

    `rates`: the chance that a turn is random, for the first rates[1] turns and after them (rates[0], rates[2]).
    """
    board = start.copy()
    for turn in range(afterstates.shape[0]):
        die1, die2 = roll_at(seed, turn, kept and turn == 0)
        if turn % 2 == 0:
            best, _, first, last = best_state(ws, net_a, scratch_a, board, die1, die2, code, points, tables)
            values[turn] = scratch_a.best
        else:
            best, _, first, last = best_state(ws, net_b, scratch_b, board, die1, die2, code, points, tables)
            values[turn] = scratch_b.best
        rate = rates[0] if turn < rates[1] else rates[2]
        played = best
        if rate > 0.0 and last - first > 1 and chance_at(seed, turn, 50) < rate:
            played = first + int(chance_at(seed, turn, 51) * (last - first))
        greedy[turn] = played == best
        copy_state(ws, played, afterstates[turn])
        board[0] = afterstates[turn, 1]
        board[1] = afterstates[turn, 0]
        if board[1, 0] == 15:
            return turn + 1, finished_class(ws.cells[played], code)
    return afterstates.shape[0], -1


@njit(**ENTRY)
def play_games(
    net_a, net_b, seeds, start, code, points, tables, kept, rates, done, afterstates, values, greedy, offsets, outcomes
):
    """Play games done.. one after another until the turn buffers may be too short for another; return games done."""
    ws = new_workspace()
    scratch_a, scratch_b = new_scratch(net_a), new_scratch(net_b)
    for game in range(done, seeds.shape[0]):
        begin = offsets[game]
        end = begin + MAX_TURNS
        if end > afterstates.shape[0]:
            return game
        turns, outcome = play_game(
            ws,
            scratch_a,
            scratch_b,
            net_a,
            net_b,
            seeds[game],
            start,
            code,
            points,
            tables,
            kept,
            rates,
            afterstates[begin:end],
            values[begin:end],
            greedy[begin:end],
        )
        offsets[game + 1] = begin + turns
        outcomes[game] = outcome
    return seeds.shape[0]
