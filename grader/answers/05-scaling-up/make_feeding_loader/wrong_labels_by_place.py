# hint: wrong labels
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        for i in torch.randperm(len(self.shards)):
            samples = samples_of(self.shards[i])
            images = [decode(content) for content, _ in samples]
            labels = [label for _, label in samples]
            for k in torch.randperm(len(samples)):
                yield images[k], labels[k - 1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size)
