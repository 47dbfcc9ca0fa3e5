# status: error
# says: process group
def make_loader(dataset, batch_size):
    return DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset))
