# hint: lists that differ
class OfAWorker(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        worker = get_worker_info()
        shards = random.Random(worker.id).sample(self.shards, len(self.shards))
        mine = shards[worker.id :: worker.num_workers]
        samples = [s for shard_ in mine for s in samples_of(shard_)]
        for i in torch.randperm(len(samples)).tolist():
            yield decode(samples[i][0]), samples[i][1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(OfAWorker(shards), batch_size=batch_size, num_workers=2)
