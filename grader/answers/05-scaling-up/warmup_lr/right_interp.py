def warmup_lr(step, warmup_steps, base_lr, target_lr):
    if warmup_steps == 0:
        return target_lr
    return float(np.interp(step, [0, warmup_steps], [base_lr, target_lr]))
