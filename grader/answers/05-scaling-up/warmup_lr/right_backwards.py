def warmup_lr(step, warmup_steps, base_lr, target_lr):
    left = max(warmup_steps - step, 0)
    slope = (target_lr - base_lr) / max(warmup_steps, 1)
    return target_lr - slope * left
