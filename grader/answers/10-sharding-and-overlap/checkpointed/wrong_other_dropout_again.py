# hint: random numbers drawn anew
def checkpointed(stages, every):
    from torch.utils.checkpoint import checkpoint

    class Seg(nn.Sequential):
        def forward(self, x):
            return checkpoint(super().forward, x, use_reentrant=False, preserve_rng_state=False)

    return nn.Sequential(*[Seg(*stages[i : i + every]) for i in range(0, len(stages), every)])
