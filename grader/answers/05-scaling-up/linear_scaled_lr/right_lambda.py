linear_scaled_lr = lambda base_lr, base_batch, batch: base_lr * batch / base_batch
