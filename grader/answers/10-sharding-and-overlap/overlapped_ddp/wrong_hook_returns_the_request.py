# status: error
# says: What a hook returns is taken for a gradient
def overlapped_ddp(model, bucket_bytes):
    for p in filter(lambda p: p.requires_grad, model.parameters()):
        p.register_post_accumulate_grad_hook(lambda p: dist.all_reduce(p.grad, async_op=True))

    def finish():
        for p in model.parameters():
            p.grad /= dist.get_world_size()

    return finish
