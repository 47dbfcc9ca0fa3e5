# hint: no DistributedSampler
def make_loader(dataset, batch_size):
    mine = torch.utils.data.Subset(dataset, range(hvd.rank(), len(dataset), hvd.size()))
    return DataLoader(mine, batch_size, shuffle=True)
