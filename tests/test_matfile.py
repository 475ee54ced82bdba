"""Match files: what is written is read back, other programs' files are understood, bad ones are named."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent import mat_lines, mat_replay
from agent.game_files import read_games
from agent.matfile import LONG_LINE, match_text, parse_match, read_match, write_match
from agent.played import PlayedMatch, match_of_records
from engine.errors import NardyError, RecordError
from engine.records import Header, Record, RecordWriter
from engine.rules import CHECKERS, OFF
from engine.session import Session
from played_games import DATA, DOUBLED, RESIGNED_GAMMON, assert_same_games, played_match


def parsed(text: str, rules: str | None = None) -> PlayedMatch:
    return parse_match(text.encode(), rules)


def one_game(*turns: str) -> str:
    """A file of one game from its turns, Anna's and Boris's in turn."""
    rows = [f"  {1 + place // 2}) {turns[place]:<34}{(*turns, '')[place + 1]}" for place in range(0, len(turns), 2)]
    return "\n".join([" 5 point match", "", " Game 1", " Anna : 0                        Boris : 0", *rows, ""])


@pytest.mark.parametrize(
    "rules", ["short_backgammon", "short", "long_classic", "long_fnr2026", "long_classic(block_check=turn)"]
)
def test_games_are_written_and_read_back_equal(rules: str) -> None:
    match = played_match(rules)
    text = match_text(match)
    assert_same_games(parsed(text), match)
    assert match_text(parsed(text)) == text


def test_long_nardy_has_a_dialect_that_names_itself_and_its_rules() -> None:
    lines = match_text(played_match("long_classic(block_check=turn)")).splitlines()
    assert lines[0] == LONG_LINE
    assert '; [Rules "long_classic(block_check=turn)"]' in lines
    first_turns = [line for line in lines if line.lstrip().startswith("1)")]
    assert first_turns and all("24/" in line for line in first_turns)
    assert not any("*" in line or "bar" in line for line in lines)


def test_every_step_is_written_out_with_its_hit() -> None:
    text = match_text(parsed(one_game("33: 8/5(2) 6/3(2)", "64: 24/14")))
    assert "33: 8/5 8/5 6/3 6/3" in text and "64: 24/18 18/14" in text
    text = match_text(parsed(one_game("62: 24/18 13/11", "64: 13/7*/3", "21: bar/23 6/5")))
    assert "64: 13/7* 7/3" in text


def test_a_file_by_gammonview_is_read_though_it_marks_no_hits() -> None:
    match = read_match(DATA / "gammonview.mat")
    assert match.players == ("Heuristic", "Pips") and match.length is None
    assert match.games[-1].score_after == (6.0, 0.0)
    assert [len(game.turns) for game in match.games] == [49, 58, 49]
    assert all(turn.reason is None for game in match.games for turn in game.turns)
    assert all(game.turns[-1].afterstate[0, OFF] == CHECKERS for game in match.games)
    assert match.games[0].notes == ("hits are not marked, so these lines were read as later plays demand: 19, 28",)


def test_hits_without_stars_are_found_from_the_steps() -> None:
    match = played_match("short_backgammon", ("heuristic", "heuristic"))
    text = match_text(match)
    assert text.count("*") > 5
    assert_same_games(parsed(text.replace("*", "")), match)


def test_gammonview_reads_our_files_and_we_read_what_it_makes_of_them() -> None:
    gvformat = pytest.importorskip("gvformat.mat")
    writer = pytest.importorskip("gvanalysis.reconstruct_mat")
    match = played_match("short_backgammon", ("heuristic", "heuristic"))
    document = gvformat.mat_to_ogxm(match_text(match))
    assert [game["points_won"] for game in document["games"]] == [game.points for game in match.games]
    assert [game["winner"] for game in document["games"]] == [game.winner for game in match.games]
    again = parsed(writer.reconstruct_mat(document))
    assert_same_games(replace(again, rules=match.rules), match)


@pytest.mark.parametrize("win_line", ["      Wins 2 points", " " * 40 + "Wins 2 points", ""])
def test_a_resigned_gammon_is_credited_and_the_next_game_starts_with_it(win_line: str) -> None:
    """Case F11 (gnubg 2010-12-21): resignations in files by XG were misread."""
    match = parsed(RESIGNED_GAMMON.replace("      Wins 2 points", win_line))
    first, second = match.games
    assert first.result is not None and (first.result.how, first.result.level) == ("resigned", "gammon")
    assert (first.winner, first.points, first.score_after) == (0, 2.0, (2.0, 0.0))
    assert second.score == (2.0, 0.0) and (second.winner, second.points) == (1, 1.0)
    assert match.length == 3 and match.notes == ()


def test_a_resignation_is_written_and_read_back() -> None:
    match = parsed(RESIGNED_GAMMON)
    assert_same_games(parsed(match_text(match)), match)


def test_cube_actions_are_kept_and_said_to_be_ignored() -> None:
    match = parsed(DOUBLED)
    game = match.games[0]
    assert [(a.player, a.action, a.value, a.before_turn) for a in game.cube] == [
        (1, "double", 2, 1),
        (0, "take", 2, 1),
        (0, "double", 4, 4),
        (1, "drop", 4, 4),
    ]
    assert (game.winner, game.points, game.result) == (0, 2.0, None)
    assert match.notes == ("4 actions with the cube are kept and ignored: plays are judged without a cube",)
    assert_same_games(parsed(match_text(match)), match)


def test_points_of_a_dropped_cube_are_those_before_it_where_none_are_written() -> None:
    game = parsed(DOUBLED.replace("      Wins 2 points", "").split(" Game 2")[0]).games[0]
    assert (game.winner, game.points) == (0, 2.0)


def test_a_drop_and_the_win_may_share_a_line() -> None:
    text = one_game("31: 8/5 6/5", "52: 13/8 24/22", " Doubles => 2", " Drops                      Wins 1 point")
    assert (parsed(text).games[0].winner, parsed(text).games[0].points) == (0, 1.0)


VARIED = {
    "crlf": RESIGNED_GAMMON.replace("\n", "\r\n").encode(),
    "cr": RESIGNED_GAMMON.replace("\n", "\r").encode(),
    "tabs": "\n".join(
        line.replace(" " * 6, "\t", 1) if ")" in line and not line.startswith("  1)   ") else line
        for line in RESIGNED_GAMMON.splitlines()
    ).encode(),
    "bom": b"\xef\xbb\xbf" + RESIGNED_GAMMON.encode(),
    "utf-16": RESIGNED_GAMMON.encode("utf-16"),
    "decimal commas": RESIGNED_GAMMON.replace("Wins 2 points", "Wins 2,0 points")
    .replace("Anna : 2", "Anna : 2,0")
    .encode(),
    "no colons": RESIGNED_GAMMON.replace("31:", "31").replace("52:", "52").encode(),
    "small letters": RESIGNED_GAMMON.replace("Resigns", "resigns").encode(),
    "and the match": RESIGNED_GAMMON.replace("Wins 1 point", "Wins 1 point and the match").encode(),
    "match of": RESIGNED_GAMMON.replace("3 point match", "Match of 3 points").encode(),
    "words before the score": RESIGNED_GAMMON.replace(" Anna : 2", " Second   game\n Anna : 2").encode(),
    "comments": RESIGNED_GAMMON.replace(" Game 2", "; thanks\n\n Game 2").encode(),
}


@pytest.mark.parametrize("data", VARIED.values(), ids=VARIED.keys())
def test_other_ways_of_writing_give_the_same_games(data: bytes) -> None:
    assert_same_games(parse_match(data), parsed(RESIGNED_GAMMON))


def test_points_may_be_written_as_numbers_only() -> None:
    start = one_game("62: 24/18 13/11", "64: 13/7*/3", "21: 25/23 6/5")
    assert_same_games(parsed(start), parsed(start.replace("25/", "bar/")))


def test_a_name_in_another_encoding_is_read() -> None:
    text = RESIGNED_GAMMON.replace("Boris", "Bjørn")
    assert parse_match(text.encode("cp1252")).players == parsed(text).players == ("Anna", "Bjørn")


def test_columns_that_change_places_between_games_are_put_in_order() -> None:
    swapped = RESIGNED_GAMMON.replace(" Anna : 2                             Boris : 0", " Boris : 0     Anna : 2")
    swapped = swapped.replace(
        "  1)                                  61: 13/7 8/7", "  1) 61: 13/7 8/7      21: 13/11 6/5"
    )
    swapped = swapped.replace(
        "  2) 21: 13/11 6/5                    42: 8/4 6/4\n  3) Resigns", "  2) 42: 8/4 6/4       Resigns"
    )
    swapped = swapped.replace(" " * 38 + "Wins 1 point", "      Wins 1 point")
    assert_same_games(parsed(swapped), parsed(RESIGNED_GAMMON))


def test_an_illegal_play_is_named_with_its_reason_and_carried_out() -> None:
    match = parsed(one_game("31: 8/5 6/5", "52: 13/8 13/9", "64: 24/14"))
    first, wrong, last = match.games[0].turns
    assert wrong.reason is not None and wrong.reason.code == "wrong_distance" and wrong.line == 5
    assert first.reason is None and last.reason is None
    assert wrong.afterstate is not None and wrong.afterstate[0, 9] == 1
    assert_same_games(parsed(match_text(match)), match)


@pytest.mark.parametrize(
    ("play", "said"),
    [
        ("52: 20/15", "no checker on 20"),
        ("52: 24/20", "cannot be carried out"),
        ("52: thirteen", "'thirteen' is no move"),
        ("Snores", "'Snores' is not understood"),
    ],
)
def test_what_cannot_be_followed_ends_the_game_with_a_note(play: str, said: str) -> None:
    match = parsed(one_game("31: 8/5 6/5", play, "64: 24/14"))
    assert any("line 5" in note and said in note and "left out" in note for note in match.games[0].notes)
    assert len(match.games[0].turns) <= 2


def test_a_pass_that_is_none_is_illegal() -> None:
    turn = parsed(one_game("31: Cannot Move", "52: 13/8 24/22")).games[0].turns[0]
    assert turn.reason is not None and turn.reason.code == "pass_not_allowed"


def test_the_same_player_twice_in_a_row_ends_the_game_with_a_note() -> None:
    text = one_game("31: 8/5 6/5", "", "64: 24/14")
    game = parsed(text).games[0]
    assert len(game.turns) == 1 and "twice in a row" in game.notes[0]


def test_a_long_file_read_by_short_rules_is_refused() -> None:
    text = match_text(played_match("long_classic"))
    with pytest.raises(RecordError, match="long_classic"):
        parsed(text, "short")
    assert parsed(text, "long_fnr2026").rules.preset == "long_fnr2026"


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00\x01\x02", b'; [Rules "chess"]\n Game 1\n'])
def test_what_is_no_match_file_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(NardyError) as caught:
        parse_match(data)
    assert "\n" not in str(caught.value)


def test_a_variation_we_do_not_know_is_refused() -> None:
    with pytest.raises(RecordError, match="NackGammon"):
        parsed('; [Variation "NackGammon"]\n' + DOUBLED)


def test_what_a_file_may_hold_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordError, match="characters"):
        parsed(" Game 1\n 1) 31: " + "8/5 " * 1000)
    monkeypatch.setattr(mat_lines, "MAX_ACTIONS", 5)
    with pytest.raises(RecordError, match="more than 5 turns"):
        parsed(RESIGNED_GAMMON)
    monkeypatch.setattr(mat_lines, "MAX_GAMES", 5)
    with pytest.raises(RecordError, match="more than 5 games"):
        parsed(" Game 1\n" * 20 + "x\n")
    monkeypatch.setattr(mat_lines, "MAX_BYTES", 100)
    (tmp_path / "big.mat").write_text(RESIGNED_GAMMON)
    with pytest.raises(RecordError, match="more than 100 bytes"):
        read_match(tmp_path / "big.mat")


def test_a_file_full_of_illegal_plays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mat_replay, "MAX_ILLEGAL", 2)
    with pytest.raises(RecordError, match="more than 2 plays that are illegal under short_backgammon"):
        parsed(one_game(*["31: Cannot Move"] * 8))


def test_damaged_files_give_games_or_one_line(rng: np.random.Generator) -> None:
    whole = (DATA / "gammonview.mat").read_bytes()[:2500]
    for _ in range(40):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), size=6):
            data[place] = rng.integers(9, 126)
        del data[int(rng.integers(0, len(data))) : int(rng.integers(0, len(data)))]
        try:
            match = parse_match(bytes(data))
        except NardyError as error:
            assert "\n" not in str(error)
        else:
            assert all(turn.board.sum() == 2 * CHECKERS for game in match.games for turn in game.turns)


def test_names_that_columns_cannot_hold_are_kept_beside_them() -> None:
    match = replace(played_match("short_backgammon"), players=("net:a/b@1ply", "net:a/b@1ply"))
    text = match_text(match)
    assert " net-a/b@1ply : 0" in text and "net-a/b@1ply (2) : 0" in text
    assert parsed(text).players == ("net:a/b@1ply", "net:a/b@1ply")


def session_record(session: Session, players: tuple[str, str] = ("Anna", "Boris"), **header: object) -> Record:
    known = Header(rules=str(session.rules), enforce=session.enforce, players=players, **header)  # type: ignore[arg-type]
    return Record(header=known, events=tuple(session.log))


def test_a_record_gives_its_turns_the_contested_ones_and_the_roll_resigned_on() -> None:
    session = Session("long_classic", enforce="claims", first=1)
    session.roll((6, 6))
    session.step(24, 6)
    session.commit()
    session.accept()  # one checker where two are due
    session.roll((3, 1))
    session.play(session.legal_turns()[0])
    session.roll((5, 4))
    session.resign("gammon")
    session.accept_resignation()
    match = match_of_records([session_record(session, first=1)])
    game = match.games[0]
    assert [(turn.player, turn.dice) for turn in game.turns] == [(1, (6, 6)), (0, (3, 1)), (1, (5, 4))]
    assert game.turns[0].reason is not None and game.turns[1].reason is None
    assert game.turns[2].afterstate is None
    assert (game.winner, game.points) == (0, 2.0)
    assert_same_games(parsed(match_text(match)), match)


def test_a_demanded_turn_counts_once_as_it_was_made_in_the_end() -> None:
    session = Session("long_classic", enforce="claims", first=0)
    session.roll((6, 6))
    session.step(24, 6)
    session.commit()
    session.demand()
    session.play(session.legal_turns()[0])
    game = match_of_records([session_record(session, first=0)]).games[0]
    assert len(game.turns) == 1 and game.turns[0].reason is None


def test_records_of_one_match_are_joined(tmp_path: Path) -> None:
    paths = []
    for number, score in ((1, [0, 0]), (2, [2, 0])):
        path = tmp_path / f"{number}.jsonl"
        said = {"length": 5, "next_first": "toss", "game_number": number, "score": score}
        session = Session("short", first=0)
        session.roll((3, 1))
        session.resign("gammon")
        session.accept_resignation()
        header = Header(rules="short", players=("Anna", "Boris"), first=0, match=said)
        writer = RecordWriter.create(path, header)
        for event in session.log:
            writer.write(event)
        paths.append(path)
    match = read_games(paths)
    assert match.length == 5 and [game.score for game in match.games] == [(0.0, 0.0), (2.0, 0.0)]
    assert match.games[-1].score_after == (2.0, 2.0)
    paths[1].write_bytes(b"\xef\xbb\xbf" + paths[1].read_bytes())  # as an editor may save it
    assert read_games(paths).games[-1].score_after == (2.0, 2.0)
    with pytest.raises(RecordError, match="rules asked for"):
        read_games(paths, "short_backgammon")
    with pytest.raises(RecordError, match="no game record"):
        read_games([paths[0], DATA / "gammonview.mat"])


def test_what_a_file_cannot_hold_is_refused_in_writing(tmp_path: Path) -> None:
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, [0, 6]], board[1, [0, 1]] = (14, 1), (14, 1)
    session = Session("short", first=0, board=board)
    session.roll((2, 1))
    session.play(session.legal_turns()[0])
    match = match_of_records([session_record(session, first=0, board=board.tolist())])
    with pytest.raises(RecordError, match="another position"):
        write_match(match, tmp_path / "x.mat")
    assert list(tmp_path.iterdir()) == []
    session = Session("short(last_turn=second_player)", first=0)
    with pytest.raises(RecordError, match="last_turn"):
        match_text(match_of_records([session_record(session, first=0)]))


def test_a_file_is_written_and_read_by_its_path(tmp_path: Path) -> None:
    match = played_match("long_classic")
    write_match(match, tmp_path / "long.mat")
    assert_same_games(read_games([tmp_path / "long.mat"]), match)
    with pytest.raises(RecordError, match="cannot be read"):
        read_match(tmp_path / "none.mat")


def test_matches_of_several_pairs_of_players_in_one_file_are_refused() -> None:
    """Their figures would be counted as the first pair's."""
    other = RESIGNED_GAMMON.replace("Anna", "Carol").replace("Boris", "Dave")
    with pytest.raises(RecordError, match=r"Anna - Boris and of Carol - Dave .*cut it apart"):
        parsed(RESIGNED_GAMMON + "\n" + other)
    again = RESIGNED_GAMMON.replace("Anna", "ANNA")  # the same players once more, in whatever letters
    assert len(parsed(RESIGNED_GAMMON + "\n" + again).games) == 2 * len(parsed(RESIGNED_GAMMON).games)


@pytest.mark.parametrize("name", ["Game 1", "1) x", "12) 66", "Game 12 of 3", "Doubles", "n" * 300])
def test_a_name_that_looks_like_another_line_of_a_file_hides_no_game(name: str) -> None:
    match = replace(played_match("long_classic"), players=(name, "Boris"))
    back = parsed(match_text(match))
    assert back.players == match.players
    assert_same_games(back, match)


def test_a_header_too_long_for_a_line_is_cut_and_the_file_is_read() -> None:
    match = replace(played_match("short"), players=("n" * 5000, "Boris"))
    cut = replace(match, players=("n" * mat_lines.MAX_HEADER, "Boris"))
    assert_same_games(parsed(match_text(match)), cut)


def test_the_first_line_of_the_dialect_alone_says_that_a_file_is_of_long_nardy() -> None:
    text = f"{LONG_LINE}\n{one_game('64: 24/14')}"
    with pytest.raises(RecordError, match="name the rules"):
        parsed(text)
    assert str(parsed(text, "long_common").rules) == "long_common"
    for given in (text, f'; [Variation "Long nardy"]\n{text}'):
        with pytest.raises(RecordError, match="is of long nardy, the rules asked for are short"):
            parsed(given, "short")
    with pytest.raises(RecordError, match="is of short nardy, the rules asked for are long_classic"):
        parsed('; [Variation "Backgammon"]\n' + one_game("31: 8/5 6/5"), "long_classic")


@pytest.mark.parametrize("cell", ["07: 8/5 6/5", "hmm", "3-1: 8/5 6/5"])
def test_a_cell_that_is_not_understood_never_gives_its_place_to_the_next_one(cell: str) -> None:
    game = parsed(one_game(cell, "52: 24/22 13/8", "31: 8/5 6/5")).games[0]
    assert game.turns == () and any("not understood" in note for note in game.notes)


def test_a_remark_with_digits_between_turns_is_no_roll() -> None:
    text = one_game("31: 8/5 6/5", "52: 24/22 13/8", "21: 13/11 6/5")
    game = parsed(text.replace("  2) ", "  a remark on 31 and 52\n  2) ")).games[0]
    assert [turn.player for turn in game.turns] == [0, 1, 0] and "a remark" in game.notes[0]


def test_words_behind_the_points_and_the_end_of_a_dos_file_are_no_part_of_a_game() -> None:
    plain = parsed(one_game("31: 8/5 6/5"))
    text = one_game("31: 8/5 6/5").replace("Boris : 0", "Boris : 0 (Crawford)").replace("Anna : 0", "Anna : 0 (post)")
    told = parsed(text + "\x1a")
    assert told.players == plain.players == ("Anna", "Boris")
    assert told.games[0].score == (0.0, 0.0) and told.games[0].notes == plain.games[0].notes


def test_russian_names_of_windows_are_read() -> None:
    data = one_game("31: 8/5 6/5").replace("Anna", "Анна").replace("Boris", "Ёжик")
    assert parse_match(data.encode("cp1251")).players == ("Анна", "Ёжик")
    data = one_game("31: 8/5 6/5").replace("Anna", "Ñoño").replace("Boris", "Zoë")
    assert parse_match(data.encode("cp1252")).players == ("Ñoño", "Zoë")


def test_a_file_that_can_be_read_only_once_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = (DATA / "gammonview.mat").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    assert_same_games(read_games([pipe]), read_match(DATA / "gammonview.mat"))
    writer.join()
