# hint: upside down
def linear_scaled_lr(base_lr, base_batch, batch):
    return base_lr * base_batch / batch
