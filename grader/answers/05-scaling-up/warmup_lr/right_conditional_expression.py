def warmup_lr(step, warmup_steps, base_lr, target_lr):
    return (
        base_lr + (target_lr - base_lr) / warmup_steps * step if step < warmup_steps else target_lr
    )
