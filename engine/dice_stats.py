"""Statistics of dice as numbers: counts against expectation, doubles, chi-square p-values, serial correlation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.dice import FACES, as_dice_batch
from engine.errors import DiceError

PAIRS = FACES * FACES
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class DiceStats:
    """What a number of rolls shows. A p-value near 0 says that fair dice would hardly do this."""

    rolls: int
    face_counts: tuple[int, ...]  # of the faces 1..6
    face_expected: float
    face_chi_square: float
    face_p: float  # 5 degrees of freedom
    pair_counts: tuple[tuple[int, ...], ...]  # [first die][second die]
    pair_expected: float
    pair_chi_square: float
    pair_p: float  # 35 degrees of freedom
    doubles: int
    doubles_expected: float
    doubles_z: float  # deviation in standard errors
    serial_correlation: float  # of each die with the next one thrown
    mean_pips: float  # doubles count four steps; 8 1/6 expected

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


def dice_stats(rolls: npt.NDArray[np.int8]) -> DiceStats:
    """Statistics of rolls.

    Args:
        rolls: whole numbers [N, 2] from 1 to 6, in the order thrown, N at least 1.
    Raises:
        DiceError: another shape, no roll, or anything but whole numbers from 1 to 6.
    """
    shape = np.shape(rolls)
    if len(shape) != 2 or shape[1] != 2 or not shape[0]:
        raise DiceError(f"statistics need one roll or more, [N, 2], got shape {list(shape)}")
    dice = as_dice_batch(rolls, shape[0])
    first, second = dice[:, 0].astype(np.int64), dice[:, 1].astype(np.int64)
    count = len(dice)
    pairs = np.bincount((first - 1) * FACES + second - 1, minlength=PAIRS).reshape(FACES, FACES)
    faces = pairs.sum(axis=0) + pairs.sum(axis=1)
    doubles = int(np.trace(pairs))
    is_double = first == second
    face_chi, pair_chi = _chi_square(faces), _chi_square(pairs)
    return DiceStats(
        rolls=count,
        face_counts=tuple(faces.tolist()),
        face_expected=2 * count / FACES,
        face_chi_square=face_chi,
        face_p=chi_square_tail(face_chi, FACES - 1),
        pair_counts=tuple(tuple(row) for row in pairs.tolist()),
        pair_expected=count / PAIRS,
        pair_chi_square=pair_chi,
        pair_p=chi_square_tail(pair_chi, PAIRS - 1),
        doubles=doubles,
        doubles_expected=count / FACES,
        doubles_z=(doubles - count / FACES) / math.sqrt(count * (1 / FACES) * (1 - 1 / FACES)),
        serial_correlation=_serial_correlation(dice.reshape(-1)),
        mean_pips=float(((first + second) * np.where(is_double, 2, 1)).mean()),
    )


def _chi_square(counts: npt.NDArray[np.int64]) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def _serial_correlation(dice: npt.NDArray[Any]) -> float:
    values = dice.astype(np.float64) - dice.mean()
    spread = float((values**2).mean())
    return float((values[:-1] * values[1:]).mean()) / spread if spread else 0.0


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Probability that a chi-square variable is at least `statistic`: the p-value of a test.

    Args:
        statistic: not negative.
        degrees: degrees of freedom, at least 1.
    Source:
        The regularized upper incomplete gamma function Q(degrees / 2, statistic / 2): power series below a + 1,
        Lentz's continued fraction above (Abramowitz and Stegun 6.5.29, 6.5.31).
    """
    a, x = degrees / 2, statistic / 2
    if x <= 0.0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        return 1.0 - scale * _lower_series(a, x)
    return scale * _upper_fraction(a, x)


def _lower_series(a: float, x: float) -> float:
    term = total = 1.0 / a
    n = a
    while term > total * 1e-16:
        n += 1
        term *= x / n
        total += term
    return total


def _upper_fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    result = d
    for i in range(1, 10_000):
        factor = -i * (i - a)
        b += 2
        d = 1 / (factor * d + b or _TINY)
        c = b + factor / c or _TINY
        result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result
