# hint: shuffled without sampler
# says: 'RandomSampler' in the sampler where 'DistributedSampler' was expected
def make_train_loader(dataset, rank, size, batch_size, seed):
    return DataLoader(dataset, batch_size=batch_size, shuffle=True)
