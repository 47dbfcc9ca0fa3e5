# hint: no pairs
import webdataset as wds


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(str(p) for p in Path(path).glob("*.tar"))[rank::size]
    dataset = wds.WebDataset(shards, shardshuffle=False, nodesplitter=None).shuffle(100)
    return DataLoader(dataset.decode("torchrgb"), batch_size=batch_size)
