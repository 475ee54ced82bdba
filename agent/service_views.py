"""A game as the web board draws it: the session's snapshot with what can be clicked, said and shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.game_view import turn_text
from agent.service import pass_reasons, reason_dict
from agent.service_seats import Seat
from agent.service_turns import TurnMade
from engine.board import pip_count
from engine.errors import NardyError
from engine.events import State
from engine.fair_dice import FairDice
from engine.position_ids import format_xgid, gnubg_id, xgid_of
from engine.rules import OUTCOME_LEVELS
from engine.session import Session
from engine.table import Table
from engine.turn import Turn


def game_view(
    name: str, table: Table, seats: tuple[Seat, Seat], turns: Sequence[TurnMade], lang: str
) -> dict[str, Any]:
    """All that a board shows of a game, as JSON values.

    Boards are seen by `mover`. `targets` are the ends that a checker can reach by two dice or more; ends of one die are
    in `legal_steps`.

    Args:
        name: the game's number.
        table: the game.
        seats: of player 0 and player 1.
        turns: the turns made so far.
        lang: language of sentences, `en` or `ru`.
    """
    session = table.session
    rules, board = session.rules, session.board
    turn = session.turn
    pips = pip_count(board).tolist()
    last = turns[-1].to_dict(len(turns)) if turns else None
    return {
        "id": name,
        **session.to_dict(),
        "players": [{"text": seat.text, "name": seat.name, "is_person": seat.is_person} for seat in seats],
        "dice_kind": "typed" if table.dice is None else table.dice.kind,
        "proof": _proof(table),
        "pips": pips if session.mover == 0 else pips[::-1],
        "gnubg_id": gnubg_id(board),
        "xgid": format_xgid(xgid_of(board, session.dice)) if rules.can_hit else None,
        "levels": [
            {"level": level, "points": points}
            for level, points in zip(OUTCOME_LEVELS[: rules.game.levels], rules.level_points, strict=True)
        ],
        "toss": next((e["dice"] for e in reversed(session.log) if e["event"] == "toss"), None),
        "targets": _targets(session),
        "play": None if turn is None else turn_text(turn, lang),
        "why_wrong": _why_wrong(session, lang),
        "pass_reasons": _pass_reasons(session, lang),
        "last_turn": last,
        "n_turns": len(turns),
    }


def _proof(table: Table) -> dict[str, Any] | None:
    if not isinstance(table.dice, FairDice):
        return None
    is_over = table.session.state is State.OVER
    return {
        "commitment": table.dice.commitment,
        "nonces": {str(player): nonce for player, nonce in table.dice.nonces.items()},
        "secret": table.dice.secret.hex() if is_over else None,
    }


def _targets(session: Session) -> list[dict[str, Any]]:
    """Ways of one checker by two dice or more, each once, by the fewest dice."""
    turn = session.turn
    if turn is None or len(session.dice_left) < 2:
        return []
    found: list[dict[str, Any]] = []
    single = {(step.start, step.end) for step in session.legal_steps()}
    for start in sorted({start for start, _ in single}, reverse=True):
        for pips in _sums(session.dice_left):
            move = (start, max(0, start - pips))
            if move in single or any((f["start"], f["end"]) == move for f in found):
                continue
            steps = turn.find_steps([move], session.is_strict)
            if steps is not None:
                ways = [{"start": int(s.start), "end": int(s.end), "die": int(s.die)} for s in steps]
                found.append({"start": move[0], "end": move[1], "steps": ways})
    return found


def _sums(dice: tuple[int, ...]) -> list[int]:
    return [sum(dice[:count]) for count in range(2, len(dice) + 1)]


def _why_wrong(session: Session, lang: str) -> dict[str, Any] | None:
    """Why the board as it lies is no correct turn: in review, and while the turn is being played."""
    turn = session.turn
    if turn is None or turn.is_correct():
        return None
    reason = turn.why_wrong()
    return None if reason is None else reason_dict(reason, lang)


def _pass_reasons(session: Session, lang: str) -> list[dict[str, Any]]:
    turn = session.turn
    if turn is None or session.state is not State.MOVING or not turn.must_pass():
        return []
    return _reasons(turn, lang)


def _reasons(turn: Turn, lang: str) -> list[dict[str, Any]]:
    try:
        return pass_reasons(turn.start, turn.dice, turn.rules, lang)
    except NardyError:  # the extra turn of a game whose other side has finished
        return []
