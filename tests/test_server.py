"""The server: games with their records, errors, limits and headers."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from dataclasses import replace

import httpx
import numpy as np
import pytest

from agent.jobs import Limits
from agent.server import ServerConfig, make_app, serve
from agent.server_games import Action
from agent.service_games import ACTIONS
from damage import full_disk
from engine.errors import ConfigError
from web_server import ServerProcess, TestClient, client_of

PEOPLE = ["you:Анна", "you:Борис"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def client(folder):
    with client_of(folder) as found:
        yield found


def new_game(client, rules="long_classic", players=PEOPLE, lang="en", **options):
    answer = client.post(f"/api/v1/games?lang={lang}", json={"rules": rules, "players": players, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


def act(client, game, action, lang="en", **fields):
    return client.post(f"/api/v1/games/{game['id']}/{action}?lang={lang}", json=fields)


def done(client, game, action, **fields):
    answer = act(client, game, action, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def played_by_bots(client, game, most=2000):
    for _ in range(most):
        if game["state"] == "over":
            return game
        game = done(client, game, "roll" if game["state"] == "toss" else "bot", revision=game["revision"])
    raise AssertionError("the game did not end")


@pytest.mark.parametrize("rules", ["short", "long_classic"])
def test_two_bots_play_a_game_to_its_end_that_is_kept_and_judged(client, folder, rules) -> None:
    """From a late position: whole games are played in test_web_play.py."""
    row = [0, 3, 3, 3, 2, 2, 1, 0, 0, 1] + [0] * 16
    game = played_by_bots(client, new_game(client, rules, ["pips", "net"], seed=5, position=[row, row]))
    assert game["result"]["points"] >= 1
    turns = client.get(f"/api/v1/games/{game['id']}/turns").json()["turns"]
    judged = client.get(f"/api/v1/games/{game['id']}/analysis").json()["turns"]
    assert len(turns) == len(judged) == game["n_turns"]
    assert {turn["verdict"] for turn in judged} <= {"best", "good", "error", "blunder"}
    assert all(turn["loss"] >= 0 for turn in judged)
    with client_of(folder) as another:  # a new server over the same folder
        assert another.get(f"/api/v1/games/{game['id']}").json() == game
        assert another.get(f"/api/v1/games/{game['id']}/turns").json()["turns"] == turns


@pytest.mark.parametrize("rules", ["short_backgammon", "long_common", "long_fnr2026"])
def test_every_preset_can_be_played(client, rules) -> None:
    game = new_game(client, rules, ["heuristic", "random"], seed=5)
    while game["n_turns"] < 2:
        game = done(client, game, "roll" if game["state"] == "toss" else "bot", revision=game["revision"])
    assert game["rules"] == rules


def test_steps_moves_undo_and_commit_follow_the_session(client) -> None:
    game = new_game(client, first=0, dice="typed")
    game = done(client, game, "roll", dice="65")
    assert [(s["start"], s["end"], s["die"]) for s in game["legal_steps"]] == [(24, 18, 6), (24, 19, 5)]
    assert [(t["start"], t["end"]) for t in game["targets"]] == [(24, 13)]
    game = done(client, game, "step", start=24, die=6)
    assert game["dice_left"] == [5]
    refused = act(client, game, "commit", lang="ru")
    assert refused.status_code == 400 and refused.json()["code"] == "both_dice_required"
    assert "оба зара" in refused.json()["reason"]["text"]
    game = done(client, game, "undo")
    game = done(client, game, "move", start=24, end=13)
    assert game["steps"] == [
        {"start": 24, "end": 18, "die": 6, "is_hit": False},
        {"start": 18, "end": 13, "die": 5, "is_hit": False},
    ]
    game = done(client, game, "commit")
    assert (game["mover"], game["last_turn"]["play"]) == (1, "24/13")


def test_a_refused_move_names_the_rule(client) -> None:
    game = done(client, new_game(client, first=0, dice="typed"), "roll", dice="21")
    refused = act(client, game, "move", start=24, end=20, lang="ru").json()
    assert refused["code"] == "die_not_available" and refused["reason"]["text"]
    assert client.get(f"/api/v1/games/{game['id']}").json() == game


def test_two_dice_that_bear_off_are_both_offered(client) -> None:
    """Case B17: the 4-point checker can go by the 4 or the 6 only when none stands higher."""
    mine, theirs = [13] + [0] * 25, [0, 15] + [0] * 24
    mine[4], mine[5] = 1, 1
    game = new_game(client, "short", first=0, dice="typed", position=[mine, theirs])
    game = done(client, game, "roll", dice="64")
    assert [(s["start"], s["die"]) for s in game["legal_steps"] if s["end"] == 0] == [(5, 6), (4, 4)]
    again = done(client, game, "move", start=4, end=0, revision=game["revision"])
    assert again["steps"][0]["die"] == 4
    twice = act(client, game, "move", start=4, end=0, revision=game["revision"])
    assert twice.status_code == 400 and twice.json()["code"] == "stale"


def test_a_late_answer_never_moves_the_bot_twice(client) -> None:
    """Case N26: a request about a game that has moved on is refused and changes nothing."""
    game = new_game(client, players=["net", "you"], first=0)
    rolled = done(client, game, "bot", revision=game["revision"])
    played = done(client, rolled, "bot", revision=rolled["revision"])
    for stale in (game, rolled):
        refused = act(client, stale, "bot", revision=stale["revision"])
        assert refused.status_code == 400 and refused.json()["code"] == "stale"
    assert client.get(f"/api/v1/games/{game['id']}").json() == played
    assert played["n_turns"] == 1 and act(client, played, "bot").json()["code"] == "not_your_turn"


def test_nothing_to_play_is_passed_with_its_reasons(client) -> None:
    """Case N09."""
    mine, theirs = [0] * 26, [9] + [0] * 25
    mine[24], theirs[6], theirs[7], theirs[8] = 15, 2, 2, 2
    game = new_game(client, first=0, dice="typed", position=[mine, theirs])
    game = done(client, game, "roll", dice="64")
    assert game["must_pass"] and game["legal_steps"] == [] and game["is_correct"]
    assert {(r["start"], r["die"]) for r in game["pass_reasons"]} == {(24, 6), (24, 4)}
    assert done(client, game, "commit")["mover"] == 1


def test_a_wrong_turn_is_demanded_again_under_claims(client) -> None:
    """RULES.md 8, worked example: white 6:6 left incomplete."""
    game = new_game(client, enforce="claims", first=0, dice="typed")
    game = done(client, game, "roll", dice="66")
    game = done(client, game, "step", start=24, die=6)
    game = done(client, game, "commit", by=0)
    assert (game["state"], game["to_act"], game["why_wrong"]["code"]) == ("review", 1, "double_required")
    game = done(client, game, "demand", by=1)
    assert game["state"] == "moving" and game["is_strict"]
    assert act(client, game, "commit").status_code == 400


def test_a_wrong_turn_that_is_accepted_stands(client) -> None:
    game = new_game(client, enforce="claims", first=0, dice="typed")
    game = done(client, game, "roll", dice="66")
    game = done(client, game, "place", start=24, end=18)
    game = done(client, game, "commit")
    game = done(client, game, "accept", by=1)
    assert game["last_turn"]["is_correct"] is False and game["n_turns"] == 1
    judged = client.get(f"/api/v1/games/{game['id']}/analysis").json()["turns"]
    assert judged[0]["loss"] is None


def test_a_checker_placed_on_a_blot_sends_it_to_the_bar(client) -> None:
    mine, theirs = [0] * 26, [0] * 26
    mine[13], theirs[19], theirs[24] = 15, 1, 14
    game = new_game(client, "short", enforce="claims", first=0, dice="typed", position=[mine, theirs])
    game = done(client, game, "roll", dice="43")
    game = done(client, game, "place", start=13, end=6)
    assert (game["board"][0][6], game["board"][1][25], game["board"][1][19]) == (1, 1, 0)


def test_a_resignation_is_offered_and_answered(client) -> None:
    game = new_game(client, first=0)
    game = done(client, game, "resign", level="gammon", by=0)
    assert game["offer"] == "gammon" and game["to_act"] == 1
    assert done(client, game, "decline", by=1)["offer"] is None
    game = done(client, game, "resign", level="gammon")
    assert done(client, game, "accept_resignation")["result"]["winner"] == 1


def test_verifiable_dice_are_committed_to_first_and_revealed_last(client) -> None:
    game = new_game(client, players=["you", "pips"], dice="verifiable", first=0)
    assert len(game["proof"]["commitment"]) == 64 and set(game["proof"]["nonces"]) == {"1"}
    assert act(client, game, "roll").status_code == 400
    game = done(client, game, "nonce", by=0, nonce="моё слово")
    assert done(client, game, "roll")["proof"]["secret"] is None


def test_a_record_is_saved_and_loaded_as_a_game_of_its_own(client) -> None:
    game = new_game(client, first=0, seed=3)
    game = done(client, game, "roll")
    record = client.get(f"/api/v1/games/{game['id']}/record")
    assert record.headers["content-disposition"].startswith("attachment")
    loaded = client.post("/api/v1/games/load", json={"record": record.text}).json()
    assert loaded["id"] != game["id"] and loaded | {"id": game["id"]} == game
    assert {loaded["id"], game["id"]} <= {g["id"] for g in client.get("/api/v1/games?limit=100").json()["games"]}


def test_after_a_full_disk_a_game_goes_on_from_its_record(client) -> None:
    game = done(client, new_game(client, "short", first=0, seed=3), "roll")
    with full_disk():
        refused = act(client, game, "resign", level="single", by=0)
    assert refused.status_code == 400 and "No space left on device" in refused.json()["message"]
    again = client.get(f"/api/v1/games/{game['id']}").json()
    assert again == game
    assert done(client, game, "resign", level="single", by=0)["offer"] == "single"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path) -> None:
    (tmp_path / "games").write_text("a file where the folder should be")
    with client_of(tmp_path) as client:
        refused = client.post("/api/v1/games", json={"rules": "short", "players": PEOPLE})
    assert refused.status_code == 400 and "cannot be written: File exists" in refused.json()["message"]


def test_a_damaged_record_is_refused_in_one_line_and_can_be_deleted(client, folder) -> None:
    game = done(client, new_game(client, first=0, seed=3), "roll")
    (path,) = folder.rglob(f"{game['id']}.jsonl")
    damaged = path.with_name("0123456789ab.jsonl")
    damaged.write_bytes(path.read_bytes().replace(b'"roll"', b'"rofl"'))
    refused = client.get("/api/v1/games/0123456789ab")
    assert refused.status_code == 400 and "unknown event 'rofl'" in refused.json()["message"]
    assert client.delete("/api/v1/games/0123456789ab").json()["is_deleted"] and not damaged.exists()


@pytest.mark.parametrize("player", ["py:os:system", "cmd:/bin/true", "net:/etc/passwd", "rollout:trials=99999"])
def test_players_that_run_programs_or_read_files_are_refused(client, player) -> None:
    refused = client.post("/api/v1/games", json={"rules": "short", "players": [player, "you"]})
    assert refused.status_code == 400 and "unknown player" in refused.json()["message"]


def test_players_of_a_loaded_record_are_not_run(client) -> None:
    game = new_game(client, first=0)
    record = client.get(f"/api/v1/games/{game['id']}/record").text.replace("you:Анна", "cmd:/bin/true")
    loaded = client.post("/api/v1/games/load", json={"record": record}).json()
    assert loaded["players"][0]["is_person"] and loaded["players"][0]["text"].startswith("you:cmd")


def test_a_record_with_too_many_events_is_refused(tmp_path) -> None:
    with client_of(tmp_path, limits=Limits(events=3)) as client:
        game = done(client, new_game(client, first=0, dice="typed"), "roll", dice="65")
        for action in ({"start": 24, "die": 6}, {"start": 18, "die": 5}):
            done(client, game, "step", **action)
        record = client.get(f"/api/v1/games/{game['id']}/record").text
        assert client.post("/api/v1/games/load", json={"record": record}).status_code == 200
        record += record.splitlines()[1] + "\n"
        refused = client.post("/api/v1/games/load", json={"record": record})
        assert refused.status_code == 400 and "4 events" in refused.json()["message"]


def test_a_game_is_looked_at_while_its_bot_thinks(client) -> None:
    game = done(client, new_game(client, players=["net", "you"], first=0), "bot")
    found = client.app.state.service.games.game(game["id"])
    begun, may_end = threading.Event(), threading.Event()
    player = found.seats[0].player

    class Slow:
        def choose(self, boards, dice, rng):
            begun.set()
            assert may_end.wait(30)
            return player.choose(boards, dice, rng)

    found.seats = (replace(found.seats[0], player=Slow()), found.seats[1])
    found.session.turn.legal = np.concatenate([found.session.turn.legal] * 2)  # so that it has to choose
    asked = threading.Thread(target=act, args=(client, game, "bot"))
    asked.start()
    assert begun.wait(30)
    assert client.get(f"/api/v1/games/{game['id']}").json()["revision"] == game["revision"]
    may_end.set()
    asked.join()
    assert client.get(f"/api/v1/games/{game['id']}").json()["n_turns"] == 1


@pytest.mark.parametrize("text", ["", "{}", "not json\n", '{"format":"nardy-record","version":9}\n'])
def test_text_that_is_no_record_is_refused(client, text) -> None:
    refused = client.post("/api/v1/games/load", json={"record": text})
    assert refused.status_code == 400 and refused.json()["message"]


def test_games_beyond_the_limit_are_refused_until_one_is_deleted(tmp_path) -> None:
    with client_of(tmp_path, limits=Limits(games=2, open_games=1)) as client:
        first, second = new_game(client, seed=1), new_game(client)
        refused = client.post("/api/v1/games", json={"rules": "short"})
        assert refused.status_code == 400 and refused.json()["code"] == "too_many_games"
        assert len(client.app.state.service.games._open) == 1
        assert client.get(f"/api/v1/games/{first['id']}").json() == first
        assert client.delete(f"/api/v1/games/{second['id']}").json()["is_deleted"]
        assert client.get(f"/api/v1/games/{second['id']}").status_code == 400
        new_game(client)


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("suggest", {"rules": "poker", "dice": "64"}, 400, "unknown rules"),
        ("suggest", {"rules": "short", "dice": "70"}, 400, "dice"),
        ("suggest", {"rules": "short"}, 400, "dice are missing"),
        ("suggest", {"rules": "short", "dice": "64", "plies": 9}, 400, "plies"),
        ("suggest", {"rules": "short", "dice": "64", "top": "5"}, 400, "top"),
        ("suggest", {"rules": "short", "dice": "64", "ply": 1}, 400, "ply"),
        ("suggest", {"dice": "64"}, 400, "rules"),
        ("suggest", {"rules": "long_classic(koks_zone=first_quarter)", "dice": "64"}, 400, "koks_zone"),
        ("suggest", {"rules": "short", "dice": "64", "position": [[1], [2]]}, 400, "position"),
        ("suggest", {"rules": "long", "dice": "64", "position": "XGID=1"}, 400, "XGID"),
        ("why", {"rules": "short", "dice": "64"}, 400, "play or an afterstate"),
        ("why", {"rules": "short", "dice": "64", "play": "hello"}, 400, "is no move"),
        ("batch", {"rules": "short", "items": []}, 400, "items"),
        ("batch", {"rules": "short", "items": [{"dice": "64"}] * 257}, 400, "items"),
        ("rollout", {"rules": "short", "dice": "64", "trials": 10**9}, 400, "trials"),
        ("games/000000000000/roll", {}, 400, "no game"),
        ("games/../../etc/roll", {}, 404, "nothing"),
        ("nothing", {}, 404, "there is nothing at /api/v1/nothing; what there is stands at /docs"),
        ("rules", {}, 405, "POST is not allowed at /api/v1/rules; allowed: GET"),
        ("suggest/", {}, 404, "nothing"),
        ("suggest", {"rules": "short", "dice": "64", "plies": 1, "filters": "١٢"}, 400, "KEEP:WITHIN"),
    ],
)
def test_faults_are_json_with_a_message(client, path, body, status, said) -> None:
    answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_an_error_has_its_sentence_in_the_language_asked_for(client) -> None:
    ask = {"rules": "chess", "dice": "64"}
    english, russian = (client.post(f"/api/v1/suggest?lang={lang}", json=ask).json() for lang in ("en", "ru"))
    assert english == {"message": russian["message"]}
    assert russian["text"] == f"правила не подходят: {russian['message']}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"{bad",
            "the body must be JSON, got '{bad': Expecting property name enclosed in double quotes at",
        ),
        (b"{", "the body must be JSON, got '{': "),
        (b"\xff", "the body must be JSON in UTF-8, which it is not"),
        (b"[]", "the body must be a JSON object, sent as content-type application/json, got '[]'"),
        (b"", "the body must be a JSON object, sent as content-type application/json"),
        (b"[" * 100_000, "the body must be JSON"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_is_no_json_is_a_400(client, content, said) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/v1/suggest", content=content, headers=headers)
    assert answer.status_code == 400 and answer.json().keys() == {"message"}
    assert said in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_a_body_that_is_too_long_is_a_400(client) -> None:
    long = b'"' + b"x" * (1024 * 1024) + b'"'
    announced = client.post("/api/v1/suggest", content=long)
    assert announced.status_code == 400 and "at most" in announced.json()["message"]
    answer = client.post("/api/v1/suggest", content=iter([long[: 2**19]] * 3))
    assert answer.status_code == 400 and "longer" in answer.json()["message"]


def test_every_answer_forbids_what_comes_from_elsewhere(client) -> None:
    for path in ("/", "/docs", "/health", "/nothing", "/web/js/app.js"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers


def test_only_this_machine_s_names_are_answered(tmp_path) -> None:
    with client_of(tmp_path) as client:
        assert client.get("/health").status_code == 200
    local = TestClient(make_app(ServerConfig(folder=tmp_path, is_warmed=False)))
    assert local.get("/health", headers={"host": "127.0.0.1:8080"}).status_code == 200
    assert local.get("/health", headers={"host": "[::1]:8080"}).status_code == 200
    refused = local.get("/health", headers={"host": "evil.example"})
    assert refused.status_code == 400 and "evil.example" in refused.json()["message"]


def test_another_origin_may_send_only_what_cors_allows(client, tmp_path) -> None:
    elsewhere = {"origin": "http://elsewhere.example"}
    assert client.post("/api/v1/suggest", json={}, headers=elsewhere).status_code == 400
    assert "access-control-allow-origin" not in client.get("/health", headers=elsewhere).headers
    with client_of(tmp_path, origins=("http://elsewhere.example",)) as open_client:
        answer = open_client.post("/api/v1/suggest", json={"rules": "short", "dice": "31"}, headers=elsewhere)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "http://elsewhere.example"


def test_the_description_knows_every_action_and_no_422(client) -> None:
    description = client.get("/openapi.json").json()
    assert Action.__args__ == ACTIONS
    for path, operations in description["paths"].items():
        for operation in operations.values():
            assert "422" not in operation["responses"] and "400" in operation["responses"], path
            assert operation["summary"], path


def test_a_real_server_lets_a_game_outlive_it_and_stops_at_once(tmp_path) -> None:
    server = ServerProcess(tmp_path)
    try:
        with httpx.Client(base_url=server.url) as client:
            game = client.post("/api/v1/games", json={"rules": "long_classic", "first": 0}).json()
            game = client.post(f"/api/v1/games/{game['id']}/roll", json={}).json()
            with client.stream("GET", f"/api/v1/games/{game['id']}/watch") as stream:
                assert json.loads(next(stream.iter_lines()))["revision"] == game["revision"]
            rollout = {"rules": "short", "dice": "31", "trials": 20_000}
            with client.stream("POST", "/api/v1/rollout", json=rollout) as stream:
                assert json.loads(next(stream.iter_lines())) == {"type": "waiting"}
            asyncio.run(ended_jobs(server.url))
    finally:
        assert server.stop() == 0
    again = ServerProcess(tmp_path)
    try:
        assert httpx.get(f"{again.url}/api/v1/games/{game['id']}").json() == game
    finally:
        assert again.stop() == 0


def test_an_address_in_use_is_told_in_one_line(tmp_path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port}, cannot be listened on: .*--port"):
            serve(ServerConfig(folder=tmp_path), "127.0.0.1", port)


async def ended_jobs(url: str) -> None:
    """The rollout whose connection was closed frees its place, so that as many new ones can begin as ever."""
    async with httpx.AsyncClient(base_url=url, timeout=60.0) as client:
        ask = {"rules": "short", "dice": "31", "trials": 36, "truncate": 1}
        answers = await asyncio.gather(*(client.post("/api/v1/rollout", json=ask) for _ in range(4)))
    assert all('"type": "result"' in answer.text for answer in answers)
