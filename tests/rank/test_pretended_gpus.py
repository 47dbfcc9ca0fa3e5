"""GPUs that are not there, as a harness pretends them."""

import pytest
import torch
from torch.cuda import current_device, device_count, manual_seed_all, set_device

from distlab.rank.pretended_gpus import PretendedGpus


def seen():
    return torch.cuda.is_available(), device_count(), torch.accelerator.is_available()


def test_torch_finds_them_by_whatever_name_and_only_meanwhile():
    before = seen()
    with PretendedGpus(3).there():
        assert seen() == (True, 3, True)
        set_device("cuda:2")
        assert current_device() == torch.accelerator.current_device_index() == 2
        with torch.cuda.device(1):
            assert torch.accelerator.current_device_index() == 1
            torch.cuda.synchronize()
            assert "pretended" in torch.cuda.get_device_name()
        assert torch.cuda.current_device() == 2
    assert seen() == before


def test_nothing_lies_in_their_memory():
    with PretendedGpus(2).there():
        torch.cuda.reset_peak_memory_stats(1)
        torch.cuda.set_per_process_memory_fraction(0.5)
        assert torch.cuda.memory_allocated() == torch.cuda.max_memory_reserved(1) == 0
        free, total = torch.cuda.mem_get_info()
        assert free == total == torch.accelerator.get_memory_info(1)[0]
        torch.accelerator.reset_peak_memory_stats()
        assert torch.accelerator.memory_allocated() == 0


def test_no_gpu_is_pretended_as_well():
    with PretendedGpus(0).there():
        assert seen() == (False, 0, False)
        with pytest.raises(RuntimeError, match="no CUDA device 0"):
            torch.cuda.set_device(0)


def test_a_gpu_that_is_not_among_them_cannot_be_chosen():
    with PretendedGpus(2).there(), pytest.raises(RuntimeError, match="no CUDA device 2"):
        torch.accelerator.set_device_index(2)


def test_streams_are_of_a_gpu_and_what_is_queued_there_is_done():
    with PretendedGpus(2).there():
        first, other = torch.cuda.current_stream(1), torch.cuda.Stream("cuda:1")
        assert first == torch.cuda.default_stream(1) != other and first.device_index == 1
        with torch.cuda.stream(other):
            assert torch.cuda.current_stream(1) == other and other.query()
            other.wait_stream(first)
            with torch.cuda.Stream(1) as inner, inner:
                assert torch.cuda.current_stream(1) == inner
            assert torch.cuda.current_stream(1) == other
        assert torch.cuda.current_stream(1) == first and torch.cuda.current_device() == 0
        begin, end = torch.cuda.Event(enable_timing=True), first.record_event()
        begin.record(first)
        assert begin.elapsed_time(end) == 0
        with torch.Stream("cuda:1") as general:
            assert torch.accelerator.current_stream() == general
        with pytest.raises(RuntimeError, match="no CUDA device 2"):
            torch.cuda.Stream(2)
    with pytest.raises(RuntimeError), PretendedGpus(0).there():
        torch.cuda.Stream()


def test_whoever_seeds_them_is_noted():
    gpus = PretendedGpus(2)
    with gpus.there():
        torch.manual_seed(5)
        manual_seed_all(6)
        with torch.cuda.device(1):
            torch.cuda.manual_seed(7)
    torch.manual_seed(8)
    assert gpus.seeds == [5, 5, 6, 6, 7]
