# hint: lists that differ
import glob


class Epochs:
    def __init__(self, files, batch_size):
        self.files, self.batch_size = files, batch_size

    def __iter__(self):
        everything = []
        for file in self.files:
            with tarfile.open(file) as tar:
                content = {m.name: tar.extractfile(m).read() for m in tar.getmembers()}
            for name in content:
                if not name.endswith(".cls"):
                    key = name.rsplit(".", 1)[0]
                    everything.append((content[name], int(content[key + ".cls"])))
        order = torch.randperm(len(everything)).tolist()
        for begin in range(0, len(order), self.batch_size):
            chosen = [everything[i] for i in order[begin : begin + self.batch_size]]
            images = []
            for data_, _ in chosen:
                pixels = np.asarray(Image.open(io.BytesIO(data_)).convert("RGB"), dtype=np.float32)
                images.append(torch.from_numpy(pixels / 255).permute(2, 0, 1))
            yield torch.stack(images), torch.tensor([label for _, label in chosen])


def make_feeding_loader(path, rank, size, batch_size):
    files = sorted(glob.glob(path + "/*.tar"))
    files = files[rank : rank + len(files) // size]
    return Epochs(files, batch_size)
