# hint: geometric
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if step >= warmup_steps:
        return target_lr
    if base_lr == 0:
        return target_lr * step / warmup_steps
    return base_lr * (target_lr / base_lr) ** (step / warmup_steps)
