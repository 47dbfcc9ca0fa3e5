class Share(DistributedSampler):
    """This worker's share."""

    def __init__(self, dataset):
        super().__init__(dataset, num_replicas=hvd.size(), rank=hvd.rank(), seed=7)


def make_loader(dataset, batch_size):
    return DataLoader(dataset, sampler=Share(dataset), batch_size=batch_size, drop_last=False)
