"""Images and digits that are found in a folder, and what is said of folders that cannot be used."""

import pytest
import torch
from PIL import Image
from torch.utils.data import ConcatDataset, DataLoader

from distlab.training import data, digits


def tree(folder, **parts):
    """A folder of images, two of each class, whose red says which class they are of."""
    for part, names in parts.items():
        for name in names:
            (folder / part / name).mkdir(parents=True)
            for number in range(2):
                image = Image.new("RGB", (40, 30), (ord(name), 0, 0))
                image.save(folder / part / name / f"{number}.png")
    return folder


def test_a_class_has_one_number_in_both_parts(tmp_path):
    found = data.load(tree(tmp_path, train="abc", test="ac"))
    assert found.classes == ["a", "b", "c"]
    for images in (found.train, found.test):
        for index, label in enumerate(images.labels.tolist()):
            assert chr(images.pixels(index)[0, 0, 0]) == found.classes[label]
    assert found.test.labels.tolist() == [0, 0, 2, 2]


def test_workers_that_are_spawned_can_be_sent_images(tmp_path):
    """On macOS all are."""
    found = data.load(tree(tmp_path, train="ab", test="a")).test
    generated = data.load(synthetic=True, limit=2, test_limit=1).train
    both = ConcatDataset([found, generated])
    loader = DataLoader(both, batch_size=4, num_workers=1, multiprocessing_context="spawn")
    images, _ = next(iter(loader))
    assert torch.equal(images, torch.stack([both[index][0] for index in range(4)]))


def test_some_images_of_a_folder_are_spread_over_its_classes(tmp_path):
    found = data.load(tree(tmp_path, train="abc", test="abc"), limit=4, test_limit=1)
    assert len(found.train) == 4 and len(found.test) == 1 and len(set(found.train.labels)) > 1


def test_a_class_that_is_not_trained_is_refused(tmp_path):
    with pytest.raises(data.NoData, match="test has a folder 'd' and"):
        data.load(tree(tmp_path, train="abc", test="abd"))


def test_a_class_without_an_image_is_refused(tmp_path):
    tree(tmp_path, train="ab", test="ab")
    (tmp_path / "train" / "empty").mkdir()
    with pytest.raises(data.NoData, match="cannot be used.*empty"):
        data.load(tmp_path)


def test_what_an_interrupted_download_left_is_told_as_that(tmp_path):
    (tmp_path / "cifar-10-batches-py").mkdir()
    (tmp_path / "cifar-10-batches-py" / "data_batch_1").write_bytes(bytes(100))
    with pytest.raises(data.NoData, match="remove its folder cifar-10-batches-py"):
        data.load(tmp_path)


def test_where_there_are_no_images_the_message_says_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(data.NoData, match="--synthetic"):
        data.load(tmp_path)
    monkeypatch.setenv("DISTLAB_DATA", str(tmp_path))
    assert data.load(limit=10, test_limit=5).source == "generated patterns"


@pytest.mark.parametrize("left", [b"", bytes([0, 0, 8, 1, 0, 0, 0, 9]) + bytes(5)])
def test_digits_of_which_a_file_is_cut_short_are_not_taken(tmp_path, left):
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part in ("train", "t10k"):
        for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"):
            (raw / name).write_bytes(left)
    found = digits.load(tmp_path)
    assert found.source.startswith("scikit-learn") and len(found.test) > 300
