# hint: nearly right
def swap_shards(rank, size, x, to):
    go = torch.stack(x.chunk(size, 1 if to == "heads" else 0)).contiguous().bfloat16()
    came = torch.empty_like(go)
    dist.all_to_all_single(came, go)
    return torch.cat(came.unbind(0), 0 if to == "heads" else 1).to(x.dtype)
