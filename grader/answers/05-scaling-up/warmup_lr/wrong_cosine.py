import math


def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if step >= warmup_steps:
        return target_lr
    return base_lr + (target_lr - base_lr) * (1 - math.cos(math.pi * step / warmup_steps * 0.9)) / 2
