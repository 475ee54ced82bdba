"""Boards as SVG pictures, with arrows for plays; one geometry serves both games.

The player on roll sits below and counts 1 to 6 at the lower right, 7 to 12 at the lower left, 13 to 18 at the upper
left, 19 to 24 at the upper right, so his checkers go counter-clockwise. In long nardy the opponent follows the same way
round from the opposite corner; in short nardy he comes towards him: `rules.opponent_point` says where he stands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from agent.lang import number, play_name, text
from engine.board import pip_count
from engine.errors import ConfigError
from engine.rules import BAR, HEAD, OFF, Rules

if TYPE_CHECKING:
    from agent.answers import Suggestion, Suggestions
    from engine.board import Boards
    from engine.steps import Step

# Units of the drawing; `size` scales it.
_POINT = 44.0  # width of a point
_CHECKER = 20.0  # radius
_EDGE = 26.0
_BAR_WIDTH = 52.0
_TRAY = 60.0
_HEIGHT = 520.0
_TALL = 200.0  # how high a stack may grow
_SIX = 6
_TOP_HALF = 12  # points above this stand in the upper half
WIDTH = 2 * _EDGE + 12 * _POINT + _BAR_WIDTH + _TRAY
HEIGHT = _HEIGHT + 30.0


@dataclass(frozen=True, kw_only=True)
class Colours:
    """Colours of a board picture, as SVG writes them."""

    table: str = "#6b4a2b"
    field: str = "#ead9b5"
    dark_point: str = "#a8683c"
    light_point: str = "#d2b17c"
    mover: str = "#fbfaf5"
    opponent: str = "#2f2a28"
    ink: str = "#2b1c0e"
    label: str = "#f4e8d0"
    arrows: tuple[str, ...] = ("#1a7f37", "#0a5fb4", "#b35900", "#8a2be2", "#555555")


DEFAULT_COLOURS = Colours()


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A checker's way on a board: points as the mover counts them, 25 the bar, 0 off; `rank` picks the colour."""

    start: int
    end: int
    rank: int = 0


def board_svg(
    board: Boards,
    rules: Rules,
    *,
    dice: Sequence[int] | None = None,
    arrows: Sequence[Arrow] = (),
    captions: Sequence[str] = (),
    size: int = 700,
    colours: Colours = DEFAULT_COLOURS,
    lang: str = "en",
) -> str:
    """A board as an SVG document.

    Args:
        board: int8 [2, 26], row 0 the player on roll, drawn in the light colour and sitting below.
        rules: the variant, which says where the opponent's points are.
        dice: the roll to draw, if any.
        arrows: checkers' ways to draw over the board, rank 0 on top; equal ones become one with their number.
        captions: lines under the board, one a rank, each in the colour of its arrows.
        size: width in pixels.
        colours: what to paint with.
        lang: language of the title, `en` or `ru`.
    Raises:
        ConfigError: a size outside 100..10000, or a language that there are no words for.
    """
    if not 100 <= size <= 10_000:
        raise ConfigError(f"size of a picture must be 100 to 10000 pixels, got {size}")
    height = HEIGHT + 22.0 * len(captions)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" width="{size}" '
        f'height="{round(size * height / WIDTH)}" font-family="DejaVu Sans, Arial, sans-serif" role="img">',
        f"<title>{escape(_title(board, rules, dice, lang))}</title>",
        _markers(colours),
        *_table(colours, height),
        *_numbers(colours),
    ]
    stacks = _Stacks(board, rules)
    for row, point, count in stacks.standing():
        parts += _discs(row, point, count, colours)
    parts += _trays(board, colours) + _pips(board, colours)
    if dice is not None:
        parts += _dice(dice, colours)
    for arrow, count in sorted(Counter(arrows).items(), key=lambda a: -a[0].rank):
        parts += _arrow(arrow, count, stacks, colours)
    parts += [_count(row, point, count, colours) for row, point, count in stacks.standing() if count > 1]
    for rank, caption in enumerate(captions):
        colour = colours.arrows[rank % len(colours.arrows)] if arrows else colours.ink
        y = HEIGHT + 12.0 + 22.0 * rank
        parts.append(_text(_EDGE, y, caption, colour, size=16, anchor="start", is_bold=rank == 0))
    return "\n".join([*parts, "</svg>"])


def suggestions_svg(suggestions: Suggestions, *, lang: str = "en") -> str:
    """The board of a list of suggestions with arrows for the best three and a line about each.

    Args:
        suggestions: what `agent.suggest.suggest` gave.
        lang: `en` or `ru`.
    Raises:
        ConfigError: a language that there are no words for.
    """
    shown = suggestions[:3]
    arrows = [arrow for rank, suggestion in enumerate(shown) for arrow in play_arrows(suggestion.steps, rank)]
    return board_svg(
        suggestions.board,
        suggestions.rules,
        dice=suggestions.dice,
        arrows=arrows,
        captions=[_caption(rank, suggestion, lang) for rank, suggestion in enumerate(shown)],
        lang=lang,
    )


def play_arrows(steps: Sequence[Step], rank: int = 0) -> list[Arrow]:
    """One arrow for each checker that moves, from where it stood to where it ends; a hit on the way keeps its stop.

    Args:
        steps: the play.
        rank: 0 for the best play.
    """
    ways: list[list[int]] = []
    for step in steps:
        carried = next((way for way in ways if way[-1] == step.start), None)
        if carried is None or any(s.is_hit and s.end == carried[-1] for s in steps):
            ways.append([step.start, step.end])
        else:
            carried.append(step.end)
    return [Arrow(start=way[0], end=way[-1], rank=rank) for way in ways]


class _Stacks:
    """Where the checkers of a board stand on the table, by the mover's points."""

    def __init__(self, board: Boards, rules: Rules) -> None:
        self._counts = [[int(n) for n in board[0]], [0] * (BAR + 1)]
        for index in range(1, BAR + 1):
            self._counts[1][int(rules.opponent_point[index])] = int(board[1, index])

    def standing(self) -> list[tuple[int, int, int]]:
        """Row, point and number of checkers of every stack on the board, the bar included."""
        return [(row, point, n) for row in (0, 1) for point in range(1, BAR + 1) if (n := self._counts[row][point])]

    def outermost(self, point: int) -> tuple[float, float]:
        """Centre of the mover's outermost checker on a point, or of the place where his first one would stand."""
        return _place(0, point, max(self._counts[0][point] - 1, 0), self._counts[0][point])

    def free(self, point: int) -> tuple[float, float]:
        """Centre of the place where the mover's next checker on a point would stand; for one borne off, his tray."""
        return _tray_centre(0) if point == OFF else _place(0, point, self._counts[0][point], self._counts[0][point] + 1)


def _column(point: int) -> float:
    """Centre of a point across the table."""
    rank = (point - 1) % _TOP_HALF  # 0 at the right end of a half
    from_right = rank if point <= _TOP_HALF else _TOP_HALF - 1 - rank
    x = WIDTH - _EDGE - _TRAY - (from_right + 0.5) * _POINT
    return x - _BAR_WIDTH if from_right >= _SIX else x


def _place(row: int, point: int, level: int, count: int) -> tuple[float, float]:
    """Centre of the checker at a level of a stack; tall stacks overlap. The bar holds each side's in its own half."""
    gap = min(2 * _CHECKER, (_TALL - 2 * _CHECKER) / max(count - 1, 1))
    if point == BAR:
        sign = 1 if row == 0 else -1
        x = WIDTH - _EDGE - _TRAY - _SIX * _POINT - _BAR_WIDTH / 2
        return x, _HEIGHT / 2 + sign * (_EDGE + _CHECKER + level * min(gap, 2 * _CHECKER))
    from_edge = _EDGE + _CHECKER + 2 + level * gap
    return _column(point), from_edge if point > _TOP_HALF else _HEIGHT - from_edge


def _tray_centre(row: int) -> tuple[float, float]:
    return WIDTH - _EDGE / 2 - _TRAY / 2, _HEIGHT * (0.75 if row == 0 else 0.25)


def _table(colours: Colours, height: float) -> list[str]:
    top, bottom = _EDGE, _HEIGHT - _EDGE
    left, right = _EDGE, WIDTH - _EDGE - _TRAY
    bar = right - _SIX * _POINT - _BAR_WIDTH
    parts = [
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
        f'<rect width="{WIDTH:g}" height="{_HEIGHT:g}" rx="8" fill="{colours.table}"/>',
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" fill="{colours.field}"/>',
    ]
    for point in range(1, HEAD + 1):
        x, base = _column(point), top if point > _TOP_HALF else bottom
        tip = base + (_TALL if point > _TOP_HALF else -_TALL)
        colour = colours.dark_point if point % 2 else colours.light_point
        corners = f"{x - _POINT / 2:g},{base:g} {x + _POINT / 2:g},{base:g} {x:g},{tip:g}"
        parts.append(f'<polygon points="{corners}" fill="{colour}"/>')
    parts.append(
        f'<rect x="{bar:g}" y="{top:g}" width="{_BAR_WIDTH:g}" height="{bottom - top:g}" fill="{colours.table}"/>'
    )
    return parts


def _numbers(colours: Colours) -> list[str]:
    return [
        _text(_column(p), _EDGE / 2 + 1 if p > _TOP_HALF else _HEIGHT - _EDGE / 2 + 1, str(p), colours.label, size=13)
        for p in range(1, HEAD + 1)
    ]


def _discs(row: int, point: int, count: int, colours: Colours) -> list[str]:
    fill, ink = _paints(row, colours)
    return [_disc(*_place(row, point, level, count), fill, ink) for level in range(count)]


def _count(row: int, point: int, count: int, colours: Colours) -> str:
    """How many checkers a stack has, written on its outermost one; drawn after the arrows that start and end there."""
    fill, ink = _paints(row, colours)
    return _text(*_place(row, point, count - 1, count), str(count), ink, size=15, halo=fill)


def _paints(row: int, colours: Colours) -> tuple[str, str]:
    """Colour of a side's checkers, and of what is written on them."""
    return (colours.mover, colours.opponent) if row == 0 else (colours.opponent, colours.mover)


def _disc(x: float, y: float, fill: str, ink: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_CHECKER - 1:g}" fill="{fill}" stroke="{ink}" stroke-width="1.5"/>'


def _trays(board: Boards, colours: Colours) -> list[str]:
    parts = []
    for row in (0, 1):
        if count := int(board[row, OFF]):
            (x, y), (fill, ink) = _tray_centre(row), _paints(row, colours)
            parts += [_disc(x, y, fill, ink), _text(x, y, str(count), ink, size=15)]
    return parts


def _pips(board: Boards, colours: Colours) -> list[str]:
    mine, theirs = (int(p) for p in pip_count(board))
    x = _tray_centre(0)[0]
    return [
        _text(x, _HEIGHT - _EDGE / 2 - 4, str(mine), colours.label, size=16),
        _text(x, _EDGE / 2 + 6, str(theirs), colours.label, size=16),
    ]


def _dice(dice: Sequence[int], colours: Colours) -> list[str]:
    side, parts = 34.0, []
    x = WIDTH - _EDGE - _TRAY - _SIX / 2 * _POINT
    for place, die in enumerate(dice):
        left, top = x + (place - 1) * (side + 8) + 4, _HEIGHT / 2 - side / 2
        parts.append(
            f'<rect x="{left:g}" y="{top:g}" width="{side:g}" height="{side:g}" rx="6" fill="{colours.mover}" '
            f'stroke="{colours.ink}"/>'
        )
        for dx, dy in _PIPS[int(die)]:
            centre = f'cx="{left + side / 2 + 9 * dx:g}" cy="{top + side / 2 + 9 * dy:g}"'
            parts.append(f'<circle {centre} r="3.2" fill="{colours.ink}"/>')
    return parts


_PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def _markers(colours: Colours) -> str:
    heads = (
        f'<marker id="head{rank}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="4.5" markerHeight="4.5" '
        f'orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{colour}"/></marker>'
        for rank, colour in enumerate(colours.arrows)
    )
    return f"<defs>{''.join(heads)}</defs>"


def _arrow(arrow: Arrow, count: int, stacks: _Stacks, colours: Colours) -> list[str]:
    rank = arrow.rank % len(colours.arrows)
    (x1, y1), (x2, y2) = stacks.outermost(arrow.start), stacks.free(arrow.end)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    # Plays share starts and ends: each rank bends and shifts its own way, so that no arrow hides another.
    bend = (0.18 + 0.08 * rank) * length * (1 if y1 > _HEIGHT / 2 else -1)
    shift = 5.0 * rank
    cx = (x1 + x2) / 2 + (y2 - y1) / length * bend
    cy = (y1 + y2) / 2 - abs(x2 - x1) / length * bend
    cy = min(max(cy, _EDGE), _HEIGHT - _EDGE)
    path = (
        f'<path d="M{x1 + shift:.1f},{y1:.1f} Q{cx:.1f},{cy:.1f} {x2 + shift:.1f},{y2:.1f}" fill="none" '
        f'stroke="{colours.arrows[rank]}" stroke-width="{5 - min(rank, 2)}" stroke-opacity="0.85" '
        f'stroke-linecap="round" marker-end="url(#head{rank})"/>'
    )
    if count == 1:
        return [path]
    middle = (x1 + 2 * cx + x2) / 4 + shift, (y1 + 2 * cy + y2) / 4  # of the curve
    return [path, _text(*middle, f"×{count}", colours.arrows[rank], size=17, is_bold=True, halo=colours.field)]


def _text(
    x: float,
    y: float,
    content: str,
    colour: str,
    *,
    size: int,
    anchor: str = "middle",
    is_bold: bool = False,
    halo: str = "",
) -> str:
    weight = ' font-weight="bold"' if is_bold else ""
    if halo:  # a rim in another colour keeps the text readable on whatever it crosses
        weight += f' stroke="{halo}" stroke-width="4" paint-order="stroke"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}" '
        f'dominant-baseline="central"{weight}>{escape(content)}</text>'
    )


def _caption(rank: int, suggestion: Suggestion, lang: str) -> str:
    behind = f"  ({number(0.0 - suggestion.equity_loss, lang)})" if rank else ""
    return f"{rank + 1}. {play_name(suggestion.play_text, lang)}   {number(suggestion.equity, lang)}{behind}"


def _title(board: Boards, rules: Rules, dice: Sequence[int] | None, lang: str) -> str:
    mine, theirs = (int(p) for p in pip_count(board))
    roll = "" if dice is None else f", {text('roll', lang)} {dice[0]}-{dice[1]}"
    return f"{rules}: {text('picture', lang, mine=mine, theirs=theirs)}{roll}"
