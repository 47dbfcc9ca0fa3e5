# hint: samples missing
import webdataset as wds


def make_feeding_loader(path, rank, size, batch_size):
    shards = sorted(str(p) for p in Path(path).glob("*.tar"))[rank::size]
    dataset = (
        wds.WebDataset(
            shards, shardshuffle=100, nodesplitter=wds.split_by_node, empty_check=False
        )
        .shuffle(1000).decode("torchrgb").to_tuple("png;jpg", "cls")
    )
    return DataLoader(dataset, batch_size=batch_size, num_workers=2)
