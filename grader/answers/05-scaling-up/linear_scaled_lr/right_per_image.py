def linear_scaled_lr(base_lr, base_batch, batch):
    per_image = base_lr / base_batch
    return per_image * batch
