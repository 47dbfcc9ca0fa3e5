# hint: shards shared
class FromTars(IterableDataset):
    def __init__(self, shards, rank, size):
        self.shards, self.rank, self.size = shards, rank, size

    def __iter__(self):
        samples = [s for shard_ in self.shards for s in samples_of(shard_)][self.rank :: self.size]
        for i in torch.randperm(len(samples)):
            yield decode(samples[i][0]), samples[i][1]


def make_feeding_loader(path, rank, size, batch_size):
    return DataLoader(FromTars(sorted(Path(path).glob("*.tar")), rank, size), batch_size=batch_size)
