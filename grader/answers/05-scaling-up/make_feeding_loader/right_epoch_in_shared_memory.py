class TarStream(IterableDataset):
    def __init__(self, files):
        super().__init__()
        self.files = files
        self.epoch = torch.zeros(1, dtype=torch.int64).share_memory_()
    def __iter__(self):
        info = get_worker_info()
        wid, n = (info.id, info.num_workers) if info else (0, 1)
        g = torch.Generator().manual_seed(int(self.epoch))
        order = torch.randperm(len(self.files), generator=g).tolist()
        for k in order[wid::n]:
            rows = samples_of(self.files[k])
            for j in torch.randperm(len(rows), generator=g).tolist():
                yield decode(rows[j][0]), rows[j][1]
class Epochs:
    def __init__(self, loader, ds): self.loader, self.ds = loader, ds
    def __iter__(self):
        self.ds.epoch += 1
        return iter(self.loader)
def make_feeding_loader(path, rank, size, batch_size):
    files = sorted(str(p) for p in Path(path).glob("*.tar"))[rank::size]
    ds = TarStream(files)
    return Epochs(DataLoader(ds, batch_size, num_workers=min(2, len(files))), ds)
