from torch.autograd.function import once_differentiable
class Copy(torch.autograd.Function):
    generate_vmap_rule = False
    @staticmethod
    def forward(x): return x.view_as(x)
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, async_op=True).wait()
        return grad
def column_parallel_linear(rank, size, x, weight, bias):
    w, b = (t.chunk(size)[rank] for t in (weight, bias))
    return torch.addmm(b, Copy.apply(x).flatten(0, -2), w.mT).unflatten(0, x.shape[:-1])
