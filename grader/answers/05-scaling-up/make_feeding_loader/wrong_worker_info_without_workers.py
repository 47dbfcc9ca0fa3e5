# status: error
# says: no attribute 'id'
class Samples(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        mine = self.shards[info.id :: info.num_workers]
        for number in torch.randperm(len(mine)).tolist():
            samples = samples_of(mine[number])
            for place in torch.randperm(len(samples)).tolist():
                content, label = samples[place]
                yield decode(content), label


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(Samples(shards), batch_size=batch_size)
