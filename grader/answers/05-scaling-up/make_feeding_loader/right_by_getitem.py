import random


class Batches:
    """A `for` goes over it, too: it asks for number 0, 1, … until there is an IndexError."""

    def __init__(self, shards, batch_size):
        self.samples = [sample for shard_ in shards for sample in samples_of(shard_)]
        self.batch_size = batch_size

    def __getitem__(self, number):
        if number == 0:
            random.shuffle(self.samples)
        part = self.samples[number * self.batch_size :][: self.batch_size]
        if not part:
            raise IndexError(number)
        images, labels = zip(*part, strict=True)
        return torch.stack([decode(image) for image in images]), torch.tensor(labels)


def make_feeding_loader(path, rank, size, batch_size):
    return Batches(sorted(Path(path).glob("*.tar"))[rank::size], batch_size)
