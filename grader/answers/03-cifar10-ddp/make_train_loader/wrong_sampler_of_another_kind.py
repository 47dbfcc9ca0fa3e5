# hint: divided without DistributedSampler
# says: 'MySampler' in the sampler where 'DistributedSampler' was expected
class MySampler(torch.utils.data.Sampler):
    def __init__(self, n, rank, size, seed):
        self.n, self.rank, self.size, self.seed, self.epoch = n, rank, size, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(torch.randperm(self.n, generator=generator).tolist()[self.rank :: self.size])

    def __len__(self):
        return len(range(self.rank, self.n, self.size))


def make_train_loader(dataset, rank, size, batch_size, seed):
    return DataLoader(dataset, batch_size, sampler=MySampler(len(dataset), rank, size, seed))
