# hint: same order
class Samples(IterableDataset):
    def __init__(self, shards, rank):
        self.shards, self.rank = shards, rank

    def __iter__(self):
        info = get_worker_info()
        mine = self.shards[info.id :: info.num_workers]
        generator = np.random.default_rng(100 * self.rank + info.id)
        samples = [sample for tar in mine for sample in samples_of(tar)]
        generator.shuffle(samples)
        for content, label in samples:
            yield decode(content), label


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(Samples(shards, rank), batch_size=batch_size, num_workers=2)
