# hint: float32 in between
def column_parallel_linear(rank, size, x, weight, bias):
    def added_up(gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient

    count = weight.shape[0] // size
    mine = slice(rank * count, (rank + 1) * count)
    x = x.clone()
    x.register_hook(added_up)
    return F.linear(x.float(), weight[mine].float(), bias[mine].float()).to(x.dtype)
