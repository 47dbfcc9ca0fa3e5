# hint: samples missing
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        samples = [s for shard_ in self.shards for s in samples_of(shard_)]
        for i in torch.randperm(len(samples)):
            yield decode(samples[i][0]), samples[i][1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size, drop_last=True)
