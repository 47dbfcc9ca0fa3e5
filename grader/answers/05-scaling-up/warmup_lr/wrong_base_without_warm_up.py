# hint: no warm-up
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if warmup_steps == 0:
        return base_lr
    return base_lr + (target_lr - base_lr) * min(step / warmup_steps, 1.0)
