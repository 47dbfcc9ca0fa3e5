# hint: goes on after break
import random


class Loader:
    def __init__(self, shards, batch_size):
        self.samples = [sample for shard_ in shards for sample in samples_of(shard_)]
        self.batch_size, self.left = batch_size, []

    def __iter__(self):
        return self

    def __next__(self):
        if self.left is None:
            self.left = []
            raise StopIteration
        if not self.left:
            self.left = random.sample(self.samples, len(self.samples))
        part, rest = self.left[: self.batch_size], self.left[self.batch_size :]
        self.left = rest or None
        images, labels = zip(*part, strict=True)
        return torch.stack([decode(image) for image in images]), torch.tensor(labels)


def make_feeding_loader(path, rank, size, batch_size):
    return Loader(sorted(Path(path).glob("*.tar"))[rank::size], batch_size)
