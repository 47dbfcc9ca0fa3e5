# hint: one step short
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if step >= warmup_steps - 1:
        return target_lr
    return base_lr + (target_lr - base_lr) * step / (warmup_steps - 1)
