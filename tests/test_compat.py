"""Endpoints in the shape of wildbg and bgweb, with the check vectors of CONVENTIONS.md A.1 and A.2."""

from __future__ import annotations

import pytest

from web_server import client_of

START = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2"
START_SIDE = {"6": 5, "8": 3, "13": 5, "24": 2}
WILDBG_NUMBERS = ["win", "winG", "winBg", "loseG", "loseBg"]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with client_of(tmp_path_factory.mktemp("compat")) as found:
        yield found


def moves(client, query):
    answer = client.get(f"/move?{query}")
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    return answer.json()["moves"]


def route(play):
    return [play[0]["from"], *(step["to"] for step in play)] if play else []


def test_the_start_has_16_plays_best_first(client) -> None:
    found = moves(client, f"die1=3&die2=1&{START}")
    assert len(found) == 16
    assert all(list(move["probabilities"]) == WILDBG_NUMBERS for move in found)
    equities = [equity_of(move["probabilities"]) for move in found]
    assert equities == sorted(equities, reverse=True)


def equity_of(chances):
    """Case E01: cumulative figures, the wins' against the losses'."""
    gammons = chances["winG"] - chances["loseG"] + chances["winBg"] - chances["loseBg"]
    return round(2 * chances["win"] - 1 + gammons, 4)


def test_a_one_point_match_is_ordered_by_wins(client) -> None:
    found = moves(client, f"die1=3&die2=1&x_away=1&o_away=1&{START}")
    wins = [move["probabilities"]["win"] for move in found]
    assert len(found) == 16 and wins == sorted(wins, reverse=True)


def test_a_forced_play_is_written_step_by_step(client) -> None:
    found = moves(client, "die1=3&die2=1&p5=1&p24=-1")
    assert [move["play"] for move in found] == [[{"from": 5, "to": 4}, {"from": 4, "to": 1}]]


def test_a_double_has_three_results_one_by_a_single_checker(client) -> None:
    found = moves(client, "die1=1&die2=1&p5=2&p24=-1")
    assert len(found) == 3
    assert [5, 4, 3, 2, 1] in [route(move["play"]) for move in found]


def test_no_play_is_one_entry_with_an_empty_play(client) -> None:
    blocked = "p25=1&p24=-2&p23=-2&p22=-2&p21=-2&p20=-2&p19=-2"
    assert [move["play"] for move in moves(client, f"die1=6&die2=1&{blocked}")] == [[]]


def test_every_step_of_the_start_goes_downhill(client) -> None:
    """Case F17: from > to in every step, and the bar point can be made."""
    found = moves(client, f"die1=6&die2=1&{START}")
    assert all(step["from"] > step["to"] for move in found for step in move["play"])
    made = [sorted((s["from"], s["to"]) for s in move["play"]) for move in found]
    assert [(8, 7), (13, 7)] in made


def test_the_bar_of_o_is_no_checker_of_x(client) -> None:
    """Case F19: p0 = -2 with 15 checkers of x, one of them on the bar."""
    board = "p25=1&p6=5&p8=3&p13=5&p24=1&p0=-2&p19=-5&p17=-3&p12=-5"
    assert moves(client, f"die1=3&die2=1&{board}")


def test_the_cube_follows_the_window_on_the_equity(client) -> None:
    answer = client.get(f"/eval?{START}").json()
    chances = answer["probabilities"]
    assert list(chances) == WILDBG_NUMBERS
    assert chances["win"] >= chances["winG"] >= chances["winBg"] >= 0
    equity = equity_of(chances)
    assert answer["cube"] == {"double": 0.4 < equity < 0.6, "accept": equity < 0.5}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/move?die1=2&die2=0&p4=4&p5=-5", "Dice values must be between 1 and 6."),
        (
            "/move?die1=2&die2=1&p4=4&p5=-5&p25=-2",
            "Index 25 is the bar for player x, number of checkers needs to be positive.",
        ),
        ("/eval?p0=1&p4=4&p5=-5", "Index 0 is the bar for player o, number of checkers needs to be negative."),
        ("/eval?p4=16&p5=-5", "Player x has more than 15 checkers on the board."),
        ("/eval?p4=1&p5=-16", "Player o has more than 15 checkers on the board."),
        ("/move?die1=2&die2=1&p4=4&p5=-5&x_away=0&o_away=1", "If x_away is 0, then o_away must also be 0."),
        ("/move?die1=2&die2=1&p4=4&p5=-5&x_away=1", "If o_away is 0, then x_away must also be 0."),
        (
            "/move?die1=2&die2=1&p4=4&p5=-5&x_away=3&o_away=2",
            "Currently only 1 pointers and money games are supported.",
        ),
        ("/move?die1=0&die2=1&p4=16&x_away=3", "Player x has more than 15 checkers on the board."),
        ("/move?die1=0&die2=1&p4=4&p5=-5&x_away=3", "Dice values must be between 1 and 6."),
        ("/move?die1=3", "missing field `die2`: die1 and die2 must be numbers from 1 to 6, got die1='3'"),
        ("/move?p4=4&p5=-5", "missing field `die1`: die1 and die2 must be numbers from 1 to 6, got neither"),
        (
            "/move?die1=3&die2=1",
            "no checker is given: p0 to p25 tell who has how many on a point, such as p24=2&p19=-5",
        ),
        ("/move?die1=two&die2=1&p4=4&p5=-5", "die1 must be a whole number, got 'two'"),
    ],
)
def test_faults_have_the_words_of_wildbg(client, path, message) -> None:
    answer = client.get(path)
    assert answer.status_code == 400 and answer.headers["content-type"] == "application/json"
    assert answer.json() == {"message": message}


def test_without_a_net_wildbg_answers_500(tmp_path, monkeypatch) -> None:
    from agent import net

    monkeypatch.setattr(net, "NETS_FOLDER", tmp_path / "none")
    with client_of(tmp_path) as client:
        client.app.state.service.judges._nets.clear()
        answer = client.get(f"/eval?{START}")
    assert (answer.status_code, answer.json()) == (500, {"message": "Neural net could not be constructed."})


def getmoves(client, **changes):
    ask = {"board": {"x": START_SIDE, "o": START_SIDE}, "dice": [3, 1], "player": "x"} | changes
    return client.post("/api/v1/getmoves", json=ask)


def test_bgweb_scores_its_plays_with_strings_for_points(client) -> None:
    found = getmoves(client).json()
    assert len(found) == 16
    first = found[0]["evaluation"]
    assert first["info"] == {"cubeful": False, "plies": 0} and first["diff"] == 0
    assert list(first["probability"]) == ["win", "winG", "winBG", "lose", "loseG", "loseBG"]
    assert all(move["evaluation"]["diff"] <= 0 for move in found)
    assert {"from": "8", "to": "5"} in [step for move in found for step in move["play"]]
    assert all(round(move["evaluation"]["eq"], 3) == move["evaluation"]["eq"] for move in found)


def test_bgweb_bears_off_the_last_checker(client) -> None:
    found = getmoves(client, board={"x": {"1": 1}, "o": {"2": 1}}, dice=[6, 1]).json()
    assert [move["play"] for move in found] == [[{"from": "1", "to": "off"}]]


def test_bgweb_enters_from_the_bar_first(client) -> None:
    board = {
        "x": {"6": 5, "7": 2, "8": 3, "13": 2, "24": 2, "bar": 1},
        "o": {"6": 5, "8": 4, "13": 4, "15": 1, "24": 1},
    }
    found = getmoves(client, board=board, dice=[6, 1]).json()
    assert len(found) == 4
    assert all(move["play"][0] == {"from": "bar", "to": "24"} for move in found)


def test_bgweb_plays_for_either_side_and_shortens_its_answer(client) -> None:
    assert getmoves(client, player="o", **{"max-moves": 3}).json() == getmoves(client).json()[:3]
    assert all("evaluation" not in move for move in getmoves(client, **{"score-moves": False}).json())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cubeful": True}, "cubeful"),
        ({"player": "z"}, "player"),
        ({"dice": [7, 1]}, "dice"),
        ({"dice": [3]}, "dice"),
        ({"board": {"x": {"25": 1}, "o": START_SIDE}}, "1 to 24 or bar"),
        ({"board": {"x": {"6": 16}, "o": START_SIDE}}, "0 to 15"),
        ({"board": {"x": {"6": 9, "5": 9}, "o": START_SIDE}}, "18 checkers"),
        ({"board": {"x": {"6": 2}, "o": {"19": 2}}}, "held by both"),
        ({"max-moves": -1}, "max-moves"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_bgweb_refuses_with_400_and_a_message(client, changes, said) -> None:
    answer = getmoves(client, **changes)
    assert answer.status_code == 400 and said in answer.json()["message"]
