# hint: single precision
def linear_scaled_lr(base_lr, base_batch, batch):
    return (torch.tensor(base_lr) * batch / base_batch).item()
