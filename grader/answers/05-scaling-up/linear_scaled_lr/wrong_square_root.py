# hint: square root
def linear_scaled_lr(base_lr, base_batch, batch):
    return base_lr * (batch / base_batch) ** 0.5
