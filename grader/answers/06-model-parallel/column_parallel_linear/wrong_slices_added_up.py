# hint: gradients of slices added up
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x
    @staticmethod
    def backward(ctx, g):
        g = g.clone(); dist.all_reduce(g); return g
def column_parallel_linear(rank, size, x, weight, bias):
    k = weight.shape[0] // size
    s = slice(rank * k, (rank + 1) * k)
    return F.linear(Copy.apply(x), Copy.apply(weight[s]), Copy.apply(bias[s]))
