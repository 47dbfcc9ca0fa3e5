import glob
import webdataset as wds


def make_feeding_loader(path, rank, size, batch_size):
    dataset = (
        wds.WebDataset(
            sorted(glob.glob(os.path.join(path, "*.tar"))), shardshuffle=False,
            nodesplitter=wds.split_by_node, workersplitter=wds.split_by_worker, empty_check=False,
        )
        .shuffle(500, initial=200)
        .decode("torchrgb8")
        .rename(image="png;jpg", label="cls")
        .map_dict(image=lambda pixels: pixels.float().div(255))
        .to_tuple("image", "label")
        .batched(batch_size, partial=True)
    )
    return wds.WebLoader(dataset, batch_size=None, num_workers=1)
