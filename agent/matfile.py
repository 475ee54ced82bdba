"""Match files: `.mat` of short nardy, and a dialect of it for long nardy, read and written.

A file begins with headers `; [Name "text"]` and a line such as ` 7 point match` (0 for a session without end). Each
game follows as

     Game 1
     Anna : 0                                  Boris : 0
      1) 31: 8/5 6/5                           52: 24/22 13/8
      2) 66: Cannot Move                        Doubles => 2
      3)  Takes                                64: 24/14
                                               Wins 2 points

The left column is player 0, the right one player 1; points are counted by whoever moves. Writing is strict: every step
is written out with its hit (`24/18* 18/13`), a turn without a step is `Cannot Move`, a roll on which a player resigned
stands alone, and a resignation is the line `Wins N points` in the winner's column. Names lose what the columns need
(colons, quotes, double spaces); the header `Full name 1` or `2` then keeps them.

The dialect for long nardy differs in three things only. Its first line is

    ; nardy-mat 1: long nardy, points by each mover's own side, 24 is the head

the header `Rules` holds the exact rules as text, which is always needed, and there is no `bar`, no `*` and no cube.
A file of short nardy that we write has the header `Rules` too; without it `short_backgammon` is taken.

What a file cannot hold is refused in writing: another start position, `last_turn`, a turn that no steps explain.
Where two classes of a win pay the same, a resignation is read back as the cheaper named one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from agent.mat_lines import MAX_HEADER, RawGame, RawMatch, read_bytes, read_lines
from agent.mat_replay import IllegalCount, replay_game
from agent.played import PlayedGame, PlayedMatch, PlayedTurn
from engine.board import Boards
from engine.errors import RecordError
from engine.reason import move_text
from engine.rules import Rules, get_rules
from engine.steps import BoardGoal, Step, dice_given, find_lines, head_limit, play_steps
from engine.whole_file import write_whole

DEFAULT_RULES = "short_backgammon"
LONG_LINE = "; nardy-mat 1: long nardy, points by each mover's own side, 24 is the head"
CANNOT_MOVE = "Cannot Move"
_OWN_HEADERS = ("Player 1", "Player 2", "Full name 1", "Full name 2", "Variation", "Rules")
_VARIATIONS = ("backgammon", "long nardy", "short nardy", "")
_LEFT = 38  # width of the left column behind a turn's number
_RIGHT = _LEFT + 5


def read_match(path: str | Path, rules: str | Rules | None = None) -> PlayedMatch:
    """The games of a `.mat` file.

    Args:
        path: the file.
        rules: the exact variant; None: what the file says, else `DEFAULT_RULES`.
    Raises:
        RecordError: the file cannot be read, is no match file, is of another game, or exceeds a bound.
        RulesError: unknown rules.
    """
    return parse_match(read_bytes(path), rules, name=str(path))


def parse_match(data: bytes, rules: str | Rules | None = None, *, name: str = "match file") -> PlayedMatch:
    """`read_match` of bytes already read; `name` is what errors call it."""
    raw = read_lines(data, name)
    variant = _rules_of(raw, rules, name)
    players = _players(raw)
    _check_one_match(raw, players, name)
    has_stars = any("*" in action.text for game in raw.games for action in game.actions)
    illegal, games = IllegalCount(), []
    swapped = [_in_order(game, players) for game in raw.games]
    score = (0.0, 0.0)
    for place, game in enumerate(swapped):
        score = game.score or score
        following = swapped[place + 1].score if place + 1 < len(swapped) else None
        played = replay_game(game, variant, score=score, next_score=following, has_stars=has_stars, illegal=illegal)
        games.append(played)
        score = played.score_after
    headers = {key: text for key, text in raw.headers.items() if key not in _OWN_HEADERS}
    return PlayedMatch(
        rules=variant,
        players=(raw.headers.get("Full name 1", players[0]), raw.headers.get("Full name 2", players[1])),
        length=raw.length,
        games=tuple(games),
        headers=headers,
        notes=_notes(games),
        source="mat",
    )


def write_match(match: PlayedMatch, path: str | Path) -> None:
    """Write a match as `.mat`, whole or not at all.

    Raises:
        RecordError: it holds what the form cannot; the message says what.
        OSError: the file cannot be written.
    """
    write_whole(path, match_text(match).encode())


def match_text(match: PlayedMatch) -> str:
    """The text of a `.mat` file; `parse_match` gives the match back. Raises RecordError as `write_match` does."""
    if match.rules.last_turn != "none":
        raise RecordError(f"a .mat file cannot hold games with last_turn={match.rules.last_turn}")
    names = column_names(match.players)
    lines = [] if match.rules.can_hit else [LONG_LINE]
    headers = {"Player 1": names[0], "Player 2": names[1]}
    headers |= {f"Full name {i + 1}": p for i, p in enumerate(match.players) if p != names[i]}
    headers |= {"Variation": "Backgammon" if match.rules.can_hit else "Long nardy", "Rules": str(match.rules)}
    headers |= {key: text for key, text in match.headers.items() if key not in _OWN_HEADERS}
    lines += [f'; [{key} "{_header_text(text)}"]' for key, text in headers.items()]
    lines += ["", f" {match.length or 0} point match", ""]
    for game in match.games:
        lines += [*_game_lines(game, match, names), ""]
    return "\n".join(lines) + "\n"


def column_names(players: tuple[str, str]) -> tuple[str, str]:
    """Two names as the score line can hold them: no colons, quotes or double spaces, and not the same."""
    first, second = (
        re.sub(r"\s+", " ", re.sub(r'[:"\[\]]', "-", name)).strip()[:60] or f"player {place}"
        for place, name in enumerate(players, start=1)
    )
    return (first, second) if first != second else (first, f"{second} (2)")


def _rules_of(raw: RawMatch, wanted: str | Rules | None, name: str) -> Rules:
    stated = raw.headers.get("Rules")
    variation = raw.headers.get("Variation", "")
    if stated is None and variation.lower() not in _VARIATIONS:
        raise RecordError(f"{name} is of variation {variation!r}; backgammon and long nardy can be read")
    is_long = raw.is_long or variation.lower() == "long nardy"
    if stated is None and wanted is None and is_long:
        raise RecordError(f"{name} is of long nardy but has no header Rules; name the rules")
    in_file = get_rules(stated) if stated is not None else None
    if wanted is None:
        return in_file or get_rules(DEFAULT_RULES)
    rules = get_rules(wanted)
    if in_file is not None and in_file.game != rules.game:
        raise RecordError(f"{name} is of {in_file}, the rules asked for are {rules}")
    if in_file is None and (is_long or variation) and is_long == rules.can_hit:
        raise RecordError(f"{name} is of {'long' if is_long else 'short'} nardy, the rules asked for are {rules}")
    return rules


def _players(raw: RawMatch) -> tuple[str, str]:
    """The two players in the order of the headers, else of the first score line."""
    seen = max((game.names for game in raw.games if game.names is not None), key=all, default=None)
    stated = (raw.headers.get("Player 1", ""), raw.headers.get("Player 2", ""))
    if all(stated) and (seen is None or set(seen) == set(stated)):
        return stated
    first, second = seen or ("", "")
    return first or "player 1", second or "player 2"


def _check_one_match(raw: RawMatch, players: tuple[str, str], name: str) -> None:
    """Refuse a file in which matches of several pairs of players follow each other: figures would mix them."""
    known = {player.casefold() for player in players}
    for game in raw.games:
        if game.names is not None and all(game.names) and {text.casefold() for text in game.names} != known:
            raise RecordError(
                f"{name} holds games of {' - '.join(players)} and of {' - '.join(game.names)} (game {game.number}); "
                "a file holds one match, so cut it apart"
            )


def _in_order(game: RawGame, players: tuple[str, str]) -> RawGame:
    """The game with player 0 on side 0, for some programs exchange the columns between games."""
    if game.names is None or players[0] == players[1] or game.names != players[::-1]:
        return game
    return RawGame(
        number=game.number,
        names=players,
        score=None if game.score is None else (game.score[1], game.score[0]),
        actions=[action._replace(side=1 - action.side) for action in game.actions],
        notes=game.notes,
    )


def _notes(games: list[PlayedGame]) -> tuple[str, ...]:
    cube = sum(len(game.cube) for game in games)
    notes = [] if not cube else [f"{cube} actions with the cube are kept and ignored: plays are judged without a cube"]
    for game, following in pairwise(games):
        if game.score_after != following.score:
            before, after = (f"{score[0]:g}-{score[1]:g}" for score in (game.score_after, following.score))
            notes.append(f"game {game.number} ends at {before}, game {following.number} starts at {after}")
    return tuple(notes)


def _header_text(text: str) -> str:
    return "".join(c for c in text if c.isprintable()).replace('"', "'")[:MAX_HEADER]


def _game_lines(game: PlayedGame, match: PlayedMatch, names: tuple[str, str]) -> Iterator[str]:
    if game.turns and not np.array_equal(game.turns[0].board, match.rules.start_board()):
        raise RecordError(f"game {game.number} starts from another position, which a .mat file cannot hold")
    yield f" Game {game.number}"
    left = f"{names[0]} : {game.score[0]:g}"
    yield f" {left:<{_RIGHT - 4}}   {names[1]} : {game.score[1]:g}"
    rows: list[list[str]] = []
    for player, text in _cells(game, match.rules):
        if player == 0 or not rows or rows[-1][1]:
            rows.append(["", ""])
        rows[-1][player] = text
    for number, (first, second) in enumerate(rows, start=1):
        yield f"{number:>3}) {first:<{_LEFT - 3}}   {second}".rstrip()
    if game.winner is not None:
        column = 6 if game.winner == 0 else _RIGHT
        is_last = match.length is not None and max(game.score_after) >= match.length
        end = " and the match" if is_last else ""
        yield f"{' ' * column}Wins {game.points:g} point{'' if game.points == 1 else 's'}{end}"


def _cells(game: PlayedGame, rules: Rules) -> Iterator[tuple[int, str]]:
    """What each player does, in order, as the columns show it."""
    words = {"double": "Doubles => {}", "beaver": "Beavers => {}", "take": "Takes", "drop": "Drops"}
    for place in range(len(game.turns) + 1):
        for action in game.cube:
            if action.before_turn == place:
                yield action.player, " " + words[action.action].format(action.value)
        if place < len(game.turns):
            turn = game.turns[place]
            yield turn.player, f"{turn.dice[0]}{turn.dice[1]}: {_turn_text(turn, rules, game.number)}".rstrip()


def _turn_text(turn: PlayedTurn, rules: Rules, number: int) -> str:
    if turn.afterstate is None:
        return ""
    if turn.reason is None:
        return _steps_text(_legal_steps(turn, turn.afterstate, rules)) or CANNOT_MOVE
    if turn.text:
        return turn.text
    if np.array_equal(turn.board, turn.afterstate):
        return CANNOT_MOVE
    limit, goal = head_limit(turn.board, turn.dice, rules), BoardGoal(turn.afterstate)
    lines = find_lines(turn.board, dice_given(turn.dice), goal, rules, limit, allow_faults=True)
    line = next(lines, None)
    if line is None:
        raise RecordError(
            f"a turn of game {number} was placed by hand and no steps of {turn.dice[0]}-{turn.dice[1]} explain it; "
            "a .mat file cannot hold it"
        )
    return _steps_text(line.steps)


def _legal_steps(turn: PlayedTurn, afterstate: Boards, rules: Rules) -> tuple[Step, ...]:
    """`play_steps`, four times as quick where the first way found plays all dice."""
    dice, limit = dice_given(turn.dice), head_limit(turn.board, turn.dice, rules)
    line = next(find_lines(turn.board, dice, BoardGoal(afterstate), rules, limit), None)
    if line is not None and len(line.steps) == len(dice):
        return line.steps
    return play_steps(turn.board, turn.dice, afterstate, rules)


def _steps_text(steps: tuple[Step, ...]) -> str:
    return " ".join(move_text(step.start, step.end) + ("*" if step.is_hit else "") for step in steps)
