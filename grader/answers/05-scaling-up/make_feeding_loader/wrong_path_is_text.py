# status: error
# says: no attribute 'glob'
class Samples(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        for tar in self.shards:
            for content, label in samples_of(tar):
                yield decode(content), label


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(path.glob("*.tar"))[rank::size]
    return DataLoader(Samples(shards), batch_size=batch_size)
