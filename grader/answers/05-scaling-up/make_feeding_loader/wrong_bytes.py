# hint: uint8
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        for i in torch.randperm(len(self.shards)):
            samples = samples_of(self.shards[i])
            for k in torch.randperm(len(samples)):
                pixels = np.array(Image.open(io.BytesIO(samples[k][0])))
                yield torch.from_numpy(pixels).permute(2, 0, 1), samples[k][1]


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size)
