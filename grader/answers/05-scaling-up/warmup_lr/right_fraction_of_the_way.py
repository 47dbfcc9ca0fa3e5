def warmup_lr(step, warmup_steps, base_lr, target_lr):
    way = 1.0 if warmup_steps == 0 else min(step / warmup_steps, 1.0)
    return (1 - way) * base_lr + way * target_lr
