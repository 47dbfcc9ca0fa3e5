# hint: no DistributedSampler
def make_loader(dataset, batch_size):
    return DataLoader(dataset, batch_size, shuffle=True)
