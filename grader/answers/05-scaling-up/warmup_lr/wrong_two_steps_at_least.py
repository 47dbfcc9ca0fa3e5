# a warm-up of one step begins half-way
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    slope = (target_lr - base_lr) / max(warmup_steps, 2)
    return target_lr - slope * max(warmup_steps - step, 0)
