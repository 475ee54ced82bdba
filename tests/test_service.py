"""Answers of the native endpoints, asked in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent import schema
from agent.jobs import Jobs, JobStopped, Limits, StopFlag
from agent.service import suggest_answer
from agent.service_asks import SuggestAsk
from agent.service_judges import Judges
from agent.suggest import evaluate
from schema_check import assert_fits
from web_server import client_of, small_nets

PRESETS = ("short", "short_backgammon", "long_classic", "long_common", "long_fnr2026")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with client_of(tmp_path_factory.mktemp("service")) as found:
        yield found


def post(client, path, **body):
    return client.post(f"/api/v1/{path}", json=body)


def without(answer, *names):
    return {key: value for key, value in answer.items() if key not in names}


@pytest.mark.parametrize("rules", PRESETS)
def test_suggestions_fit_their_schema_under_every_preset(client, rules) -> None:
    answer = post(client, "suggest", rules=rules, dice="31", plies=1, top=3).json()
    assert answer["position"] == "start" and answer["level"] == "1-ply"
    assert answer["suggestions"][0].pop("verdict") == "best"
    plain = [without(play, "verdict") for play in answer["suggestions"]]
    assert_fits(without(answer, "position", "notes") | {"suggestions": plain}, schema.SUGGESTIONS)


def test_the_deepest_level_is_answered_among_the_slow_jobs(client) -> None:
    answer = post(client, "suggest", rules="short", dice=[6, 1], plies=2, top=1).json()
    assert answer["suggestions"][0]["level"] == "2-ply"


def test_words_come_in_the_language_asked_for(client) -> None:
    answer = post(client, "suggest", rules="long_classic", dice="64", words=True, lang="ru").json()
    assert any("головы" in sentence for sentence in answer["suggestions"][0]["words"])


def test_an_evaluation_has_the_21_rolls(client) -> None:
    answer = post(client, "evaluate", rules="long_classic").json()
    assert_fits(without(answer, "position", "notes"), schema.EVALUATION)
    assert len(answer["rolls"]) == 21


def test_the_dice_of_an_xgid_count_and_a_disagreement_is_an_error(client) -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    assert post(client, "suggest", rules="short", position=xgid).json()["dice"] == [3, 1]
    refused = post(client, "suggest", rules="short", position=xgid, dice="64")
    assert refused.status_code == 400 and "disagree" in refused.json()["message"]


def test_a_position_is_described_with_its_ids(client) -> None:
    answer = post(client, "position", rules="short", position="4HPwATDgc/ABMA").json()
    assert answer["source"] == "gnubg_id" and answer["pips"] == [167, 167]
    assert answer["xgid"].startswith("XGID=") and answer["gnubg_id"] == "4HPwATDgc/ABMA"
    assert post(client, "position", rules="long_classic").json()["xgid"] is None


def test_legal_plays_come_in_pages_with_their_steps(client) -> None:
    whole = post(client, "legal", rules="short", dice="31").json()
    assert whole["n_legal"] == 16 == len(whole["plays"])
    page = post(client, "legal", rules="short", dice="31", offset=10, limit=4).json()
    assert page["plays"] == whole["plays"][10:14]


def test_no_play_is_one_empty_play_and_says_why(client) -> None:
    """Case N09: the pass is answered once, with what stops each checker."""
    row, their_row = [0] * 26, [0] * 26
    row[24], their_row[0], their_row[6], their_row[7], their_row[8] = 15, 9, 2, 2, 2  # my 18, 19, 20 are held
    rows = [row, their_row]
    answer = post(client, "legal", rules="long_classic", position=rows, dice="64", lang="ru").json()
    assert answer["n_legal"] == 1 and answer["is_pass"]
    assert [play["play"] for play in answer["plays"]] == ["pass"]
    assert {(r["start"], r["die"], r["code"]) for r in answer["pass_reasons"]} == {
        (24, 6, "point_held"),
        (24, 4, "point_held"),
    }
    assert all("занят" in reason["text"] for reason in answer["pass_reasons"])


def test_why_names_the_rule_in_both_languages(client) -> None:
    ask = {"rules": "long_classic", "dice": "65", "play": "24/18"}
    answer = post(client, "why", **ask).json()
    assert answer["is_legal"] is False and answer["reason"]["code"] == "both_dice_required"
    assert "оба зара" in post(client, "why", **ask, lang="ru").json()["reason"]["text"]
    assert post(client, "why", **(ask | {"play": "24/18 18/13"})).json()["is_legal"] is True


def test_a_batch_equals_its_rows_one_by_one(client) -> None:
    items = [{"dice": "64"}, {"dice": "33"}, {"position": "start", "dice": [6, 6]}]
    batch = post(client, "batch", rules="long_classic", items=items, top=2).json()["answers"]
    for item, answer in zip(items, batch, strict=True):
        one = post(client, "suggest", rules="long_classic", top=2, **item).json()
        assert answer == one | {"suggestions": [without(play, "verdict") for play in one["suggestions"]]}


def test_a_fault_in_a_batch_names_its_item(client) -> None:
    refused = post(client, "batch", rules="short", items=[{"dice": "31"}, {"dice": "71"}])
    assert refused.status_code == 400 and refused.json()["message"].startswith("item 1 of the batch:")


def test_a_rollout_tells_its_progress_and_its_result(client) -> None:
    ask = {"rules": "short", "dice": "31", "plays": ["8/5 6/5", "24/23 13/10"], "trials": 700, "truncate": 1}
    with client.stream("POST", "/api/v1/rollout", json=ask) as response:
        assert response.headers["content-type"].startswith("application/x-ndjson")
        lines = [json.loads(line) for line in response.iter_lines() if line]
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "waiting" and kinds[-1] == "result" and kinds.count("progress") >= 2
    assert_fits(without(lines[-1]["rollout"], "position", "notes"), schema.ROLLOUT)
    assert lines[-1]["rollout"]["trials"] == 700


def test_a_rollout_that_cannot_be_is_refused_before_it_begins(client) -> None:
    refused = post(client, "rollout", rules="short", dice="31", plays=["13/1"])
    assert refused.status_code == 400 and "13/1" in refused.json()["message"]
    assert client.app.state.service.jobs._flags == set()


def test_a_stopped_rollout_ends_before_its_trials_are_played(tmp_path: Path) -> None:
    flag = StopFlag(60.0)
    judge = Judges(small_nets(tmp_path)).evaluator("short", flag=flag)
    flag.stop("the connection was closed")
    with pytest.raises(JobStopped, match="closed"):
        judge.outcome_probs(judge.rules.start_board()[None])


def test_a_job_that_takes_too_long_is_told_so() -> None:
    flag = StopFlag(0.0)
    flag.start()
    with pytest.raises(JobStopped, match="fewer plies"):
        flag.check()


def test_no_more_slow_jobs_are_taken_than_may_wait() -> None:
    jobs = Jobs(Limits(slow_jobs=1, waiting_jobs=1))
    first, second = jobs.reserve(), jobs.reserve()
    with pytest.raises(Exception, match="try again later"):
        jobs.reserve()
    jobs.release(first)
    jobs.release(jobs.reserve())
    jobs.release(second)
    jobs.close()


def test_answers_of_one_setting_never_come_from_another(tmp_path: Path) -> None:
    """Case E06, money part: scorings and positions asked in turn, on one thread and on four."""
    from concurrent.futures import ThreadPoolExecutor

    judges = Judges(small_nets(tmp_path))
    asks = [
        SuggestAsk(rules="short", dice="31"),
        SuggestAsk(rules="short", dice="31", scoring="win_only"),
        SuggestAsk(rules="short_backgammon", dice="64"),
        SuggestAsk(rules="short(scoring=1/2/9/9)", dice="31"),
        SuggestAsk(rules="short", dice="31"),
    ]
    first = [suggest_answer(ask, judges) for ask in asks]
    assert first[0] == first[-1] and first[0] != first[1] and first[0] != first[3]
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda ask: suggest_answer(ask, judges), asks * 6))
    assert again == first * 6


def test_rules_tell_a_board_what_it_draws(client) -> None:
    presets = client.get("/api/v1/rules").json()["presets"]
    assert set(presets) == set(PRESETS)
    assert presets["long_classic"]["opponent_point"][24] == 12 and not presets["long_classic"]["has_bar"]
    assert presets["short"]["levels"] == ["single", "gammon", "home", "bar"]


@pytest.mark.parametrize("bot", ["net", "net@1ply", "heuristic", "random"])
def test_a_resignation_is_judged_by_the_net_that_the_server_was_given(client, monkeypatch, bot) -> None:
    asked = []

    def worth(board, rules, net=None):
        asked.append(net.net_name)
        return evaluate(board, rules, net)

    monkeypatch.setattr(sys.modules["agent.suggest"], "evaluate", worth)  # the package has a function of that name
    game = post(client, "games", rules="long_classic", players=["you", bot], first=0, seed=1).json()["id"]
    post(client, f"games/{game}/resign", by=0, level="single").raise_for_status()
    answer = post(client, f"games/{game}/bot")
    assert answer.status_code == 200 and answer.json()["offer"] is None
    assert asked == ["long_classic"]  # the file in the folder; the shipped net is called long
