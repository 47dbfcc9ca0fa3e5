# status: error
# says: ZeroDivisionError
def warmup_lr(step, warmup_steps, base_lr, target_lr):
    return base_lr + (target_lr - base_lr) * min(step / warmup_steps, 1.0)
