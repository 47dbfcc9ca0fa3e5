# hint: base all the way
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    return base_lr if step < warmup_steps else target_lr
