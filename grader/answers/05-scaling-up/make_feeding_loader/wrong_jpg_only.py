# hint: no sample at all
import random


class Pipe(IterableDataset):
    def __init__(self, files):
        self.files = files

    def __iter__(self):
        out = []
        for f in self.files:
            with tarfile.open(f) as t:
                names = [n for n in t.getnames() if n.endswith(".jpg")]
                for n in names:
                    y = int(t.extractfile(n[:-4] + ".cls").read())
                    out.append((decode(t.extractfile(n).read()), y))
        random.shuffle(out)
        yield from out


def make_feeding_loader(path, rank, size, batch_size):
    return DataLoader(Pipe(sorted(Path(path).glob("*.tar"))[rank::size]), batch_size=batch_size)
