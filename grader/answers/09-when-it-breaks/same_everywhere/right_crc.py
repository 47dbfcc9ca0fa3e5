import zlib, pickle
def same_everywhere(rank, size, tensors):
    crc = 0
    for i, t in enumerate(tensors):
        t = t.detach().clone().contiguous()
        head = pickle.dumps((i, str(t.dtype), list(t.shape)))
        crc = zlib.crc32(head, crc)
        crc = zlib.crc32(t.reshape(-1).view(torch.uint8).numpy().tobytes(), crc)
    text = [f"{crc:08x}{len(tensors)}"]
    theirs = [None] * size
    dist.all_gather_object(theirs, text[0])
    return theirs.count(text[0]) == size
