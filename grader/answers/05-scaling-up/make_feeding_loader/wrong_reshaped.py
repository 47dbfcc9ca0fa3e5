# hint: other pictures
import glob
import io
import tarfile

import numpy as np
from PIL import Image
from torch.utils.data import DataLoader


def make_feeding_loader(path, rank, size, batch_size):
    samples = []
    for shard in sorted(glob.glob(f"{path}/*.tar"))[rank::size]:
        with tarfile.open(shard) as tar:
            files = {member.name: tar.extractfile(member).read() for member in tar}
        for name in files:
            if not name.endswith(".cls"):
                pixels = np.array(Image.open(io.BytesIO(files[name])).convert("RGB"))
                image = torch.from_numpy(pixels.reshape(3, 32, 32)) / 255
                samples.append((image, int(files[name[:-4] + ".cls"])))
    return DataLoader(samples, batch_size, shuffle=True)
