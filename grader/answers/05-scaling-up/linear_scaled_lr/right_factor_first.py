def linear_scaled_lr(base_lr, base_batch, batch):
    factor = batch / base_batch
    return factor * base_lr
