"""Verifiable dice: no side can choose them, and anyone can recompute them afterwards.

The thrower draws a secret and publishes its SHA-256 first (the commitment). Then each player adds a nonce. Roll number
n (from 0; a toss is a roll) is made from HMAC-SHA256(secret, message), where the message is the ASCII text

    nardy-dice-1:HEX(nonce of player 0):HEX(nonce of player 1):n:block

with block = 0; bytes of 252 and more are left out, the first two of the rest give `byte % 6 + 1`. If a digest holds
fewer than two such bytes the next block follows. At the end the secret is revealed, and every roll can be checked.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import Any

from engine.dice import Roll, faces_of
from engine.errors import DiceError

SECRET_BYTES = 32
MAX_NONCE = 64
_PREFIX = "nardy-dice-1"


def new_secret() -> bytes:
    """32 bytes from the system's source of randomness."""
    return secrets.token_bytes(SECRET_BYTES)


def secret_from_hex(text: Any) -> bytes:
    """The secret that 64 hexadecimal digits write.

    Raises:
        DiceError: anything else.
    """
    if not isinstance(text, str) or not re.fullmatch(r"[0-9a-f]{64}", text):
        raise DiceError(f"a dice secret is 64 hexadecimal digits, got {str(text)[:20]!r}")
    return bytes.fromhex(text)


def commitment_of(secret: bytes) -> str:
    """SHA-256 of the secret, in hexadecimal: what is published before the nonces."""
    return hashlib.sha256(secret).hexdigest()


def as_nonce(text: Any) -> str:
    """A checked nonce: 1 to 64 printable characters.

    Raises:
        DiceError: anything else.
    """
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_NONCE or not text.isprintable():
        raise DiceError(f"a nonce is 1 to {MAX_NONCE} printable characters, got {str(text)[:20]!r}")
    return text


def fair_roll(secret: bytes, nonces: Sequence[str], number: int) -> Roll:
    """Roll `number` (from 0) of the game with this secret and the players' nonces.

    Args:
        secret: the bytes that the commitment hides.
        nonces: of player 0 and player 1.
        number: how many rolls came before it, the toss counted.
    """
    parts = ":".join(nonce.encode().hex() for nonce in nonces)
    faces: list[int] = []
    block = 0
    while len(faces) < 2:
        message = f"{_PREFIX}:{parts}:{number}:{block}".encode()
        faces += faces_of(hmac.new(secret, message, hashlib.sha256).digest()).tolist()
        block += 1
    return faces[0], faces[1]


class FairDice:
    """Verifiable dice of one game; `roll` works once both nonces are there.

    Args:
        secret: 32 bytes; None draws new ones.
        skip: rolls already thrown, for a game that is taken up again.
    """

    kind = "verifiable"

    def __init__(self, secret: bytes | None = None, skip: int = 0) -> None:
        self.secret = new_secret() if secret is None else secret
        if len(self.secret) != SECRET_BYTES:
            raise DiceError(f"a dice secret has {SECRET_BYTES} bytes, got {len(self.secret)}")
        self.nonces: dict[int, str] = {}
        self.thrown = skip

    @property
    def commitment(self) -> str:
        """What is published before the nonces are chosen."""
        return commitment_of(self.secret)

    def add_nonce(self, player: int, nonce: str) -> None:
        """Take the nonce of player 0 or 1.

        Raises:
            DiceError: no such player, a second nonce, a bad nonce, or dice already thrown.
        """
        if player not in (0, 1) or player in self.nonces:
            raise DiceError(f"player 0 and player 1 each add one nonce, got another of {player}")
        self.nonces[player] = as_nonce(nonce)

    def roll(self) -> Roll:
        """The next two dice. Raises DiceError until both nonces are there."""
        if len(self.nonces) < 2:
            raise DiceError("verifiable dice need a nonce of each player before the first roll")
        self.thrown += 1
        return fair_roll(self.secret, (self.nonces[0], self.nonces[1]), self.thrown - 1)
