from distlab import vision


class Tars(torch.utils.data.IterableDataset):
    def __init__(self, shards):
        super().__init__()
        self.shards, self.epoch = shards, 0

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        number, workers = (info.id, info.num_workers) if info else (0, 1)
        rng = np.random.default_rng([self.epoch, number])
        waiting = []
        for i in rng.permutation(len(self.shards)):
            for k, sample in enumerate(samples_of(self.shards[i])):
                if k % workers != number:
                    continue
                waiting.append(sample)
                if len(waiting) > 20:
                    yield self.decoded(waiting.pop(rng.integers(len(waiting))))
        rng.shuffle(waiting)
        yield from map(self.decoded, waiting)

    def decoded(self, sample):
        content, label = sample
        return vision.transforms.functional.to_tensor(
            Image.open(io.BytesIO(content)).convert("RGB")
        ), label


class Loader:
    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        self.dataset.epoch += 1  # before the workers are started, so that they know
        return iter(DataLoader(self.dataset, self.batch_size, num_workers=2))


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))
    share = np.array_split(np.arange(len(shards)), size)[rank]
    return Loader(Tars([shards[i] for i in share]), batch_size)
