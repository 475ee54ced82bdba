"""Metrics of a run and their plot."""

import pytest

from engine.errors import ConfigError
from training.curves import METRICS_FILE, append_metrics, drop_metrics_after, plot_curve, read_metrics


def lines(rounds):
    return [{"kind": "round", "round": r, "games": 100 * r, "loss": 2.0 / r} for r in rounds]


def test_resuming_forgets_the_rounds_past_the_checkpoint(tmp_path):
    append_metrics(tmp_path, lines(range(1, 6)))
    drop_metrics_after(tmp_path, 3)
    append_metrics(tmp_path, lines([4]))
    assert [metric["round"] for metric in read_metrics(tmp_path)] == [1, 2, 3, 4]


def test_line_cut_off_by_a_kill_is_left_out(tmp_path):
    append_metrics(tmp_path, lines([1, 2]))
    with open(tmp_path / METRICS_FILE, "a", encoding="utf-8") as file:
        file.write('{"kind": "rou')
    assert [metric["round"] for metric in read_metrics(tmp_path)] == [1, 2]
    drop_metrics_after(tmp_path, 2)
    append_metrics(tmp_path, lines([3]))
    assert [metric["round"] for metric in read_metrics(tmp_path)] == [1, 2, 3]


@pytest.mark.parametrize(
    "line", [b'{"round": ', b"[1]", b'{"kind": "round"}', b'{"round": "3"}', b"\xff\xfe", b"[" * 9000]
)
def test_damaged_line_is_named(tmp_path, line):
    append_metrics(tmp_path, lines([1, 2]))
    with open(tmp_path / METRICS_FILE, "ab") as file:
        file.write(line + b"\n")
    with pytest.raises(ConfigError, match=r"line 3 of .*metrics.jsonl is no metric"):
        read_metrics(tmp_path)


def test_draws_a_picture_of_every_kind_of_metric(tmp_path):
    append_metrics(tmp_path, lines(range(1, 4)))
    referee = {"kind": "referee", "round": 2, "games": 200, "class": "all", "error_rate_mpt": 30.0, "se": 1.0}
    match = {"kind": "match", "round": 2, "games": 200, "opponent": "pips", "ppg": 0.1, "se": 0.02}
    append_metrics(tmp_path, [referee, match])
    path = plot_curve(tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, METRICS_FILE]


def test_no_metrics_still_draw(tmp_path):
    assert read_metrics(tmp_path) == []
    assert plot_curve(tmp_path) is not None
