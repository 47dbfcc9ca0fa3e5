# status: error
# says: KeyError
class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        for i in torch.randperm(len(self.shards)):
            with tarfile.open(self.shards[i]) as tar:
                content = {m.name: tar.extractfile(m).read() for m in tar}
            keys = sorted({name.split(".")[0] for name in content})
            for k in torch.randperm(len(keys)):
                yield decode(content[keys[k] + ".png"]), int(content[keys[k] + ".cls"])


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(Path(path).glob("*.tar"))[rank::size]
    return DataLoader(FromTars(shards), batch_size=batch_size)
