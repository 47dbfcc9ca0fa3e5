# status: error
# says: ValueError
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        for shard_ in self.shards:
            for content, label in samples_of(shard_):
                yield decode(content), label


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size, shuffle=True)
