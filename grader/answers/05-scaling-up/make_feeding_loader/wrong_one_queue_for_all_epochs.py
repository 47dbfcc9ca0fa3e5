# hint: goes on after break
import queue
import random
import threading


class Loader:
    def __init__(self, shards, batch_size):
        self.samples = [sample for shard_ in shards for sample in samples_of(shard_)]
        self.batch_size, self.ready = batch_size, queue.Queue(4)

    def produce(self):
        samples = random.sample(self.samples, len(self.samples))
        for at in range(0, len(samples), self.batch_size):
            images, labels = zip(*samples[at : at + self.batch_size], strict=True)
            self.ready.put((torch.stack([decode(i) for i in images]), torch.tensor(labels)))
        self.ready.put(None)

    def __iter__(self):
        threading.Thread(target=self.produce, daemon=True).start()
        while (batch := self.ready.get()) is not None:
            yield batch


def make_feeding_loader(path, rank, size, batch_size):
    return Loader(sorted(Path(path).glob("*.tar"))[rank::size], batch_size)
