# hint: no loader
def make_loader(dataset, batch_size):
    return DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
