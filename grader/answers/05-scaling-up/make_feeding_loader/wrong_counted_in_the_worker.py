# hint: same order
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards, self.epoch = shards, 0

    def __iter__(self):
        worker = get_worker_info()
        self.epoch += 1
        generator = torch.Generator().manual_seed(self.epoch)
        samples = [
            s for shard_ in self.shards[worker.id :: worker.num_workers] for s in samples_of(shard_)
        ]
        for i in torch.randperm(len(samples), generator=generator):
            yield decode(samples[i][0]), samples[i][1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size, num_workers=2)
