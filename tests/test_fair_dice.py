"""Verifiable dice: committed, mixed from both nonces, recomputable, fair."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
import pytest

from engine.dice_stats import dice_stats
from engine.errors import DiceError
from engine.fair_dice import FairDice, as_nonce, commitment_of, fair_roll, new_secret, secret_from_hex

SECRET = bytes(range(32))


def ready(secret: bytes = SECRET) -> FairDice:
    dice = FairDice(secret)
    dice.add_nonce(0, "white")
    dice.add_nonce(1, "black")
    return dice


def test_a_roll_is_what_the_documentation_says() -> None:
    """The recipe of the module's docstring, written out again with hashlib alone."""
    for number in range(40):
        message = f"nardy-dice-1:{b'white'.hex()}:{b'black'.hex()}:{number}:0".encode()
        digest = hmac.new(SECRET, message, hashlib.sha256).digest()
        faces = [byte % 6 + 1 for byte in digest if byte < 252]
        assert fair_roll(SECRET, ("white", "black"), number) == (faces[0], faces[1])


def test_the_commitment_is_the_sha_256_of_the_secret() -> None:
    assert FairDice(SECRET).commitment == commitment_of(SECRET) == hashlib.sha256(SECRET).hexdigest()


def test_rolls_come_in_order_and_can_be_taken_up_again() -> None:
    dice = ready()
    rolls = [dice.roll() for _ in range(10)]
    assert rolls == [fair_roll(SECRET, ("white", "black"), n) for n in range(10)]
    again = FairDice(SECRET, skip=4)
    again.add_nonce(0, "white")
    again.add_nonce(1, "black")
    assert [again.roll() for _ in range(6)] == rolls[4:]


def test_no_roll_before_both_nonces() -> None:
    dice = FairDice(SECRET)
    with pytest.raises(DiceError, match="nonce of each player"):
        dice.roll()
    dice.add_nonce(0, "white")
    with pytest.raises(DiceError, match="nonce of each player"):
        dice.roll()
    with pytest.raises(DiceError, match="another of 0"):
        dice.add_nonce(0, "again")
    with pytest.raises(DiceError, match="another of 2"):
        dice.add_nonce(2, "x")


@pytest.mark.parametrize("bad", ["", "x" * 65, "two\nlines", 5, None])
def test_a_nonce_is_a_short_printable_text(bad: Any) -> None:
    with pytest.raises(DiceError, match="1 to 64 printable"):
        as_nonce(bad)


def test_each_nonce_the_order_and_the_secret_change_the_dice() -> None:
    def game(secret: bytes, nonces: tuple[str, str]) -> list[tuple[int, int]]:
        return [fair_roll(secret, nonces, n) for n in range(30)]

    games = [game(SECRET, n) for n in [("a", "b"), ("b", "a"), ("ab", "c"), ("a", "bc"), ("a", "c")]]
    games.append(game(bytes(32), ("a", "b")))
    assert len({tuple(g) for g in games}) == len(games)


def test_secrets_are_new_and_written_as_64_hexadecimal_digits() -> None:
    assert new_secret() != new_secret()
    assert secret_from_hex(SECRET.hex()) == SECRET
    for bad in ["", SECRET.hex()[:-1], SECRET.hex().upper().replace("0", "G"), 5]:
        with pytest.raises(DiceError, match="64 hexadecimal"):
            secret_from_hex(bad)
    with pytest.raises(DiceError, match="32 bytes"):
        FairDice(b"short")


def test_verifiable_dice_are_fair() -> None:
    dice = ready(hashlib.sha256(b"test").digest())
    stats = dice_stats(np.array([dice.roll() for _ in range(60_000)]))
    assert stats.face_p > 0.001 and stats.pair_p > 0.001 and abs(stats.doubles_z) < 4
