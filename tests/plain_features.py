"""The dense features from their descriptions in agent/features.py, in plain Python: slow, without masks or tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

Row = list[int]
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, 7)]
MEAN_ROLL = 8 + 1 / 6
WINDOW = 12


def points_of(row: Row) -> list[int]:
    return [p for p in range(1, 26) if row[p]]


def pips_of(row: Row) -> int:
    return sum(p * row[p] for p in range(26))


def longest_run(points: set[int]) -> int:
    runs = [len(list(itertools.takewhile(points.__contains__, itertools.count(p)))) for p in points]
    return max(runs, default=0)


def furthest(roll: tuple[int, int], is_open: Callable[[int], bool]) -> int:
    """Pips one checker can travel with a roll played by it alone."""
    first, second = roll
    if first == second:
        return first * len(list(itertools.takewhile(lambda k: is_open(first * k), range(1, 5))))
    singles = [die for die in roll if is_open(die)]
    return first + second if singles and is_open(first + second) else max(singles, default=0)


def reach(closed: set[int], point: int) -> tuple[float, float]:
    """Mean travel and escape of a checker on a point, given the points closed to it, all counted its own way."""
    distances = {point - p for p in closed if 1 <= point - p <= WINDOW}
    best, end = 0, 0
    for first in sorted(distances):
        length = len(list(itertools.takewhile(distances.__contains__, itertools.count(first))))
        if length > best:
            best, end = length, first + length - 1
    travels = [furthest(roll, lambda d: d not in distances) for roll in ROLLS]
    return sum(travels) / 36 / MEAN_ROLL, sum(t > end for t in travels) / 36


def blots_hit(roll: tuple[int, int], hitter: Row, target: Row) -> Iterator[int]:
    """The target's blots, own way, that one checker of the hitter can reach; entering first where it must."""
    closed = {25 - p for p in range(1, 25) if target[p] > 1}
    on_bar = hitter[25]
    for blot in (p for p in range(1, 25) if target[p] == 1):
        place = 25 - blot
        if any(_can_reach(roll, source, place, closed, on_bar) for source in points_of(hitter) if source > place):
            yield blot


def _can_reach(roll: tuple[int, int], source: int, place: int, closed: set[int], on_bar: int) -> bool:
    first, second = roll
    distance = source - place
    if on_bar > 1 or (on_bar == 1 and source != 25):
        if distance not in roll or (on_bar > 1 and source != 25):
            return False
        other = second if distance == first else first
        return on_bar > 1 or 25 - other not in closed  # two on the bar: the hit itself enters one
    if distance in roll:
        return True
    if first == second:
        steps = distance // first
        return distance % first == 0 and steps <= 4 and not any(source - first * k in closed for k in range(1, steps))
    return distance == first + second and any(source - die not in closed for die in roll)


def short_features(mine: Row, theirs: Row) -> dict[str, float]:
    result = {f"{whose}_{name}": value for whose, pair in _sides(mine, theirs) for name, value in _short(*pair).items()}
    rears = max(points_of(mine)) + max(points_of(theirs))
    return result | _shared(mine, theirs, max(rears - 25, 0) / 25)


def long_features(mine: Row, theirs: Row) -> dict[str, float]:
    result = {f"{whose}_{name}": value for whose, pair in _sides(mine, theirs) for name, value in _long(*pair).items()}
    rear = max(points_of(mine) + points_of(theirs))
    return result | _shared(mine, theirs, max(rear - 12, 0) / 12)


def _sides(mine: Row, theirs: Row) -> tuple[tuple[str, tuple[Row, Row]], ...]:
    return ("my", (mine, theirs)), ("their", (theirs, mine))


def _shared(mine: Row, theirs: Row, overlap: float) -> dict[str, float]:
    lead = pips_of(theirs) - pips_of(mine)
    spread = 1.5 * math.sqrt(pips_of(mine) + pips_of(theirs) + 1)
    return {"lead": lead / 50, "lead_spread": math.tanh((lead - 4) / spread), "overlap": overlap}


def _short(me: Row, other: Row) -> dict[str, float]:
    held, blots = points_of(me), {p for p in range(1, 25) if me[p] == 1}
    made, made_other = ({p for p in range(1, 25) if row[p] > 1} for row in (me, other))
    rear, rear_other = max(held), max(points_of(other))
    mean = pips_of(me) / 15
    far = {p: me[p] for p in held if p > 6}
    result = {
        "pips": pips_of(me) / 100,
        "rear": rear / 25,
        "home_points": len(made & set(range(1, 7))) / 6,
        "deep": (me[1] + me[2]) / 6,
        "stacked": sum(max(me[p] - 3, 0) for p in held) / 6,
        "spares": sum(max(me[p] - 2, 0) for p in range(3, 14)) / 6,
        "outside_pips": sum((p - 6) * n for p, n in far.items()) / 60,
        "timing": sum((p - 6) * n for p, n in far.items() if p <= 18) / 60,
        "spread": math.sqrt(max(sum(p * p * me[p] for p in held) / 15 - mean * mean, 0)) / 8,
    }
    if rear + rear_other <= 25:
        return result
    anchors = {p for p in made if p >= 19}
    closed_to_me, closed_to_other = {25 - p for p in made_other}, {25 - p for p in made}
    ahead_of_other = {p for p in closed_to_other if 1 <= rear_other - p <= WINDOW}
    hits = [set(blots_hit(roll, other, me)) for roll in ROLLS]
    travel, escape = reach(closed_to_me, rear)
    blockade = [reach(closed_to_other, p)[0] for p in range(19, 26)]
    movers = [25] if me[25] else held
    sources = [sum(p > die and p - die not in closed_to_me for p in movers) for die in range(1, 7)]
    return result | {
        "anchors": len(anchors) / 3,
        "front_anchor": (25 - min(anchors)) / 6 if anchors else 0,
        "prime": longest_run(made) / 6,
        "prime_ahead": longest_run(ahead_of_other) / 6,
        "blots_home": sum(p <= 6 for p in blots) / 3,
        "blots_back": sum(p >= 19 for p in blots) / 2,
        "blots_outside": sum(7 <= p <= 18 for p in blots) / 3,
        "hit": sum(bool(h) for h in hits) / 36,
        "hit_two": sum(len(h) > 1 for h in hits) / 36,
        "hit_pips": sum(25 - min(h) for h in hits if h) / 36 / 10,
        "rear_travel": travel,
        "rear_escape": escape,
        "back_held": sum(me[p] * (1 - reach(closed_to_me, p)[0]) for p in held if p >= 13) / 3,
        "blockade_mean": sum(blockade) / 7,
        "blockade_least": min(blockade),
        "moves": sum(sources) / 30,
        "dead_dice": sources.count(0) / 6,
        "in_contact": sum(me[p] for p in held if p > 25 - rear_other) / 15,
        "back": sum(me[p] for p in held if p >= 13) / 5,
    }


def _long(me: Row, other: Row) -> dict[str, float]:
    held = points_of(me)
    rear, rear_other = max(held), max(points_of(other))
    several = [me[p] for p in range(1, 24) if me[p] > 1]
    result = {
        "pips": pips_of(me) / 100,
        "outside_pips": sum((p - 6) * me[p] for p in held if p > 6) / 100,
        "rear": rear / 24,
        "home": sum(me[1:7]) / 15,
        "head": me[24] / 15,
        "stacked": sum(n - 2 for n in several) / 10,
        "doubled": len(several) / 6,
        "tallest": max(several, default=0) / 8,
        "points": len(held) / 10,
        "lead": 0 if me[0] else min(held) / 24,
    }
    if max(rear, rear_other) <= 12:
        return result
    closed = {_across(p) for p in points_of(other)}
    outside = [p for p in held if p > 6]
    travels = {p: reach(closed, p)[0] for p in outside}
    travel, escape = reach(closed, rear)
    mean = sum(travels[p] * me[p] for p in outside) / max(sum(me[p] for p in outside), 1)
    front = {_across(p) for p in held if _across(p) < rear_other}
    run = longest_run(front)
    window = max(sum(p in front for p in range(first, first + 6)) for first in range(1, 20))
    highest = max((p + run for p in front if all(q in front for q in range(p, p + run))), default=0)
    return result | {
        "obstacles": sum(p < rear for p in closed) / 10,
        "held": 1 - mean if outside else 0,
        "most_held": 1 - min(travels.values(), default=1),
        "rear_travel": travel,
        "rear_escape": escape,
        **{f"moves_{d}": sum(p > d and p - d not in closed for p in held) / 8 for d in range(1, 7)},
        "run_ahead": run / 6,
        "six_window": window / 6 if window >= 4 else 0,
        "trapped": sum(other[highest:25]) / 15 if run >= 3 else 0,
    }


def _across(point: int) -> int:
    return (point + 11) % 24 + 1
