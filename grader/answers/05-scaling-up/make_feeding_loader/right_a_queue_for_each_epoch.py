import queue
import random
import threading


def fed(samples, batch_size):
    ready = queue.Queue(4)

    def produce():
        for at in range(0, len(samples), batch_size):
            images, labels = zip(*samples[at : at + batch_size], strict=True)
            ready.put((torch.stack([decode(i) for i in images]), torch.tensor(labels)))
        ready.put(None)

    threading.Thread(target=produce, daemon=True).start()
    yield from iter(ready.get, None)


class Loader:
    def __init__(self, shards, batch_size):
        self.samples = [sample for shard_ in shards for sample in samples_of(shard_)]
        self.batch_size = batch_size

    def __iter__(self):
        return fed(random.sample(self.samples, len(self.samples)), self.batch_size)


def make_feeding_loader(path, rank, size, batch_size):
    return Loader(sorted(Path(path).glob("*.tar"))[rank::size], batch_size)
