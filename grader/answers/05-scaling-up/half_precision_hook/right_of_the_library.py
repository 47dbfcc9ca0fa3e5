from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook


def half_precision_hook(group, bucket):
    return fp16_compress_hook(group, bucket)
