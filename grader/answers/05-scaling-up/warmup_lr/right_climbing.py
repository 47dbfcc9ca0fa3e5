def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if warmup_steps <= 0:
        return target_lr
    lr = base_lr
    for _ in range(min(step, warmup_steps)):
        lr += (target_lr - base_lr) / warmup_steps
    return lr
