"""The slow twin: both games' rules written a second time, from RULES.md alone, in plain Python.

It shares nothing with the kernel. A row is one integer with a hexadecimal digit per index: digit 0 the checkers borne
off, digits 1..24 the points, digit 25 the bar. Moving a checker from the point with unit `u` (16 ** point) by a die
`d` is then `row - u + (u >> 4 * d)`, and landing on unit 1 is bearing off. The opponent is written on MY points, so
that "is he there" is one mask: in short nardy his bar is my digit 0 and his borne off checkers are my digit 25; in
long nardy only his points matter and his row never changes.

Each function quotes the section of RULES.md that it states. `rules` is any object with the plain fields of
`engine.rules.Rules`; only its words are read (`game.name`, `first_turn`, `block_check`, ...), never its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

Row = int
Sides = tuple[Row, Row]  # my row, the opponent's checkers on my points

DIGITS = "0123456789abcdef"
ALL_BITS: int = 16**26 - 1
UNITS: int = sum(16**index for index in range(26))  # 0x111...1
POINT_UNITS: int = sum(16**point for point in range(1, 25))
OUTSIDE: int = ALL_BITS ^ (16**7 - 1)  # digits 7..25: not home
HEAD: int = 16**24
BAR: int = 16**25
OFF: int = 1
HIGH_POINTS: int = sum(15 * 16**point for point in range(13, 25))
LOW_POINTS: int = sum(15 * 16**point for point in range(1, 13))
LONG_START: int = 15 * HEAD


def row_of(counts: Iterable[int]) -> Row:
    """26 counts as one number, a hexadecimal digit each."""
    return int("".join([DIGITS[count] for count in counts])[::-1], 16)


def counts_of(row: Row) -> list[int]:
    """The 26 counts of a row."""
    return [int(digit, 16) for digit in reversed(f"{row:026x}")]


def on_my_points(theirs: Row, is_long: bool) -> Row:
    """The opponent's row written on my points, or back: both maps are their own inverse (1.1)."""
    if is_long:  # his 13..24 are my 1..12 and the other way round; digits 0 and 25 are no points and left out
        return (theirs & HIGH_POINTS) >> 48 | (theirs & LOW_POINTS) << 48
    return int(f"{theirs:026x}"[::-1], 16)


def held(row: Row) -> int:
    """The units of all indices where the row has a checker."""
    return (row | row >> 1 | row >> 2 | row >> 3) & UNITS


def held_by_two(row: Row) -> int:
    """The units of all indices where the row has two checkers or more."""
    return (row >> 1 | row >> 2 | row >> 3) & UNITS


def each_unit(units: int) -> Iterator[int]:
    """The single units of a set of units, lowest first."""
    while units:
        unit = units & -units
        yield unit
        units ^= unit


class Turn:
    """One player's turn: what stays fixed while he plays his dice."""

    def __init__(self, board: Any, rules: Any) -> None:
        self.is_long = rules.game.name == "long"
        self.block_check = rules.block_check if self.is_long else "off"
        self.first_turn = rules.first_turn
        mine, self.their_own_row = (row_of(row) for row in board)
        theirs = on_my_points(self.their_own_row, self.is_long)
        self.start: Sides = (mine, theirs)
        # 4.2: two opposing checkers close a point; 5.1: one does. Neither his bar nor his borne off ones are points.
        self.closed = (held(theirs) if self.is_long else held_by_two(theirs)) & POINT_UNITS
        self.head_left = 0  # head checkers that must stay on the head for the rest of this turn
        # 5.3: the lowest index where the opponent has a checker, 0 if any is off
        self.lead = next(index for index, count in enumerate(counts_of(self.their_own_row)) if count)

    def limit_head(self, limit: int) -> None:
        """5.2: at most `limit` checkers leave the head in this turn."""
        self.head_left = max(0, (self.start[0] >> 96 & 15) - limit)

    def steps(self, sides: Sides, die: int) -> list[Sides]:
        """Every position that one step by `die` can make (2.2, 3, 4.2, 5.1 and the block after a step, 5.3)."""
        mine, theirs = sides
        shift = 4 * die
        moves = [(unit, unit >> shift) for unit in each_unit(self.movable(mine, shift))]
        if not mine & OUTSIDE:  # 3, overshoot: only from my highest point
            highest = (mine.bit_length() - 1) // 4
            if 1 <= highest < die:
                moves.append((16**highest, OFF))
        if not self.is_long:  # 4.2: a blot that is hit goes to his bar, my digit 0
            return [
                (mine - unit + target, theirs - target + OFF if target > OFF and theirs & 15 * target else theirs)
                for unit, target in moves
            ]
        made = [mine - unit + target for unit, target in moves]
        if self.block_check == "step":
            made = [after for after in made if not self.has_forbidden_block(after)]
        return [(after, theirs) for after in made]

    def movable(self, mine: Row, shift: int) -> int:
        """The units of the indices from which a checker can go exactly one die (4 * die = `shift`) to an open point."""
        if mine >= BAR:
            return BAR & ~(self.closed << shift)  # 4.2: all checkers on the bar enter first
        units = held(mine) >> shift << shift  # lower points cannot go that far
        if mine & OUTSIDE:
            units &= ~(OFF << shift)  # 3: no exact bear-off while a checker is outside home
        if self.is_long and mine >> 96 <= self.head_left:
            units &= ~HEAD  # 5.2
        return units & ~(self.closed << shift)

    def has_forbidden_block(self, mine: Row) -> bool:
        """5.3: six of my points in a row on his route, all his checkers still before them.

        A run is forbidden iff its highest index on his route is below `lead`, and no run of mine contains `lead`, so
        it is enough to look for six in a row among my points below it.
        """
        if self.lead <= 6:
            return False
        on_his_route = on_my_points(held(mine), True) & (16**self.lead - 1)
        twos = on_his_route & on_his_route >> 4
        return bool(twos & twos >> 8 & twos >> 16)

    def counts(self, sides: Sides) -> bool:
        """Whether a sequence may end here: under `turn` only the final position is tested (5.3)."""
        return self.block_check != "turn" or not self.has_forbidden_block(sides[0])

    def positions(self, dice: tuple[int, ...]) -> list[set[Sides]]:
        """For every number of dice 0..len(dice): the positions after playing that many, in the order given."""
        layers = [{self.start}]
        for die in dice:
            layers.append({after for sides in layers[-1] for after in self.steps(sides, die)})
        return layers

    def endings(self, roll: tuple[int, int]) -> list[set[Sides]]:
        """For every number of dice: where sequences of that length may end, in any order of the dice (2.1, 2.2)."""
        large, small = max(roll), min(roll)
        if large == small:
            layers = self.positions((large,) * 4)
        else:
            one, other = self.positions((large, small)), self.positions((small, large))
            # 2.4: of two dice that can only be played one at a time, the larger.
            single = {sides for sides in one[1] if self.counts(sides)} or other[1]
            layers = [one[0], single, one[2] | other[2]]
        return [{sides for sides in layer if self.counts(sides)} for layer in layers]

    def most_dice(self, roll: tuple[int, int]) -> int:
        """The greatest number of dice that can be played (2.3)."""
        return max((count for count, layer in enumerate(self.endings(roll)) if layer), default=0)


def head_limit(turn: Turn, roll: tuple[int, int]) -> int:
    """How many checkers may leave the head in this turn (5.2)."""
    if turn.start[0] != LONG_START or turn.first_turn == "none":
        return 1
    if turn.first_turn in ("common", "fnr2026"):
        is_second_player = turn.their_own_row != LONG_START
        named = roll in ((3, 3), (4, 4), (6, 6))
        return 2 if named and (is_second_player or turn.first_turn == "common") else 1
    dice_in_roll = 4 if roll[0] == roll[1] else 2
    turn.limit_head(1)
    if turn.most_dice(roll) == dice_in_roll:  # clause 1
        return 1
    turn.limit_head(2)
    if turn.most_dice(roll) == dice_in_roll:  # clause 2
        return 2
    return 2 if roll == (6, 6) else 1  # clauses 3 and 4


def legal_rows(board: Any, roll: tuple[int, int], rules: Any) -> set[Sides]:
    """The legal turn set (2.7): my row and the opponent's OWN row after every legal turn."""
    turn = Turn(board, rules)
    if 15 in (turn.start[0] & 15, turn.their_own_row & 15):
        return set()  # a finished game has no turns
    if turn.is_long:
        turn.limit_head(head_limit(turn, roll))
    endings = turn.endings(roll)
    played = max((count for count, layer in enumerate(endings) if layer), default=0)
    if played == 0:
        return {(turn.start[0], turn.their_own_row)}  # 2.5: a pass, whatever stands on the board
    if turn.is_long:
        return {(mine, turn.their_own_row) for mine, _ in endings[played]}
    back: dict[Row, Row] = {turn.start[1]: turn.their_own_row}
    for _, theirs in endings[played]:
        if theirs not in back:
            back[theirs] = on_my_points(theirs, False)
    return {(mine, back[theirs]) for mine, theirs in endings[played]}


def reference_afterstates(board: Any, dice: Any, rules: Any) -> list[list[int]]:
    """The legal turn set of one board and roll.

    Args:
        board: [2, 26] counts, row 0 the player on roll.
        dice: two numbers, in any order.
        rules: an `engine.rules.Rules`, read for its words only.
    Returns:
        Sorted lists of 52 counts, row 0 (the player who moved) before row 1, as in the golden files.
    """
    roll = (int(dice[0]), int(dice[1]))
    return sorted([*counts_of(mine), *counts_of(theirs)] for mine, theirs in legal_rows(board, roll, rules))


_SEED_POINTS = {"short": (1, 2, 3, 4), "long": (1, 2, 3)}
_NAMED_POINTS = {"backgammon": (1, 2, 3, 3), "fnr2026": (1, 2, 2), "win_only": (1, 1, 1, 1)}
_KOKS_ZONES = {"home": range(13, 19), "first_quarter": range(19, 25), "home_or_behind": range(13, 25)}


def loser_level(loser: Any, rules: Any) -> int:
    """How the loser lost (4.3, 5.4): 0 single, 1 none off, 2 a checker in the zone of the triple win, 3 on the bar."""
    off, bar = int(loser[0]), int(loser[25])
    has_zone = rules.game.name == "short" and any(loser[point] for point in range(19, 25))
    if rules.game.name == "long":
        has_zone = any(loser[point] for point in _KOKS_ZONES[rules.koks_zone])
    if off and rules.koks_needs_none_off:
        return 0
    if bar:
        return 3
    if has_zone:
        return 2
    return 0 if off else 1


def reference_outcome(board: Any, rules: Any) -> tuple[str, float]:
    """Outcome class and points of a board for row 0; `("", 0)` while nobody, or both, have borne off all 15.

    Args:
        board: [2, 26] counts.
        rules: an `engine.rules.Rules`, read for its words only.
    """
    mine, theirs = board
    if (int(mine[0]) == 15) == (int(theirs[0]) == 15):
        return "", 0.0
    has_won = int(mine[0]) == 15
    level = loser_level(theirs if has_won else mine, rules)
    if "/" in rules.scoring:
        points = [float(number) for number in rules.scoring.split("/")]
    elif rules.scoring == "seed":
        points = [float(number) for number in _SEED_POINTS[rules.game.name]]
    else:
        points = [float(number) for number in _NAMED_POINTS[rules.scoring]]
    name = ("single", "gammon", "home", "bar")[level]
    return (f"win_{name}", points[level]) if has_won else (f"lose_{name}", -points[level])
