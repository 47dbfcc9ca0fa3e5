# hint: never ends
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if warmup_steps == 0:
        return target_lr
    return base_lr + (target_lr - base_lr) * step / warmup_steps
