# hint: rounded
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if step >= warmup_steps:
        return round(target_lr, 4)
    return round(base_lr + (target_lr - base_lr) * step / warmup_steps, 4)
