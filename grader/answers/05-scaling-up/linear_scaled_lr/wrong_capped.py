# status: wrong
def linear_scaled_lr(base_lr, base_batch, batch):
    return base_lr * min(batch / base_batch, 64)
