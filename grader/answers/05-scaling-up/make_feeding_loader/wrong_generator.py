# hint: second epoch empty
def batches(shards, batch_size):
    samples = [s for shard_ in shards for s in samples_of(shard_)]
    order = torch.randperm(len(samples)).tolist()
    for k in range(0, len(order), batch_size):
        chosen = [samples[i] for i in order[k : k + batch_size]]
        images = torch.stack([decode(content) for content, _ in chosen])
        yield images, torch.tensor([label for _, label in chosen])


def make_feeding_loader(path, rank, size, batch_size):
    return batches(sorted(Path(path).glob("*.tar"))[rank::size], batch_size)
