import io


def same_everywhere(rank, size, tensors):
    parts = []
    for t in tensors:
        buffer = io.BytesIO()
        plain = t.detach().clone(memory_format=torch.contiguous_format)
        buffer.write(str((plain.dtype, plain.shape, plain.is_complex())).encode())
        buffer.write(plain.flatten().view(torch.uint8).numpy())
        parts.append(hashlib.blake2b(buffer.getvalue(), digest_size=16).digest())
    whole = hashlib.md5(b"|".join([str(len(tensors)).encode(), *parts])).digest()
    number = torch.tensor([int.from_bytes(whole[:7], "little"), int.from_bytes(whole[7:14], "little")])
    low, high = number.clone(), number.clone()
    dist.all_reduce(low, op=dist.ReduceOp.MIN)
    dist.all_reduce(high, op=dist.ReduceOp.MAX)
    return bool((low == high).all())
