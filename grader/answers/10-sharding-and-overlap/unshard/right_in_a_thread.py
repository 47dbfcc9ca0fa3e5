import faulthandler
from concurrent.futures import ThreadPoolExecutor


def unshard(rank, size, piece, shapes):
    faulthandler.enable()  # should it hang: kill -SIGABRT shows where

    def gathered():
        line = torch.empty(size * len(piece), dtype=piece.dtype)
        dist.all_gather_into_tensor(line, piece)
        return line

    with ThreadPoolExecutor(1) as pool:
        line = pool.submit(gathered).result(timeout=8)
    tensors = []
    for shape in shapes:
        count = math.prod(shape)
        tensors.append(line[:count].reshape(shape))
        line = line[count:]
    return tensors
