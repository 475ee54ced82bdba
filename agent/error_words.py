"""What a refusal says to a person in his own language, wherever it is shown: in a game, a command or the web page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agent.lang import as_lang, reason_text
from agent.play_words import WORDS, say
from engine.errors import IllegalPlayError, NardyError, SessionError

# In front of the English text, which names what was given and what is allowed, where no whole sentence is translated.
_KINDS_RU: Mapping[str, str] = MappingProxyType(
    {
        "RulesError": "правила не подходят",
        "PositionError": "это не позиция",
        "IllegalPlayError": "так ходить нельзя",
        "RecordError": "запись не читается",
        "NetError": "сеть не подходит",
        "ConfigError": "настройка не подходит",
        "PlayerError": "с игроком не вышло",
    }
)


def error_text(error: NardyError, lang: str) -> str:
    """What an error says, in one line without a full stop.

    Args:
        error: by its reason, its code or its kind a sentence is chosen; Russian keeps the English one behind the kind
            where there is no better.
        lang: `en` or `ru`.
    Raises:
        ConfigError: an unknown language.
    """
    reason = error.reason if isinstance(error, IllegalPlayError) else None
    if reason is not None:
        return reason_text(reason, lang)
    kind = type(error).__name__
    key = f"code_{error.code}" if isinstance(error, SessionError) else kind
    if key in WORDS[as_lang(lang)]:
        return say(key, lang, error=error, levels=say("levels", lang)).rstrip(".")
    english = " ".join(str(error).split()).rstrip(".")
    return f"{_KINDS_RU[kind]}: {english}" if lang == "ru" and kind in _KINDS_RU else english
