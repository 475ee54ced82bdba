"""Facts about a play that can be counted: pips, points, hits, blots and the rolls that hit them, blocks, the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.board import CONTACT, Boards, opponent_view, phase, pip_count
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.movegen import afterstates_of
from engine.outcome import is_finished
from engine.rules import BAR, HEAD, OFF, Rules

ALL_ROLLS = 36
BLOCK_WORTH_NAMING = 3


@dataclass(frozen=True, kw_only=True)
class Block:
    """A run of consecutive held points, `rear` to `front` as its owner counts them along the opponent's route.

    `held` opposing checkers still have to pass it; those on the bar count.
    """

    length: int
    rear: int
    front: int
    held: int


@dataclass(frozen=True, kw_only=True)
class PlayFacts:
    """What a play does, seen by the player who makes it; points are his own.

    Attributes:
        pips_before, pips: his pip count before and after; `pips_opponent` after.
        is_contact: whether the sides can still block or hit each other after the play.
        can_be_hit: whether they can hit, under these rules and on this board.
        made, broken: points newly held, and held no more (short: two checkers hold a point; long: one does).
        hits: points on which an opposing checker was hit.
        borne_off: checkers borne off by this play.
        head: checkers on the head after the play and how many left it, where the game has a head rule.
        blots: single checkers that the opponent can hit, each with the number of the 36 rolls that hit it.
        hit_rolls: how many of the 36 rolls hit at least one.
        block, block_before: the longest block that holds a checker, if any is worth naming.
        stuck_rolls: how many of the 36 rolls leave the opponent nothing to play.
    """

    is_pass: bool
    pips_before: int
    pips: int
    pips_opponent: int
    is_contact: bool
    can_be_hit: bool
    made: tuple[int, ...]
    broken: tuple[int, ...]
    hits: tuple[int, ...]
    borne_off: int
    head: int | None
    head_taken: int
    blots: tuple[tuple[int, int], ...]
    hit_rolls: int
    block: Block | None
    block_before: Block | None
    stuck_rolls: int


def play_facts(board: Boards, afterstate: Boards, rules: Rules) -> PlayFacts:
    """The facts of one play.

    Args:
        board: int8 [2, 26] before the play, row 0 the player.
        afterstate: int8 [2, 26] after it, rows not exchanged.
        rules: the exact variant.
    """
    holds = 2 if rules.can_hit else 1
    before, after = board[0], afterstate[0]
    points = np.arange(BAR)
    is_point = points != OFF
    made = points[is_point & (before[:BAR] < holds) & (after[:BAR] >= holds)]
    broken = points[is_point & (before[:BAR] >= holds) & (after[:BAR] < holds)]
    hit = points[is_point & (board[1, :BAR] > afterstate[1, :BAR])]
    blots, hit_rolls, stuck = _opponent_rolls(afterstate, rules)
    pips = pip_count(afterstate)
    has_head = rules.has_head_rule
    is_contact = bool(phase(afterstate, rules) == CONTACT)
    return PlayFacts(
        is_pass=bool(np.array_equal(board, afterstate)),
        pips_before=int(pip_count(board)[0]),
        pips=int(pips[0]),
        pips_opponent=int(pips[1]),
        is_contact=is_contact,
        can_be_hit=is_contact and rules.can_hit,
        made=_falling(made),
        broken=_falling(broken),
        hits=_falling(rules.opponent_point[hit]),
        borne_off=int(after[OFF] - before[OFF]),
        head=int(after[HEAD]) if has_head else None,
        head_taken=int(before[HEAD] - after[HEAD]) if has_head else 0,
        blots=blots,
        hit_rolls=hit_rolls,
        block=longest_block(afterstate, rules),
        block_before=longest_block(board, rules),
        stuck_rolls=stuck,
    )


def longest_block(board: Boards, rules: Rules) -> Block | None:
    """The longest run of points that row 0 holds in front of opposing checkers; the one that holds more, if equal.

    Args:
        board: int8 [2, 26].
        rules: the exact variant.
    Returns:
        None where no run of `BLOCK_WORTH_NAMING` points has an opposing checker behind it.
    """
    holds = 2 if rules.can_hit else 1
    best: Block | None = None
    run: list[int] = []
    for index in range(HEAD, -1, -1):  # along the opponent's route, his 24 first; 0 ends the last run
        point = int(rules.opponent_point[index])
        if index != OFF and board[0, point] >= holds:
            run.append(point)
            continue
        if len(run) >= BLOCK_WORTH_NAMING:
            held = int(board[1, index + len(run) + 1 :].sum())
            block = Block(length=len(run), rear=run[0], front=run[-1], held=held)
            if held and (best is None or (block.length, held) > (best.length, best.held)):
                best = block
        run = []
    return best


def _opponent_rolls(afterstate: Boards, rules: Rules) -> tuple[tuple[tuple[int, int], ...], int, int]:
    """Blots with the rolls that hit each, rolls that hit any, and rolls that leave the opponent no play."""
    if is_finished(afterstate):
        return (), 0, 0
    boards = np.repeat(opponent_view(afterstate)[None], len(ROLLS), axis=0)
    plays, offsets = afterstates_of(boards, ROLLS, rules, threads=1)
    starts = offsets[:-1]
    weights = np.rint(ROLL_WEIGHTS * ALL_ROLLS).astype(np.int64)
    is_stuck = (np.diff(offsets) == 1) & (plays[starts] == boards).all(axis=(1, 2))
    blots: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    if rules.can_hit:
        blots = np.flatnonzero(afterstate[0, :BAR] == 1)
        blots = blots[(blots != OFF) & _can_be_met(afterstate, blots, rules)][::-1]
    is_hit = plays[:, 1, blots] == 0  # [M, blots]
    by_roll = np.logical_or.reduceat(is_hit, starts, axis=0)  # [21, blots]
    each = tuple((int(point), int(weights @ by_roll[:, row])) for row, point in enumerate(blots))
    return each, int(weights @ by_roll.any(axis=1)), int(weights @ is_stuck)


def _can_be_met(afterstate: Boards, points: npt.NDArray[np.int64], rules: Rules) -> npt.NDArray[np.bool_]:
    """Whether an opposing checker has still to come to or past each point."""
    rear = int(np.flatnonzero(afterstate[1])[-1])
    return np.asarray(rules.opponent_point[points] < rear)


def _falling(points: npt.NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(sorted((int(p) for p in points), reverse=True))
