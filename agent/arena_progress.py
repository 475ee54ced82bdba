"""The bar of a tournament: how much of all its work is done, and the time left, on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tqdm import tqdm

FOUND_S = 0.2  # games reported this soon after their match began were found in a results file
MAX_LABEL = 44
_FORM = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining} {desc}"


class ProgressBar:
    """A bar over games of different cost, so that the time left holds for a ladder of quick and slow players.

    Args:
        costs: work of each match, in any one unit.
        is_shown: whether anything is printed.
    """

    def __init__(self, costs: Sequence[float], *, is_shown: bool) -> None:
        self._matches = len(costs)
        self._total = float(sum(costs))
        self._is_shown = is_shown
        self._bar: tqdm[None] | None = None
        self._started_s = 0.0
        self._number = 0
        self._weight = 1.0

    def __enter__(self) -> ProgressBar:
        is_log = bool(os.environ.get("CI")) and not sys.stderr.isatty()  # where a bar would only fill lines
        if self._is_shown and not is_log:
            from tqdm import tqdm

            self._bar = tqdm(total=self._total, bar_format=_FORM, smoothing=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, label: str, weight: float) -> None:
        """The next match begins; one game of it is `weight` of work."""
        self._number += 1
        self._weight = weight
        self._started_s = time.monotonic()
        if self._bar is not None:
            shown = label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"
            self._bar.set_description_str(f"match {self._number} of {self._matches}, {shown}")

    def advance(self, games: int) -> None:
        """So many games more are finished."""
        if self._bar is None or not games:
            return
        if time.monotonic() - self._started_s < FOUND_S:  # no time was spent on them: the speed must not count them
            self._bar.initial += games * self._weight
        self._bar.update(games * self._weight)
