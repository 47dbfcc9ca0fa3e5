"""The original pixels, from files as the package has them to what a training reads."""

import json

import numpy as np
from PIL import Image

from bench import originals
from distlab.training import data


def test_a_training_reads_the_pixels_and_classes_that_the_package_has(tmp_path):
    package, folder = tmp_path / "package", tmp_path / "images"
    package.mkdir()
    kept, generator = {}, np.random.default_rng(0)
    for name, (files, labels) in originals.SETS.items():
        numbers = list(range(10)) * len(files)
        pixels = generator.integers(0, 256, (len(numbers), 32, 32, 3), dtype=np.uint8)
        for i, file in enumerate(files):  # an image a line
            lines = pixels[10 * i : 10 * i + 10].reshape(10, 1024, 3)
            Image.fromarray(lines).save(package / file)
        (package / labels).write_text(json.dumps(numbers))
        kept[name] = {
            (label, image.tobytes()) for label, image in zip(numbers, pixels, strict=True)
        }

    originals.write(package, folder)
    split = data.load(folder)

    assert split.classes == list(originals.CLASSES)
    for name, images in (("train", split.train), ("test", split.test)):
        read = [images.pixels(i).permute(1, 2, 0).numpy().tobytes() for i in range(len(images))]
        assert set(zip(images.labels.tolist(), read, strict=True)) == kept[name]
