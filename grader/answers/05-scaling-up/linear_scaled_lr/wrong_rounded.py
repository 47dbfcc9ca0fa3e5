# hint: rounded
def linear_scaled_lr(base_lr, base_batch, batch):
    return round(base_lr * batch / base_batch, 2)
