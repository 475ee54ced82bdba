"""Batches split over threads: slices in order, nothing lost, faults passed on."""

import threading

import pytest

from engine.errors import ConfigError
from engine.threads import default_threads, map_slices


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("smallest", [1, 5, 64])
def test_slices_cover_the_batch_in_order(threads, count, smallest):
    parts = map_slices(lambda part: list(range(count))[part], count, threads=threads, smallest=smallest)
    assert [item for part in parts for item in part] == list(range(count))
    assert len(parts) <= threads
    assert len(parts) == 1 or all(len(part) >= smallest for part in parts)


def test_one_slice_runs_in_the_calling_thread():
    assert map_slices(lambda _: threading.get_ident(), 10, threads=1) == [threading.get_ident()]


def test_slices_run_side_by_side():
    meeting = threading.Barrier(2, timeout=20)
    assert sorted(map_slices(lambda _: meeting.wait(), 2, threads=2)) == [0, 1]


def test_fault_of_one_slice_reaches_the_caller():
    def work(part):
        if part.start:
            raise ValueError("second half")

    with pytest.raises(ValueError, match="second half"):
        map_slices(work, 10, threads=2)


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_number_of_threads_is_checked(threads):
    with pytest.raises(ConfigError, match=f"threads must lie between 1 and 256, got {threads}"):
        map_slices(lambda part: part, 10, threads=threads)


def test_default_is_the_cores_of_this_process():
    assert 1 <= default_threads() <= 256
    assert len(map_slices(lambda part: part, 1000)) == min(default_threads(), 1000)
