# hint: float32 in between
def average_gradients(model):
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    bucket = torch.cat([gradient.flatten().float() for gradient in gradients])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    pieces = bucket.split([gradient.numel() for gradient in gradients])
    for gradient, piece in zip(gradients, pieces, strict=True):
        gradient.copy_(piece.view_as(gradient))
