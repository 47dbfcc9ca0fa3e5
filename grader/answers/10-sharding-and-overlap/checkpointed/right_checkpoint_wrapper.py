from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper, CheckpointImpl
def checkpointed(stages, every):
    segments = [nn.Sequential(*stages[i:i + every]) for i in range(0, len(stages), every)]
    return nn.Sequential(*[checkpoint_wrapper(s, checkpoint_impl=CheckpointImpl.NO_REENTRANT) for s in segments])
