# hint: never lower
def linear_scaled_lr(base_lr, base_batch, batch):
    return base_lr * max(1.0, batch / base_batch)
