# hint: other values
def pixels_of(content):
    pixels = torch.from_numpy(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).copy()).permute(2, 0, 1)
    return pixels.float() / 256


class FromTars(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        own = self.shards[info.id :: info.num_workers] if info else self.shards
        for i in torch.randperm(len(own)).tolist():
            samples = samples_of(own[i])
            for j in torch.randperm(len(samples)).tolist():
                yield pixels_of(samples[j][0]), samples[j][1]


def make_feeding_loader(path, rank, size, batch_size):
    return DataLoader(FromTars(sorted(Path(path).glob("*.tar"))[rank::size]), batch_size, num_workers=1)
