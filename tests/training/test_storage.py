"""Images in four forms of storage, and a disk that is slow."""

import time
from pathlib import Path

import pytest
import torch

from distlab.training import storage


@pytest.fixture
def samples():
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (64, 3, 32, 32), dtype=torch.uint8, generator=generator)
    return [(storage.jpeg(one), number % 10) for number, one in enumerate(pixels)]


def test_shards_hold_all_samples_in_order_and_are_uneven(samples, tmp_path):
    storage.write_shards(samples, tmp_path / "shards", 3)
    read = [storage.samples(path) for path in sorted((tmp_path / "shards").glob("*.tar"))]
    assert [sample for shard in read for sample in shard] == samples
    assert len({len(shard) for shard in read}) > 1


@pytest.mark.parametrize("count", [0, 1, 12, 40])
def test_few_samples_are_in_one_shard_each(samples, tmp_path, count):
    storage.write_shards(samples[:count], tmp_path / "shards", 12)
    paths = sorted((tmp_path / "shards").glob("*.tar"))
    read = [sample for path in paths for sample in storage.samples(path)]
    assert len(paths) == 12 and read == samples[:count]


def test_a_disk_that_is_made_slow_twice_is_as_slow_as_the_last_time(tmp_path, monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one").write_text("1")
    for seconds in (3.0, 2.0, 2.0):
        slow = storage.slow_disk(tmp_path / "files", seconds)
    (slow / "one").read_text()
    (tmp_path / "files" / "one").read_text()
    assert waited == [2.0]


def test_the_slow_name_of_a_folder_whose_path_is_relative_leads_to_it(tmp_path, monkeypatch):
    (tmp_path / "data" / "files").mkdir(parents=True)
    (tmp_path / "data" / "files" / "one").write_text("1")
    monkeypatch.chdir(tmp_path)
    slow = storage.slow_disk(Path("data/files"), 0)
    assert (slow / "one").read_text() == "1"


def test_an_image_comes_back_as_floats_from_0_to_1(samples):
    image = storage.decode(samples[0][0])
    assert image.shape == (3, 32, 32) and image.dtype == torch.float32
    assert 0 <= image.min() < 0.1 and 0.9 < image.max() <= 1


def test_every_form_gives_every_sample_and_says_what_it_takes(samples, tmp_path):
    table = storage.compare(samples, tmp_path, repeats=2)
    assert list(table) == list(storage.FORMATS)
    assert [row["files"] for row in table.values()] == [64, 1, 2, 12]
    for name, (_, read) in storage.FORMATS.items():
        order = list(range(63, -1, -1))
        labels = [label for _, label in read(tmp_path / f"format-{name}", order)]
        assert sorted(labels) == sorted(label for _, label in samples)
        assert len(table[name]["fetched"]) == 2 and table[name]["kilobytes"] > 0


def test_a_cell_that_writes_them_can_be_run_again(samples, tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for some, shards in ((samples, 8), (samples[:20], 3)):
            storage.write_shards(some, tmp_path / "shards", shards)
            read = [storage.samples(path) for path in sorted((tmp_path / "shards").iterdir())]
            assert len(read) == shards and [one for shard in read for one in shard] == some
            table = storage.compare(some, tmp_path, repeats=1)
            assert [row["files"] for row in table.values()] == [len(some), 1, 2, 12]
        assert torch.get_num_threads() == 2  # the kernel's are as they were
    finally:
        torch.set_num_threads(threads)


def test_files_read_by_the_slow_name_take_longer_and_others_do_not(samples, tmp_path, monkeypatch):
    storage.write_files(samples, tmp_path / "files")
    slow, slept = storage.slow_disk(tmp_path / "files", 0.5), []
    monkeypatch.setattr(time, "sleep", slept.append)
    files = storage.Files(slow)
    assert len(files) == 64 and files[3][0].shape == (3, 32, 32) and slept == [0.5]
    (tmp_path / "files" / "0" / "000000.jpg").read_bytes()
    assert slept == [0.5]
    assert storage.slow_disk(tmp_path / "files", 0) == slow
