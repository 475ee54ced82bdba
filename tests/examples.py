"""The worked examples of RULES.md 1.2 as data: `[ID] PRESET  me{..} opp{..}  A:B  =>  ANSWER` and back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"

Board = list[list[int]]

_LINE = re.compile(
    r"\[(?P<id>\w+)\]\s+(?P<score>score\s+)?(?P<rules>\S+)\s+(?P<me>me\{[^}]*\})\s+(?P<opp>opp\{[^}]*\})"
    r"(?:\s+(?P<dice>\d:\d))?\s+=>\s+(?P<answer>.+)"
)


@dataclass(frozen=True)
class Example:
    """One worked example; `afterstates` are those the answer lists, `dice` is None for a score."""

    id: str
    rules: str
    board: Board
    dice: tuple[int, int] | None
    answer: str

    @property
    def count(self) -> int | None:
        """Number of distinct afterstates where the answer states one; a pass has one."""
        if self.dice is None:
            return None
        return 1 if self.answer == "pass" else int(re.match(r"\d+", self.answer)[0])  # type: ignore[index]

    def listed(self) -> list[list[int]]:
        """The afterstates that the answer writes out, as 52 counts each."""
        if self.answer == "pass":
            return [self.board[0] + self.board[1]]
        found = re.findall(r"(me\{[^}]*\})(?:\s+(opp\{[^}]*\}))?", self.answer)
        return [row_from(me) + (row_from(opp) if opp else self.board[1]) for me, opp in found]

    def assert_holds(self, afterstates: Iterable[list[int]]) -> None:
        """Asserts that legal afterstates, as 52 counts each, are what the answer says of them."""
        found = sorted(afterstates)
        assert len(found) == self.count
        if " not " in self.answer:
            assert self.listed()[0] not in found
        elif " with " in self.answer:
            assert self.listed()[0] in found
        elif ":" in self.answer or self.answer == "pass":
            assert sorted(self.listed()) == found


def row_from(text: str) -> list[int]:
    """26 counts from `me{24:13,18:2}`; checkers not listed are borne off."""
    row = [0] * 26
    for index, count in re.findall(r"(\d+):(\d+)", text):
        row[int(index)] = int(count)
    row[0] += 15 - sum(row)
    return row


def row_text(row: list[int]) -> str:
    """`{24:13,18:2}`: the inverse of `row_from`, highest index first."""
    return "{" + ",".join(f"{index}:{row[index]}" for index in range(25, 0, -1) if row[index]) + "}"


def board_text(board: Board) -> str:
    """`me{..} opp{..}` of a board."""
    return f"me{row_text(board[0])} opp{row_text(board[1])}"


def read_examples() -> list[Example]:
    """The examples of `tests/data`; other lines, such as comments, must start with `#` or be empty."""
    examples = []
    for line in (DATA / "rules_examples.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        assert match, f"no example: {line!r}"
        dice = None if match["score"] else (int(match["dice"][0]), int(match["dice"][2]))
        board = [row_from(match["me"]), row_from(match["opp"])]
        examples.append(Example(match["id"], match["rules"], board, dice, match["answer"].strip()))
    return examples
