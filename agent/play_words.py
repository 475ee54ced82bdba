"""What `nardy play`, `replay` and `dice` say, in English and Russian, and the words that players type.

Templates as in `agent.lang`: `{n:checker|checkers}` picks a plural, `{x:+}` a signed number, `{p:%}` a probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from agent.lang import _Filler, as_lang
from engine.drawing import ENGLISH, BoardWords

_EN = {
    "person": "Player",
    "code_wrong_state": "that cannot be done now",
    "code_not_your_turn": "it is the other player's turn",
    "code_offer_pending": "the resignation must be answered first: accept or decline",
    "code_no_offer": "nobody offers to resign",
    "code_nothing_to_undo": "no checker was moved this turn",
    "code_claims_only": "checkers are placed by hand only in claims mode, and not after a demand",
    "code_unknown_level": "a resignation is one of {levels}",
    "rules": "Rules {rules}; {enforce}; dice: {dice}.",
    "strict": "wrong turns are refused",
    "claims": "a wrong turn may be accepted or contested",
    "dice_seed": "seed {seed}",
    "dice_typed": "typed in",
    "dice_verifiable": "verifiable",
    "record": "Record: {path}",
    "commitment": "Dice committed to:\n{sha256}",
    "ask_nonce": "{name}, a word of your own for the dice (Enter: a random one): ",
    "nonce": "{name} adds to the dice: {nonce}",
    "secret": "The dice's secret:\n{secret}",
    "game_of_match": "Game {number}, match to {length}: {first} {score0} : {score1} {second}",
    "toss": "Toss: {first} {die0}, {second} {die1}. {winner}",
    "toss_again": "thrown again",
    "toss_won": "{name} begins.",
    "ask_toss": "Dice of the toss, {first}'s first: ",
    "ask_roll": "{name}: Enter throws the dice > ",
    "ask_roll_typed": "{name}: your dice > ",
    "rolled": "{name} throws {dice}.",
    "to_play": "{name} to play {dice}; left: {left}",
    "nothing_left": "nothing that can be played; Enter ends the turn",
    "ask_move": "{name} {dice} > ",
    "played": "{name} plays {dice}: {play}",
    "wrong_play": "{name} leaves {dice} like this: {play}",
    "pass": "{name} cannot play {dice}: the turn passes.",
    "by_hand": "(placed by hand)",
    "nothing_moved": "nothing moved",
    "last_turn": "{name} has one more turn.",
    "ask_review": "{name}, the turn is wrong: accept or demand > ",
    "review": "This is no correct turn: {why}.",
    "accepted": "{name} accepts the turn as it was made.",
    "demanded": "{name} demands a correct turn: {other} plays {dice} again.",
    "resigns": "{name} offers to lose by {level} ({points} {n:point|points}).",
    "ask_offer": "{name}: accept or decline > ",
    "declined": "{name} declines; play goes on.",
    "won": "{name} wins by {level}: {points} {n:point|points}.",
    "drawn": "The game is drawn.",
    "match_won": "{name} wins the match {score0} : {score1}.",
    "refused": "Not possible: {why}.",
    "code_malformed_board": "{error}",
    "NotationError": "{error}",
    "DiceError": "{error}",
    "can_play": "{moves} can be played.",
    "legal": "{n} legal {n:turn|turns}:",
    "more": "... and {n} more",
    "no_hint": "No hint: {why}",
    "hint": "{rank}. {play}  {equity:+}",
    "eval": "{name}: {equity:+} points; wins {win:%}.",
    "eval_before_roll": "Before the roll, ",
    "saved": "Saved. Go on with:\n{command} play --resume {path}",
    "no_record": "This game is not recorded.",
    "copied": "Copied to {path}.",
    "resumed": "Taken up after {n} {n:event|events}.",
    "help": "Moves: 24/18 13/9, bar/20, 6/off. Then Enter (or done) ends the turn.\n"
    "undo, reset, legal, hint, why 24/20, eval, board, save [FILE], resign [{levels}], help, quit.\n"
    "In claims mode: place 24/18 24/20 puts checkers by hand; accept or demand answers a wrong turn.",
    "unknown": "I do not know {given}. help lists what can be typed.",
    "levels": "oyn, mars, koks, bar",
    "step_prompt": "Enter: next, q: quit > ",
    "replay_end": "End of the record.",
    "torn": "The record's last line was not completely written; it was dropped ({n} {n:byte|bytes}).",
    "verified": "{n} {n:roll|rolls} recomputed from the {kind} ({said}): all hold. {events} events replayed.",
}
_RU = {
    "person": "Игрок",
    "code_wrong_state": "сейчас так сделать нельзя",
    "code_not_your_turn": "сейчас ход другого игрока",
    "code_offer_pending": "сначала нужно ответить на сдачу: принять или отклонить",
    "code_no_offer": "никто не предлагает сдаться",
    "code_nothing_to_undo": "за этот ход ещё ничего не сдвинуто",
    "code_claims_only": "шашки ставят рукой только в режиме claims и не после требования",
    "code_unknown_level": "сдаются так: {levels}",
    "code_malformed_board": "такой расстановки шашек быть не может",
    "NotationError": "ходы пишутся так: 24/18 13/9, bar/20, 6/off; помощь покажет остальное",
    "DiceError": "зары пишутся двумя числами от 1 до 6, например 64",
    "rules": "Правила {rules}; {enforce}; зары: {dice}.",
    "strict": "неверный ход не пройдёт",
    "claims": "неверный ход можно принять или оспорить",
    "dice_seed": "зерно {seed}",
    "dice_typed": "вводятся вручную",
    "dice_verifiable": "проверяемые",
    "record": "Запись: {path}",
    "commitment": "Обязательство по зарам:\n{sha256}",
    "ask_nonce": "{name}, ваше слово для зар (Enter: случайное): ",
    "nonce": "{name} добавляет к зарам: {nonce}",
    "secret": "Секрет зар:\n{secret}",
    "game_of_match": "Партия {number}, матч до {length}: {first} {score0} : {score1} {second}",
    "toss": "Жребий: {first} {die0}, {second} {die1}. {winner}",
    "toss_again": "Бросаем снова.",
    "toss_won": "Начинает {name}.",
    "ask_toss": "Зары жребия, первым {first}: ",
    "ask_roll": "{name}: Enter бросает зары > ",
    "ask_roll_typed": "{name}: ваши зары > ",
    "rolled": "{name} бросает {dice}.",
    "to_play": "Ходит {name}, зары {dice}; осталось: {left}",
    "nothing_left": "ничего, чем можно ходить; Enter завершает ход",
    "ask_move": "{name} {dice} > ",
    "played": "{name}, {dice}: {play}",
    "wrong_play": "{name} оставляет {dice} так: {play}",
    "pass": "{name}: зарами {dice} ходить нечем, пропуск хода.",
    "by_hand": "(шашки поставлены рукой)",
    "nothing_moved": "ничего не сдвинуто",
    "last_turn": "У игрока {name} ещё один ход.",
    "ask_review": "{name}, ход неверен: принять или требовать > ",
    "review": "Ход неверен: {why}.",
    "accepted": "{name} принимает ход как есть.",
    "demanded": "{name} требует правильного хода: {other} снова играет {dice}.",
    "resigns": "{name} предлагает сдаться, {level} ({points} {n:очко|очка|очков}).",
    "ask_offer": "{name}: принять или отклонить > ",
    "declined": "{name} отклоняет, игра идёт дальше.",
    "won": "Победа: {name}, {level}, {points} {n:очко|очка|очков}.",
    "drawn": "Ничья.",
    "match_won": "Матч выигрывает {name}, {score0} : {score1}.",
    "refused": "Нельзя: {why}.",
    "can_play": "{moves}: так ходить можно.",
    "legal": "{n} {n:ход|хода|ходов} по правилам:",
    "more": "... и ещё {n}",
    "no_hint": "Подсказки нет: {why}",
    "hint": "{rank}. {play}  {equity:+}",
    "eval": "{name}: {equity:+} очка; победа {win:%}.",
    "eval_before_roll": "До броска: ",
    "saved": "Сохранено. Продолжить:\n{command} play --resume {path}",
    "no_record": "Эта партия не записывается.",
    "copied": "Скопировано в {path}.",
    "resumed": "Продолжаем, в записи {n} {n:событие|события|событий}.",
    "help": "Ходы: 24/18 13/9, bar/20, 6/off. Затем Enter (или готово) завершает ход.\n"
    "отмена, сначала, ходы, подсказка, почему 24/20, оценка, доска, сохранить [ФАЙЛ],\n"
    "сдаюсь [{levels}], помощь, выход.\n"
    "В режиме claims: поставить 24/18 24/20 ставит шашки рукой; принять или требовать: ответ на неверный ход.",
    "unknown": "Не понимаю {given}. помощь покажет, что можно ввести.",
    "levels": "ойн, марс, кокс, бар",
    "step_prompt": "Enter: дальше, q: выход > ",
    "replay_end": "Конец записи.",
    "torn": "Последняя строка записи записана не до конца и отброшена ({n} {n:байт|байта|байт}).",
    "verified": "Пересчитано бросков: {n} ({said}): всё сходится. Событий сыграно заново: {events}.",
}
WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": MappingProxyType(_EN), "ru": MappingProxyType(_RU)})


def _by_typed(words: Mapping[str, str]) -> Mapping[str, str]:
    """What each typed word stands for, from the words for each thing."""
    return MappingProxyType({typed: name for name, text in words.items() for typed in text.split()})


# What players type, in either language, whatever language the program speaks.
COMMANDS = _by_typed(
    {
        "done": "done commit pass ok готово пас сдал",
        "roll": "roll throw r бросок бросить б",
        "undo": "undo u отмена назад",
        "reset": "reset сначала",
        "legal": "legal moves ходы",
        "hint": "hint h подсказка п",
        "why": "why почему",
        "eval": "eval e оценка",
        "board": "board b доска",
        "save": "save s сохранить",
        "resign": "resign сдаюсь сдаться",
        "place": "place put поставить",
        "accept": "accept yes y принять да",
        "demand": "demand требовать требую",
        "decline": "decline no n отклонить нет",
        "help": "help ? помощь",
        "quit": "quit exit q выход",
    }
)
MOVE_WORDS: Mapping[str, str] = MappingProxyType({"бар": "bar", "выброс": "off", "двор": "off", "пропуск": "pass"})
LEVELS = _by_typed(
    {
        "single": "single oyn ойн 1",
        "gammon": "gammon mars марс 2",
        "home": "home koks кокс 3",
        "bar": "bar бар 4",
    }
)
_BOARD_RU = BoardWords(
    off="снято",
    bar="БАР",
    clockwise="по часовой стрелке",
    counter_clockwise="против часовой стрелки",
    side="{mark} {name}: пипсы {pips}, {way} с {first} до {last}, дом {home}–{last}",
)


def board_words(lang: str) -> BoardWords:
    """The words of a drawn board in a language.

    Raises:
        ConfigError: an unknown language.
    """
    return {"en": ENGLISH, "ru": _BOARD_RU}[as_lang(lang)]


def say(key: str, lang: str, **data: Any) -> str:
    """The sentence `key` in a language, with its data filled in.

    Raises:
        ConfigError: an unknown language.
    """
    return _Filler(as_lang(lang)).format(WORDS[lang][key], **data)
