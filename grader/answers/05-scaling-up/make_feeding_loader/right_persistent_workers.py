class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        worker = get_worker_info()
        samples = []
        for shard_ in self.shards[worker.id :: worker.num_workers]:
            samples += samples_of(shard_)
        for i in torch.randperm(len(samples)):
            yield decode(samples[i][0]), samples[i][1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(
        FromTars(shards), batch_size=batch_size, num_workers=2, persistent_workers=True,
        prefetch_factor=4, pin_memory=torch.cuda.is_available(),
    )
