# hint: whole numbers only
def linear_scaled_lr(base_lr, base_batch, batch):
    return base_lr * (batch // base_batch)
